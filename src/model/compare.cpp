#include "model/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "core/counts.h"
#include "core/sizes.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "model/describe.h"
#include "model/scores/centering.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

// For every entry of a new list its place in the old one, -1: it is new.
using Places = std::vector<int>;

template <class Named>
std::vector<Named> united(const std::vector<Named>& first, const std::vector<Named>& second) {
  std::vector<Named> all = first;
  const NameIndex known = NameIndex::of(first);
  for (const Named& one : second)
    if (!known.contains(one.name)) all.push_back(one);
  return all;
}

template <class Named>
Places places(const std::vector<Named>& wanted, const std::vector<Named>& have) {
  Places result;
  const NameIndex known = NameIndex::of(have);
  for (const Named& one : wanted) {
    const std::optional<std::size_t> place = known.find(one.name);
    result.push_back(place ? static_cast<int>(*place) : -1);
  }
  return result;
}

// Entries of a list of the old labels, `absent` for the new ones. Empty stays empty.
std::vector<double> taken(const std::vector<double>& old, const Places& places, double absent) {
  std::vector<double> result;
  if (old.empty()) return result;
  for (const int place : places) result.push_back(place < 0 ? absent : old[place]);
  return result;
}

ChainModel with_labels(const ChainModel& old, const Places& labels) {
  ChainModel model;
  model.num_labels = count_of(labels);
  model.max_duration = old.max_duration;
  model.initial = old.initial;
  for (const int from : labels)
    for (const int to : labels)
      model.transition.push_back(from < 0 || to < 0 ? kNegativeInfinity : old.transition_at(from, to));
  for (int k = 1; k <= old.max_duration; ++k)
    for (const int label : labels)
      model.duration_bias.push_back(label < 0 ? 0 : old.duration_score(k, label));
  model.log_tail = taken(old.log_tail, labels, kNegativeInfinity);
  const bool all_known = std::ranges::none_of(labels, [](int label) { return label < 0; });
  const std::vector<double> zeros(old.num_labels);
  model.start_scores =
      taken(old.start_scores.empty() && !all_known ? zeros : old.start_scores, labels, kNegativeInfinity);
  model.end_scores = taken(old.end_scores, labels, 0);
  return model;
}

// Rows of weights: (labels, offsets x tracks), offset-major. New labels and tracks get 0.
std::vector<double> with_weights(const std::vector<double>& old, const Places& labels, const Places& tracks,
                                 std::size_t old_tracks, std::size_t offsets) {
  std::vector<double> result;
  if (old.empty()) return result;
  for (const int label : labels)
    for (std::size_t offset = 0; offset < offsets; ++offset)
      for (const int track : tracks)
        result.push_back(label < 0 || track < 0 ? 0 : old[(label * offsets + offset) * old_tracks + track]);
  return result;
}

Parameters rearranged(const Parameters& old, const std::vector<Label>& labels,
                      const std::vector<Track>& tracks) {
  const Places label_places = places(labels, old.labels), track_places = places(tracks, old.tracks);
  const std::size_t num_tracks = old.tracks.size();
  Parameters model = old;
  model.labels = labels;
  model.chain = with_labels(old.chain, label_places);
  if (!old.emission) return model;  // the inputs are label scores
  model.tracks.clear();
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    Track track;  // without a weight: whatever it has is not used
    track.name = tracks[i].name;
    model.tracks.push_back(track_places[i] < 0 ? track : old.tracks[track_places[i]]);
  }
  // New labels have the scores of the first one, so that the largest score of a position stays what it was.
  Places scored = label_places;
  std::ranges::replace(scored, -1, 0);
  model.emission->weights = with_weights(old.emission->weights, scored, track_places, num_tracks, 1);
  model.emission->bias = taken(old.emission->bias, scored, 0);
  if (!old.boundary) return model;
  const std::size_t offsets = old.boundary->last - old.boundary->first + 1;
  model.boundary->start_weights =
      with_weights(old.boundary->start_weights, label_places, track_places, num_tracks, offsets);
  model.boundary->end_weights =
      with_weights(old.boundary->end_weights, label_places, track_places, num_tracks, offsets);
  model.boundary->start_bias = taken(old.boundary->start_bias, label_places, 0);
  model.boundary->end_bias = taken(old.boundary->end_bias, label_places, 0);
  return model;
}

// Pairs of indices of what has the same name in both lists.
using Matches = std::vector<std::pair<std::size_t, std::size_t>>;

Matches matches(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  Matches found;
  const NameIndex places = NameIndex::of(second);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (const auto at = places.find(first[i])) found.emplace_back(i, *at);
  return found;
}

