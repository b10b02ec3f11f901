#include "io/models/chromhmm_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "io/json/json_document.h"
#include "io/label_name.h"
#include "io/params/training_record.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

constexpr std::size_t kMostStates = 1000, kMostMarks = 10000;
constexpr double kRowTolerance = 1e-3;
constexpr double kLeastEmission = 1e-9;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc::result_out_of_range && parsed.ptr == text.data() + text.size())
    return Number{};  // 1e-400
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

class ModelReader {
 public:
  explicit ModelReader(const std::string& path) : path_(path), lines_(path) {}

  ChromHmmModel read() {
    read_header();
    std::string line;
    while (lines_.next(line)) {
      if (line.empty()) continue;
      const std::vector<std::string_view> fields = fields_of(line);
      if (fields[0] == "probinit") {
        read_first(fields);
      } else if (fields[0] == "transitionprobs") {
        read_transition(fields);
      } else if (fields[0] == "emissionprobs") {
        read_emission(fields);
      } else {
        fail("begins with " + in_quotes(std::string(fields[0])) +
             ", not with probinit, transitionprobs or emissionprobs");
      }
    }
    check_complete();
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError({path_, "line " + std::to_string(lines_.line_number()), what, kAdvice});
  }

  void read_header() {
    std::string line;
    if (!lines_.next(line)) throw InputError({path_, "", "is empty", kAdvice});
    const std::vector<std::string_view> fields = fields_of(line);
    const auto states = fields.size() == 5 ? number_of<std::int64_t>(fields[0]) : std::nullopt;
    const auto marks = fields.size() == 5 ? number_of<std::int64_t>(fields[1]) : std::nullopt;
    const auto likelihood = fields.size() == 5 ? number_of<double>(fields[3]) : std::nullopt;
    const auto iterations = fields.size() == 5 ? number_of<std::int64_t>(fields[4]) : std::nullopt;
    if (!states || !marks || !likelihood || !iterations)
      fail(
          "is no first line of a model: numbers of states and marks, a letter, a log likelihood, iterations");
    if (*states < 1 || static_cast<std::size_t>(*states) > kMostStates)
      fail("has " + std::to_string(*states) + " states; 1 to " + std::to_string(kMostStates) +
           " can be read");
    if (*marks < 1 || static_cast<std::size_t>(*marks) > kMostMarks)
      fail("has " + std::to_string(*marks) + " marks; 1 to " + std::to_string(kMostMarks) + " can be read");
    states_ = static_cast<std::size_t>(*states);
    model_.order = fields[2];
    model_.log_likelihood = *likelihood;
    model_.iterations = *iterations;
    model_.marks.resize(static_cast<std::size_t>(*marks));
    model_.first.assign(states_, kAbsent);
    model_.transition.assign(states_ * states_, kAbsent);
    model_.emission.assign(states_ * model_.marks.size(), kAbsent);
    zeros_ = model_.emission;
  }

  // A number from `first` to `first` + count - 1, counted from 0.
  std::size_t index(std::string_view text, std::int64_t first, std::size_t count,
                    const std::string& what) const {
    const auto found = number_of<std::int64_t>(text);
    if (!found || *found < first || *found - first >= static_cast<std::int64_t>(count))
      fail(in_quotes(std::string(text)) + " is no number of a " + what);
    return static_cast<std::size_t>(*found - first);
  }

  void set(std::string_view text, double& entry) const {
    const auto value = number_of<double>(text);
    if (!value || !(*value >= 0 && *value <= 1)) fail(in_quotes(std::string(text)) + " is no probability");
    if (entry != kAbsent) fail("gives a probability that a line before gives already");
    entry = *value;
  }

  void expect_fields(const std::vector<std::string_view>& fields, std::size_t count) const {
    if (fields.size() != count)
      fail("has " + std::to_string(fields.size()) + " columns; " + std::string(fields[0]) + " has " +
           std::to_string(count));
  }

  void read_first(const std::vector<std::string_view>& fields) {
    expect_fields(fields, 3);
    set(fields[2], model_.first[index(fields[1], 1, states_, "state")]);
  }

  void read_transition(const std::vector<std::string_view>& fields) {
    expect_fields(fields, 4);
    const std::size_t from = index(fields[1], 1, states_, "state"),
                      to = index(fields[2], 1, states_, "state");
    set(fields[3], model_.transition[from * states_ + to]);
  }

  // state, mark, name of the mark, 0 or 1, probability
  void read_emission(const std::vector<std::string_view>& fields) {
    expect_fields(fields, 6);
    const std::size_t marks = model_.marks.size();
    const std::size_t state = index(fields[1], 1, states_, "state"),
                      mark = index(fields[2], 0, marks, "mark");
    const std::size_t value = index(fields[4], 0, 2, "value (0 or 1)");
    std::string& name = model_.marks[mark];
    const std::string given(fields[3]);
    if (const std::string problem = name_problem(given); !problem.empty())
      fail("the name of the mark: " + problem);
    if (name.empty()) {
      if (std::ranges::find(model_.marks, given) != model_.marks.end())
        fail("names a second mark " + in_quotes(given));
      name = given;
    }
    if (name != given)
      fail("calls mark " + std::to_string(mark) + " " + in_quotes(given) + ", before it was " +
           in_quotes(name));
    set(fields[5], (value == 1 ? model_.emission : zeros_)[state * marks + mark]);
  }

