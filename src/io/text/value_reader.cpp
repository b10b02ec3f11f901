#include "io/text/value_reader.h"

#include <filesystem>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "io/files/input_kind.h"

namespace semicrf {
namespace {

constexpr int kDecimals = 6;  // of the values that bigWig files get by default

bool is_bigwig(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && detect_input_kind(path) == InputKind::kBigWig;
}

}  // namespace

struct ValueReader::State {
  std::optional<BedGraphReader> text;
  std::optional<BigWigFile> bigwig;
  std::size_t chromosome = 0;             // of the bigWig: read next
  std::vector<BigWigInterval> intervals;  // of the chromosome before
  std::size_t next_interval = 0;
  std::map<std::string, std::string> no_options;

  bool next(BedGraphRecord& record) {
    while (next_interval == intervals.size()) {
      if (chromosome == bigwig->chromosomes().size()) return false;
      intervals.clear();
      next_interval = 0;
      bigwig->read(chromosome, 0, bigwig->chromosomes()[chromosome].length,
                   [&](std::span<const BigWigInterval> some) {
                     intervals.insert(intervals.end(), some.begin(), some.end());
                   });
      ++chromosome;
    }
    const BigWigInterval& interval = intervals[next_interval++];
    record.chromosome = bigwig->chromosomes()[chromosome - 1].name;
    record.begin = interval.begin;
    record.end = interval.end;
    record.value = static_cast<double>(interval.value);
    record.decimals = kDecimals;
    record.line = 0;
    return true;
  }
};

ValueReader::ValueReader(const std::string& path) : state_(std::make_unique<State>()) {
  if (is_bigwig(path)) {
    state_->bigwig = BigWigFile::open(path);
  } else {
    state_->text.emplace(path);
  }
}

ValueReader::ValueReader(ValueReader&&) noexcept = default;
ValueReader::~ValueReader() = default;

bool ValueReader::next(BedGraphRecord& record) {
  return state_->text ? state_->text->next(record) : state_->next(record);
}

std::optional<std::int64_t> ValueReader::bin_size() const {
  return state_->text ? state_->text->bin_size() : std::nullopt;
}

const std::map<std::string, std::string>& ValueReader::options() const {
  return state_->text ? state_->text->options() : state_->no_options;
}

std::string place_of(const BedGraphRecord& record) {
  if (record.line > 0) return "line " + std::to_string(record.line);
  return record.chromosome + ":" + std::to_string(record.begin + 1) + "-" + std::to_string(record.end);
}

}  // namespace semicrf
