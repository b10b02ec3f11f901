#include "support/models/random_models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <utility>

namespace semicrf::testing {
namespace {

constexpr double kMask = -1e9;
constexpr double kStep = 1e4;
constexpr std::array<double, 5> kSizes{3, 10, 30, 100, 1000};
constexpr std::array<double, 4> kMixed{0.1, 1, 30, 1000};

constexpr std::array<std::pair<CaseKind, const char*>, 28> kKinds{{
    {CaseKind::kPlain, "plain"},
    {CaseKind::kEverything, "everything"},
    {CaseKind::kForbiddenTransitions, "forbidden transitions"},
    {CaseKind::kForbiddenDurations, "forbidden durations"},
    {CaseKind::kMinimumDurations, "minimum durations"},
    {CaseKind::kTails, "tails"},
    {CaseKind::kLongTail, "long tail"},
    {CaseKind::kBoundaryScores, "boundary scores"},
    {CaseKind::kSteps, "steps of 1e4"},
    {CaseKind::kMasks, "masks of -1e9"},
    {CaseKind::kForbiddenPositions, "forbidden positions"},
    {CaseKind::kSteepDurations, "steep durations"},
    {CaseKind::kWildDurations, "wild durations"},
    {CaseKind::kRareSource, "rare source"},
    {CaseKind::kSinglePath, "single path"},
    {CaseKind::kForbiddenRows, "forbidden rows"},
    {CaseKind::kInfeasible, "infeasible"},
    {CaseKind::kTies, "ties"},
    {CaseKind::kDyadic, "dyadic"},
    {CaseKind::kPeriodic, "periodic"},
    {CaseKind::kPeriodicLate, "periodic, phase fixed by the end"},
    {CaseKind::kPeriodicEndScores, "periodic, phase fixed by end scores"},
    {CaseKind::kLargeScores, "large scores"},
    {CaseKind::kMixedSizes, "scores of mixed sizes"},
    {CaseKind::kLeftBehind, "a label left behind"},
    {CaseKind::kSteepTables, "steep tables"},
    {CaseKind::kMinimumDurationsMasked, "minimum durations of -1e9"},
    {CaseKind::kLargeTransitions, "large transitions"},
}};

class CaseBuilder {
 public:
  CaseBuilder(CaseKind kind, const CaseShape& shape, std::uint64_t seed)
      : random_(seed * 1000003 + static_cast<std::uint64_t>(kind)),
        length_(static_cast<std::size_t>(shape.length)),
        durations_(static_cast<std::size_t>(shape.max_duration)),
        labels_(static_cast<std::size_t>(shape.num_labels)) {
    out_.kind = kind;
    out_.seed = seed;
    out_.length = shape.length;
    out_.model.num_labels = shape.num_labels;
    out_.model.max_duration = shape.max_duration;
    model_.transition = normals(labels_ * labels_);
    model_.duration_bias = normals(durations_ * labels_);
    emissions_ = normals(length_ * labels_);
    model_.initial = coin(0.7) ? InitialTerm::kUniform : InitialTerm::kNone;
  }

