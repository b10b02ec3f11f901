#include "eval/metrics/reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/text/text.h"
#include "eval/metrics/text_table.h"

namespace semicrf {
namespace {

// Deviations of a normal distribution within which 95 % lie.
constexpr double kDeviations = 1.959963984540054;

// Centre of Wilson's interval plus `sign` times half its width.
double wilson(const ReliabilityBin& bin, double sign) {
  const double n = static_cast<double>(bin.count), share = static_cast<double>(bin.events) / n;
  const double square = kDeviations * kDeviations;
  const double spread = kDeviations * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  return std::clamp((share + square / (2 * n) + sign * spread) / (1 + square / n), 0.0, 1.0);
}

// Whether one stretch has all of these bases.
bool is_evaluated(std::span<const Stretch> stretches, const BinRange& bases) {
  const auto stretch = std::ranges::upper_bound(stretches, bases.begin, {}, &Stretch::end);
  return stretch != stretches.end() && stretch->begin <= bases.begin && bases.end <= stretch->end;
}

// Ranges of bases of one label, asked for the bases they hold.
class Ranges {
 public:
  void add(const BinRange& range) { ranges_.push_back(range); }

  // After the last add(), once.
  void sort() {
    std::ranges::sort(ranges_, {}, &BinRange::begin);
    for (std::size_t i = 1; i < ranges_.size(); ++i)  // the end becomes that of all up to here
      ranges_[i].end = std::max(ranges_[i].end, ranges_[i - 1].end);
  }

  bool hold(std::int64_t base) const {
    const auto after = std::ranges::upper_bound(ranges_, base, {}, &BinRange::begin);
    return after != ranges_.begin() && base < std::prev(after)->end;
  }

 private:
  std::vector<BinRange> ranges_;
};

// The log loss of a label without a posterior, which counts as a printed 0 with six decimals.
constexpr double kUnknownLoss = 14.508657738524219;  // -ln(5e-7)

TableRow summary_row(const std::string& name, const Reliability& sums) {
  return value_row(name, reliability_statistics(), sums);
}

std::string reliability_table(const std::string& name, const Reliability& sums) {
  std::vector<TableRow> rows = {heading_row(name, reliability_part_statistics())};
  for (const ReliabilityPart& part : sums.parts())
    rows.push_back(value_row(fmt::format("predicted {:.4g} to {:.4g}", part.lower, part.upper),
                             reliability_part_statistics(), part));
  return text_table(rows);
}

std::string labels_text(const LabelsCalibration& labels) {
  std::vector<TableRow> rows = {{"all labels of " + escape_control(labels.file), ""}};
  add_lines(label_posterior_statistics(), labels, rows);
  return text_table(rows) + '\n' + reliability_table("labels and bins", labels.pooled());
}

std::string intervals_text(const IntervalCalibration& intervals) {
  std::vector<TableRow> rows = {{"intervals of " + escape_control(intervals.file), "number", "share"}};
  for (const auto& one : interval_statistics()) {
    const std::string text = statistic_text(one, intervals.coverage, "-");
    if (one.unit == StatisticUnit::kShare)
      rows.back()[2] = text;
    else
      rows.push_back({std::string(one.heading), text, ""});
    if (one.name == "holding_share")
      rows.push_back(
          {"wanted (nominal level)", "", intervals.level ? formatted("%.4g", *intervals.level) : "-"});
  }
  return text_table(rows);
}

std::string missing_text(const std::string& file, std::int64_t missing) {
  if (missing == 0) return "";
  return escape_control(file) + " has no value on " + amount(missing) +
         " that the truth labels; they are not counted\n";
}

}  // namespace

std::optional<double> ReliabilityBin::mean_predicted() const { return share_of(predicted_sum, count); }
std::optional<double> ReliabilityBin::observed() const { return share_of(events, count); }
double ReliabilityBin::observed_lower() const { return wilson(*this, -1); }
double ReliabilityBin::observed_upper() const { return wilson(*this, 1); }

Reliability::Reliability(int bins) : bins_(bins) {}

std::size_t Reliability::bin_of(double p) const {
  std::size_t bin =
      std::min(bins_.size() - 1, static_cast<std::size_t>(p * static_cast<double>(bins_.size())));
  // The product may be rounded across an edge.
  while (bin > 0 && p < lower(bin)) --bin;
  while (bin + 1 < bins_.size() && p >= lower(bin + 1)) ++bin;
  return bin;
}

void Reliability::add(double p, double resolution, std::int64_t count, std::int64_t events) {
  if (count == 0) return;
  const double happened = static_cast<double>(events), not_happened = static_cast<double>(count - events);
  ReliabilityBin& bin = bins_[bin_of(p)];
  bin.count += count;
  bin.events += events;
  bin.predicted_sum += p * static_cast<double>(count);
  squared_error_ += happened * (1 - p) * (1 - p) + not_happened * p * p;
  const double inner = p == 0 ? resolution : p == 1 ? 1 - resolution : p;
  if (events > 0) event_loss_ -= happened * std::log(inner);
  if (count > events) other_loss_ -= not_happened * std::log1p(-inner);
}

std::vector<ReliabilityPart> Reliability::parts() const {
  std::vector<ReliabilityPart> parts;
  for (const ReliabilityBin& bin : bins_)
    parts.push_back({bin, lower(parts.size()), lower(parts.size() + 1)});
  return parts;
}

std::int64_t Reliability::count() const {
  std::int64_t sum = 0;
  for (const ReliabilityBin& bin : bins_) sum += bin.count;
  return sum;
}

std::int64_t Reliability::events() const {
  std::int64_t sum = 0;
  for (const ReliabilityBin& bin : bins_) sum += bin.events;
  return sum;
}

std::optional<double> Reliability::mean(double sum) const { return share_of(sum, count()); }

std::optional<double> Reliability::mean_predicted() const {
  double sum = 0;
  for (const ReliabilityBin& bin : bins_) sum += bin.predicted_sum;
  return mean(sum);
}

std::optional<double> Reliability::observed() const { return mean(static_cast<double>(events())); }
std::optional<double> Reliability::brier() const { return mean(squared_error_); }
std::optional<double> Reliability::log_loss() const { return mean(event_loss_ + other_loss_); }

std::optional<double> Reliability::calibration_error() const {
  double sum = 0;
  for (const ReliabilityBin& bin : bins_)
    sum += std::abs(bin.predicted_sum - static_cast<double>(bin.events));
  return mean(sum);
}

Reliability& Reliability::operator+=(const Reliability& other) {
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    bins_[i].count += other.bins_[i].count;
    bins_[i].events += other.bins_[i].events;
    bins_[i].predicted_sum += other.bins_[i].predicted_sum;
  }
  squared_error_ += other.squared_error_;
  event_loss_ += other.event_loss_;
  other_loss_ += other.other_loss_;
  return *this;
}