std::string value_text(double value) { return value == kNegativeInfinity ? "-inf" : described_number(value); }

class Comparison {
 public:
  Comparison(const Parameters& first, const Parameters& second)
      : a_(first),
        b_(second),
        labels_(matches(names_of(first.labels), names_of(second.labels))),
        tracks_(matches(names_of(first.tracks), names_of(second.tracks))) {}

  std::string text() {
    names("labels", names_of(a_.labels), names_of(b_.labels));
    names("tracks", names_of(a_.tracks), names_of(b_.tracks));
    property("longest duration (K)", fmt::to_string(a_.chain.max_duration),
             fmt::to_string(b_.chain.max_duration));
    property("bin size", fmt::to_string(a_.bin_size), fmt::to_string(b_.bin_size));
    property("edges", std::string(edge_rule_name(a_.edges)), std::string(edge_rule_name(b_.edges)));
    property("rule", rule_name(a_), rule_name(b_));
    property("centering", std::string(centering_name(a_.centering)),
             std::string(centering_name(b_.centering)));
    property("initial", initial_name(a_), initial_name(b_));
    property("duration kind", std::string(a_.duration.kind->name()), std::string(b_.duration.kind->name()));
    chain();
    transforms();
    heads();
    property("training section", a_.training.empty() ? "absent" : "present",
             b_.training.empty() ? "absent" : "present");
    if (!a_.training.empty() && !b_.training.empty() && a_.training != b_.training)
      text_ += "training section: differs\n";
    return text_.empty() ? "no differences\n" : text_;
  }

 private:
  static std::string initial_name(const Parameters& p) {
    return p.chain.initial == InitialTerm::kUniform ? "uniform" : "none";
  }

  static std::string rule_name(const Parameters& p) {
    return p.rule == PathRule::kPosterior ? "posterior" : "viterbi";
  }

  void property(const std::string& name, const std::string& a, const std::string& b) {
    if (a != b) text_ += name + ": " + a + " -> " + b + "\n";
  }

  void names(const std::string& what, const std::vector<std::string>& a, const std::vector<std::string>& b) {
    if (a == b) return;
    std::vector<std::string> only_a, only_b;
    const NameIndex in_a = NameIndex::of(a), in_b = NameIndex::of(b);
    for (const std::string& name : a)
      if (!in_b.contains(name)) only_a.push_back(name);
    for (const std::string& name : b)
      if (!in_a.contains(name)) only_b.push_back(name);
    if (!only_a.empty()) text_ += what + " only in the first: " + joined(only_a, ", ") + "\n";
    if (!only_b.empty()) text_ += what + " only in the second: " + joined(only_b, ", ") + "\n";
    if (only_a.empty() && only_b.empty()) text_ += what + ": in another order\n";
  }

  // Counts numbers and remembers the pair that differs most.
  struct Table {
    std::size_t numbers = 0, different = 0;
    double most = -1;
    std::string where, from, to;

    void add(double a, double b, const std::function<std::string()>& place) {
      ++numbers;
      if (a == b) return;
      ++different;
      const double difference = std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : -kNegativeInfinity;
      if (difference <= most) return;
      most = difference;
      where = place();
      from = value_text(a);
      to = value_text(b);
    }
  };

  void show(const std::string& name, const Table& table) {
    if (table.different == 0) return;
    text_ += fmt::format("{}: {} of {} differ, most {}: {} -> {}\n", name, table.different, table.numbers,
                         table.where, table.from, table.to);
  }

  const std::string& label(std::size_t index) const { return a_.labels[index].name; }

  void chain() {
    const ChainModel &a = a_.chain, &b = b_.chain;
    Table transition, duration, tail, start, end;
    for (const auto& [i, j] : labels_) {
      for (const auto& [k, l] : labels_)
        transition.add(a.transition_at(static_cast<int>(i), static_cast<int>(k)),
                       b.transition_at(static_cast<int>(j), static_cast<int>(l)),
                       [&, i = i, k = k] { return label(i) + " to " + label(k); });
      for (int k = 1; k <= std::min(a.max_duration, b.max_duration); ++k)
        duration.add(a.duration_score(k, static_cast<int>(i)), b.duration_score(k, static_cast<int>(j)),
                     [&, i = i] { return fmt::format("{}, {} bins", label(i), k); });
      const auto q = [](const ChainModel& chain, std::size_t c) {
        return chain.has_tail() ? std::exp(chain.log_tail[c]) : 0.0;
      };
      const auto name = [&, i = i] { return label(i); };
      tail.add(q(a, i), q(b, j), name);
      start.add(a.start_scores[i], b.start_scores[j], name);
      end.add(a.end_scores[i], b.end_scores[j], name);
    }
    show("transitions", transition);
    show("durations", duration);
    show("tails (q)", tail);
    show("start", start);
    show("end", end);
  }

