#include "model/scores/edge_source.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace semicrf {
namespace {

// Every column `roles` times.
template <class Value>
void repeat_columns(const Value* from, std::size_t count, std::size_t roles, std::vector<Value>& to) {
  to.resize(count * roles);
  Value* out = to.data();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t role = 0; role < roles; ++role) *out++ = from[i];
}

ScoreArray repeated(const ScoreArray& scores, std::size_t count, std::size_t roles, RowBuffer& buffer) {
  if (scores.f32 != nullptr) {
    repeat_columns(scores.f32, count, roles, buffer.f32);
    return {buffer.f32.data(), nullptr};
  }
  repeat_columns(scores.f64, count, roles, buffer.f64);
  return {nullptr, buffer.f64.data()};
}

// Scores of segments' edges, in double; all 0 where `scores` is empty.
ScoreArray edge_scores(const ScoreArray& scores, std::size_t count, std::size_t roles, RowBuffer& buffer) {
  buffer.f64.assign(count * roles, 0);
  for (std::size_t i = 0; i < count * roles && !scores.empty(); ++i) buffer.f64[i] = scores.at(i / roles);
  return {nullptr, buffer.f64.data()};
}

}  // namespace

ScoreWindow with_edge_roles(const ScoreWindow& window, const EdgeRoles& roles, ScoreBuffers& buffers,
                            std::vector<double>& baseline) {
  const auto labels = static_cast<std::size_t>(roles.base().num_labels);
  const auto count = static_cast<std::size_t>(roles.count());
  const auto entries = static_cast<std::size_t>(window.end - window.begin) * labels;
  ScoreWindow result = window;
  result.sequence = 0;
  result.emissions = repeated(window.emissions, entries, count, buffers.emissions);
  if (!window.start_scores.empty() || roles.has_whole_pieces()) {
    result.start_scores = edge_scores(window.start_scores, entries, count, buffers.start);
    if (window.begin == 0 && roles.cut().left) {
      const std::vector<double> first = roles.first_starts(window.length);
      std::copy(first.begin(), first.end(), buffers.start.f64.begin());
    }
  }
  if (!window.end_scores.empty()) {
    result.end_scores = edge_scores(window.end_scores, entries, count, buffers.end);
    if (roles.cut().right && window.end == window.length)
      for (std::size_t i = 0; i < labels * count; ++i) buffers.end.f64[(entries - labels) * count + i] = 0;
  }
  repeat_columns(window.baseline.data(), window.baseline.size(), count, baseline);
  result.baseline = baseline;
  return result;
}

std::unique_ptr<ScoreSource> with_edge_roles(std::unique_ptr<ScoreSource> source, const EdgeRoles* roles) {
  if (roles == nullptr) return source;
  return std::make_unique<EdgeSource>(std::move(source), *roles);
}

EdgeSource::EdgeSource(std::unique_ptr<ScoreSource> source, const EdgeRoles& roles)
    : source_(std::move(source)), projected_(*source_), roles_(roles) {}

std::size_t EdgeSource::score_bytes() const {
  const auto count = static_cast<std::size_t>(roles_.count());
  const std::size_t starts =
      roles_.has_whole_pieces() ? static_cast<std::size_t>(roles_.chain().num_labels) * sizeof(double) : 0;
  return 2 * count * source_->score_bytes() + starts;  // boundary scores are doubles
}

std::size_t EdgeSource::bytes_per_position() const { return source_->bytes_per_position() + score_bytes(); }

ScoreWindow EdgeSource::read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) {
  return with_edge_roles(projected_.read(begin, end, read_), roles_, buffers, baseline_);
}

}  // namespace semicrf
