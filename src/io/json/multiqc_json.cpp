#include "io/json/multiqc_json.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "core/text/utf8.h"
#include "eval/metrics/text_table.h"
#include "io/files/output_names.h"
#include "io/text/palette.h"

namespace semicrf {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What every document of ours begins with: a section of its own kind under one heading.
OrderedJson section(const std::string& kind, const char* name, const char* description,
                    const char* plot_type) {
  return {{"id", "semicrf_" + kind},
          {"parent_id", "semicrf"},
          {"parent_name", "semicrf"},
          {"parent_description", "Segmentation of genome tracks with a semi-Markov CRF."},
          {"section_name", name},
          {"description", description},
          {"plot_type", plot_type}};
}

// MultiQC puts keys and texts into a page as they are.
OrderedJson escaped(const OrderedJson& node) {
  if (node.is_string()) return markup_escaped(node.get<std::string>());
  if (!node.is_structured()) return node;
  OrderedJson result = node.is_array() ? OrderedJson::array() : OrderedJson::object();
  for (const auto& [key, value] : node.items())
    node.is_array() ? result.push_back(escaped(value)) : void(result[markup_escaped(key)] = escaped(value));
  return result;
}

MultiqcDocument document(const std::string& kind, const OrderedJson& content) {
  constexpr int kIndent = 2;
  return {kind, escaped(content).dump(kIndent) + "\n"};
}

// Columns of a table and the values of one sample in them; what has no value is left out of its row.
class Row {
 public:
  // `format` is one of Python's; `options` are added to the column.
  void add(const std::string& key, const std::string& title, const std::string& description,
           const char* format, const std::optional<double>& value, const OrderedJson& options = {}) {
    OrderedJson header = {
        {"title", title}, {"description", description}, {"namespace", "semicrf"}, {"format", format}};
    header.update(kept(options));
    headers_[key] = header;
    if (value) values_[key] = *value;
  }
  void add_count(const std::string& key, const std::string& title, const std::string& description,
                 std::int64_t value, const OrderedJson& options = {}) {
    add(key, title, description, "{:,.0f}", static_cast<double>(value), options);
    values_[key] = value;
  }
  // `share` of 1, shown as percent.
  void add_share(const std::string& key, const std::string& title, const std::string& description,
                 std::optional<double> share, const OrderedJson& options = {}) {
    if (share) *share *= 100;
    OrderedJson all = {{"min", 0}, {"max", 100}, {"suffix", "%"}};
    all.update(kept(options));
    add(key, title, description, "{:,.2f}", share, all);
  }

  // A share as percent, a whole number with commas; `options` may have another format, title or description.
  void add(const MultiqcNumber& one, const OrderedJson& options) {
    if (one.unit == StatisticUnit::kShare)
      return add_share(one.key, one.title, one.description, one.value.number(), options);
    const bool whole = one.unit == StatisticUnit::kCount || one.unit == StatisticUnit::kBases;
    add(one.key, one.title, one.description, whole ? "{:,.0f}" : "{:,.3f}", {}, options);
    one.value.visit([&](auto number) { values_[one.key] = number; });
  }

  const OrderedJson& headers() const { return headers_; }
  OrderedJson data(const std::string& sample) const { return {{sample, values_}}; }

 private:
  static OrderedJson kept(const OrderedJson& options) {
    return options.is_object() ? options : OrderedJson::object();
  }
  OrderedJson headers_ = OrderedJson::object(), values_ = OrderedJson::object();
};

// Columns of the table that opens a report. A list of one column each keeps their order.
MultiqcDocument general(const std::string& kind, const std::string& sample, const Row& row) {
  OrderedJson content = {{"id", "semicrf_" + kind}, {"plot_type", "generalstats"}};
  content["pconfig"] = OrderedJson::array();
  for (const auto& [key, header] : row.headers().items())
    content["pconfig"].push_back(OrderedJson{{key, header}});
  content["data"] = row.data(sample);
  return document(kind, content);
}

MultiqcDocument table(const std::string& kind, const char* name, const char* description,
                      const std::string& sample, const Row& row) {
  OrderedJson content = section(kind, name, description, "table");
  content["pconfig"] = {{"id", "semicrf_" + kind + "_table"}, {"title", std::string("semicrf: ") + name}};
  content["headers"] = row.headers();
  content["data"] = row.data(sample);
  return document(kind, content);
}

// A name as a part of a key. MultiQC makes identifiers of keys, in which "+" and "-" become the same, so that
// all but letters and digits are written as numbers here.
std::string in_key(const std::string& name) {
  std::string key;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z')) {
      key += c;
    } else {
      std::array<char, 8> text{};
      std::snprintf(text.data(), text.size(), "_%02x_", static_cast<unsigned>(byte));
      key += text.data();
    }
  }
  return key;
}

