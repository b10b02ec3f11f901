#include "outputs/folders/chromhmm_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/text/fixed_decimal.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/models/chromhmm_model.h"
#include "io/text/palette.h"
#include "outputs/formats.h"

namespace semicrf {
namespace {

enum class StateFormat { kSegments, kDense, kExpanded };

// Segments of all states, touching ones of a state joined.
class StateSink : public SegmentSink {
 public:
  StateSink(OutputFile& file, const SegmentOutput& output, StateFormat format)
      : SegmentSink(output),
        file_(file),
        format_(format),
        colors_(color_columns(output.labels)),
        joiner_(true),
        blocks_(format == StateFormat::kExpanded ? output.labels.size() : 0) {}

  void finish() override { end_chromosome(); }

 private:
  // Bases that a state has on the chromosome.
  struct Blocks {
    std::int64_t first = -1;  // first base, -1: none
    std::int64_t count = 0;
    std::string sizes, starts;
  };

  void begin_segments(const BinLocation& location) override {
    if (location.chromosome != location_.chromosome) end_chromosome();
    location_ = location;
  }
  void add(const Segment& segment, const SegmentPosteriors* /*support*/) override {
    joiner_.add(segment, {}, [this](const Segment& s, const SegmentPosteriors&) { print(s); });
  }
  void end_segments() override {
    joiner_.finish([this](const Segment& s, const SegmentPosteriors&) { print(s); });
  }

  void print(const Segment& segment) {
    const std::size_t state = segment.label;
    const std::int64_t begin = location_.begin_base(segment.begin), end = location_.end_base(segment.end);
    const std::string from = fmt::format("{}", begin), to = fmt::format("{}", end);
    if (format_ == StateFormat::kExpanded) {
      Blocks& blocks = blocks_[state];
      if (blocks.first < 0) blocks.first = begin;
      ++blocks.count;
      blocks.sizes += fmt::format(",{}", end - begin);
      blocks.starts.append(",").append(from);
      end_ = end;
      return;
    }
    file_.write(location_.chromosome + "\t" + from + "\t" + to + "\t");
    const std::string number = fmt::format("{}", state + 1);
    if (format_ == StateFormat::kSegments) {
      file_.write("E");
      file_.write(number);
      file_.write("\n");
    } else {
      file_.write(number + "\t0\t.\t" + from + "\t" + to + "\t" + colors_[state] + "\n");
    }
  }

  // A line for each state over the whole chromosome, the last state first, with an empty block at its begin
  // and one of a base at its end, as ChromHMM has them.
  void end_chromosome() {
    for (std::size_t state = blocks_.size(); state-- > 0;) {
      const Blocks blocks = std::exchange(blocks_[state], {});
      if (blocks.count == 0) continue;
      const std::string end = fmt::format("{}", end_);
      file_.write(fmt::format("{}\t0\t{}\t{}\t0\t.\t{}\t{}\t{}\t{}\t0{},1\t0{},{}\n", location_.chromosome,
                              end, state + 1, blocks.first, end, colors_[state], blocks.count + 2,
                              blocks.sizes, blocks.starts, end_ - 1));
    }
  }

  OutputFile& file_;
  StateFormat format_;
  std::vector<std::string> colors_;  // "r,g,b", by state
  SegmentJoiner joiner_;
  std::vector<Blocks> blocks_;  // by state
  BinLocation location_;
  std::int64_t end_ = 0;  // end of the last segment
};

// A row for every bin of a chromosome.
class PosteriorTextSink : public OutputSink {
 public:
  PosteriorTextSink(OutputFile& file, ChromHmmChromosome chromosome, std::size_t states, int digits)
      : file_(file), chromosome_(std::move(chromosome)), states_(states), decimal_(digits) {}

  void begin_piece(const BinLocation& location, const PieceResult&, bool) override {
    is_about_piece_ = location.chromosome == chromosome_.name;
    if (is_about_piece_ && (location.origin != 0 || location.first_bin != rows_)) throw incomplete();
  }

  void add_block(const PosteriorBlock& block) override {
    if (!is_about_piece_) return;
    for (std::size_t i = 0; i < block.labels.size(); ++i) {
      char* const out = file_.reserve(FixedDecimal::kMaxLength + 1);
      char* end = decimal_.print(decimal_.round(block.labels[i]), out);
      *end++ = (i + 1) % states_ == 0 ? '\n' : '\t';
      file_.advance(end - out);
    }
    rows_ += block.range.size();
  }

  void finish() override {
    if (rows_ != chromosome_.bins) throw incomplete();
  }

 private:
  InputError incomplete() const {
    return InputError({file_.path(), "",
                       "has a row for every bin of " + chromosome_.name + ", of which not all are decoded",
                       "leave out --chromhmm-out, or regions, excluded ones and \"missing\": \"skip\""});
  }