  void check_complete() const {
    const auto missing = [&](const std::string& what) {
      throw InputError({path_, "", "has no line for " + what + ": is it whole?", kAdvice});
    };
    const auto check_sum = [&](double sum, const std::string& what) {
      if (std::fabs(sum - 1) > kRowTolerance)
        throw InputError({path_, "", what + " sum to " + std::to_string(sum) + ", not to 1", kAdvice});
    };
    double sum = 0;
    for (std::size_t c = 0; c < states_; ++c) {
      if (model_.first[c] == kAbsent) missing("probinit of state " + std::to_string(c + 1));
      sum += model_.first[c];
    }
    check_sum(sum, "the probabilities of first states");
    for (std::size_t from = 0; from < states_; ++from) {
      sum = 0;
      for (std::size_t to = 0; to < states_; ++to) {
        if (model_.transition[from * states_ + to] == kAbsent)
          missing("the transition from state " + std::to_string(from + 1) + " to " + std::to_string(to + 1));
        sum += model_.transition[from * states_ + to];
      }
      check_sum(sum, "the transitions from state " + std::to_string(from + 1));
      for (std::size_t m = 0; m < model_.marks.size(); ++m) {
        const double one = model_.emission[from * model_.marks.size() + m],
                     zero = zeros_[from * model_.marks.size() + m];
        const std::string which = "mark " + std::to_string(m) + " in state " + std::to_string(from + 1);
        if (one == kAbsent || zero == kAbsent) missing("the emission of " + which);
        check_sum(one + zero, "the emissions of " + which);
      }
    }
  }

  static constexpr double kAbsent = -1;
  static constexpr const char* kAdvice = "give the file model_N.txt that ChromHMM LearnModel writes";

  std::string path_;
  TextLines lines_;
  std::size_t states_ = 0;
  ChromHmmModel model_;
  std::vector<double> zeros_;  // (N, M): of a 0
};

}  // namespace

ChromHmmModel read_chromhmm_model(const std::string& path) { return ModelReader(path).read(); }

Parameters parameters_of(const ChromHmmModel& model, std::int64_t bin_size, std::vector<Warning>& warnings) {
  const std::size_t states = model.states(), marks = model.marks.size();
  Parameters parameters;
  for (std::size_t c = 0; c < states; ++c)
    parameters.labels.push_back({"E" + std::to_string(c + 1), std::nullopt});
  for (const std::string& mark : model.marks) {
    Track track;
    track.name = mark;
    track.missing = MissingPolicy::kDefault;
    parameters.tracks.push_back(track);
  }
  parameters.bin_size = bin_size;
  parameters.bin_size_given = true;
  parameters.centering = Centering::kNone;
  ChainModel& chain = parameters.chain;
  chain.num_labels = static_cast<int>(states);
  chain.max_duration = 1;
  chain.initial = InitialTerm::kNone;
  chain.duration_bias.assign(states, 0.0);
  chain.end_scores.assign(states, 0.0);
  const auto log_of = [](double p) { return p > 0 ? std::log(p) : kNegativeInfinity; };
  std::ranges::transform(model.first, std::back_inserter(chain.start_scores), log_of);
  std::ranges::transform(model.transition, std::back_inserter(chain.transition), log_of);
  EmissionHead head{std::vector<double>(states * marks), std::vector<double>(states)};
  for (std::size_t c = 0; c < states; ++c)
    for (std::size_t m = 0; m < marks; ++m) {
      const double given = model.emission[c * marks + m];
      const double p = std::clamp(given, kLeastEmission, 1 - kLeastEmission);
      if (p != given)
        warnings.push_back({"certain-emission", "state " + std::to_string(c + 1) + " has " +
                                                    in_quotes(model.marks[m]) + " with probability " +
                                                    (given < 0.5 ? "0" : "1") +
                                                    "; it is kept 1e-9 away from that"});
      head.weights[c * marks + m] = std::log(p) - std::log1p(-p);
      head.bias[c] += std::log1p(-p);
    }
  parameters.emission = std::move(head);
  return parameters;
}

std::string chromhmm_record_text(const ChromHmmModel& model, const std::string& path) {
  const Json record{{"program", "ChromHMM"},
                    {"file", std::filesystem::path(path).filename().string()},
                    {"sha256", file_sha256(path)},
                    {"log_likelihood", model.log_likelihood},
                    {"iterations", model.iterations}};
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace semicrf