// The share of all segments that have exactly K bins, where labels have no tail.
std::optional<double> share_at_cap(const std::vector<DecodedLabelStats>& labels) {
  double at_cap = 0;
  std::int64_t segments = 0;
  for (const DecodedLabelStats& label : labels) {
    if (!label.at_cap) continue;
    at_cap += *label.at_cap * static_cast<double>(label.segments);
    segments += label.segments;
  }
  return share_of(at_cap, segments);
}

MultiqcDocument general_of(const std::string& sample, const MultiqcSegments& segments) {
  std::int64_t bases = 0, count = 0;
  for (const DecodedLabelStats& label : segments.decoded) {
    bases += label.bases;
    count += label.segments;
  }
  Row row;
  row.add_count("bases", "Bases", "Bases in segments", bases, {{"scale", "Greys"}, {"hidden", true}});
  row.add_count("segments", "Segments", "Number of segments", count, {{"scale", "Blues"}});
  std::optional<double> median;
  if (segments.lengths) median = static_cast<double>(segments.lengths->median);
  row.add("median_length", "Median length", "Median length of segments, bases", "{:,.0f}", median,
          {{"scale", "Greens"}, {"suffix", " b"}});
  row.add_share("at_cap", "At K",
                "Segments of exactly the longest duration K, of those of labels without a tail",
                share_at_cap(segments.decoded), {{"scale", "Reds"}});
  SequenceStats all;  // numbers over all sequences
  all.position_entropy = segments.position_entropy;
  all.expected_segments = segments.expected_segments;
  row.add(multiqc_number(sequence_statistics(), "position_entropy", all),
          {{"format", "{:,.4f}"}, {"scale", "Purples"}, {"min", 0}});
  row.add(multiqc_number(sequence_statistics(), "expected_segments", all),
          {{"format", "{:,.1f}"}, {"scale", "Blues"}, {"hidden", true}});
  row.add_share("missing", "Missing", "Bins without any value, mean over the tracks", segments.missing_share,
                {{"scale", "Oranges"}});
  return general("general", sample, row);
}

MultiqcDocument labels_of(const std::string& sample, const MultiqcSegments& segments) {
  OrderedJson content = section("labels", "Labels", "Bases of each label in the segmentation.", "bargraph");
  content["pconfig"] = {{"id", "semicrf_labels_plot"},
                        {"title", "semicrf: bases by label"},
                        {"ylab", "Bases"},
                        {"cpswitch_c_active", false}};
  const std::vector<std::array<std::uint8_t, 3>> colors = label_colors(segments.labels);
  content["categories"] = OrderedJson::object();
  OrderedJson values = OrderedJson::object();
  for (std::size_t c = 0; c < segments.labels.size(); ++c) {
    const std::string& name = segments.labels[c].name;
    content["categories"][name] = {{"name", name}, {"color", hex_color(colors[c])}};
    values[name] = segments.decoded[c].bases;
  }
  content["data"] = {{sample, values}};
  return document("labels", content);
}

MultiqcDocument durations_of(const std::string& sample, const MultiqcSegments& segments) {
  OrderedJson content =
      section("durations", "Lengths of segments",
              "The length that a share of all segments does not exceed, in bases.", "linegraph");
  content["pconfig"] = {{"id", "semicrf_durations_plot"},
                        {"title", "semicrf: lengths of segments"},
                        {"xlab", "Share of segments"},
                        {"ylab", "Length (bases)"},
                        {"xsuffix", "%"},
                        {"ylog", true},
                        {"xmin", 0},
                        {"xmax", 100}};
  OrderedJson points = OrderedJson::array();
  if (segments.lengths)
    for (const Statistic<LengthStats>& one : length_statistics())
      if (one.percent > 0)
        one.value(*segments.lengths).visit([&](auto length) {
          points.push_back(OrderedJson::array({one.percent, length}));
        });
  content["data"] = OrderedJson::object();
  content["data"][sample] = points;
  return document("durations", content);
}

MultiqcDocument label_durations_of(const std::string& sample, const MultiqcSegments& segments) {
  Row row;
  for (const DecodedLabelStats& label : segments.decoded)
    for (const std::string_view name : {"q05", "median", "q95"}) {
      const Statistic<DecodedLabelStats>& length = statistic(label_statistics(), name);
      const std::string what(length.heading);
      const bool hidden = name != "median";
      row.add(in_key(label.name) + "_" + std::string(name), label.name + " " + what,
              "Length of segments of " + label.name + ", bases: " + what, "{:,.0f}",
              length.value(label).number(), {{"hidden", hidden}, {"scale", hidden ? "Greys" : "Greens"}});
    }
  return table("label_durations", "Lengths by label",
               "Median length of the segments of each label, in bases; the 5 % and 95 % quantiles are hidden "
               "columns.",
               sample, row);
}

// How the prediction calls a label of the truth, where its labels were matched: ", in the prediction 3".
std::string partners_of(const EvalReport& report, const std::string& label) {
  std::vector<std::string> names;
  if (report.match)
    for (const MatchedLabels& one : report.match->labels)
      if (one.truth == label && !one.predicted.empty()) names.push_back(one.predicted);
  return names.empty() ? "" : ", in the prediction " + few_of(names, 10);
}

}  // namespace