  // NOLINTNEXTLINE(readability-function-size): a list of kinds, each in a line or a few
  ModelCase build() {
    switch (out_.kind) {
      case CaseKind::kPlain:
        break;
      case CaseKind::kEverything:
        add_everything();
        break;
      case CaseKind::kForbiddenTransitions:
        forbid_some(model_.transition, 0.35);
        break;
      case CaseKind::kForbiddenDurations:
        forbid_some(model_.duration_bias, 0.35);
        break;
      case CaseKind::kMinimumDurations:
        add_minimum_durations();
        break;
      case CaseKind::kTails:
        add_tails();
        break;
      case CaseKind::kLongTail:
        add_long_tail();
        break;
      case CaseKind::kBoundaryScores:
        add_boundary_scores();
        break;
      case CaseKind::kSteps:
        add_steps();
        break;
      case CaseKind::kMasks:
        add_masks();
        break;
      case CaseKind::kForbiddenPositions:
        forbid_positions();
        break;
      case CaseKind::kSteepDurations:
        for_each_duration([](std::size_t k, double& bias) { bias -= 10.0 * static_cast<double>(k - 1); });
        break;
      case CaseKind::kWildDurations:
        for_each_duration([&](std::size_t, double& bias) { bias += coin(0.5) ? kStep : -kStep; });
        break;
      case CaseKind::kRareSource:
        add_rare_source();
        break;
      case CaseKind::kSinglePath:
        allow_one_path();
        break;
      case CaseKind::kForbiddenRows:
        forbid_rows();
        break;
      case CaseKind::kInfeasible:
        forbid_everything();
        break;
      case CaseKind::kTies:
        make_exact(1.0, 1);
        break;
      case CaseKind::kDyadic:
        make_exact(0.125, 32);
        break;
      case CaseKind::kPeriodic:
        make_cycle_with_opener();
        for (double& score : emissions_) score *= 0.01;
        break;
      case CaseKind::kPeriodicLate:
        make_cycle_with_opener();
        make_scoreless();
        break;
      case CaseKind::kPeriodicEndScores:
        make_cycle_of_equals();
        break;
      case CaseKind::kLargeScores:
        add_large_scores();
        add_sized_options();
        break;
      case CaseKind::kMixedSizes:
        add_mixed_sizes();
        add_sized_options();
        break;
      case CaseKind::kLeftBehind:
        leave_label_behind();
        break;
      case CaseKind::kSteepTables:
        add_steep_tables();
        break;
      case CaseKind::kLargeTransitions:
        add_large_transitions();
        add_sized_options();
        break;
      case CaseKind::kMinimumDurationsMasked:
        add_minimum_durations(kMask);
        add_boundary_scores();
        break;
    }
    finish();
    return std::move(out_);
  }

 private:
  double normal() { return normal_(random_); }
  double uniform() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  bool coin(double probability) { return uniform() < probability; }
  // 0..limit
  std::size_t up_to(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit)(random_);
  }
  std::vector<double> normals(std::size_t size) {
    std::vector<double> values(size);
    for (double& value : values) value = normal();
    return values;
  }
  void forbid_some(std::vector<double>& values, double probability) {
    for (double& value : values) {
      if (coin(probability)) value = kNegativeInfinity;
    }
  }
  template <class Change>
  void for_each_duration(Change change) {
    for (std::size_t i = 0; i < model_.duration_bias.size(); ++i)
      change(i / labels_ + 1, model_.duration_bias[i]);
  }
  double& transition(std::size_t from, std::size_t to) { return model_.transition[from * labels_ + to]; }
  double& duration(std::size_t k, std::size_t c) { return model_.duration_bias[(k - 1) * labels_ + c]; }
  double& emission(std::size_t t, std::size_t c) { return emissions_[t * labels_ + c]; }

  void add_everything() {
    if (coin(0.5)) forbid_some(model_.transition, 0.3);
    if (coin(0.5)) forbid_some(model_.duration_bias, 0.3);
    if (coin(0.3)) add_minimum_durations();
    if (coin(0.5)) add_tails();
    if (coin(0.6)) add_boundary_scores();
    if (coin(0.3)) forbid_positions();
    if (coin(0.15)) add_minimum_durations(kMask);
    if (coin(0.15)) add_steep_tables();
    if (coin(0.2)) add_large_scores();
    if (coin(0.2)) add_mixed_sizes();
    if (coin(0.1)) leave_label_behind();
  }

  // Durations below each label's shortest get `score`. What is only masked may be all there is, when no sum
  // of longer durations is T.
  void add_minimum_durations(double score = kNegativeInfinity) {
    std::vector<std::size_t> shortest(labels_);
    const bool forbidden = score == kNegativeInfinity;
    const std::size_t most = forbidden ? std::min(durations_, length_) / 2 : durations_ - 1;
    for (std::size_t& value : shortest) value = 1 + up_to(most);
    for (std::size_t c = 0; c < labels_; ++c) {
      for (std::size_t k = 1; k < shortest[c] && k <= durations_; ++k) duration(k, c) = score;
    }
  }

