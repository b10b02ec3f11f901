#include "analyses/claims/reversed_chain.h"

#include <algorithm>
#include <vector>

#include "core/chain_model.h"

namespace semicrf {
namespace {

// Copies the rows in the opposite order into `memory`.
template <class Real>
const Real* reversed_rows(const Real* rows, std::size_t count, std::size_t labels,
                          std::vector<Real>& memory) {
  memory.resize(count * labels);
  for (std::size_t row = 0; row < count; ++row)
    std::copy_n(rows + (count - 1 - row) * labels, labels, memory.data() + row * labels);
  return memory.data();
}

ScoreArray reversed_array(const ScoreArray& array, std::size_t count, std::size_t labels, RowBuffer& memory) {
  ScoreArray result;
  if (array.f32 != nullptr) result.f32 = reversed_rows(array.f32, count, labels, memory.f32);
  if (array.f64 != nullptr) result.f64 = reversed_rows(array.f64, count, labels, memory.f64);
  return result;
}

}  // namespace

ChainModel reversed(const ChainModel& model) {
  ChainModel mirror = model;
  const auto labels = static_cast<std::size_t>(model.num_labels);
  for (std::size_t from = 0; from < labels; ++from)
    for (std::size_t to = 0; to < labels; ++to)
      mirror.transition[to * labels + from] = model.transition[from * labels + to];
  mirror.start_scores = model.end_scores;
  mirror.end_scores = model.start_scores;
  if (model.initial == InitialTerm::kUniform) {
    mirror.end_scores.resize(labels);
    for (int c = 0; c < model.num_labels; ++c) mirror.end_scores[c] += initial_term(model, c);
  }
  mirror.initial = InitialTerm::kNone;
  return mirror;
}

ScoreWindow ReversedSource::read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) {
  const std::int64_t total = source_.length();
  const ScoreWindow there = projected_.read(total - end, total - begin, forward_);
  const auto count = static_cast<std::size_t>(end - begin);
  ScoreWindow window = there;
  window.begin = begin;
  window.end = end;
  window.sequence = 0;
  window.emissions = reversed_array(there.emissions, count, labels_, buffers.emissions);
  window.start_scores = reversed_array(there.end_scores, count, labels_, buffers.start);
  window.end_scores = reversed_array(there.start_scores, count, labels_, buffers.end);
  return window;
}

}  // namespace semicrf
