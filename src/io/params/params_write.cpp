#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/fixed_decimal.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/params/density_json.h"
#include "io/params/params_json.h"
#include "model/durations/duration.h"
#include "model/scores/centering.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

// A number that a parameter file cannot hold.
struct Unwritable {
  double number = 0;
};

// Shortest text that reads back as `value`; the string "-inf" for a forbidden score. Throws Unwritable.
std::string number_text(double value) {
  if (value == kNegativeInfinity) return "\"-inf\"";
  if (!(std::fabs(value) <= kMaxNumber)) throw Unwritable{value};
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";  // "-0" would read back as the integer 0
  return exact_text(value);
}

std::string json_string(std::string_view text) { return Json(text).dump(); }

// "[1, 2, 3]" of numbers[0..count-1], each through `text_of`.
template <class TextOf>
std::string list_text(std::size_t count, TextOf text_of) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += text_of(i);
  }
  text += "]";
  return text;
}

std::string row_text(std::span<const double> numbers, std::size_t count) {
  if (numbers.size() != count) throw std::logic_error("a parameter list has the wrong length");
  return list_text(numbers.size(), [&](std::size_t i) { return number_text(numbers[i]); });
}

// A list with one element per line.
std::string block_text(const std::vector<std::string>& lines, const std::string& indent) {
  std::string text = "[";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += i > 0 ? ",\n" : "\n";
    text += indent + "  " + lines[i];
  }
  return text + "\n" + indent + "]";
}

std::string matrix_text(std::span<const double> numbers, std::size_t rows, std::size_t columns,
                        const std::string& indent) {
  if (numbers.size() != rows * columns) throw std::logic_error("a parameter matrix has the wrong shape");
  std::vector<std::string> lines;
  lines.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i)
    lines.push_back(row_text(numbers.subspan(i * columns, columns), columns));
  return block_text(lines, indent);
}

// Numbers of heads, which may not be -inf as scores may. Throws Unwritable.
std::span<const double> finite(const std::vector<double>& numbers) {
  for (const double number : numbers)
    if (number == kNegativeInfinity) throw Unwritable{number};
  return numbers;
}

// Key-value pairs of one object, written one per line.
class ObjectText {
 public:
  explicit ObjectText(std::string indent) : indent_(std::move(indent)) {}
  void add(std::string_view key, const std::string& value) {
    if (!text_.empty()) text_ += ",\n";
    text_ += indent_ + "  " + json_string(key) + ": " + value;
  }
  std::string text() const { return "{\n" + text_ + "\n" + indent_ + "}"; }

 private:
  std::string indent_;
  std::string text_;
};

std::string label_text(const Label& label) {
  std::string text = "{\"name\": " + json_string(label.name);
  if (label.color) text += ", \"color\": \"" + hex_color(*label.color) + "\"";
  return text + "}";
}

std::string density_track_text(const Track& track) {
  const Density& density = track.density;
  const bool is_student = density.family == DensityFamily::kStudent;
  std::string text = "{\"name\": " + json_string(track.name) +
                     ", \"density_of\": " + json_string(track.density_of) +
                     ", \"family\": " + json_string(density_family_name(density.family));
  if (!density.beside.empty())
    text += ", " + json_string(key_beside(density.family)) + ": " + json_string(density.beside);
  text += ", \"mean\": " + number_text(density.mean);
  if (is_student) text += ", \"scale\": " + number_text(density.scale);
  if (is_student && !std::isinf(density.degrees)) text += ", \"degrees\": " + number_text(density.degrees);
  if (!is_student && !std::isinf(density.size)) text += ", \"size\": " + number_text(density.size);
  if (density.outliers > 0) text += ", \"outliers\": " + number_text(density.outliers);
  if (is_student && density.outliers > 0)
    text += ", \"outlier_density\": " + number_text(density.outlier_density);
  if (density.mirrored) text += ", \"mirrored\": true";
  return text + "}";
}

std::string track_text(const Track& track) {
  if (track.is_square())
    return "{\"name\": " + json_string(track.name) + ", \"square_of\": " + json_string(track.square_of) + "}";
  if (track.is_indicator())
    return "{\"name\": " + json_string(track.name) +
           ", \"indicator_of\": " + json_string(track.indicator_of) +
           ", \"value\": " + number_text(track.value) + "}";
  if (track.is_density()) return density_track_text(track);
  return "{\"name\": " + json_string(track.name) +
         ", \"transform\": " + json_string(transform_name(track.transform)) +
         (track.transform == Transform::kBinarize ? ", \"threshold\": " + number_text(track.threshold) : "") +
         ", \"center\": " + number_text(track.center) + ", \"scale\": " + number_text(track.scale) +
         (track.missing == MissingPolicy::kDefault
              ? ""
              : ", \"missing\": " + json_string(missing_policy_name(track.missing))) +
         (track.reads ? ", \"reads\": " + json_string(*track.reads) : "") + "}";
}