  // A label with a tail has a finite bias at K; at least one label has one.
  void add_tails() {
    model_.log_tail.assign(labels_, kNegativeInfinity);
    const std::size_t surely = up_to(labels_ - 1);
    for (std::size_t c = 0; c < labels_; ++c) {
      if (c != surely && coin(0.3)) continue;
      model_.log_tail[c] = std::log(0.3 + 0.699 * uniform());
      if (duration(durations_, c) == kNegativeInfinity) duration(durations_, c) = normal();
    }
  }

  // Label 0 is best from a fifth of the sequence to the fourth, and beginning a segment is dear.
  void add_long_tail() {
    add_tails();
    model_.log_tail[0] = -0.001;
    for (double& score : model_.transition) score -= 30.0;
    for (std::size_t t = length_ / 5; t < length_ * 4 / 5; ++t) emission(t, 0) += 4.0;
  }

  void add_boundary_scores() {
    const bool all = out_.kind == CaseKind::kBoundaryScores || out_.kind == CaseKind::kMinimumDurationsMasked;
    if (all || coin(0.5)) starts_ = normals(length_ * labels_);
    if (all || coin(0.5)) ends_ = normals(length_ * labels_);
    if (all || coin(0.5)) model_.start_scores = normals(labels_);
    if (all || coin(0.5)) model_.end_scores = normals(labels_);
    if (coin(0.2)) forbid_some(starts_, 0.1);
    if (coin(0.2)) forbid_some(ends_, 0.1);
  }

  // Each label stays at one of three levels for a while.
  void add_steps() {
    for (std::size_t c = 0; c < labels_; ++c) {
      double level = 0;
      for (std::size_t t = 0; t < length_; ++t) {
        if (coin(0.15)) level = kStep * (static_cast<double>(up_to(2)) - 1.0);
        emission(t, c) += level;
      }
    }
  }

  // Where a duration is forbidden masks do not count as -inf.
  void add_masks() {
    if (durations_ > 1 && out_.seed % 2 == 1) duration(1, labels_ - 1) = kNegativeInfinity;
    for (std::size_t t = 0; t < length_; ++t) {
      const bool whole = coin(0.03);
      for (std::size_t c = 0; c < labels_; ++c) {
        if (whole || coin(0.08)) emission(t, c) = kMask;
      }
    }
  }

  // Every position keeps one label.
  void forbid_positions() {
    for (std::size_t t = 0; t < length_; ++t) {
      const std::size_t kept = up_to(labels_ - 1);
      for (std::size_t c = 0; c < labels_; ++c) {
        if (c != kept && coin(0.15)) emission(t, c) = kNegativeInfinity;
      }
    }
  }

  // Label 0 is worth having, sometimes just about, but only label 1 leads to it, and nothing likes to go to
  // label 1.
  void add_rare_source() {
    if (labels_ < 2) return;
    model_.start_scores.assign(labels_, 0.0);
    model_.start_scores[0] = kNegativeInfinity;
    for (std::size_t from = 0; from < labels_; ++from) {
      if (from > 1) transition(from, 0) = kNegativeInfinity;
      transition(from, 1) -= 100.0;
    }
    const double reward = coin(0.5) ? 200.0 / static_cast<double>(length_) : 5.0;
    for (std::size_t t = length_ / 2; t < length_; ++t) emission(t, 0) += reward;
  }

  // Emissions leave one label per position, start scores one place to begin each segment; neighbours differ
  // in label.
  void allow_one_path() {
    starts_.assign(length_ * labels_, kNegativeInfinity);
    std::size_t label = up_to(labels_ - 1);
    for (std::size_t t = 0; t < length_;) {
      // With one label all segments but the last are K long, so that no two of them can be one segment.
      const std::size_t drawn = labels_ == 1 ? durations_ : 1 + up_to(durations_ - 1);
      const std::size_t end = std::min(length_, t + drawn);
      starts_[t * labels_ + label] = normal();
      for (; t < end; ++t) {
        for (std::size_t c = 0; c < labels_; ++c) {
          if (c != label) emission(t, c) = kNegativeInfinity;
        }
      }
      if (labels_ > 1) label = (label + 1 + up_to(labels_ - 2)) % labels_;
    }
  }

