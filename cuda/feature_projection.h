// Features and the tables of linear heads on the device, for projection_launch.h.
#pragma once

#include <map>

#include "core/score_window.h"
#include "cuda/device_buffer.h"
#include "cuda/projection_launch.h"
#include "cuda/score_upload.h"

namespace semicrf::cuda {

// Tables that were brought up once. They must stay as they are as long as this lives.
class HeadTables {
 public:
  HeadView view(const HeadTable& table, cudaStream_t stream);

 private:
  struct Table {
    DeviceBuffer<double> weights, bias;
  };
  std::map<const HeadTable*, Table> tables_;
};

// Arrays of features; see FeatureRows.
struct FeatureBuffers {
  DeviceBuffer<float> f32;
  DeviceBuffer<double> f64;
  DeviceBuffer<int> true_labels;
};

class Features {
 public:
  // The rows for the work that `stream` gets from now on. They must not be in use.
  FeatureView bring(const FeatureRows& features, ScoreUpload& copies, cudaStream_t stream);

 private:
  FeatureBuffers buffers_;
};

}  // namespace semicrf::cuda
