#include "io/models/chromhmm_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/error.h"
#include "core/text/fixed_decimal.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/params/training_record.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

constexpr std::size_t kMostStates = 1000, kMostMarks = 10000;
constexpr double kRowTolerance = 1e-3;
constexpr const char* kProgram = "ChromHMM";  // program named in records

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ptr != text.data() + text.size()) return std::nullopt;
  // 1e-400 is 0; 1e400 and whole numbers that are too large are none.
  if (std::is_floating_point_v<Number> && parsed.ec == std::errc::result_out_of_range &&
      text.find_first_of("eE") != std::string_view::npos &&
      text.substr(text.find_first_of("eE") + 1).starts_with('-'))
    return Number{};
  if (parsed.ec != std::errc()) return std::nullopt;
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
      const std::vector<std::string_view> fields = split_at('\t', line);
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
    throw InputError(path_, lines_.line_number(), what, kAdvice);
  }

  void read_header() {
    std::string line;
    if (!lines_.next(line)) throw InputError({path_, "line 1", "is missing: the file is empty", kAdvice});
    const std::vector<std::string_view> fields = split_at('\t', line);
    const auto states = fields.size() == 5 ? number_of<std::int64_t>(fields[0]) : std::nullopt;
    const auto marks = fields.size() == 5 ? number_of<std::int64_t>(fields[1]) : std::nullopt;
    const auto likelihood = fields.size() == 5 ? number_of<double>(fields[3]) : std::nullopt;
    const auto iterations = fields.size() == 5 ? number_of<std::int64_t>(fields[4]) : std::nullopt;
    if (!states || !marks || !likelihood || !std::isfinite(*likelihood) || !iterations)
      fail(
          "is not the first line of a ChromHMM model: the numbers of states and marks, a letter, a log "
          "likelihood, iterations");
    if (*states < 1 || static_cast<std::size_t>(*states) > kMostStates)
      fail(fmt::format("has {} states; 1 to {} can be read", *states, kMostStates));
    if (*marks < 1 || static_cast<std::size_t>(*marks) > kMostMarks)
      fail(fmt::format("has {} marks; 1 to {} can be read", *marks, kMostMarks));
    if (fields[2].size() != 1 ||
        std::string_view(kChromHmmOrders).find(fields[2].front()) == std::string_view::npos)
      fail("has the order " + in_quotes(std::string(fields[2])) + "; ChromHMM has E, T and U");
    states_ = *states;
    model_.order = fields[2].front();
    model_.log_likelihood = *likelihood;
    model_.iterations = *iterations;
    model_.marks.resize(*marks);
    model_.first.assign(states_, kAbsent);
    model_.transition.assign(states_ * states_, kAbsent);
    model_.emission.assign(states_ * model_.marks.size(), kAbsent);
    zeros_ = model_.emission;
    row_lines_.assign(states_, 0);
    mark_lines_.assign(model_.emission.size(), 0);
  }

  // A number from `first` to `first` + count - 1, counted from 0.
  std::size_t index(std::string_view text, std::int64_t first, std::size_t count,
                    const std::string& what) const {
    const auto found = number_of<std::int64_t>(text);
    if (!found || *found < first || *found - first >= static_cast<std::int64_t>(count))
      fail(in_quotes(std::string(text)) + " is not the number of a " + what);
    return *found - first;
  }

  void set(std::string_view text, double& entry) const {
    const auto value = number_of<double>(text);
    if (!value || !(*value >= 0 && *value <= 1)) fail(in_quotes(std::string(text)) + " is not a probability");
    if (entry != kAbsent) fail("gives a probability that a line before gives already");
    entry = *value;
  }

  void expect_fields(const std::vector<std::string_view>& fields, std::size_t count) const {
    if (fields.size() != count)
      fail(fmt::format("has {} columns; {} has {}", fields.size(), fields[0], count));
  }

  void read_first(const std::vector<std::string_view>& fields) {
    expect_fields(fields, 3);
    set(fields[2], model_.first[index(fields[1], 1, states_, "state")]);
    first_line_ = lines_.line_number();
  }

  void read_transition(const std::vector<std::string_view>& fields) {
    expect_fields(fields, 4);
    const std::size_t from = index(fields[1], 1, states_, "state"),
                      to = index(fields[2], 1, states_, "state");
    set(fields[3], model_.transition[from * states_ + to]);
    row_lines_[from] = lines_.line_number();
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
      fail(fmt::format("calls mark {} {}, before it was {}", mark, in_quotes(given), in_quotes(name)));
    set(fields[5], (value == 1 ? model_.emission : zeros_)[state * marks + mark]);
    mark_lines_[state * marks + mark] = lines_.line_number();
  }

  void check_complete() const {
    const auto missing = [&](const std::string& what) {
      fail("ends without a line for " + what + ": the file is incomplete");
    };
    const auto check_sum = [&](double sum, std::int64_t line, const std::string& what) {
      if (std::fabs(sum - 1) > kRowTolerance)
        throw InputError(path_, line, fmt::format("{} sum to {:.6g}, not to 1", what, sum), kAdvice);
    };
    double sum = 0;
    for (std::size_t c = 0; c < states_; ++c) {
      if (model_.first[c] == kAbsent) missing(fmt::format("probinit of state {}", c + 1));
      sum += model_.first[c];
    }
    check_sum(sum, first_line_, "the probabilities of first states");
    for (std::size_t from = 0; from < states_; ++from) {
      sum = 0;
      for (std::size_t to = 0; to < states_; ++to) {
        if (model_.transition[from * states_ + to] == kAbsent)
          missing(fmt::format("the transition from state {} to {}", from + 1, to + 1));
        sum += model_.transition[from * states_ + to];
      }
      check_sum(sum, row_lines_[from], fmt::format("the transitions from state {}", from + 1));
      for (std::size_t m = 0; m < model_.marks.size(); ++m) {
        const double one = model_.emission[from * model_.marks.size() + m],
                     zero = zeros_[from * model_.marks.size() + m];
        const std::string which = fmt::format("mark {} in state {}", m, from + 1);
        if (one == kAbsent || zero == kAbsent) missing("the emission of " + which);
        check_sum(one + zero, mark_lines_[from * model_.marks.size() + m], "the emissions of " + which);
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
  // The last lines with first states, with transitions from each state (N), with each emission (N, M).
  std::int64_t first_line_ = 0;
  std::vector<std::int64_t> row_lines_, mark_lines_;
};

}  // namespace

ChromHmmModel read_chromhmm_model(const std::string& path) { return ModelReader(path).read(); }

std::string chromhmm_model_text(const ChromHmmModel& model) {
  const std::size_t states = model.states(), marks = model.marks.size();
  std::string text = fmt::format("{}\t{}\t{}\t{}\t{}\n", states, marks, model.order,
                                 exact_text(model.log_likelihood), model.iterations);
  for (std::size_t c = 0; c < states; ++c)
    text += fmt::format("probinit\t{}\t{}\n", c + 1, exact_text(model.first[c]));
  for (std::size_t from = 0; from < states; ++from)
    for (std::size_t to = 0; to < states; ++to)
      text += fmt::format("transitionprobs\t{}\t{}\t{}\n", from + 1, to + 1,
                          exact_text(model.transition[from * states + to]));
  for (std::size_t c = 0; c < states; ++c)
    for (std::size_t m = 0; m < marks; ++m) {
      const double one = model.emission[c * marks + m];
      const std::string begin = fmt::format("emissionprobs\t{}\t{}\t{}", c + 1, m, model.marks[m]);
      text += begin + "\t0\t" + exact_text(1 - one) + '\n';
      text += begin + "\t1\t" + exact_text(one) + '\n';
    }
  return text;
}

namespace {

// `corner`, then names; a row of `columns` numbers for each state.
std::string table_text(const std::string& corner, const std::vector<std::string>& names,
                       const std::vector<double>& values) {
  std::string text = corner;
  for (const std::string& name : names) text.append("\t").append(name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % names.size() == 0) text.append("\n").append(fmt::to_string(i / names.size() + 1));
    text.append("\t").append(exact_text(values[i]));
  }
  return text + "\n";
}

}  // namespace