std::string tail_text(const DurationSpec& spec) {
  return list_text(spec.tail.size(), [&](std::size_t c) -> std::string {
    const double q = spec.tail[c];
    if (q == 0) return "null";
    return spec.continued_tail(c) ? "\"continue\"" : number_text(q);
  });
}

std::string duration_text(const Parameters& parameters) {
  const DurationSpec& spec = parameters.duration;
  const std::size_t labels = parameters.labels.size();
  ObjectText object("  ");
  object.add("kind", json_string(spec.kind->name()));
  if (spec.kind->is_table()) {
    object.add("bias",
               matrix_text(parameters.chain.duration_bias, parameters.chain.max_duration, labels, "    "));
  }
  const auto formula = spec.kind->parameters();
  for (std::size_t i = 0; i < formula.size(); ++i)
    object.add(formula[i].name,
               list_text(labels, [&](std::size_t c) { return number_text(spec.values[c][i]); }));
  if (!spec.tail.empty()) object.add("tail", tail_text(spec));
  return object.text();
}

std::string emission_text(const EmissionHead& head, std::size_t labels, std::size_t tracks) {
  ObjectText object("  ");
  object.add("weights", matrix_text(finite(head.weights), labels, tracks, "    "));
  object.add("bias", row_text(finite(head.bias), labels));
  return object.text();
}

std::string boundary_text(const BoundaryHead& head, std::size_t labels, std::size_t tracks) {
  ObjectText object("  ");
  const std::array<int, 2> window{head.first, head.last};
  const std::size_t inputs = tracks * (head.last - head.first + 1);
  object.add("window", list_text(2, [&](std::size_t i) { return fmt::to_string(window[i]); }));
  if (!head.start_weights.empty())
    object.add("start_weights", matrix_text(finite(head.start_weights), labels, inputs, "    "));
  if (!head.start_bias.empty()) object.add("start_bias", row_text(finite(head.start_bias), labels));
  if (!head.end_weights.empty())
    object.add("end_weights", matrix_text(finite(head.end_weights), labels, inputs, "    "));
  if (!head.end_bias.empty()) object.add("end_bias", row_text(finite(head.end_bias), labels));
  return object.text();
}

template <class Item, class TextOf>
std::string items_text(const std::vector<Item>& items, TextOf text_of) {
  std::vector<std::string> lines;
  lines.reserve(items.size());
  for (const Item& item : items) lines.push_back(text_of(item));
  return block_text(lines, "  ");
}

bool all_zero(const std::vector<double>& scores) {
  return std::all_of(scores.begin(), scores.end(), [](double score) { return score == 0; });
}

// A remark stands before the section it is about, under the key x_SECTION.
struct Remark {
  std::string_view section;
  std::string_view text;
};

std::string document_text(const Parameters& parameters, std::span<const Remark> remarks) {
  const ChainModel& chain = parameters.chain;
  const std::size_t labels = parameters.labels.size();
  const std::size_t tracks = parameters.tracks.size();
  ObjectText object("");
  const auto add = [&](std::string_view key, const std::string& value) {
    for (const Remark& remark : remarks) {
      if (remark.section == key) object.add(std::string("x_").append(key), json_string(remark.text));
    }
    object.add(key, value);
  };
  add("format", json_string("semicrf-params"));
  const bool censored = parameters.edges == EdgeRule::kCensored;
  const bool newer =
      censored || std::ranges::any_of(parameters.tracks, [](const Track& track) {
        return track.is_square() || track.transform == Transform::kBinarize || is_newer_policy(track.missing);
      });
  const bool newest = parameters.rule || std::ranges::any_of(parameters.tracks, [](const Track& track) {
                        return track.reads.has_value() || track.is_indicator();
                      });
  const bool has_densities = std::ranges::any_of(parameters.tracks, &Track::is_density);
  add("format_version", json_string(has_densities ? "1.3" : newest ? "1.2" : newer ? "1.1" : "1.0"));
  add("labels", items_text(parameters.labels, label_text));
  add("max_duration", fmt::to_string(chain.max_duration));
  add("bin_size", fmt::to_string(parameters.bin_size));
  add("centering", json_string(centering_name(parameters.centering)));
  add("initial", json_string(chain.initial == InitialTerm::kUniform ? "uniform" : "none"));
  if (censored) add("edges", json_string(edge_rule_name(parameters.edges)));
  if (parameters.rule)
    add("rule", json_string(*parameters.rule == PathRule::kPosterior ? "posterior" : "viterbi"));
  add("transition", matrix_text(chain.transition, labels, labels, "  "));
  add("duration", duration_text(parameters));
  if (!all_zero(chain.start_scores)) add("start", row_text(chain.start_scores, labels));
  if (!all_zero(chain.end_scores)) add("end", row_text(chain.end_scores, labels));
  if (!parameters.tracks.empty()) add("tracks", items_text(parameters.tracks, track_text));
  if (parameters.emission) add("emission", emission_text(*parameters.emission, labels, tracks));
  if (parameters.boundary) add("boundary", boundary_text(*parameters.boundary, labels, tracks));
  if (!parameters.training.empty()) add("training", parameters.training);
  return object.text() + "\n";
}

