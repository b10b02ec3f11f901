#include "segmentation/reproducibility_files.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/counts.h"
#include "core/text/text.h"
#include "core/text/utf8.h"
#include "io/text/palette.h"
#include "segmentation/difference_files.h"

namespace semicrf {
namespace {

std::string number(double value) { return formatted("%.6g", value); }

std::string name_or_dot(const std::string& name) { return name.empty() ? "." : escape_control(name); }

// Lines of BED9 of what is confident; parts of one segment that touch are one line.
class ConfidentStretches {
 public:
  ConfidentStretches(OutputFile& output, const SegmentationFile& first) : output_(output) {
    for (const Label& label : first.labels) names_.push_back(escape_control(label.name));
    colors_ = color_columns(first.labels);
  }

  void add(const std::string& chromosome, const LabelledSegment& segment, std::int64_t begin,
           std::int64_t end, double r) {
    if (segment_ != &segment || end_ != begin) {
      finish();
      segment_ = &segment;
      chromosome_ = chromosome;
      begin_ = begin;
      sum_ = 0;
    }
    end_ = end;
    sum_ += r * static_cast<double>(end - begin);
  }

  void finish() {
    if (segment_ == nullptr) return;
    const std::string place = fmt::format("{}\t{}", begin_, end_);
    const auto score = std::llround(1000 * sum_ / static_cast<double>(end_ - begin_));
    output_.write(fmt::format("{}\t{}\t{}\t{}\t.\t{}\t{}\n", chromosome_, place, names_[segment_->label],
                              score, place, colors_[segment_->label]));
    segment_ = nullptr;
  }

 private:
  OutputFile& output_;
  std::vector<std::string> names_, colors_;   // by label
  const LabelledSegment* segment_ = nullptr;  // the segment of the open stretch; null: there is none
  std::string chromosome_;
  std::int64_t begin_ = 0, end_ = 0;
  double sum_ = 0;  // sum of r over the bases of the stretch
};

}  // namespace

std::string reproducibility_text(const Reproducibility& found) {
  std::string text = "label\tmatch" + tabbed_names(reproducibility_statistics()) + "\n";
  for (const LabelReproducibility& label : found.labels)
    text += name_or_dot(label.label) + "\t" + name_or_dot(label.match) +
            tabbed_values(reproducibility_statistics(), label) + "\n";
  return text;
}

std::string curves_text(const Reproducibility& found) {
  std::string text = "label\tposterior\tbases\treproduced\tr_value\n";
  for (std::size_t label = 0; label < found.curves.size(); ++label)
    for (const CalibrationCurve::Stratum& stratum : found.curves[label].strata()) {
      const auto& [bases, reproduced] = stratum.count;
      text += fmt::format("{}\t{}\t{}\t{}\t{}\n", escape_control(found.pairs.first[label]),
                          number(lowest_probability(stratum.lowest_cell)), bases,
                          number(ratio(reproduced, bases)), number(stratum.r));
    }
  return text;
}

std::string granularity_text(const Reproducibility& found) {
  std::string text = "label\tmerged\tadded\tcoverage\toverlap\n";
  for (std::size_t label = 0; label < found.pairs.first.size(); ++label) {
    if (found.pairs.first_bases[label] == 0) continue;
    std::size_t merged = 0;
    for (const MergedLabels& step : merge_by_jaccard(found.pairs, label))
      text += fmt::format("{}\t{}\t{}\t{}\t{}\n", escape_control(found.pairs.first[label]), ++merged,
                          escape_control(found.pairs.second[step.added]), number(step.coverage),
                          number(step.overlap));
  }
  return text;
}

void write_r_values(OutputGroup& outputs, const RValueFiles& names, const SegmentationFile& first,
                    const ReproducibilityOptions& options, const std::vector<CalibrationCurve>& curves,
                    const std::vector<Chromosome>& listed) {
  std::optional<StepFile> track;
  if (!names.r_values.empty()) track.emplace(outputs.open(names.r_values), names.r_values, listed);
  std::optional<ConfidentStretches> confident;
  if (!names.confident.empty()) confident.emplace(outputs.open(names.confident), first);
  if (!track && !confident) return;
  visit_r_values(first, options.labels, curves,
                 [&](const SegmentedChromosome& chromosome, const LabelledSegment& segment,
                     std::int64_t begin, std::int64_t end, double r) {
                   if (track) track->add(chromosome.name, {begin, end, r});
                   if (confident && r >= options.level)
                     confident->add(chromosome.name, segment, begin, end, r);
                 });
  if (track) track->finish();
  if (confident) confident->finish();
}

}  // namespace semicrf
