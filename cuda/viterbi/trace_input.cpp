#include "cuda/viterbi/trace_input.h"

#include <algorithm>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

std::size_t shared_limit() { return wide(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)); }

// What the values of every run are relative to, without the position shifts since the first position of its
// sequence or window, which are left out of all values.
std::vector<BlockOrigin> run_origins(const std::vector<RunOutcome>& outcomes) {
  std::vector<BlockOrigin> runs;
  int sequence = -1;
  double mass = 0;
  for (const RunOutcome& outcome : outcomes) {
    if (outcome.sequence != sequence) mass = 0;
    sequence = outcome.sequence;
    runs.push_back({outcome.whole + outcome.report.mass_before - mass, outcome.offset});
    mass += outcome.report.mass_inside;
  }
  return runs;
}

}  // namespace

template <class Real>
TraceInput<Real>::TraceInput(const Sweep& sweep, const PassInput& input,
                             std::shared_ptr<const MessageBuffers<Real>> messages,
                             std::shared_ptr<TracePlaces> places, std::shared_ptr<TraceBuffers> buffers,
                             const BoundaryState* left, cudaStream_t stream)
    : tables_(sweep.chain().view()),
      scores_(input.scores),
      messages_(std::move(messages)),
      places_(std::move(places)),
      buffers_(std::move(buffers)),
      range_(input.layout.tokens),
      run_(input.layout.sequences.front().cut.run),
      several_(!input.layout.alone()),
      stream_(stream) {
  const std::size_t blocks = messages_->blocks();
  places_->blocks.reserve(blocks);
  places_->links.reserve(blocks);
  places_->far_key.reserve(blocks * wide(tables_.labels));
  place(sweep.outcomes(), left);
}

template <class Real>
void TraceInput<Real>::place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left) {
  std::vector<BlockOrigin> origins = run_origins(outcomes);
  if (several_) {  // block by block, with the sequence it is of
    std::vector<BlockOrigin> of_blocks;
    std::vector<int> sequence_of;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const std::size_t blocks = message_blocks(outcomes[i].range.size());
      of_blocks.insert(of_blocks.end(), blocks, origins[i]);
      sequence_of.insert(sequence_of.end(), blocks, outcomes[i].sequence);
    }
    origins = std::move(of_blocks);
    places_->sequence_of.upload(sequence_of, stream_);
  }
  places_->runs.upload(origins, stream_);
  has_left_ = left != nullptr;
  if (left != nullptr) {
    left_ = {left->whole, left->offset};
    places_->left_entries.upload(entries_of(*left), stream_);
  }
  place_blocks(parameters(), stream_);
  if (!several_) SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template <class Real>
bool TraceInput<Real>::cut_right_edge(PositionRange range) {
  const std::size_t first = wide((range.begin - range_.begin) / kBlock);
  auto messages = std::make_shared<MessageBuffers<Real>>();
  messages->reserve(range, {tables_.labels, tables_.tail != 0, true, false});
  if (!messages->copy_blocks(*messages_, first, stream_)) return false;
  auto places = std::make_shared<TracePlaces>();
  const std::size_t blocks = messages->blocks();
  const std::size_t labels = wide(tables_.labels);
  places->blocks.copy(places_->blocks, first, blocks, stream_);
  places->links.copy(places_->links, first, blocks, stream_);
  places->far_key.copy(places_->far_key, first * labels, blocks * labels, stream_);
  messages_ = std::move(messages);
  places_ = std::move(places);
  range_ = range;
  has_left_ = false;
  return true;
}

template <class Real>
TraceParameters<Real> TraceInput<Real>::parameters() const {
  TraceParameters<Real> p{};
  p.tables = tables_;
  p.shape = trace_shape(tables_.labels, tables_.duration, tables_.tail != 0, sizeof(Real), shared_limit());
  p.sequence = scores_->view();
  p.batch = several_ ? scores_->on_device() : nullptr;
  p.sequence_of = several_ ? places_->sequence_of.get() : nullptr;
  p.store = messages_->view();
  p.left_state = has_left_ ? places_->left_entries.get() : nullptr;
  p.left = left_;
  p.runs = places_->runs.get();
  p.blocks = places_->blocks.get();
  p.links = places_->links.get();
  p.far_key = places_->far_key.get();
  p.range_begin = range_.begin;
  p.range_end = range_.end;
  p.run = several_ ? kBlock : run_;
  return p;
}

template class TraceInput<float>;
template class TraceInput<double>;

}  // namespace semicrf::cuda
