#include "cuda/scores/feature_projection.h"

#include <vector>

#include "core/sizes.h"

namespace semicrf::cuda {

HeadView HeadTables::view(const HeadTable& table, cudaStream_t stream) {
  Table& there = tables_[&table];
  if (there.bias.size() == 0) {
    there.bias.upload(table.bias, stream);
    if (!table.weights.empty()) there.weights.upload(table.weights, stream);
  }
  return {there.weights.get(), there.bias.get(), table.first, table.last};
}

FeatureView Features::bring(const FeatureRows& features, ScoreUpload& copies, cudaStream_t stream) {
  const std::int64_t rows = features.end - features.begin;
  std::vector<UploadArray> uploads;
  const auto add = [&](const auto* from, auto& buffer, std::size_t columns) {
    if (from == nullptr) return;
    buffer.reserve(wide(rows) * columns);
    uploads.push_back({reinterpret_cast<const unsigned char*>(from),
                       reinterpret_cast<unsigned char*>(buffer.get()), columns * sizeof(*from)});
  };
  add(features.rows.f32, f32_, wide(features.tracks));
  add(features.rows.f64, f64_, wide(features.tracks));
  add(features.true_labels, true_labels_, 1);
  copies.begin(std::move(uploads), rows);
  copies.wait(rows, stream);
  const bool single = features.rows.f32 != nullptr;
  return {{single ? f32_.get() : nullptr, single ? nullptr : f64_.get()},
          features.true_labels != nullptr ? true_labels_.get() : nullptr,
          features.tracks};
}

}  // namespace semicrf::cuda
