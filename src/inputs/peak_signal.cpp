#include "inputs/peak_signal.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/row_view.h"
#include "core/text/names.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

constexpr std::int64_t kSlab = 1 << 14;  // rows read at a time

// The emission weight of a label for a track, less the mean of those of the other labels. Features have a
// common scale, so that the weights of different tracks can be compared.
double weight_above_others(const EmissionHead& emission, std::size_t label, std::size_t track) {
  const std::size_t labels = emission.bias.size(), tracks = emission.weights.size() / labels;
  const RowView weights(emission.weights, tracks);
  double others = 0;
  for (std::size_t c = 0; c < labels; ++c)
    if (c != label) others += weights(c, track);
  return weights(label, track) - (labels > 1 ? others / static_cast<double>(labels - 1) : 0);
}

// The track of each label, as its column among the input tracks that have a file.
std::vector<std::optional<std::size_t>> signal_columns(const Parameters& parameters, const InputSet& inputs) {
  NameIndex lacking;
  for (const LackingTrack& track : inputs.lacking_tracks()) lacking.add(track.track);
  std::vector<std::optional<std::size_t>> columns(parameters.labels.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double best = 0;
    std::size_t column = 0;
    for (std::size_t f = 0; f < parameters.tracks.size(); ++f) {
      if (!parameters.tracks[f].is_input() || lacking.contains(parameters.tracks[f].name)) continue;
      const double weight = weight_above_others(*parameters.emission, c, f);
      if (!columns[c] || weight > best) {
        best = weight;
        columns[c] = column;
      }
      ++column;
    }
  }
  return columns;
}

// The column of the track log2, else the first; none where every track lacks a file.
std::optional<std::size_t> log_ratio_column(const Parameters& parameters, const InputSet& inputs) {
  NameIndex lacking;
  for (const LackingTrack& track : inputs.lacking_tracks()) lacking.add(track.track);
  std::size_t columns = 0;
  for (const Track& track : parameters.tracks) {
    if (!track.is_input() || lacking.contains(track.name)) continue;
    if (track.name == "log2") return columns;
    ++columns;
  }
  return columns > 0 ? std::optional<std::size_t>(0) : std::nullopt;
}

}  // namespace

PeakSignal::PeakSignal(InputSet inputs, std::vector<std::optional<std::size_t>> column_of,
                       std::optional<std::size_t> log_ratio)
    : inputs_(std::move(inputs)), column_of_(std::move(column_of)), log_ratio_(log_ratio) {}

std::shared_ptr<PeakSignal> PeakSignal::open(const InputOptions& options, const Parameters& parameters) {
  if (!parameters.emission) return nullptr;
  InputOptions tracks = options;
  tracks.missing = MissingPolicy::kDefault;  // what the run does with absences is settled already
  tracks.start_scores.clear();
  tracks.end_scores.clear();
  InputSet inputs = InputSet::open(tracks, raw_parameters(parameters), RowFeatures::kInputs);
  std::vector<std::optional<std::size_t>> columns = signal_columns(parameters, inputs);
  const std::optional<std::size_t> log_ratio = log_ratio_column(parameters, inputs);
  return std::shared_ptr<PeakSignal>(new PeakSignal(std::move(inputs), std::move(columns), log_ratio));
}

void PeakSignal::open_sequence(const BinLocation& piece) {
  const auto is_here = [&](const Sequence& sequence) {
    return sequence.chromosome == piece.chromosome && sequence.origin == piece.origin;
  };
  if (scores_ != nullptr && is_here(inputs_.sequences()[sequence_])) return;
  const auto found = std::ranges::find_if(inputs_.sequences(), is_here);
  if (found == inputs_.sequences().end()) throw std::logic_error("a piece is of no sequence of the inputs");
  sequence_ = found - inputs_.sequences().begin();
  scores_ = inputs_.open_scores(sequence_, {});
}

template <class Visit>
void PeakSignal::visit_bins(const BinLocation& piece, std::size_t column, std::int64_t begin,
                            std::int64_t end, Visit visit) {
  open_sequence(piece);
  const std::size_t columns = scores_->rows->columns();
  for (std::int64_t from = begin; from < end; from += kSlab) {
    const std::int64_t to = std::min(end, from + kSlab);
    const ScoreArray rows = scores_->rows->read(piece.first_bin + from, piece.first_bin + to, buffer_);
    for (std::int64_t bin = from; bin < to; ++bin) {
      const std::size_t row = bin - from;
      const double value = rows.at(row * columns + column);
      const bool is_missing =
          (!buffer_.missing.empty() && buffer_.missing[row] != 0) || !std::isfinite(value);
      if (!is_missing) visit(value, bin);
    }
  }
}

std::optional<Summit> PeakSignal::summit(const BinLocation& piece, int label, std::int64_t begin,
                                         std::int64_t end) {
  const std::optional<std::size_t> column = column_of_[label];
  std::optional<Summit> best;
  if (column)
    visit_bins(piece, *column, begin, end, [&](double value, std::int64_t bin) {
      if (!best || value > best->value) best = {value, bin};
    });
  return best;
}

SignalMean PeakSignal::log_ratio(const BinLocation& piece, std::int64_t begin, std::int64_t end) {
  SignalMean mean;
  if (log_ratio_)
    visit_bins(piece, *log_ratio_, begin, end, [&](double value, std::int64_t) {
      mean.value += value;
      ++mean.bins;
    });
  if (mean.bins > 0) mean.value /= static_cast<double>(mean.bins);
  return mean;
}

}  // namespace semicrf
