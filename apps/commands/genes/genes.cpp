// semicrf genes: genes of DNA sequences, as GFF3.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/commands/genes/sequence_choice.h"
#include "apps/commands/genes/track_arguments.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/chain_model.h"
#include "core/error.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "eval/eval_input.h"
#include "genes/fasta.h"
#include "genes/gene_model_file.h"
#include "genes/open_ends.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"
#include "genes/text/gene_outputs.h"
#include "genes/text/hints.h"
#include "genes/text/masked_sequence.h"
#include "io/files/output_file.h"
#include "log/log.h"
#include "report/genes/gene_report.h"
#include "report/page.h"

namespace semicrf {
namespace {

struct GenesArguments {
  std::string model, fasta, output = "-", proteins, coding, sequences, strands = "joint", hints;
  std::string hints_as = "weights", ends = "auto";
  HintUse hint_use;
  std::string report, figures;
  TrackArguments tracks;
  int threads = 1, alternatives = 0;
  double masked_penalty = 0, missed_cost = 1;
};

// Sequences are computed side by side until they are so many bases together; longer ones use all threads.
constexpr std::int64_t kBatchBases = std::int64_t{1} << 22;

struct BatchItem {
  std::string name;
  std::vector<std::uint8_t> bases;
  std::shared_ptr<const TrackValues> tracks;
  PredictedSequence found;
  std::vector<std::pair<std::int64_t, std::int64_t>> masked;  // empty without --masked-penalty
};

class GenesRun {
 public:
  explicit GenesRun(const GenesArguments& arguments)
      : arguments_(arguments),
        model_(read_gene_model(arguments.model)),
        lattices_({compile(model_, arguments.model)}),
        tracks_(arguments.tracks.open()) {
    check_tracks();
    if (!arguments.report.empty() || !arguments.figures.empty()) report_.emplace(model_);
    if (opens_ends()) lattices_[0] = open_ends(model_, std::move(lattices_[0]));
    if (arguments.strands == "apart")
      lattices_ = {lattice_of_strand(lattices_[0], '+'), lattice_of_strand(lattices_[0], '-')};
  }

  void run() {
    if (!arguments_.hints.empty()) hints_ = read_hints(arguments_.hints);
    FastaReader reader(arguments_.fasta);
    SequenceChoice choice(arguments_.sequences);
    OutputFile& genes = outputs_.open(arguments_.output);
    genes.write(fmt::format("##gff-version 3\n#semicrf {} genes\n", SEMICRF_VERSION));
    if (!arguments_.proteins.empty()) proteins_ = &outputs_.open(arguments_.proteins);
    if (!arguments_.coding.empty()) coding_ = &outputs_.open(arguments_.coding);
    FastaSequence sequence;
    std::int64_t bases = 0;
    while (reader.next(sequence)) {
      if (!choice.takes(sequence.name)) continue;
      batch_.push_back({sequence.name, base_codes(sequence.bases), nullptr, {}, {}});
      if (arguments_.masked_penalty > 0) batch_.back().masked = masked_stretches(sequence.bases);
      if (tracks_)
        batch_.back().tracks =
            scaled_tracks(*tracks_, model_.tracks, sequence.name, std::ssize(sequence.bases));
      sequence.bases = {};
      bases += std::ssize(batch_.back().bases);
      if (bases < kBatchBases) continue;
      compute(genes);
      bases = 0;
    }
    compute(genes);
    choice.require_all(arguments_.fasta);
    write_report();
    outputs_.commit();
    log_note(
        fmt::format("{} in {}, {} bases", plural(genes_, "gene"), plural(sequences_, "sequence"), bases_));
  }

 private:
  // Draft assemblies are common in bacteria; ends of whole chromosomes have few genes.
  bool opens_ends() const {
    if (arguments_.ends != "auto") return arguments_.ends == "open";
    return std::none_of(model_.states.begin(), model_.states.end(),
                        [](const GeneState& state) { return state.frame == FrameRule::kCarry; });
  }

  // The tracks of the model must be given, in its order where they have names.
  void check_tracks() const {
    std::vector<std::string> wanted;
    for (const TrackModel& one : model_.tracks) wanted.push_back(one.name);
    if (!tracks_) {
      if (!wanted.empty())
        throw UsageError("the model wants " + plural(wanted.size(), "track") + " (" + few_of(wanted, 10) +
                             "), and none is given",
                         "give --tracks, --track or --helixer as at its training");
      return;
    }
    const std::vector<std::string> given = tracks_->names();
    if (tracks_->count() != wanted.size() || (!given.empty() && given != wanted))
      throw InputError({tracks_->path(), "",
                        plural(tracks_->count(), "track") + (given.empty() ? "" : ": " + few_of(given, 10)),
                        "the model wants " + (wanted.empty() ? "none" : few_of(wanted, 10))});
  }