  void forbid_rows() {
    const std::size_t last_only = up_to(labels_ - 1);
    const std::size_t first_only = up_to(labels_ - 1);
    for (std::size_t c = 0; c < labels_; ++c) transition(last_only, c) = kNegativeInfinity;
    if (coin(0.7)) {
      for (std::size_t c = 0; c < labels_; ++c) transition(c, first_only) = kNegativeInfinity;
    }
  }

  void forbid_everything() {
    switch (up_to(2)) {
      case 0:
        forbid_some(model_.duration_bias, 2.0);
        break;
      case 1: {
        const std::size_t t = up_to(length_ - 1);
        for (std::size_t c = 0; c < labels_; ++c) emission(t, c) = kNegativeInfinity;
        break;
      }
      default:
        model_.end_scores.assign(labels_, kNegativeInfinity);
        break;
    }
  }

  // All scores multiples of `unit`, at most `steps` units from 0.
  void make_exact(double unit, int steps) {
    const auto draw = [&] { return unit * std::uniform_int_distribution<int>(-steps, steps)(random_); };
    const auto redraw = [&](std::vector<double>& values) {
      std::generate(values.begin(), values.end(), draw);
    };
    redraw(model_.transition);
    redraw(model_.duration_bias);
    redraw(emissions_);
    if (coin(0.3)) forbid_some(model_.transition, 0.2);
    if (coin(0.3)) forbid_some(model_.duration_bias, 0.2);
    if (coin(0.5)) add_tails();
    for (double& decay : model_.log_tail) {
      if (decay != kNegativeInfinity) decay = -unit * static_cast<double>(1 + up_to(3));
    }
    for (std::size_t c = 0; c < labels_ && model_.has_tail(); ++c) duration(durations_, c) = draw();
    if (coin(0.5)) add_boundary_scores();
    for (auto* values : {&starts_, &ends_, &model_.start_scores, &model_.end_scores}) redraw(*values);
    out_.exact_sums = true;
  }

  // The last label opens with any duration up to K; then the others take turns, each K long. Where the cycle
  // stands is known from the sequence's end alone, unless emissions tell.
  void make_cycle_with_opener() {
    if (labels_ < 2) return make_cycle_of_equals();
    const std::size_t opener = labels_ - 1;
    std::fill(model_.transition.begin(), model_.transition.end(), kNegativeInfinity);
    std::fill(model_.duration_bias.begin(), model_.duration_bias.end(), kNegativeInfinity);
    model_.start_scores.assign(labels_, kNegativeInfinity);
    model_.start_scores[opener] = 0;
    model_.initial = InitialTerm::kNone;
    for (std::size_t c = 0; c < opener; ++c) {
      transition(opener, c) = 0;
      transition(c, (c + 1) % opener) = 0;
      duration(durations_, c) = 0;
    }
    for (std::size_t k = 1; k <= durations_; ++k) duration(k, opener) = 0;
  }

  // All labels take turns, each p long, where p is the longest duration that divides T. Only pi_end prefers a
  // label.
  void make_cycle_of_equals() {
    std::size_t period = std::min(durations_, length_);
    while (length_ % period != 0) --period;
    std::fill(model_.transition.begin(), model_.transition.end(), kNegativeInfinity);
    std::fill(model_.duration_bias.begin(), model_.duration_bias.end(), kNegativeInfinity);
    for (std::size_t c = 0; c < labels_; ++c) {
      transition(c, (c + 1) % labels_) = 0;
      duration(period, c) = 0;
    }
    model_.end_scores.clear();
    for (std::size_t c = 0; c < labels_; ++c) {
      model_.end_scores.push_back(0.25 * static_cast<double>(up_to(16)) - 2.0);
    }
    make_scoreless();
  }