const StatisticList<Reliability>& reliability_statistics() {
  using enum StatisticUnit;
  using R = Reliability;
  static const auto list = in_format<R>(
      "%.4g", {
                  {"bins", "bins", kCount, "predictions", &R::count},
                  {"events", "events", kCount, "how many of them happened", &R::events},
                  {"mean_predicted", "mean predicted", kNumber, "mean prediction", &R::mean_predicted},
                  {"observed", "observed", kNumber, "share that happened", &R::observed},
                  {"brier", "Brier score", kNumber, "mean squared error", &R::brier},
                  {"log_loss", "log loss", kNats, "mean of -ln of what was predicted for what happened",
                   &R::log_loss},
                  {"expected_calibration_error", "calibration error", kNumber,
                   "mean over them of the distance between mean prediction and share in their part",
                   &R::calibration_error},
              });
  return list;
}

const StatisticList<ReliabilityPart>& reliability_part_statistics() {
  using enum StatisticUnit;
  using P = ReliabilityPart;
  constexpr auto kFour = "%.4g";
  static const StatisticList<P> list = {
      {"lower", "", kNumber, &P::lower},
      {"upper", "", kNumber, &P::upper},
      {"count", "number", kCount, &P::count},
      {"events", "", kCount, &P::events},
      {"mean_predicted", "mean predicted", kNumber, &P::mean_predicted, kFour},
      {"observed", "observed", kNumber, &P::observed, kFour},
      {"observed_lower", "", kNumber, &P::observed_lower, kFour, JsonPart::kNone},
      {"observed_upper", "", kNumber, &P::observed_upper, kFour, JsonPart::kNone},
  };
  return list;
}

const StatisticList<LabelsCalibration>& label_posterior_statistics() {
  using enum StatisticUnit;
  using L = LabelsCalibration;
  constexpr auto kFour = "%.4g";
  static const StatisticList<L> list = {
      {"missing", "", kBases, &L::missing},
      {"bins", "bins", kCount, &L::bins},
      {"without_posterior", "", kCount, &L::unknown},
      {"brier", "Brier score", kNumber, &L::brier, kFour},
      {"log_loss", "log loss", kNats, &L::log_loss, kFour},
      {"expected_calibration_error", "calibration error", kNumber,
       [](const L& labels) { return labels.pooled().calibration_error(); }, kFour},
  };
  return list;
}

