// Features and the tables of linear heads on the device, for projection_launch.h.
#pragma once

#include <map>

#include "core/score_window.h"
#include "cuda/device/device_buffer.h"
#include "cuda/scores/projection_launch.h"
#include "cuda/scores/score_upload.h"

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

class Features {
 public:
  // The rows for the work that `stream` gets from now on. They must not be in use.
  FeatureView bring(const FeatureRows& features, ScoreUpload& copies, cudaStream_t stream);

 private:
  DeviceBuffer<float> f32_;
  DeviceBuffer<double> f64_;
  DeviceBuffer<int> true_labels_;
};

}  // namespace semicrf::cuda