  void make_scoreless() {
    std::fill(emissions_.begin(), emissions_.end(), 0.0);
    out_.exact_sums = true;
  }

  template <std::size_t N>
  double one_of(const std::array<double, N>& values) {
    return values[up_to(N - 1)];
  }

  void add_large_scores() {
    const double size = one_of(kSizes);
    for (double& score : emissions_) score *= size;
  }

  // A stretch has up to 48 positions: several to a block of an engine, or a few blocks.
  void add_mixed_sizes() {
    for (std::size_t t = 0; t < length_;) {
      const double size = one_of(kMixed);
      const std::size_t end = std::min(length_, t + 1 + up_to(47));
      for (; t < end; ++t) {
        for (std::size_t c = 0; c < labels_; ++c) emission(t, c) *= size;
      }
    }
  }

  // Tails, and scores of starts and ends, of which some are as large as emissions.
  void add_sized_options() {
    if (coin(0.3)) add_tails();
    if (!coin(0.4)) return;
    add_boundary_scores();
    const double size = coin(0.5) ? 1.0 : one_of(kSizes);
    for (auto* scores : {&starts_, &ends_}) {
      for (double& score : *scores) score *= size;
    }
  }

  // Sequences begin with any label, but no other label goes on to label 0. From a quarter of the sequence to
  // its half label 0 falls behind. Then either it gets back what it lost, or the others lose as much and the
  // way past them is label 1, which only label 0 leads to. What is lost and what comes back is about the
  // same, so that sometimes both ways count.
  void leave_label_behind() {
    if (labels_ < 2) return;
    const double depth = 1000.0 + 500.0 * static_cast<double>(up_to(6));
    const double back = depth + 300.0 * uniform();
    const double never = coin(0.5) ? kNegativeInfinity : -4 * depth;
    for (std::size_t from = 1; from < labels_; ++from) transition(from, 0) = never;
    const std::size_t fall = length_ / 4;
    const std::size_t rise = std::max(fall + 1, length_ / 2);
    const auto add_to = [&](std::size_t label, std::size_t begin, std::size_t longest, double total) {
      const std::size_t end = std::min({length_, begin + longest, begin + (coin(0.5) ? 3 : longest)});
      for (std::size_t t = begin; t < end; ++t)
        emission(t, label) += total / static_cast<double>(end - begin);
    };
    add_to(0, fall, rise - fall, -depth);
    if (labels_ == 2 || coin(0.5)) return add_to(0, rise, std::max<std::size_t>(1, rise - fall), back);
    for (std::size_t from = 2; from < labels_; ++from) transition(from, 1) = never;
    for (std::size_t t = 0; t < rise; ++t) emission(t, 1) -= 2 * depth;
    for (std::size_t c = 2; c < labels_; ++c) add_to(c, rise, std::max<std::size_t>(1, rise - fall), -back);
  }

  // Durations rise or sink steadily, label by label, or jump; emissions are sometimes large enough to make
  // the lowest entries count.
  void add_steep_tables() {
    constexpr double kSpread = 400.0;
    for (double& score : model_.transition) score += kSpread * (uniform() - 0.5);
    const bool jumps = coin(0.5);
    for (std::size_t c = 0; c < labels_; ++c) {
      const double slope = (coin(0.5) ? kSpread : -kSpread) / static_cast<double>(durations_);
      for (std::size_t k = 1; k <= durations_; ++k) {
        duration(k, c) += jumps ? kSpread * (uniform() - 0.5) : slope * static_cast<double>(k);
      }
    }
    const double size = coin(0.5) ? 1.0 : 30.0;
    for (double& score : emissions_) score *= size;
  }

  // Far beyond what an exponential can hold, rewards and penalties.
  void add_large_transitions() {
    constexpr std::array<double, 3> kLarge{1e2, 1e3, 3e3};
    for (double& score : model_.transition)
      if (coin(0.3)) score = (coin(0.5) ? 1 : -1) * (0.5 + uniform()) * kLarge[up_to(2)];
  }

