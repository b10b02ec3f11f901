#include "support/models/shrink.h"

#include <cmath>
#include <sstream>

namespace semicrf::testing {
namespace {

template <class Value>
void keep_rows(std::vector<Value>& values, std::size_t columns, std::size_t begin, std::size_t end) {
  if (values.empty()) return;
  values = std::vector<Value>(values.begin() + static_cast<std::ptrdiff_t>(begin * columns),
                              values.begin() + static_cast<std::ptrdiff_t>(end * columns));
}

template <class Value>
void drop_column(std::vector<Value>& values, std::size_t columns, std::size_t column) {
  std::vector<Value> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i % columns != column) kept.push_back(values[i]);
  values = std::move(kept);
}

ModelCase without_label(ModelCase sample, std::size_t label) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  ChainModel& model = sample.model;
  drop_column(model.transition, labels, label);
  model.transition.erase(model.transition.begin() + static_cast<std::ptrdiff_t>(label * (labels - 1)),
                         model.transition.begin() + static_cast<std::ptrdiff_t>((label + 1) * (labels - 1)));
  for (auto* values :
       {&model.duration_bias, &model.log_tail, &model.start_scores, &model.end_scores, &sample.baseline,
        &sample.emissions.f64, &sample.start_scores.f64, &sample.end_scores.f64})
    drop_column(*values, labels, label);
  for (auto* values : {&sample.emissions.f32, &sample.start_scores.f32, &sample.end_scores.f32})
    drop_column(*values, labels, label);
  model.num_labels -= 1;
  return sample;
}

// The first `durations` of the table; labels with a tail keep a finite last entry.
ModelCase with_durations(ModelCase sample, int durations) {
  ChainModel& model = sample.model;
  const auto labels = static_cast<std::size_t>(model.num_labels);
  keep_rows(model.duration_bias, labels, 0, static_cast<std::size_t>(durations));
  for (std::size_t c = 0; c < labels && model.has_tail(); ++c) {
    double& last = model.duration_bias[model.duration_bias.size() - labels + c];
    if (model.log_tail[c] != kNegativeInfinity && last == kNegativeInfinity) last = 0;
  }
  model.max_duration = durations;
  return sample;
}

void describe(ModelCase& sample, const std::string& change) {
  sample.description += "; ";
  sample.description += change;
}

template <class Values>
void write_values(std::ostringstream& text, const std::string& name, const Values& values) {
  constexpr std::size_t kMost = 120;
  if (values.empty()) return;
  text << "sample." << name << " = {";
  for (std::size_t i = 0; i < std::min(kMost, values.size()); ++i) {
    const auto value = static_cast<double>(values[i]);
    text << (i == 0 ? "" : ", ");
    if (value == kNegativeInfinity) {
      text << "kNegativeInfinity";
    } else {
      text << value;
    }
  }
  text << (values.size() > kMost ? ", ... };\n" : "};\n");
}

}  // namespace

ModelCase part_of_case(const ModelCase& sample, std::int64_t begin, std::int64_t end) {
  ModelCase part = sample;
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  for (ScoreTable* table : {&part.emissions, &part.start_scores, &part.end_scores}) {
    keep_rows(table->f32, labels, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
    keep_rows(table->f64, labels, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
  }
  part.length = end - begin;
  describe(part, "positions " + std::to_string(begin) + ".." + std::to_string(end));
  return part;
}

std::vector<ModelCase> smaller_cases(const ModelCase& sample) {
  std::vector<ModelCase> smaller;
  const std::int64_t length = sample.length;
  for (std::int64_t cut = length / 2; cut > 0; cut /= 2) {
    smaller.push_back(part_of_case(sample, 0, length - cut));
    smaller.push_back(part_of_case(sample, cut, length));
  }
  const int durations = sample.model.max_duration;
  for (int cut = durations / 2; cut > 0; cut /= 2) {
    smaller.push_back(with_durations(sample, durations - cut));
    describe(smaller.back(), "K=" + std::to_string(durations - cut));
  }
  for (int label = 0; label < sample.model.num_labels && sample.model.num_labels > 1; ++label) {
    smaller.push_back(without_label(sample, static_cast<std::size_t>(label)));
    describe(smaller.back(), "without label " + std::to_string(label));
  }
  const auto leave_out = [&](const char* name, auto member) {
    ModelCase rest = sample;
    auto& part = member(rest);
    if (part.empty()) return;
    part = {};
    describe(rest, std::string("without ") + name);
    smaller.push_back(std::move(rest));
  };
  leave_out(
      "Ps", [](ModelCase & one) -> auto& { return one.start_scores; });
  leave_out(
      "Pe", [](ModelCase & one) -> auto& { return one.end_scores; });
  leave_out(
      "pi_start", [](ModelCase & one) -> auto& { return one.model.start_scores; });
  leave_out(
      "pi_end", [](ModelCase & one) -> auto& { return one.model.end_scores; });
  leave_out(
      "tails", [](ModelCase & one) -> auto& { return one.model.log_tail; });
  leave_out(
      "means", [](ModelCase & one) -> auto& { return one.baseline; });
  if (sample.subtract_position_max) {
    smaller.push_back(sample);
    smaller.back().subtract_position_max = false;
    describe(smaller.back(), "without position-max");
  }
  return smaller;
}

std::string as_code(const ModelCase& sample) {
  std::ostringstream text;
  text.precision(17);
  text << "// " << sample.description << "\nModelCase sample;\nsample.length = " << sample.length
       << ";\nsample.model.num_labels = " << sample.model.num_labels
       << ";\nsample.model.max_duration = " << sample.model.max_duration << ";\n";
  if (sample.model.initial == InitialTerm::kNone) text << "sample.model.initial = InitialTerm::kNone;\n";
  if (sample.subtract_position_max) text << "sample.subtract_position_max = true;\n";
  write_values(text, "model.transition", sample.model.transition);
  write_values(text, "model.duration_bias", sample.model.duration_bias);
  write_values(text, "model.log_tail", sample.model.log_tail);
  write_values(text, "model.start_scores", sample.model.start_scores);
  write_values(text, "model.end_scores", sample.model.end_scores);
  write_values(text, "baseline", sample.baseline);
  const auto table = [&](const std::string& name, const ScoreTable& scores) {
    write_values(text, name + ".f32", scores.f32);
    write_values(text, name + ".f64", scores.f64);
  };
  table("emissions", sample.emissions);
  table("start_scores", sample.start_scores);
  table("end_scores", sample.end_scores);
  return text.str();
}

}  // namespace semicrf::testing