  void transforms() {
    for (const auto& [i, j] : tracks_) {
      const Track &a = a_.tracks[i], &b = b_.tracks[j];
      const auto described = [](const Track& track) {
        return transform_text(track) + ", center " + described_number(track.center) + ", scale " +
               described_number(track.scale) + ", missing " + std::string(missing_policy_name(track.missing));
      };
      property("track " + a.name, described(a), described(b));
    }
  }

  void heads() {
    property("emission head", a_.emission ? "present" : "absent", b_.emission ? "present" : "absent");
    if (a_.emission && b_.emission) {
      Table weights, bias;
      for (const auto& [i, j] : labels_) {
        bias.add(a_.emission->bias[i], b_.emission->bias[j], [&, i = i] { return label(i); });
        for (const auto& [f, g] : tracks_)
          weights.add(a_.emission->weights[i * a_.tracks.size() + f],
                      b_.emission->weights[j * b_.tracks.size() + g],
                      [&, i = i, f = f] { return label(i) + " " + a_.tracks[f].name; });
      }
      show("emission weights", weights);
      show("emission bias", bias);
    }
    boundary();
  }

  void boundary() {
    property("boundary head", a_.boundary ? "present" : "absent", b_.boundary ? "present" : "absent");
    if (!a_.boundary || !b_.boundary) return;
    const BoundaryHead &a = *a_.boundary, &b = *b_.boundary;
    const auto window = [](const BoundaryHead& head) { return fmt::format("{}..{}", head.first, head.last); };
    property("boundary window", window(a), window(b));
    side("start", a.start_weights, a.start_bias, b.start_weights, b.start_bias);
    side("end", a.end_weights, a.end_bias, b.end_weights, b.end_bias);
  }

  // Weights of the offsets that both windows have; what is absent counts as 0.
  void side(const std::string& name, const std::vector<double>& wa, const std::vector<double>& ba,
            const std::vector<double>& wb, const std::vector<double>& bb) {
    const BoundaryHead &a = *a_.boundary, &b = *b_.boundary;
    const auto weight = [](const std::vector<double>& weights, const BoundaryHead& head, std::size_t tracks,
                           std::size_t c, int offset, std::size_t f) {
      if (weights.empty()) return 0.0;
      const std::size_t offsets = (head.last - head.first) + 1;
      return weights[(c * offsets + offset - head.first) * tracks + f];
    };
    Table weights, bias;
    for (const auto& [i, j] : labels_) {
      bias.add(ba.empty() ? 0 : ba[i], bb.empty() ? 0 : bb[j], [&, i = i] { return label(i); });
      for (int offset = std::max(a.first, b.first); offset <= std::min(a.last, b.last); ++offset)
        for (const auto& [f, g] : tracks_)
          weights.add(
              weight(wa, a, a_.tracks.size(), i, offset, f), weight(wb, b, b_.tracks.size(), j, offset, g),
              [&, i = i, f = f] { return fmt::format("{} {}[{}]", label(i), a_.tracks[f].name, offset); });
    }
    show(name + " weights", weights);
    show(name + " bias", bias);
  }

  const Parameters &a_, &b_;
  Matches labels_, tracks_;
  std::string text_;
};

}  // namespace

ChainModel with_durations(const ChainModel& model, int max_duration) {
  ChainModel longer = model;
  longer.max_duration = max_duration;
  for (int k = model.max_duration + 1; k <= max_duration; ++k)
    for (int label = 0; label < model.num_labels; ++label)
      longer.duration_bias.push_back(model.duration_score(k, label));
  return longer;
}

AlignedModels align_models(const Parameters& first, const Parameters& second) {
  const std::vector<Label> labels = united(first.labels, second.labels);
  std::vector<Track> tracks = united(first.tracks, second.tracks);
  std::ranges::stable_sort(tracks, {}, &Track::kind);
  AlignedModels aligned{rearranged(first, labels, tracks), rearranged(second, labels, tracks), {}};
  for (const int place : places(labels, second.labels)) aligned.second_has.push_back(place >= 0);
  ChainModel& chain = aligned.first.chain;
  if (chain.has_tail() && chain.max_duration < second.chain.max_duration)
    chain = with_durations(chain, second.chain.max_duration);
  return aligned;
}

std::string compare_parameters(const Parameters& first, const Parameters& second) {
  return Comparison(first, second).text();
}

}  // namespace semicrf
