// Writes the seeds of the binary formats and of checkpoints: make_fuzz_seeds tests/fuzz/seeds
#include <filesystem>
#include <fstream>
#include <string>

#include "io/bigwig/bbi_writers.h"
#include "support/files/bigwig_fixture.h"
#include "support/files/npy_fixture.h"
#include "train/fit/fit_state.h"

using namespace semicrf::test;

namespace {

void write(const std::filesystem::path& path, const ByteVector& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

ByteVector bigwig(bool compressed, bool big_endian) {
  BigWigFixture fixture;
  fixture.chromosomes = {{"chr1", 1000}, {"chr2", 500}};
  fixture.sections = {
      fixed_step_section(0, 0, 10, 10, {1, 2, 3, 4}), variable_step_section(0, 5, {100, 110, 120}, {1, 2, 3}),
      bedgraph_section(0, {{200, 210, 1}, {210, 250, 2}}),
      bedgraph_section(0, {{300, 310, 1}, {310, 350, 2}}), bedgraph_section(1, {{0, 500, 7}})};
  fixture.compressed = compressed;
  fixture.big_endian = big_endian;
  return write_bigwig(fixture);
}

void write_bigbed(const std::filesystem::path& path, bool empty) {
  std::filesystem::create_directories(path.parent_path());
  semicrf::BigBedWriter writer(std::vector<semicrf::Chromosome>{{"chr2", 500}, {"chr1", 1000}}, 4, 4,
                               "table t\n\"t\"\n    (\n    )\n", {.zoom = 10});
  if (!empty) {
    writer.add(0, 0, 100, "a");
    writer.add(0, 100, 500, "b");
    writer.add(1, 7, 8, "");
  }
  semicrf::OutputFile output({path.string()});
  writer.write(output);
  output.commit();
}

}  // namespace

int main(int, char** arguments) {
  const std::filesystem::path folder = arguments[1];
  for (const bool compressed : {false, true}) {
    for (const bool big_endian : {false, true}) {
      const std::string name = std::string(compressed ? "compressed" : "plain") + (big_endian ? "_big" : "");
      write(folder / "bigwig" / name, bigwig(compressed, big_endian));
    }
  }
  write_bigbed(folder / "bigbed" / "segments", false);
  write_bigbed(folder / "bigbed" / "empty", true);
  const std::vector<double> values = {1, 2, -3, 0.5, 5, 6};
  for (const int bytes : {4, 8}) {
    for (const int version : {1, 3}) {
      const bool odd = (bytes == 8) == (version == 3);
      write(folder / "npy" / ("f" + std::to_string(bytes) + "_version" + std::to_string(version)),
            npy_array(values, 3, 2, {bytes, odd, !odd, version}));
    }
  }
  write(folder / "npy" / "half", npy_bytes(npy_dictionary("<f2", false, "(2,)"), {0, 60, 0, 64}));
  for (const bool deflate : {false, true}) {
    for (const bool zip64 : {false, true}) {
      const std::string name = std::string(deflate ? "deflated" : "stored") + (zip64 ? "_zip64" : "");
      write(folder / "npz" / name, zip_bytes({{"chr1.npy", npy_array({1, 2, 3, 4}, 2, 2), deflate, zip64},
                                              {"chr2.npy", npy_array({5, 6}, 1, 2), deflate, zip64, true}}));
    }
  }
  semicrf::FitState state;
  state.x = {0.5, -1, 2};
  const auto write_state = [&](const char* name) {
    const std::string text = semicrf::checkpoint_text("f", state);
    write(folder / "checkpoint" / name, ByteVector(text.begin(), text.end()));
  };
  write_state("first");
  state.iteration = 12;
  state.losses = {3, 2.5};
  state.validation = state.best_validation = 1.25;
  state.best_x = state.first_moment = state.second_moment = state.x;
  state.finished = true;
  state.reason = "converged";
  write_state("finished");
}
