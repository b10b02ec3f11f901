#include "reads/value_writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text/text.h"
#include "io/arrays/npy_writer.h"
#include "io/bigwig/bbi_writers.h"

namespace semicrf {
namespace {

constexpr std::int64_t kZoomBins = 16;  // bins of a record of the finest zoom level

std::int64_t tiles_with(const ReadGrid& grid, std::int64_t bins) { return ceil_div(bins, grid.tile_bins()); }

std::int64_t most_bins(const std::vector<const BinValues*>& tracks, std::size_t chromosome) {
  std::int64_t bins = 0;
  for (const BinValues* track : tracks)
    if (track != nullptr) bins = std::max(bins, track->bins(chromosome));
  return bins;
}

}  // namespace

void write_bigwig(const ReadGrid& grid, const BinValues& values, OutputFile& output) {
  BigWigWriter writer(ListedChromosomes(grid.chromosomes), {.zoom = kZoomBins * grid.bin}, grid.bin);
  std::vector<float> tile;
  for (std::size_t i = 0; i < grid.chromosomes.size(); ++i) {
    const std::int64_t length = grid.chromosomes[i].length, bins = values.bins(i);
    std::int64_t bin = 0, begin = 0;  // the next bin; the first one of a run
    float value = std::nanf("");
    const auto end_run = [&] {
      if (!std::isnan(value)) writer.add(i, begin * grid.bin, std::min(length, bin * grid.bin), value);
    };
    for (std::int64_t t = 0; t < tiles_with(grid, bins); ++t) {
      values.read(i, t, tile);
      for (const float next : tile) {
        if (next != value && !(std::isnan(next) && std::isnan(value))) {
          end_run();
          begin = bin;
          value = next;
        }
        ++bin;
      }
    }
    end_run();
  }
  writer.write(output);
}

void write_npz(const ReadGrid& grid, const std::vector<const BinValues*>& tracks, OutputFile& output) {
  NpzWriter writer(output);
  std::size_t with_values = 0;
  for (std::size_t i = 0; i < grid.chromosomes.size(); ++i) with_values += most_bins(tracks, i) > 0 ? 1 : 0;
  const bool any = with_values > 0;
  if (const std::size_t arrays = any ? with_values : grid.chromosomes.size();
      arrays > NpzWriter::kMostMembers)
    throw InputError({output.path(), "",
                      fmt::format("an .npz file has {} arrays at most, and {} chromosomes have values",
                                  NpzWriter::kMostMembers, arrays),
                      "write bigWig files, or give fewer chromosomes (-g)"});
  std::vector<double> rows;
  std::vector<float> tile;
  for (std::size_t i = 0; i < grid.chromosomes.size(); ++i) {
    const std::int64_t bins = any ? most_bins(tracks, i) : grid.bins(i);
    if (bins == 0) continue;
    rows.assign(bins * tracks.size(), 0);
    for (std::size_t f = 0; f < tracks.size(); ++f) {
      std::size_t row = 0;
      for (std::int64_t t = 0; t < tiles_with(grid, tracks[f]->bins(i)); ++t) {
        tracks[f]->read(i, t, tile);
        for (const float value : tile) rows[row++ * tracks.size() + f] = value;
      }
    }
    writer.add(grid.chromosomes[i].name, {bins, std::ssize(tracks), false}, rows);
  }
  writer.finish();
}

bool has_binary_text(const std::vector<const BinValues*>& tracks, std::size_t chromosome) {
  return most_bins(tracks, chromosome) > 0;
}

void write_binary_text(const ReadGrid& grid, std::size_t chromosome, const std::string& cell,
                       const std::vector<std::string>& marks, const std::vector<const BinValues*>& tracks,
                       OutputFile& output) {
  output.write(cell + "\t" + grid.chromosomes[chromosome].name + "\n" + joined(marks, "\t") + "\n");
  std::vector<std::vector<float>> columns(tracks.size());
  std::string line(2 * tracks.size(), '\t');
  line.back() = '\n';
  const std::int64_t bins = most_bins(tracks, chromosome);
  for (std::int64_t t = 0; t < tiles_with(grid, bins); ++t) {
    for (std::size_t f = 0; f < tracks.size(); ++f)
      if (tracks[f] != nullptr) tracks[f]->read(chromosome, t, columns[f]);
    const std::int64_t in_tile = std::min(grid.tile_bins(), bins - t * grid.tile_bins());
    for (std::size_t row = 0; row < wide(in_tile); ++row) {
      for (std::size_t f = 0; f < tracks.size(); ++f)
        line[2 * f] = tracks[f] == nullptr ? '2' : columns[f][row] > 0 ? '1' : '0';
      output.write(line);
    }
  }
}

}  // namespace semicrf
