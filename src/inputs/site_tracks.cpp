#include "inputs/site_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/threads/parallel.h"
#include "io/tracks/track_text.h"

namespace semicrf {
namespace {

struct TextSites {
  std::string chromosome;
  SitePositions at;
  std::vector<float> values;  // (sites, columns)
};

// A text, the columns of it that are tracks, and their places among the tracks.
struct SiteText {
  const InputArgument* argument;
  std::vector<std::size_t> columns, tracks;
  std::vector<TextSites> sites;  // by chromosome

  void read() {
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
    if (sites.empty()) throw InputError({argument->path, "", "has no values", "check the path"});
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
  std::vector<SiteText> texts;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const InputArgument& track = *tracks[i];
    if (!track.text)
      throw InputError(
          {track.path, "", "this is " + describe(track) + ", which has no sites",
           "--sites takes tracks as text: bedMethyl, coverage of Bismark, VCF, tables, bedGraph"});
    const auto same = [&](const SiteText& one) {
      return one.argument->path == track.path && one.argument->sample == track.sample;
    };
    auto text = std::ranges::find_if(texts, same);
    if (text == texts.end()) text = texts.insert(text, {&track, {}, {}, {}});
    const auto column = std::ranges::find(track.text->columns, track.column);
    text->columns.push_back(static_cast<std::size_t>(column - track.text->columns.begin()));
    text->tracks.push_back(i);
  }
  parallel_for(threads, texts.size(), [&](std::size_t i, int) { texts[i].read(); });
  std::vector<std::string> chromosomes;
  NameIndex names;
  for (const SiteText& text : texts)
    for (const TextSites& sites : text.sites)
      if (names.add(sites.chromosome).second) chromosomes.push_back(sites.chromosome);
  std::vector<SiteRows> all;
  for (const std::string& chromosome : chromosomes) {
    std::vector<std::pair<const SiteText*, TextSites*>> having;
    for (SiteText& text : texts)
      for (TextSites& sites : text.sites)
        if (sites.chromosome == chromosome) having.emplace_back(&text, &sites);
    SitePositions at;
    for (const auto& [text, sites] : having) at.insert(at.end(), sites->at.begin(), sites->at.end());
    if (having.size() > 1) {
      std::ranges::sort(at);
      at.erase(std::unique(at.begin(), at.end()), at.end());
    }
    std::vector<float> values(at.size() * tracks.size(), std::nanf(""));
    for (const auto& [text, sites] : having) {
      const std::size_t columns = text->columns.size();
      for (std::size_t i = 0, row = 0; i < sites->at.size(); ++i) {
        while (at[row] != sites->at[i]) ++row;
        for (std::size_t j = 0; j < columns; ++j)
          values[row * tracks.size() + text->tracks[j]] = sites->values[i * columns + j];
      }
      *sites = {};
    }
    all.push_back(rows_of(chromosome, tracks.size(), std::move(at), std::move(values)));
  }
  return all;
}

}  // namespace semicrf
