#include "bench/io_bench.h"

#include <filesystem>
#include <span>
#include <vector>

#include "bench/json_line.h"
#include "bench/timing.h"
#include "core/error.h"
#include "engine/measure.h"
#include "inputs/arguments/input_argument.h"
#include "io/arrays/npy_reader.h"
#include "runs/run.h"

namespace semicrf {
namespace {

std::span<const unsigned char> bytes_of(const NpyArray& array) {
  const std::size_t values =
      static_cast<std::size_t>(array.rows()) * static_cast<std::size_t>(array.columns());
  if (array.data_f32() != nullptr)
    return {reinterpret_cast<const unsigned char*>(array.data_f32()), values * sizeof(float)};
  if (array.data_f64() != nullptr)
    return {reinterpret_cast<const unsigned char*>(array.data_f64()), values * sizeof(double)};
  throw InputError({array.name(), "", "--io-only needs scores that can be read in place",
                    "store them as little-endian float32 in C order"});
}

}  // namespace

void run_io_bench(const IoBenchOptions& options, const std::function<void(const std::string&)>& print) {
  const RunOptions& run = options.decode.run;
  std::vector<NpyArray> arrays;
  std::size_t bytes = 0;
  for (const std::string& input : run.input.inputs) {
    arrays.push_back(NpyArray::open(parse_input_argument(input).path));
    bytes += bytes_of(arrays.back()).size();
  }
  // In turn, so that both see the same machine; the first of each is not counted.
  std::vector<double> copies, runs;
  for (int i = 0; i <= options.repeats; ++i) {
    double copy = 0;
    for (const NpyArray& array : arrays) copy += measure_copy_seconds(run.engine, bytes_of(array));
    // What the last run wrote goes now: to free a file's blocks takes a while, too.
    std::error_code none_there;
    std::filesystem::remove(options.decode.output, none_there);
    const double whole = seconds_of([&] { run_decode(options.decode, nullptr); });
    if (i == 0) continue;
    copies.push_back(copy);
    runs.push_back(whole);
  }
  const double copy = median(copies);
  const double whole = median(runs);
  print(JsonLine()
            .add("operation", std::string("io_only"))
            .add("bytes", static_cast<std::int64_t>(bytes))
            .add("median_seconds", copy)
            .add("bytes_per_second", static_cast<double>(bytes) / copy)
            .text());
  print(JsonLine()
            .add("operation", std::string("decode"))
            .add("threads", std::int64_t{run.engine.threads})
            .add("median_seconds", whole)
            .add("over_io_only", whole / copy)
            .text());
}

}  // namespace semicrf