std::string sample_of_output(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  constexpr std::array<std::string_view, 7> kEndings = {".gz",   ".bgz",      ".bb",    ".bed",
                                                        ".json", ".segments", ".params"};
  for (const std::string_view ending : kEndings)
    if (name.size() > ending.size() && has_ending(name, {ending})) name.resize(name.size() - ending.size());
  return name;
}

MultiqcTarget settled(MultiqcTarget target, const std::string& output) {
  if (!target.wanted()) return target;
  if (target.sample.empty() && (output.empty() || output == kStandardOutput))
    throw UsageError("--multiqc needs a name for the sample, which no output file has",
                     "give it with --multiqc-name NAME");
  if (target.sample.empty()) target.sample = sample_of_output(output);
  if (const std::string problem = name_problem(target.sample); !problem.empty())
    throw UsageError("--multiqc: the sample '" + target.sample + "': " + problem,
                     "give another name with --multiqc-name NAME");
  return target;
}

std::string multiqc_path(const MultiqcTarget& target, const std::string& kind) {
  return target.folder + "/" + in_file_name(target.sample) + ".semicrf_" + kind + "_mqc.json";
}

std::vector<MultiqcDocument> multiqc_segments(const std::string& sample, const MultiqcSegments& segments) {
  return {general_of(sample, segments), labels_of(sample, segments), durations_of(sample, segments),
          label_durations_of(sample, segments)};
}

std::vector<MultiqcDocument> multiqc_evaluation(const std::string& sample, const EvalReport& report) {
  const Evaluation& evaluation = *report.evaluation;
  Row row;
  const auto add = [&](const char* name, const char* title, const OrderedJson& options) {
    OrderedJson all = {{"title", title}, {"scale", "RdYlGn"}};
    all.update(options);
    row.add(multiqc_number(evaluation_statistics(), name, evaluation), all);
  };
  const OrderedJson ratio = {{"min", 0}, {"max", 1}};
  add("accuracy", "Accuracy", OrderedJson::object());
  add("macro_f1", "F1", ratio);
  add("boundary_f1", "Boundary F1", ratio);
  add("segment_f1", "Segment F1", {{"min", 0}, {"max", 1}, {"hidden", true}});
  add("adjusted_rand_index", "ARI", {{"max", 1}, {"hidden", true}});
  Row labels;
  for (std::size_t c = 0; c < report.labels.size(); ++c)
    labels.add(in_key(report.labels[c]), report.labels[c],
               "F1 of the bases of " + report.labels[c] + partners_of(report, report.labels[c]), "{:,.3f}",
               evaluation.labels[c].bases.f1(), {{"scale", "RdYlGn"}, {"min", 0}, {"max", 1}});
  return {general("evaluation", sample, row),
          table("label_f1", "Agreement with the truth", "F1 of the bases of each label.", sample, labels)};
}

std::vector<MultiqcDocument> multiqc_reproducibility(const std::string& sample,
                                                     const MultiqcReproducibility& numbers) {
  const OrderedJson good = {{"scale", "RdYlGn"}};
  const std::map<std::string, OrderedJson> options = {
      {"kappa", {{"scale", "RdYlGn"}, {"max", 1}}},
      {"overlap", {{"scale", "RdYlGn"}, {"hidden", true}}},
      {"calibration_error", {{"format", "{:,.4f}"}, {"scale", "Reds"}, {"min", 0}, {"hidden", true}}}};
  Row row;
  for (const MultiqcNumber& one : numbers.numbers)
    row.add(one, options.contains(one.key) ? options.at(one.key) : good);
  Row labels;
  for (const MultiqcReproducibility::Label& label : numbers.labels)
    labels.add_share(in_key(label.name), label.name,
                     "Bases of " + label.name + " that are reproduced" +
                         (label.match.empty() ? "" : ", in the replicate " + label.match),
                     label.reproduced, good);
  return {general("reproducibility", sample, row),
          table("label_reproducibility", "Reproduced labels",
                "Share of the bases of each label that are reproduced.", sample, labels)};
}

std::vector<MultiqcDocument> multiqc_training(const std::string& sample, const TrainingRecord& record) {
  Row row;
  const auto add = [&](const char* name, const OrderedJson& options) {
    row.add(multiqc_number(training_statistics(), name, record), options);
  };
  const OrderedJson likelihood = {{"format", "{:,.6f}"}, {"scale", "Reds"}};
  add("positions", {{"scale", "Greys"}});
  add("segments", {{"scale", "Blues"}});
  add("iterations", {{"scale", "Greens"}});
  add("nll_per_position", likelihood);
  add("validation_nll_per_position", likelihood);
  row.add_count("converged", "Converged", "1: the fit stopped by itself", record.converged ? 1 : 0,
                {{"scale", false}});
  return {table("training", "Training", "How each model was fitted.", sample, row)};
}

}  // namespace semicrf
