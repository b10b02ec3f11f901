#include "cuda/passes/forward_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

// Writes the messages of one window as logarithms, from their numbers and scales. On the host: this is for
// drawing segmentations, which reads them there.
template <class Real>
class MessageWriter {
 public:
  // `whole`: what all messages are written relative to.
  MessageWriter(const ChainModel& model, const ScoreWindow& scores, PositionRange range,
                const ForwardArrays& out, double whole)
      : model_(model),
        scores_(scores),
        range_(range),
        out_(out),
        whole_(whole),
        labels_(wide(model.num_labels)) {}

  // Block `block` of the window, which is block `b` of `kept`.
  void write_block(std::int64_t block, const RunOutcome& outcome, const MessageStore<Real>& kept,
                   std::size_t b) {
    const double run_whole = outcome.whole - whole_;
    double shifts = kept.mass[b];  // shifts of all positions before this one
    const std::int64_t count = std::min<std::int64_t>(kBlock, range_.size() - block * kBlock);
    std::vector<double> content(labels_, 0.0);
    for (std::int64_t slot = 0; slot < count; ++slot) {
      const std::size_t row = wide(block * kBlock + slot);
      const double before = run_whole + kept.base[b] + shifts;
      shifts += kept.shift[b * kBlock + wide(slot)];
      const double after = run_whole + kept.base[b] + shifts;
      if (out_.start_levels != nullptr) out_.start_levels[row] = before;
      if (out_.end_levels != nullptr) out_.end_levels[row] = after;
      write_row(row, kept, b, wide(slot), content, outcome.offset,
                out_.start_levels != nullptr ? 0.0 : before, out_.end_levels != nullptr ? 0.0 : after);
    }
  }

 private:
  // What has lost digits beside the largest of its position is nothing.
  static double log_of(Real number) {
    return number >= std::numeric_limits<Real>::min() ? std::log(static_cast<double>(number))
                                                      : kNegativeInfinity;
  }

  // `content`: of the block up to this position, which is added.
  void write_row(std::size_t row, const MessageStore<Real>& kept, std::size_t b, std::size_t slot,
                 std::vector<double>& content, double offset, double start_level, double end_level) const {
    const std::size_t in_slab = b * kBlock + slot;
    const std::size_t in_window = wide(range_.begin - scores_.begin) + row;
    const bool exact = kept.exact[b] != 0;
    const std::size_t pool = exact ? (wide(kept.exact[b] - 1) * kBlock + slot) * labels_ : 0;
    double most = kNegativeInfinity;
    for (std::size_t c = 0; c < labels_; ++c)
      most = std::max(most, scores_.emissions.at(in_window * labels_ + c));
    for (std::size_t c = 0; c < labels_; ++c) {
      const std::size_t at = row * labels_ + c;
      const std::size_t from = in_slab * labels_ + c;
      const std::size_t scale = b * labels_ + c;
      if (out_.starts != nullptr) {
        double value = exact ? kept.gamma.pool[pool + c]
                             : log_of(kept.gamma.numbers[from]) +
                                   (kept.gamma.scale[scale] + kept.gamma.level[in_slab] * kLog2);
        if (!scores_.start_scores.empty()) value += scores_.start_scores.at(in_window * labels_ + c);
        if (range_.begin + static_cast<std::int64_t>(row) == 0 && !model_.start_scores.empty())
          value += model_.start_scores[c];
        out_.starts[at] = (value + offset) + start_level;
      }
      if (out_.ends != nullptr) {
        const double value = exact ? kept.alpha.pool[pool + c]
                                   : log_of(kept.alpha.numbers[from]) +
                                         (kept.alpha.scale[scale] + kept.alpha.level[in_slab] * kLog2);
        out_.ends[at] = (value + offset) + end_level;
      }
      if (out_.tails == nullptr) continue;
      // A fast block's tail share lacks the content of the block up to the position.
      double score = scores_.emissions.at(in_window * labels_ + c) - kept.shift[in_slab];
      if (scores_.subtract_position_max && most != kNegativeInfinity) score -= most;
      if (!scores_.baseline.empty()) score -= scores_.baseline[c];
      content[c] += score;
      double value = kNegativeInfinity;
      if (model_.has_tail()) {
        value = exact ? kept.tail.pool[pool + c]
                      : log_of(kept.tail.numbers[from]) + kept.tail.scale[scale] + content[c];
      }
      out_.tails[at] = (value + offset) + end_level;
    }
  }

  const ChainModel& model_;
  const ScoreWindow& scores_;
  PositionRange range_;
  const ForwardArrays& out_;
  double whole_;
  std::size_t labels_;
};

}  // namespace

template <class Real>
auto ForwardPass<Real>::sweep() -> Sweep& {
  if (!sweep_) sweep_ = std::make_unique<Sweep>(context_, Direction::kForward);
  return *sweep_;
}

template <class Real>
ForwardWindow ForwardPass<Real>::window(const PassInput& input, const ScoreWindow& scores,
                                        const BoundaryState* left, const ForwardArrays& out) {
  const bool keep = out.starts != nullptr || out.ends != nullptr || out.tails != nullptr ||
                    out.start_levels != nullptr || out.end_levels != nullptr;
  if (keep) {
    messages_.reserve(input.layout.tokens, {context_.model.num_labels, context_.model.has_tail(), true});
    messages_.want_all_alphas();
    messages_.clear(context_.stream.get());
  }
  const std::vector<RunOutcome>& outcomes =
      sweep().run(input.layout, input.scores->on_device(), left, keep ? &messages_ : nullptr);
  ForwardWindow result;
  result.chunks = std::move(context_.reports_of(input.layout, outcomes).front());
  result.right = sweep().state_at_end();
  result.whole = left != nullptr ? left->whole : 0.0;
  if (keep) write_messages(input, scores, out, result.whole);
  return result;
}

template <class Real>
void ForwardPass<Real>::write_messages(const PassInput& input, const ScoreWindow& scores,
                                       const ForwardArrays& out, double whole) {
  constexpr std::int64_t kSlab = 4096;  // blocks that are copied to the host at a time
  const PlacedSequence& sequence = input.layout.sequences.front();
  const std::int64_t run = sequence.cut.run;
  HostMessages<Real> kept;
  const cudaStream_t stream = context_.stream.get();
  messages_.download(MessagePart::kPool, 0, messages_.pool_used(stream), kept, stream);
  MessageWriter<Real> writer(context_.model, scores, sequence.range, out, whole);
  for (std::int64_t block = 0; block * kBlock < sequence.range.size(); ++block) {
    if (block % kSlab == 0) {
      const std::size_t rest = messages_.blocks() - wide(block);
      messages_.download(MessagePart::kBlocks, wide(block), std::min(rest, wide(kSlab)), kept, stream);
    }
    writer.write_block(block, sweep().outcomes()[wide(block * kBlock / run)], kept.view, wide(block % kSlab));
  }
}

template <class Real>
std::vector<SequenceResult> ForwardPass<Real>::log_partitions(const PassInput& input) {
  const std::vector<RunOutcome>& outcomes =
      sweep().run(input.layout, input.scores->on_device(), nullptr, nullptr);
  DeviceContext::Reports reports = context_.reports_of(input.layout, outcomes);
  std::vector<SequenceResult> results;
  results.reserve(reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i)
    results.push_back({context_.log_partition(sweep().state_at_end(i)), std::move(reports[i])});
  return results;
}

template class ForwardPass<float>;
template class ForwardPass<double>;

}  // namespace semicrf::cuda
