#include "eval/coverage.h"

#include <algorithm>

#include "core/text/text.h"
#include "io/files/output_target.h"
#include "io/text/bin_location.h"

namespace semicrf {
namespace {

constexpr std::size_t kShown = 3;

}  // namespace

void Coverage::append(const std::string& chromosome, std::int64_t begin, std::int64_t end,
                      bool is_predicted) {
  if (begin >= end) return;
  if (!is_predicted) missing_ += end - begin;
  const bool first = runs_.empty() || runs_.back().chromosome != chromosome;
  if (!first && runs_.back().is_predicted == is_predicted) {
    runs_.back().end = end;
    return;
  }
  if (!first) runs_.back().is_alone = false;
  runs_.push_back({chromosome, begin, end, is_predicted, first});
}

void Coverage::add(const std::string& chromosome, std::span<const Stretch> stretches) {
  for (const Stretch& stretch : stretches) {
    std::int64_t at = stretch.begin;
    for (const Segment& segment : stretch.predicted) {
      append(chromosome, at, segment.begin, false);
      append(chromosome, segment.begin, segment.end, true);
      at = segment.end;
    }
    append(chromosome, at, stretch.end, false);
  }
}

std::vector<std::string> Coverage::places(bool are_predicted) const {
  std::vector<std::string> texts;
  for (const Run& run : runs_) {
    if (run.is_predicted != are_predicted) continue;
    texts.push_back(run.is_alone ? run.chromosome : place_of_bases(run.chromosome, run.begin, run.end));
  }
  return texts;
}

std::string Coverage::missing_places() const { return few_of(places(false), kShown); }

std::string Coverage::options_to_leave_out(const std::string& path) const {
  const std::vector<std::string> texts = places(true);
  if (missing_ == 0 || texts.empty()) return "";
  if (texts.size() <= kShown) return "-r " + joined(texts, " -r ");
  return path == kStandardOutput ? "" : "-L " + path;
}

}  // namespace semicrf