  static ScoreTable rounded(std::vector<double> values, bool to_float) {
    ScoreTable table;
    if (to_float) {
      for (const double value : values) table.f32.push_back(static_cast<float>(value));
    } else {
      table.f64 = std::move(values);
    }
    return table;
  }

  // Means over the finite scores of each label.
  std::vector<double> means() const {
    std::vector<double> mean(labels_);
    for (std::size_t c = 0; c < labels_; ++c) {
      double sum = 0;
      double count = 0;
      for (std::size_t t = 0; t < length_; ++t) {
        const double value = out_.emissions.at(t * labels_ + c);
        if (value == kNegativeInfinity) continue;
        sum += value;
        count += 1;
      }
      mean[c] = count > 0 ? sum / count : 0.0;
    }
    return mean;
  }

  // Precision, centring, description. Means would ruin exact sums, and masks of -1e9 would ruin the means.
  void finish() {
    const bool to_float = coin(0.6);
    out_.emissions = rounded(emissions_, to_float);
    out_.start_scores = rounded(starts_, to_float);
    out_.end_scores = rounded(ends_, to_float);
    const char* centring = "none";
    const bool may_use_means = !out_.exact_sums && out_.kind != CaseKind::kMasks;
    switch (up_to(3)) {
      case 0:
        if (!may_use_means) break;
        centring = "mean";
        out_.baseline = means();
        break;
      case 1:
        centring = "position-max";
        out_.subtract_position_max = true;
        break;
      case 2:
        centring = "mean-preserving";  // the arithmetic of none
        break;
      default:
        break;
    }
    model_.num_labels = out_.model.num_labels;
    model_.max_duration = out_.model.max_duration;
    out_.model = std::move(model_);
    std::ostringstream text;
    text << name_of(out_.kind) << ": T=" << length_ << " K=" << durations_ << " C=" << labels_
         << " seed=" << out_.seed << " centring=" << centring
         << " initial=" << (out_.model.initial == InitialTerm::kUniform ? "uniform" : "none")
         << (out_.model.has_tail() ? " tail" : "") << (out_.start_scores.empty() ? "" : " Ps")
         << (out_.end_scores.empty() ? "" : " Pe") << (out_.model.start_scores.empty() ? "" : " pi_start")
         << (out_.model.end_scores.empty() ? "" : " pi_end") << (to_float ? " float32" : " float64");
    out_.description = text.str();
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::size_t length_, durations_, labels_;
  ChainModel model_;
  std::vector<double> emissions_, starts_, ends_;
  ModelCase out_;
};

}  // namespace

ScoreArray ScoreTable::view(std::size_t skip) const {
  ScoreArray array;
  if (!f32.empty()) array.f32 = f32.data() + skip;
  if (!f64.empty()) array.f64 = f64.data() + skip;
  return array;
}

ScoreWindow ModelCase::window(std::int64_t begin, std::int64_t end) const {
  const std::size_t skip = static_cast<std::size_t>(begin) * static_cast<std::size_t>(model.num_labels);
  ScoreWindow window;
  window.begin = begin;
  window.end = end;
  window.length = length;
  window.emissions = emissions.view(skip);
  window.start_scores = start_scores.view(skip);
  window.end_scores = end_scores.view(skip);
  window.baseline = baseline;
  window.subtract_position_max = subtract_position_max;
  return window;
}

std::vector<CaseKind> all_case_kinds() {
  std::vector<CaseKind> kinds;
  kinds.reserve(std::size(kKinds));
  for (const auto& entry : kKinds) kinds.push_back(entry.first);
  return kinds;
}

const char* name_of(CaseKind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return "unknown";
}

ModelCase make_case(CaseKind kind, const CaseShape& shape, std::uint64_t seed) {
  return CaseBuilder(kind, shape, seed).build();
}

}  // namespace semicrf::testing
