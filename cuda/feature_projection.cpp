#include "cuda/feature_projection.h"

namespace semicrf::cuda {

DeviceScores Features::bring(const FeatureRows& features, ScoreUpload& copies, cudaStream_t stream) {
  const std::int64_t rows = features.end - features.begin;
  const auto columns = static_cast<std::size_t>(features.tracks);
  const std::size_t entries = static_cast<std::size_t>(rows) * columns;
  const auto copy = [&](const auto* from, auto& buffer) {
    buffer.reserve(entries);
    copies.begin({{reinterpret_cast<const unsigned char*>(from),
                   reinterpret_cast<unsigned char*>(buffer.get()), columns * sizeof(*from)}},
                 rows);
    copies.wait(rows, stream);
  };
  if (features.rows.f32 != nullptr) {
    copy(features.rows.f32, f32_);
    return {f32_.get(), nullptr};
  }
  copy(features.rows.f64, f64_);
  return {nullptr, f64_.get()};
}

HeadView Features::head(const HeadTable& table, cudaStream_t stream) {
  Table& there = tables_[&table];
  if (there.bias.size() == 0) {
    there.bias.upload(table.bias, stream);
    if (!table.weights.empty()) there.weights.upload(table.weights, stream);
  }
  return {there.weights.get(), there.bias.get(), table.first, table.last};
}

}  // namespace semicrf::cuda
