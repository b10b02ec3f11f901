#include "inputs/rows/missing_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "inputs/rows/row_reader.h"
#include "log/log.h"
#include "model/scores/feature_transform.h"

namespace semicrf {

namespace {

constexpr std::int64_t kCountedSlab = 1 << 16;  // rows read at a time

// What becomes of them.
std::string consequence(MissingPolicy policy, bool of_bases) {
  if (policy == MissingPolicy::kSkip) return "bins without a value are left out (missing: skip)";
  if (policy == MissingPolicy::kMean) return "bins without a value count as the track's mean (missing: mean)";
  if (policy == MissingPolicy::kMarginal)
    return "the track says nothing in bins without a value (missing: marginal)";
  return std::string(of_bases ? "bases" : "bins") + " without a value count as 0 (missing: zero)";
}

constexpr std::size_t kNamesShown = 5;

}  // namespace

MissingCounter::MissingCounter(const std::vector<Track>& tracks, bool of_bases) : of_bases_(of_bases) {
  for (const Track& track : tracks) tracks_.push_back({track.name, track.missing, 0, 0});
}

void MissingCounter::want(const std::vector<BinRange>& bins) {
  untaken_ = bins;
  wanted_bins_ = total_bins(bins);
}

std::vector<BinRange> MissingCounter::take(std::int64_t begin, std::int64_t end) {
  std::vector<BinRange> taken;
  std::vector<BinRange> rest;
  const auto first = std::ranges::upper_bound(untaken_, begin, {}, &BinRange::end);
  auto last = first;
  for (; last != untaken_.end() && last->begin < end; ++last) {
    taken.push_back({std::max(begin, last->begin), std::min(end, last->end)});
    if (last->begin < begin) rest.push_back({last->begin, begin});
    if (last->end > end) rest.push_back({end, last->end});
  }
  if (taken.empty()) return taken;
  const auto place = untaken_.erase(first, last);
  untaken_.insert(place, rest.begin(), rest.end());
  return taken;
}

void MissingCounter::add(std::size_t column, std::int64_t bins, std::int64_t bases) {
  tracks_[column].bins += bins;
  tracks_[column].bases += bases;
}

void count_missing(RowReader& rows, const std::vector<BinRange>& wanted) {
  RowBuffer buffer;
  for (const BinRange& range : wanted)
    for (std::int64_t begin = range.begin; begin < range.end; begin += kCountedSlab)
      rows.read(begin, std::min(range.end, begin + kCountedSlab), buffer);
}

void MissingSummary::add(const std::string& sequence, const MissingCounter& counter) {
  of_bases_ = counter.of_bases();
  bins_ += counter.wanted_bins();
  totals_.resize(counter.tracks().size());
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    const MissingValues& found = counter.tracks()[i];
    MissingValues& sum = totals_[i].values;
    sum.track = found.track;
    sum.policy = found.policy;
    sum.bins += found.bins;
    sum.bases += found.bases;
    if (found.bins == 0 || found.bins != counter.wanted_bins()) continue;
    if (totals_[i].empty_on.size() < kNamesShown) {
      totals_[i].empty_on.push_back(sequence);
    } else {
      ++totals_[i].more_empty;
    }
  }
}

std::string MissingSummary::Total::empty_text() const {
  const std::string names = joined(empty_on, ", ");
  return more_empty == 0 ? names : fmt::format("{} and {} more", names, more_empty);
}

bool MissingSummary::lacks_little(const Total& total) const {
  // Bases missing within bins that have others count as well: a fifth of a base per bin is little.
  return total.lacks() && total.empty_on.empty() && of_bases_ && total.values.bins * 1000 <= bins_ &&
         total.values.bases * 5 <= bins_;
}

std::vector<std::string> MissingSummary::lines() const {
  std::vector<std::string> lines;
  for (const Total& total : totals_) {
    const MissingValues& lacks = total.values;
    if (!total.lacks() || lacks_little(total)) continue;
    std::string line = fmt::format("{}: {} of {} bins have no value", lacks.track, lacks.bins, bins_);
    if (of_bases_) line += fmt::format(", {} bases in all have none", lacks.bases);
    if (!total.empty_on.empty()) line += ", no value at all on " + total.empty_text();
    lines.push_back(line + "; " + consequence(lacks.policy, of_bases_));
  }
  return lines;
}