void check_names(std::span<const std::string> names, const char* option) {
  std::vector<std::string> sorted(names.begin(), names.end());
  for (const std::string& name : sorted) {
    if (const std::string problem = name_problem(name); !problem.empty())
      throw UsageError(std::string(option) + ": " + problem);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw UsageError(std::string(option) + ": " + in_quotes(*twice) + " is given twice");
}

constexpr Remark kTemplateRemarks[] = {
    {"labels", "names of the states; a color (#rrggbb) per label is optional"},
    {"max_duration",
     "longest segment in bins (K) that the duration scores describe one by one; the tail goes beyond"},
    {"bin_size", "bases per bin"},
    {"centering",
     "none takes scores as they are; mean takes the mean of each label over a sequence out, and with it what "
     "they "
     "say of how common labels are; also position-max, mean-preserving"},
    {"transition", "log scores, row = from, column = to; \"-inf\" forbids"},
    {"duration",
     "geometric: p is one over the mean duration in bins; other kinds: table, negative_binomial, poisson, "
     "uniform"},
    {"tracks", "feature = (transform(value) - center) / scale"},
    {"emission", "one row per label, one column per track: how much a bin's features speak for the label"},
};

}  // namespace

std::string write_params_json(const Parameters& parameters, const std::string& model) try {
  return document_text(parameters, {});
} catch (const Unwritable& one) {
  throw InputError(
      {model, "",
       fmt::format(
           "the model has the number {:.3g}, and those of a parameter file are at most 1e30 in magnitude",
           one.number),
       "a variance, a scale or a score is out of any range that data have"});
}

std::string params_template(std::span<const std::string> labels, std::span<const std::string> tracks) {
  check_names(labels, "--labels");
  check_names(tracks, "--tracks");
  if (labels.empty()) throw UsageError("a template needs at least one label");
  if (std::ssize(labels) > kMaxLabels || std::ssize(tracks) > kMaxTracks) {
    throw UsageError(
        fmt::format("a parameter file holds at most {} labels and {} tracks", kMaxLabels, kMaxTracks));
  }
  const std::size_t count = labels.size();
  Parameters parameters;
  for (const std::string& name : labels) parameters.labels.push_back({name, std::nullopt});
  parameters.bin_size = tracks.empty() ? 1 : 200;
  // Scores of another program are taken as they are.
  if (tracks.empty()) parameters.centering = Centering::kNone;
  ChainModel& chain = parameters.chain;
  if (tracks.empty()) chain.initial = InitialTerm::kNone;
  chain.num_labels = static_cast<int>(count);
  chain.max_duration = 100;
  chain.transition.assign(count * count, 0.0);
  for (std::size_t c = 0; c < count && count > 1; ++c) chain.transition[c * count + c] = kNegativeInfinity;
  DurationSpec& durations = parameters.duration;
  durations.kind = find_duration_kind("geometric");
  durations.values.assign(count, {0.05});
  durations.tail.assign(count, durations.kind->continued_tail(durations.values.front())->q);
  chain.start_scores.assign(count, 0.0);
  chain.end_scores.assign(count, 0.0);
  for (const std::string& name : tracks)
    parameters.tracks.push_back({.name = name, .missing = MissingPolicy::kDefault});
  if (!tracks.empty()) {
    // Label c speaks for track c, so that the file does something before it is edited or trained.
    EmissionHead head{std::vector<double>(count * tracks.size(), 0.0), std::vector<double>(count, 0.0)};
    for (std::size_t c = 0; c < std::min(count, tracks.size()); ++c) head.weights[c * tracks.size() + c] = 1;
    parameters.emission = head;
  }
  return document_text(parameters, kTemplateRemarks);
}

}  // namespace semicrf
