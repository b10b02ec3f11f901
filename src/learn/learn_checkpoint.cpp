#include "learn/learn_checkpoint.h"

#include <utility>

#include "io/checkpoint/checkpoint.h"

namespace semicrf {
namespace {

constexpr const char* kKind = "semicrf-learn-checkpoint 1";

// The numbers that a fit changes, with their names in the file. Scores of forbidden things are -inf.
template <class Model, class Visit>
void visit_numbers(Model& parameters, Visit visit) {
  visit("start", parameters.chain.start_scores);
  visit("transition", parameters.chain.transition);
  visit("duration", parameters.chain.duration_bias);
  visit("tail", parameters.chain.log_tail);
  visit("weights", parameters.emission->weights);
  visit("bias", parameters.emission->bias);
}

EmState read_state(CheckpointReader& fields, const Parameters& shape) {
  EmState state;
  state.parameters = shape;
  state.log_likelihood = fields.list("log_likelihood");
  if (state.log_likelihood.empty()) return state;
  visit_numbers(state.parameters, [&](const char* key, std::vector<double>& numbers) {
    std::vector<double> found = fields.list(key, CheckpointReader::Numbers::kScores);
    if (found.size() != numbers.size())
      fields.fail(std::string("the field ") + key + " has the wrong length");
    numbers = std::move(found);
  });
  state.sizes = fields.list("sizes");
  state.bins = fields.list("bins");
  state.validation = fields.optional("validation");
  state.finished = fields.flag("finished");
  state.converged = fields.flag("converged");
  const std::size_t labels = shape.labels.size();
  if (state.finished ? state.bins.size() != labels : !state.bins.empty())
    fields.fail("the field bins has the wrong length");
  return state;
}

}  // namespace

std::string learn_checkpoint_text(const std::string& fingerprint, const std::vector<EmState>& states) {
  CheckpointWriter fields(kKind, fingerprint);
  fields.put("fits", static_cast<std::int64_t>(states.size()));
  for (const EmState& state : states) {
    fields.put("log_likelihood", state.log_likelihood);
    if (state.log_likelihood.empty()) continue;
    visit_numbers(state.parameters,
                  [&](const char* key, const std::vector<double>& numbers) { fields.put(key, numbers); });
    fields.put("sizes", state.sizes);
    fields.put("bins", state.bins);
    fields.put("validation", state.validation);
    fields.put("finished", state.finished);
    fields.put("converged", state.converged);
  }
  return fields.finish();
}

std::vector<EmState> read_learn_checkpoint(const std::string& path, const std::string& fingerprint,
                                           const std::vector<Parameters>& shapes) {
  CheckpointReader fields(path, kKind, fingerprint);
  if (fields.integer<std::size_t>("fits") != shapes.size()) fields.fail("the number of fits is wrong");
  std::vector<EmState> states;
  states.reserve(shapes.size());
  for (const Parameters& shape : shapes) states.push_back(read_state(fields, shape));
  return states;
}

LearnCheckpoint::LearnCheckpoint(std::string path, std::string fingerprint, int every,
                                 std::vector<EmState> states, std::function<void(const std::string&)> say)
    : path_(std::move(path)),
      fingerprint_(std::move(fingerprint)),
      every_(every),
      states_(std::move(states)),
      file_(path_, kept(), std::move(say)) {}

void LearnCheckpoint::reached(std::size_t index, const EmState& state) {
  if (path_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    states_[index] = state;
  }
  file_.reached(kept(), state.finished || std::ssize(state.log_likelihood) % every_ == 0);
}

CheckpointState LearnCheckpoint::kept() {
  return {[this] {
            const std::lock_guard lock(mutex_);
            return learn_checkpoint_text(fingerprint_, states_);
          },
          "how far the fits are"};
}

}  // namespace semicrf