std::string MissingSummary::summary() const {
  const auto lacking = std::ranges::count_if(totals_, [](const Total& total) { return total.lacks(); });
  const auto little =
      std::ranges::count_if(totals_, [this](const Total& total) { return lacks_little(total); });
  if (lacking == 0) return "";
  std::string text = fmt::format("{} of {}{}", lacking, totals_.size(),
                                 totals_.size() == 1 ? " track lacks values" : " tracks lack values");
  if (little > 0)
    text += (little == lacking ? "" : fmt::format(", {} of them", little)) +
            std::string(" in a thousandth of the bins at most");
  return text;
}

std::vector<Warning> MissingSummary::warnings() const {
  std::vector<Warning> warnings;
  for (const Total& total : totals_) {
    if (!total.empty_on.empty())
      warnings.push_back({"track-without-values", "track " + total.values.track + " has no value at all on " +
                                                      total.empty_text() + "; " +
                                                      consequence(total.values.policy, of_bases_)});
    if (!of_bases_ && total.values.bins > 0 && total.empty_on.empty())
      warnings.push_back({"missing-values", fmt::format("track {} has no value (NaN) in {} of {} bins; {}",
                                                        total.values.track, total.values.bins, bins_,
                                                        consequence(total.values.policy, of_bases_))});
  }
  return warnings;
}

void log_missing_values(const MissingSummary& summary) {
  for (const std::string& line : summary.lines()) log_note("missing: " + line);
  if (const std::string text = summary.summary(); !text.empty()) log_note("missing: " + text);
}

std::string planned_text(const MissingSummary& summary) {
  std::string text;
  for (const std::string& line : summary.lines()) text += "missing\t" + escape_control(line) + "\n";
  if (const std::string total = summary.summary(); !total.empty()) text += "missing\t" + total + "\n";
  return text;
}

std::vector<MissingStats> missing_stats(const MissingCounter& counter) {
  std::vector<MissingStats> stats;
  for (const MissingValues& lacks : counter.tracks()) {
    if (lacks.bins == 0 && lacks.bases == 0) continue;
    stats.push_back({lacks.track, lacks.bins, std::nullopt, std::string(missing_policy_name(lacks.policy))});
    if (counter.of_bases()) stats.back().bases = lacks.bases;
  }
  return stats;
}

// Features of input tracks with squares, indicators and absences behind.

namespace {

class DerivedRowReader : public RowReader {
 public:
  DerivedRowReader(std::unique_ptr<RowReader> rows, DerivedColumns derived, int threads)
      : rows_(std::move(rows)), derived_(std::move(derived)), threads_(threads) {}

  std::int64_t rows() const override { return rows_->rows(); }
  std::size_t columns() const override { return rows_->columns() + derived_.columns(); }
  // Those of the input tracks are in memory at the same time.
  std::size_t bytes_per_row() const override { return rows_->bytes_per_row() + value_bytes(); }
  std::size_t value_bytes() const override { return rows_->value_bytes() / rows_->columns() * columns(); }
  bool can_miss() const override { return rows_->can_miss(); }
  void count_into(std::shared_ptr<MissingCounter> counter) override { rows_->count_into(std::move(counter)); }

  ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) override {
    const ScoreArray tracks = rows_->read(begin, end, inputs_);
    buffer.missing = inputs_.missing;
    const std::size_t n = end - begin;
    if (tracks.f64 != nullptr) return {nullptr, fill(tracks.f64, n, buffer.f64)};
    return {fill(tracks.f32, n, buffer.f32), nullptr};
  }

 private:
  template <class Value>
  const Value* fill(const Value* from, std::size_t n, std::vector<Value>& to) const {
    constexpr std::size_t kTaskRows = std::size_t{1} << 14;
    const std::size_t inputs = rows_->columns();
    to.resize(n * columns());
    parallel_for(threads_, (n + kTaskRows - 1) / kTaskRows, [&](std::size_t task, int) {
      for (std::size_t i = task * kTaskRows; i < std::min(n, (task + 1) * kTaskRows); ++i)
        derive_row(derived_, inputs, from + i * inputs, to.data() + i * columns());
    });
    return to.data();
  }

  std::unique_ptr<RowReader> rows_;
  DerivedColumns derived_;
  int threads_;
  RowBuffer inputs_;
};

}  // namespace

std::unique_ptr<RowReader> make_derived_rows(std::unique_ptr<RowReader> rows, DerivedColumns derived,
                                             int threads) {
  if (derived.empty()) return rows;
  return std::make_unique<DerivedRowReader>(std::move(rows), std::move(derived), threads);
}

}  // namespace semicrf
