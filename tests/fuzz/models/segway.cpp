// Models of Segway.
#include "model/exchange/segway.h"

#include "fuzz/models/model_check.h"
#include "io/models/segway_model.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  for (const SegwayOptions& options : {SegwayOptions{1, {}, {}}, SegwayOptions{100, 5, true}}) {
    allow_refusal([&] {
      std::vector<Warning> warnings;
      const SegwayModel model = read_segway_model(as_file(bytes), warnings);
      require(model.states() > 0 && model.mean.size() == model.states() * model.tracks.size(),
              "shapes agree");
      require(frame_transitions(model).size() == model.states() * model.states(), "shapes agree");
      check_parameters(parameters_of(model, options, warnings));
    });
  }
}

}  // namespace semicrf::fuzz
