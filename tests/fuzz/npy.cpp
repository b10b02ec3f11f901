// NPY: both row types of whatever is accepted.
#include <cmath>
#include <memory>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "io/arrays/npy_reader.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const NpyArray array = NpyArray::open(as_file(bytes));
    const auto rows = static_cast<std::size_t>(array.rows());
    const auto columns = static_cast<std::size_t>(array.columns());
    require(rows >= 1 && columns >= 1, "shapes are positive");
    require(rows * columns * array.header().item_bytes() + array.header().data_offset == bytes.size(),
            "the values fill the file");
    std::vector<double> all(rows * columns);
    array.read_rows(0, array.rows(), all.data());
    std::vector<double> last(columns);
    array.read_rows(array.rows() - 1, array.rows(), last.data());
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    for (std::size_t c = 0; c < columns; ++c)
      require(same(last[c], all[(rows - 1) * columns + c]), "a row does not depend on the others read");
    if (const double* in_place = array.data_f64()) {
      for (std::size_t i = 0; i < all.size(); ++i) require(same(in_place[i], all[i]), "values in place");
    }
    for (const ValueRule rule : {ValueRule::kScores, ValueRule::kTrack, ValueRule::kFinite})
      allow_refusal([&] { check_values(all, array.columns(), 0, rule, array.name()); });
    std::vector<float> narrow(all.size());
    array.read_rows(0, array.rows(), narrow.data());
    for (std::size_t i = 0; i < all.size(); ++i)
      require(same(narrow[i], static_cast<float>(all[i])), "floats are the doubles, rounded once");
  });
}

}  // namespace semicrf::fuzz