  OutputFile& file_;
  ChromHmmChromosome chromosome_;
  std::size_t states_;
  FixedDecimal decimal_;
  std::int64_t rows_ = 0;  // written
  bool is_about_piece_ = false;
};

// The lines before the segments.
std::string browser_lines(const std::string& name, StateFormat format, const ChromHmmFiles& files) {
  if (format == StateFormat::kSegments) return "";
  const bool dense = format == StateFormat::kDense;
  std::string text = std::string("track name=\"") + (dense ? "" : "Expanded_") + name + "\" description=\"" +
                     name + " (Emission ordered)\" visibility=" + (dense ? "1" : "2") + " itemRgb=\"On\"\n";
  if (!dense && !files.chromosomes.empty())
    text += fmt::format("browser position {}:1-{}\n", files.chromosomes.front().name,
                        files.chromosomes.front().bins * files.segments.bin_size);
  return text;
}

void add_segments(const ChromHmmFiles& files, const std::string& name, OutputPlan& plan) {
  constexpr auto kFormats =
      std::to_array<std::pair<const char*, StateFormat>>({{"_segments.bed", StateFormat::kSegments},
                                                          {"_dense.bed", StateFormat::kDense},
                                                          {"_expanded.bed", StateFormat::kExpanded}});
  for (const auto& [ending, format] : kFormats) {
    PlannedOutput output;
    output.file = {files.options.folder + "/" + name + ending, IndexKind::kNone};
    output.header = browser_lines(name, format, files);
    output.open = [segments = files.segments, format = format](OutputFile& file) {
      return std::make_unique<StateSink>(file, segments, format);
    };
    plan.push_back(std::move(output));
  }
}

void add_posteriors(const ChromHmmFiles& files, const std::string& name, OutputPlan& plan) {
  const std::size_t states = files.segments.labels.size();
  std::string names;
  for (std::size_t i = 1; i <= states; ++i) names += fmt::format("{}E{}", i > 1 ? "\t" : "", i);
  for (const ChromHmmChromosome& chromosome : files.chromosomes) {
    PlannedOutput output;
    output.file = {chromhmm_posterior_folder(files.options) + "/" + name + "_" +
                       in_file_name(chromosome.name) + "_posterior.txt",
                   IndexKind::kNone};
    output.header = files.options.cell + "\t" + chromosome.name + "\n" + names + "\n";
    output.open = [chromosome, states, digits = files.digits](OutputFile& file) {
      return std::make_unique<PosteriorTextSink>(file, chromosome, states, digits);
    };
    output.one_of_many = files.chromosomes.size() > 4;
    plan.push_back(std::move(output));
  }
}

// What ChromHMM would have of the model.
void add_model(const ChromHmmFiles& files, const std::string& number, OutputPlan& plan,
               std::vector<std::string>& notes) {
  const auto add = [&](const std::string& name, const std::string& text) {
    plan.push_back(text_output(files.options.folder + "/" + name + "_" + number + ".txt", text));
  };
  std::string labels;
  for (std::size_t i = 0; i < files.parameters.labels.size(); ++i)
    labels += fmt::format("E{}\t{}\n", i + 1, files.parameters.labels[i].name);
  add("labels", labels);
  std::vector<Warning> ignored;
  try {
    ChromHmmModel model = chromhmm_model_of(files.parameters, files.parameters_file, ignored);
    take_chromhmm_record(files.parameters.training, model);
    model.order = 'E';  // the letter of the segments
    add("model", chromhmm_model_text(model));
    add("transitions", chromhmm_transitions_text(model));
    add("emissions", chromhmm_emissions_text(model));
  } catch (const InputError& error) {
    notes.emplace_back("--chromhmm-out: no model and no transitions, which ChromHMM could not read: ");
    notes.back() += error.what();
    if (const auto emissions = chromhmm_emissions_of(files.parameters))
      add("emissions", chromhmm_emissions_text(*emissions));
  }
}

}  // namespace

std::string chromhmm_posterior_folder(const ChromHmmFolder& options) { return options.folder + "/POSTERIOR"; }

void add_chromhmm(const ChromHmmFiles& files, OutputPlan& plan, std::vector<std::string>& notes) {
  const std::string& cell = files.options.cell;
  if (const std::string problem = name_problem(cell); !problem.empty() || cell.find('/') != std::string::npos)
    throw UsageError("--cell '" + cell + "': " + (problem.empty() ? "has a /" : problem));
  const std::string number = fmt::format("{}", files.segments.labels.size());
  const std::string name = cell + "_" + number;
  add_segments(files, name, plan);
  add_posteriors(files, name, plan);
  add_model(files, number, plan, notes);
}

}  // namespace semicrf
