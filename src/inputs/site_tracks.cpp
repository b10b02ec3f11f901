#include "inputs/site_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/threads/parallel.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/tracks/track_text.h"

namespace semicrf {
namespace {

struct FileSites {
  std::string chromosome;
  SitePositions at;
  std::vector<float> values;  // (sites, columns)
};

// A text or a bigWig file, the columns of it that are tracks, and their places among the tracks.
struct SiteFile {
  const InputArgument* argument;
  std::vector<std::size_t> columns, tracks;
  std::vector<FileSites> sites;  // by chromosome

  void read() {
    if (argument->text) {
      read_text();
    } else {
      read_bigwig();
    }
    if (sites.empty()) throw InputError({argument->path, "", "has no values", "check the path"});
  }

 private:
  void read_text() {
    const auto reader = open_track_text(*argument->text, columns, argument->sample, 1);
    TrackRow row;
    while (reader->next(row)) {
      if (sites.empty() || sites.back().chromosome != row.chromosome)
        sites.push_back({row.chromosome, {}, {}});
      if (row.begin >= std::numeric_limits<std::uint32_t>::max())
        throw row.refused(fmt::format("base {} is too far for a site", row.begin),
                          "give positions below 2^32");
      sites.back().at.push_back(static_cast<std::uint32_t>(row.begin));
      sites.back().values.insert(sites.back().values.end(), row.values.begin(), row.values.end());
    }
  }

  void read_bigwig() {
    BigWigFile file = BigWigFile::open(argument->path);
    for (std::size_t i = 0; i < file.chromosomes().size(); ++i) {
      if (!file.has_values(i)) continue;
      const Chromosome& chromosome = file.chromosomes()[i];
      FileSites found{chromosome.name, {}, {}};
      file.read(i, 0, chromosome.length, [&](std::span<const BigWigInterval> intervals) {
        for (const BigWigInterval& one : intervals) {
          found.at.push_back(static_cast<std::uint32_t>(one.begin));
          found.values.push_back(one.value);
        }
      });
      file.let_go();
      if (!found.at.empty()) sites.push_back(std::move(found));
    }
  }
};

SiteRows rows_of(const std::string& chromosome, std::size_t tracks, SitePositions at,
                 std::vector<float> values) {
  NpyHeader layout;
  layout.rows = std::ssize(at);
  layout.columns = static_cast<std::int64_t>(tracks);
  const auto kept = std::make_shared<const std::vector<float>>(std::move(values));
  return {chromosome, std::make_shared<const SitePositions>(std::move(at)),
          NpyArray::of_values(layout, kept->data(), kept, chromosome)};
}

}  // namespace

std::vector<SiteRows> read_sites(const std::vector<const InputArgument*>& tracks, int threads) {
  std::vector<SiteFile> files;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const InputArgument& track = *tracks[i];
    if (track.kind != InputKind::kBigWig || track.reads)
      throw InputError({track.path, "", "this is " + describe(track) + ", which has no sites",
                        "--sites takes bigWig files, and tracks as text: bedMethyl, coverage of Bismark, "
                        "VCF, tables, bedGraph"});
    const auto same = [&](const SiteFile& one) {
      return one.argument->path == track.path && one.argument->sample == track.sample;
    };
    auto file = std::ranges::find_if(files, same);
    if (file == files.end()) file = files.insert(file, {&track, {}, {}, {}});
    std::size_t column = 0;
    if (track.text)
      column = std::ranges::find(track.text->columns, track.column) - track.text->columns.begin();
    file->columns.push_back(column);
    file->tracks.push_back(i);
  }
  parallel_for(threads, files.size(), [&](std::size_t i, int) { files[i].read(); });
  std::vector<std::string> chromosomes;
  NameIndex names;
  for (const SiteFile& file : files)
    for (const FileSites& sites : file.sites)
      if (names.add(sites.chromosome).second) chromosomes.push_back(sites.chromosome);
  std::vector<SiteRows> all;
  for (const std::string& chromosome : chromosomes) {
    std::vector<std::pair<const SiteFile*, FileSites*>> having;
    for (SiteFile& file : files)
      for (FileSites& sites : file.sites)
        if (sites.chromosome == chromosome) having.emplace_back(&file, &sites);
    SitePositions at;
    for (const auto& [file, sites] : having) at.insert(at.end(), sites->at.begin(), sites->at.end());
    if (having.size() > 1) {
      std::ranges::sort(at);
      at.erase(std::unique(at.begin(), at.end()), at.end());
    }
    std::vector<float> values(at.size() * tracks.size(), std::nanf(""));
    for (const auto& [file, sites] : having) {
      const std::size_t columns = file->columns.size();
      for (std::size_t i = 0, row = 0; i < sites->at.size(); ++i) {
        while (at[row] != sites->at[i]) ++row;
        for (std::size_t j = 0; j < columns; ++j)
          values[row * tracks.size() + file->tracks[j]] = sites->values[i * columns + j];
      }
      *sites = {};
    }
    all.push_back(rows_of(chromosome, tracks.size(), std::move(at), std::move(values)));
  }
  return all;
}

}  // namespace semicrf
