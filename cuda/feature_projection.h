// Features and the tables of linear heads on the device, for projection_launch.h.
#pragma once

#include <map>

#include "core/score_window.h"
#include "cuda/device_buffer.h"
#include "cuda/projection_launch.h"
#include "cuda/score_upload.h"

namespace semicrf::cuda {

class Features {
 public:
  // The rows for the work that `stream` gets from now on. They must not be in use.
  DeviceScores bring(const FeatureRows& features, ScoreUpload& copies, cudaStream_t stream);
  // The table must stay as it is as long as this lives.
  HeadView head(const HeadTable& table, cudaStream_t stream);

 private:
  struct Table {
    DeviceBuffer<double> weights, bias;
  };
  DeviceBuffer<float> f32_;
  DeviceBuffer<double> f64_;
  std::map<const HeadTable*, Table> tables_;
};

}  // namespace semicrf::cuda
