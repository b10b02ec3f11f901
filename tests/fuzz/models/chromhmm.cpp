// Models of ChromHMM: to parameters, to a model's file again, and back from the parameters.
#include "model/exchange/chromhmm.h"

#include "fuzz/models/model_check.h"
#include "io/models/chromhmm_model.h"

namespace semicrf::fuzz {
namespace {

ChromHmmModel read_text(const std::string& text) {
  return read_chromhmm_model(as_file({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const ChromHmmModel model = read_chromhmm_model(as_file(bytes));
    const std::string text = chromhmm_model_text(model);
    try {
      require(chromhmm_model_text(read_text(text)) == text, "a model survives writing and reading");
    } catch (const Error&) {
      require(false, "a model that was written can be read");
    }
    std::vector<Warning> warnings;
    Parameters parameters = parameters_of(model, 200, warnings);
    parameters.training = chromhmm_record_text(model, as_file(bytes), "");
    check_parameters(parameters);
    ChromHmmModel exported = chromhmm_model_of(parameters, "parameters.json", warnings);
    take_chromhmm_record(parameters.training, exported);
    require(exported.states() == model.states() && exported.marks == model.marks,
            "states and marks are kept");
  });
}

}  // namespace semicrf::fuzz