  void write_report() {
    if (!report_) return;
    const GeneReportFacts facts{
        "Genes of " + file_title(arguments_.fasta),
        "with the model " + file_title(arguments_.model),
        {{"Program", std::string("semicrf ") + SEMICRF_VERSION + " genes"},
         {"Sequences", arguments_.fasta},
         {"Gene model", arguments_.model},
         {"Description of the model", model_.description},
         {"Hints", hints_ ? arguments_.hints + ", as " + arguments_.hints_as : "none"},
         {"Strands", arguments_.strands},
         {"Cost of a missed gene", fmt::format("{}", arguments_.missed_cost)},
         {"Ends of sequences", opens_ends() ? "open" : "closed"},
         {"Genes", arguments_.output}}};
    const std::vector<Section> sections = report_->sections(facts);
    if (!arguments_.report.empty()) outputs_.open(arguments_.report).write(report_->page(facts, sections));
    if (arguments_.figures.empty()) return;
    figures_folder_.emplace(arguments_.figures);
    for (const auto& [name, text] : figure_files(sections))
      outputs_.open((std::filesystem::path(arguments_.figures) / name).string()).write(text);
  }

  void compute(OutputFile& genes) {
    const bool alone = batch_.size() == 1;
    parallel_for(alone ? 1 : arguments_.threads, batch_.size(), [&](std::size_t i, int) {
      const int threads = alone ? arguments_.threads : 1;
      batch_[i].found = predict(batch_[i], lattices_[0], lattices_.size() > 1 ? '+' : '.', threads);
      if (lattices_.size() > 1)
        batch_[i].found =
            both_strands(std::move(batch_[i].found), predict(batch_[i], lattices_[1], '-', threads));
      mark_starts_at_ends(model_, batch_[i].bases, batch_[i].found);
    });
    for (const BatchItem& item : batch_) {
      genes.write(gff_text(item.name, item.found));
      if (proteins_ != nullptr) proteins_->write(coding_text(item.name, item.found, item.bases, true));
      if (coding_ != nullptr) coding_->write(coding_text(item.name, item.found, item.bases, false));
      if (report_) report_->add(item.name, item.found, item.bases);
      genes_ += item.found.genes.size();
      sequences_ += 1;
      bases_ += item.found.length;
    }
    batch_.clear();
  }

  PredictedSequence predict(const BatchItem& item, const GeneLattice& lattice, char strand,
                            int threads) const {
    const auto length = std::ssize(item.bases);
    const SequenceSource bases(model_, lattice, item.bases, 0, length, item.tracks.get());
    const MaskedSequence masked(model_, lattice, bases, item.masked, arguments_.masked_penalty);
    const LatticeSource& source = item.masked.empty() ? static_cast<const LatticeSource&>(bases) : masked;
    if (!hints_)
      return predict_genes(model_, lattice, source, threads, arguments_.alternatives, arguments_.missed_cost);
    const HintedSequence hinted(model_, lattice, source, *hints_, item.name, arguments_.hint_use, strand);
    PredictedSequence found = predict_genes(model_, hinted.lattice(), hinted, threads,
                                            arguments_.alternatives, arguments_.missed_cost);
    if (length > 0 && found.score == kNegativeInfinity)
      throw InputError({arguments_.hints, item.name, "no genes agree with all hints",
                        "leave those out that contradict each other, or use --hints-as weights"});
    return found;
  }