std::string chromhmm_emissions_text(const ChromHmmModel& model) {
  return table_text("State (Emission order)", model.marks, model.emission);
}

std::string chromhmm_transitions_text(const ChromHmmModel& model) {
  std::vector<std::string> states;
  for (std::size_t i = 1; i <= model.states(); ++i) states.push_back(fmt::to_string(i));
  return table_text("State (from\\to) (Emission order)", states, model.transition);
}

std::string chromhmm_record_text(const ChromHmmModel& model, const std::string& path,
                                 const std::string& segments) {
  Json record{{"program", kProgram},
              {"emission", "bernoulli"},
              {"file", std::filesystem::path(path).filename().string()},
              {"sha256", file_sha256(path)},
              {"log_likelihood", model.log_likelihood},
              {"iterations", model.iterations}};
  if (!segments.empty())
    record["segments"] = {{"file", std::filesystem::path(segments).filename().string()},
                          {"sha256", file_sha256(segments)}};
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void take_chromhmm_record(const std::string& training, ChromHmmModel& model) {
  if (training.empty()) return;
  const Json record = Json::parse(training, nullptr, false);
  if (!record.is_object() || !record.contains("program") || record["program"] != kProgram) return;
  if (const auto found = record.find("log_likelihood"); found != record.end() && found->is_number())
    model.log_likelihood = found->get<double>();
  if (const auto found = record.find("iterations"); found != record.end() && found->is_number_integer())
    model.iterations = found->get<std::int64_t>();
}

}  // namespace semicrf
