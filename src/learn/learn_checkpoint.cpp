#include "learn/learn_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/row_view.h"
#include "io/checkpoint/checkpoint.h"

namespace semicrf {
namespace {

constexpr const char* kKind = "semicrf-learn-checkpoint 3";

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

// Numbers of the densities, in the order of the tracks; an infinite one as 0, which none is.
std::vector<double> density_numbers(const Parameters& parameters) {
  std::vector<double> numbers;
  for (const Track& track : parameters.tracks)
    if (track.is_density())
      for (const double number :
           {track.density.mean, track.density.scale, track.density.degrees, track.density.size})
        numbers.push_back(std::isinf(number) ? 0 : number);
  return numbers;
}

void read_densities(CheckpointReader& fields, Parameters& parameters) {
  const std::vector<double> numbers = fields.list("densities");
  if (numbers.size() != density_numbers(parameters).size())
    fields.fail("the field densities has the wrong length");
  const double* next = numbers.data();
  for (Track& track : parameters.tracks) {
    if (!track.is_density()) continue;
    Density& density = track.density;
    density.mean = *next++;
    for (double* const number : {&density.scale, &density.degrees, &density.size}) {
      *number = *next == 0 ? std::numeric_limits<double>::infinity() : *next;
      ++next;
    }
  }
}

// All numbers of expected counts, one list after the other.
std::vector<double> flat(const std::vector<ParameterGradient>& all) {
  std::vector<double> numbers;
  for (const ParameterGradient& counts : all)
    for (const auto list : ParameterGradient::lists())
      numbers.insert(numbers.end(), (counts.*list).begin(), (counts.*list).end());
  return numbers;
}

AheadState read_ahead(CheckpointReader& fields, const Parameters& shape) {
  AheadState ahead;
  const std::optional<double> longest = fields.optional("longest_step");
  if (!longest) fields.fail("the field longest_step has no number");
  ahead.longest = *longest;
  const std::vector<double> numbers = fields.list("counts");
  for (std::size_t done = 0; done < numbers.size();) {
    ParameterGradient& counts = ahead.counts.emplace_back(shape);
    for (const auto list : ParameterGradient::lists()) {
      if (numbers.size() - done < (counts.*list).size()) fields.fail("the field counts has the wrong length");
      std::copy_n(&numbers[done], (counts.*list).size(), (counts.*list).begin());
      done += (counts.*list).size();
    }
  }
  if (ahead.counts.size() > 2) fields.fail("the field counts has the wrong length");
  const std::vector<double> coordinates = fields.list("coordinates");
  if (coordinates.empty()) return ahead;
  if (ahead.counts.empty() || coordinates.size() % ahead.counts.size() != 0)
    fields.fail("the field coordinates has the wrong length");
  const std::size_t each = coordinates.size() / ahead.counts.size();
  for (std::size_t i = 0; i < ahead.counts.size(); ++i) {
    const std::span row = RowView(coordinates, each).row(i);
    ahead.coordinates.emplace_back(row.begin(), row.end());
  }
  return ahead;
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
  read_densities(fields, state.parameters);
  state.sizes = fields.list("sizes");
  state.bins = fields.list("bins");
  state.validation = fields.optional("validation");
  state.entropy = fields.optional("entropy").value_or(0);
  state.validation_entropy = fields.optional("validation_entropy");
  state.ahead = read_ahead(fields, shape);
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
  fields.put("fits", std::ssize(states));
  for (const EmState& state : states) {
    fields.put("log_likelihood", state.log_likelihood);
    if (state.log_likelihood.empty()) continue;
    visit_numbers(state.parameters,
                  [&](const char* key, const std::vector<double>& numbers) { fields.put(key, numbers); });
    fields.put("densities", density_numbers(state.parameters));
    fields.put("sizes", state.sizes);
    fields.put("bins", state.bins);
    fields.put("validation", state.validation);
    fields.put("entropy", std::optional<double>(state.entropy));
    fields.put("validation_entropy", state.validation_entropy);
    fields.put("longest_step", state.ahead.longest);
    fields.put("counts", flat(state.ahead.counts));
    std::vector<double> coordinates;
    for (const std::vector<double>& one : state.ahead.coordinates)
      coordinates.insert(coordinates.end(), one.begin(), one.end());
    fields.put("coordinates", coordinates);
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
  const auto rounds = [this](const EmState& of) { return std::ssize(of.log_likelihood) / every_; };
  bool is_due = state.finished;
  {
    const std::lock_guard lock(mutex_);
    is_due = is_due || rounds(state) > rounds(states_[index]);
    states_[index] = state;
  }
  file_.reached(kept(), is_due);
}

CheckpointState LearnCheckpoint::kept() {
  return {[this] {
            const std::lock_guard lock(mutex_);
            return learn_checkpoint_text(fingerprint_, states_);
          },
          "how far the fits are"};
}

}  // namespace semicrf