  const GenesArguments& arguments_;
  GeneModel model_;
  std::vector<GeneLattice> lattices_;  // one, or one for each strand
  std::optional<GeneHints> hints_;
  std::unique_ptr<TrackFile> tracks_;
  std::optional<GeneReport> report_;
  std::optional<NewFolder> figures_folder_;
  OutputGroup outputs_;
  OutputFile *proteins_ = nullptr, *coding_ = nullptr;
  std::vector<BatchItem> batch_;
  std::size_t genes_ = 0, sequences_ = 0;
  std::int64_t bases_ = 0;
};

void genes(const GenesArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  std::vector<OutputSpec> outputs{{arguments.output, IndexKind::kNone}};
  for (const std::string& path : {arguments.proteins, arguments.coding, arguments.report})
    if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
  std::vector<std::string> inputs = arguments.tracks.files();
  inputs.insert(inputs.end(), {arguments.model, arguments.fasta});
  if (!arguments.hints.empty()) inputs.push_back(arguments.hints);
  check_outputs(outputs, inputs);
  check_figure_folder(arguments.figures);
  GenesRun(arguments).run();
}

}  // namespace

void add_genes_command(CLI::App& program) {
  CLI::App* command =
      add_command(program, "genes", "Find the genes of DNA sequences, with the probability of each.",
                  "Reads FASTA, plain or compressed, and a gene model (train-genes), and writes the best "
                  "segmentation into\n"
                  "genes as GFF3: gene, mRNA, exon and CDS, stop codons included.\n\n"
                  "Outputs:\n"
                  "  -o FILE               GFF3. Column 6 of gene and mRNA: the probability that there is "
                  "exactly this gene;\n"
                  "                        of exon and CDS: exactly this exon. p_start, p_stop: that a gene "
                  "starts at its\n"
                  "                        start codon, that one stops at its stop codon. partial=true, "
                  "start_range and\n"
                  "                        end_range: an end of the sequence cuts the gene off (--ends)\n"
                  "  --proteins FILE       FASTA of the proteins\n"
                  "  --coding FILE         FASTA of the coding sequences\n"
                  "  --report FILE         an HTML page: numbers, certainty, the genes to look at first, "
                  "lengths beside\n"
                  "                        those of the training, logos of splice sites\n"
                  "  --figures DIR         its pictures as SVG and its numbers as TSV\n");
  const auto arguments = std::make_shared<GenesArguments>();
  command->add_option("FASTA", arguments->fasta, "sequences, plain or compressed; - for standard input")
      ->required();
  command->add_option("-p,--params", arguments->model, "file of the gene model (train-genes)")->required();
  command->add_option("-o,--output", arguments->output, "GFF3 to write; - for standard output (default)");
  command->add_option("--proteins", arguments->proteins, "proteins to write, FASTA");
  command->add_option("--coding", arguments->coding, "coding sequences to write, FASTA");
  command->add_option("--report", arguments->report, "page about the genes to write, HTML");
  command->add_option("--figures", arguments->figures, "folder for the pictures and tables of the report")
      ->type_name("DIR");
  command
      ->add_option("--sequences", arguments->sequences,
                   "names of the sequences to read, with commas; all without it")
      ->type_name("NAMES");
  add_number(*command, "--alternatives", arguments->alternatives,
             "further mRNAs of each gene at most, between the same start and stop codon, the most probable",
             CLI::Range(0, 100));
  add_choice(
      *command, "--strands", arguments->strands,
      "genes of both strands exclude each other (joint), or each strand is computed by itself, so that "
      "genes on opposite strands may overlap (apart)",
      {"joint", "apart"});
  add_choice(
      *command, "--ends", arguments->ends,
      "the ends of a sequence may cut genes off (open), or every gene lies within it (closed); auto: open "
      "where the model has no introns",
      {"auto", "open", "closed"});
  add_number(
      *command, "--missed-cost", arguments->missed_cost,
      "how many times as much a gene that is missed costs as one that is not there: above 1 more genes are "
      "told, which are less probable",
      CLI::Range(1e-6, 1e6));
  add_number(
      *command, "--masked-penalty", arguments->masked_penalty,
      "natural logarithm that each base of coding sequence loses where the FASTA file is in lower case "
      "(soft masking of repeats)",
      CLI::Range(0.0, 100.0));
  add_track_options(*command, arguments->tracks);
  add_number(*command, "-t,-@,--threads", arguments->threads, "number of threads", CLI::Range(1, 1024));
  command
      ->add_option("--hints", arguments->hints,
                   "file of hints, GFF3 or GTF: lines of intron, CDS, start_codon and stop_codon")
      ->type_name("FILE");
  add_choice(
      *command, "--hints-as", arguments->hints_as,
      "hints add --hint-weight to the score of what agrees with them (weights), or are true (constraints)",
      {"weights", "constraints"});
  add_number(*command, "--hint-weight", arguments->hint_use.weight,
             "natural logarithm added for each end of an intron, each codon end, or a whole CDS",
             CLI::Range(0.0, 1000.0));
  command->callback([arguments] {
    arguments->hint_use.constraints = arguments->hints_as == "constraints";
    genes(*arguments);
  });
}

}  // namespace semicrf