const StatisticList<IntervalCoverage>& interval_statistics() {
  using enum StatisticUnit;
  using I = IntervalCoverage;
  static const StatisticList<I> list = {
      {"boundaries", "evaluated boundaries of the prediction", kCount, &I::boundaries},
      {"intervals", "with an interval", kCount, &I::intervals},
      {"holding", "intervals that hold the start of a true segment of their label", kCount, &I::holding},
      {"holding_share", "", kShare, &I::holding_share, "%.4f"},
      {"truth", "true boundaries", kCount, &I::truth},
      {"inside", "true boundaries inside an interval of their label", kCount, &I::inside},
      {"inside_share", "", kShare, &I::inside_share, "%.4f"},
  };
  return list;
}

std::optional<double> IntervalCoverage::holding_share() const { return share_of(holding, intervals); }
std::optional<double> IntervalCoverage::inside_share() const { return share_of(inside, truth); }

void IntervalCoverage::add(std::span<const Stretch> stretches, std::span<const PredictedBoundary> predicted) {
  std::map<int, Ranges> intervals_of;
  for (const PredictedBoundary& boundary : predicted)
    if (boundary.interval) intervals_of[boundary.label].add(*boundary.interval);
  for (auto& [label, ranges] : intervals_of) ranges.sort();

  std::map<int, std::vector<std::int64_t>> starts;  // sorted
  for (const Stretch& stretch : stretches) {
    for (const Segment& segment : stretch.truth) {
      const bool is_first = segment.begin == stretch.begin;
      if (!is_first || stretch.begins_with_segment) starts[segment.label].push_back(segment.begin);
      if (is_first) continue;
      ++truth;
      const auto ranges = intervals_of.find(segment.label);
      if (ranges != intervals_of.end() && ranges->second.hold(segment.begin)) ++inside;
    }
  }

  for (const PredictedBoundary& boundary : predicted) {
    const BinRange bases = boundary.interval.value_or(BinRange{boundary.position, boundary.position + 1});
    if (!is_evaluated(stretches, bases)) continue;
    ++boundaries;
    if (!boundary.interval) continue;
    ++intervals;
    const std::vector<std::int64_t>& of_label = starts[boundary.label];
    const auto first = std::ranges::lower_bound(of_label, bases.begin);
    if (first != of_label.end() && *first < bases.end) ++holding;
  }
}

Reliability LabelsCalibration::pooled() const {
  if (labels.empty()) return Reliability();
  Reliability sum(static_cast<int>(labels[0].reliability.bins().size()));
  for (const LabelCalibration& label : labels) sum += label.reliability;
  return sum;
}

std::optional<double> LabelsCalibration::brier() const {
  double sum = static_cast<double>(unknown);
  for (const LabelCalibration& label : labels) sum += label.reliability.squared_error();
  return share_of(sum, bins);
}

std::optional<double> LabelsCalibration::log_loss() const {
  double sum = static_cast<double>(unknown) * kUnknownLoss;
  for (const LabelCalibration& label : labels) sum += label.reliability.event_loss();
  return share_of(sum, bins);
}

std::string calibration_text(const CalibrationReport& report) {
  std::string text;
  const auto part = [&text](const std::string& more) {
    text += (text.empty() || more.empty() ? "" : "\n") + more;
  };
  if (report.boundaries || report.labels) {
    std::vector<TableRow> rows = {
        heading_row("posteriors, bins of " + amount(report.bin_size), reliability_statistics())};
    if (report.boundaries) rows.push_back(summary_row("a segment starts", report.boundaries->reliability));
    if (report.labels)
      for (const LabelCalibration& label : report.labels->labels)
        rows.push_back(summary_row(escape_control(label.name), label.reliability));
    text += text_table(rows);
    if (report.boundaries) text += missing_text(report.boundaries->file, report.boundaries->missing);
    if (report.labels) text += missing_text(report.labels->file, report.labels->missing);
  }
  if (report.boundaries) part(reliability_table("starts of segments", report.boundaries->reliability));
  if (report.labels) part(labels_text(*report.labels));
  if (report.intervals) part(intervals_text(*report.intervals));
  return text;
}

}  // namespace semicrf
