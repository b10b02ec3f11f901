// semicrf train-genes: a gene model from annotated sequences.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/commands/genes/sequence_choice.h"
#include "apps/commands/genes/track_arguments.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "genes/fasta.h"
#include "genes/gene_model_file.h"
#include "genes/genetic_code.h"
#include "genes/learn/adapt_genes.h"
#include "genes/learn/learn_genes.h"
#include "genes/learn/usual_model.h"
#include "genes/sequence_source.h"
#include "io/files/output_file.h"
#include "log/log.h"

namespace semicrf {
namespace {

struct TrainGenesArguments {
  std::string fasta, annotation, from, output, sequences, with, track_names, track_scale = "log";
  double track_floor = TrackModel().floor;
  int table = 0;  // 0: that of --from, or the standard one
  TrackArguments tracks;
  LearnGenesOptions options;
  AdaptGenesOptions adapt;
};

GrammarParts grammar_parts(const std::string& with, const std::string& grammar) {
  GrammarParts parts;
  if (with.empty()) return parts;
  if (grammar == "prokaryote")
    throw UsageError("--with names parts of genes with introns, and --grammar is prokaryote");
  for (const std::string_view name : split_at(',', with)) {
    if (name == "gc-ag")
      parts.gc_donors = true;
    else if (name == "u12")
      parts.u12 = true;
    else if (name == "split-stops")
      parts.split_stops = true;
    else if (name == "utr")
      parts.untranslated = true;
    else
      throw UsageError(fmt::format("--with: {} is none of gc-ag, u12, split-stops and utr", name));
  }
  return parts;
}

// The tracks of the file, by their names in it or by --track-names.
std::vector<TrackModel> track_models(const TrainGenesArguments& arguments, const TrackFile& file) {
  std::vector<std::string> names = file.names();
  if (!arguments.track_names.empty()) {
    const std::vector<std::string_view> given = split_at(',', arguments.track_names);
    names.assign(given.begin(), given.end());
  }
  if (names.empty())
    for (std::size_t i = 0; i < file.count(); ++i) names.push_back(fmt::format("track{}", i + 1));
  if (names.size() != file.count())
    throw UsageError(fmt::format("--track-names has {}, and {} has {}", plural(names.size(), "name"),
                                 file.path(), plural(file.count(), "track")));
  std::vector<TrackModel> models;
  for (const std::string& name : names) {
    if (const std::string problem = name_problem(name); !problem.empty())
      throw UsageError("--track-names: " + problem);
    if (std::count(names.begin(), names.end(), name) > 1)
      throw UsageError("--track-names: the name " + name + " is there twice");
    models.push_back({name, arguments.track_scale == "log", arguments.track_floor});
  }
  return models;
}

std::vector<AnnotatedSequence> annotated(const TrainGenesArguments& arguments, const TrackFile* tracks) {
  GeneAnnotation annotation = read_annotation(arguments.annotation);
  FastaReader reader(arguments.fasta);
  SequenceChoice choice(arguments.sequences);
  std::vector<AnnotatedSequence> sequences;
  FastaSequence sequence;
  bool any = false;
  while (reader.next(sequence)) {
    if (!choice.takes(sequence.name)) continue;
    const auto found = annotation.transcripts.find(sequence.name);
    any = any || found != annotation.transcripts.end();
    // Without genes it says nothing: it may not be annotated.
    if (found == annotation.transcripts.end()) continue;
    sequences.push_back({sequence.name, base_codes(sequence.bases), std::move(found->second), nullptr});
    if (tracks == nullptr) continue;
    const auto length = std::ssize(sequence.bases);
    const std::vector<TrackModel>& models = arguments.options.tracks;
    sequences.back().tracks = std::make_shared<const KeptTracks>(
        *scaled_tracks(*tracks, models, sequence.name, length), models.size(), length);
  }
  choice.require_all(arguments.fasta);
  if (!any)
    throw InputError({arguments.annotation, "", "no genes on the sequences of " + arguments.fasta,
                      "names of sequences must be the same in both"});
  return sequences;
}

void tell(const LearnGenesResult& result) {
  log_note(fmt::format("{} on {} bases; log likelihood {:.2f} after {}", plural(result.genes, "gene"),
                       result.bases, result.log_likelihood, plural(result.iterations, "iteration")));
  if (result.overlapping > 0)
    log_note(
        fmt::format("{} that overlap longer ones were left out", plural(result.overlapping, "transcript")));
  if (!result.impossible.empty())
    log_warning({"impossible-genes",
                 fmt::format("{} that the grammar does not know, left out with what is around them: {}",
                             plural(result.impossible.size(), "transcript"), few_of(result.impossible, 5))});
  if (result.unknown > 0)
    log_note(fmt::format("{} that look like a gene without annotation do not count as intergenic",
                         plural(result.unknown, "place")));
}

// Without sequences: the grammar with usual lengths.
void write_grammar(const TrainGenesArguments& arguments) {
  if (!arguments.annotation.empty() || !arguments.from.empty() || !arguments.tracks.files().empty())
    throw UsageError("FASTA is required with --annotation, --from and tracks",
                     "without these the grammar alone is written");
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}}, std::vector<std::string>{});
  const std::string& kind = arguments.options.grammar;
  const GeneModel model =
      usual_gene_model(kind, grammar_parts(arguments.with, kind), std::max(1, arguments.table));
  write_whole_output(arguments.output, gene_model_text(model));
}

// --from: a model of another genome instead of an annotation.
void adapt(TrainGenesArguments& arguments) {
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}},
                std::vector<std::string>{arguments.fasta, arguments.from});
  const GeneModel start = read_gene_model(arguments.from);
  if (start.description != "prokaryote")
    throw InputError({arguments.from, "/description", "\"" + start.description + "\"",
                      "--from wants a model of --grammar prokaryote"});
  if (!start.tracks.empty())
    throw InputError(
        {arguments.from, "/tracks", "a model with tracks", "--from wants a model of sequences alone"});
  FastaReader reader(arguments.fasta);
  SequenceChoice choice(arguments.sequences);
  std::vector<UnknownSequence> sequences;
  for (FastaSequence sequence; reader.next(sequence);)
    if (choice.takes(sequence.name)) sequences.push_back({sequence.name, base_codes(sequence.bases)});
  choice.require_all(arguments.fasta);
  arguments.adapt.threads = arguments.options.threads;
  arguments.adapt.genetic_code = arguments.table;
  const GeneModel model =
      adapt_genes(start, sequences, arguments.fasta, arguments.adapt, [](const AdaptedRound& round) {
        log_note(fmt::format("round {}: {}, {} of them as in the round before, {} certain", round.number,
                             plural(round.genes, "gene"), round.same, round.counted));
      });
  write_whole_output(arguments.output, gene_model_text(model));
}

void train_genes(TrainGenesArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  if (arguments.fasta.empty()) return write_grammar(arguments);
  if (!arguments.from.empty()) return adapt(arguments);
  if (arguments.annotation.empty())
    throw UsageError("--annotation is required, or --from for sequences without annotation");
  if (arguments.table > 0) arguments.options.genetic_code = arguments.table;
  arguments.options.parts = grammar_parts(arguments.with, arguments.options.grammar);
  std::vector<std::string> inputs = arguments.tracks.files();
  inputs.insert(inputs.end(), {arguments.fasta, arguments.annotation});
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}}, inputs);
  const std::unique_ptr<TrackFile> tracks = arguments.tracks.open();
  if (tracks) arguments.options.tracks = track_models(arguments, *tracks);
  const std::vector<AnnotatedSequence> sequences = annotated(arguments, tracks.get());
  const LearnGenesResult result =
      learn_genes(sequences, arguments.annotation, arguments.options, [](int iteration, double value) {
        log_detail(fmt::format("iteration {}: log likelihood {:.3f}", iteration, value));
      });
  tell(result);
  write_whole_output(arguments.output, gene_model_text(result.model));
}

}  // namespace

void add_train_genes_command(CLI::App& program) {
  CLI::App* command =
      add_command(program, "train-genes", "Learn a gene model from sequences and their annotated genes.",
                  "Counts what coding, intron and intergenic sequence look like, signals and lengths, and "
                  "then fits their\n"
                  "weights and the scores of transitions to the conditional likelihood of the annotated "
                  "genes. Genes that\n"
                  "the grammar does not know, and stretches that look like genes without annotation, are "
                  "left out with what\n"
                  "is around them; of genes that overlap the longest counts.\n\n"
                  "Outputs:\n"
                  "  -o FILE               gene model, JSON (docs/gene-models.md)\n");
  const auto arguments = std::make_shared<TrainGenesArguments>();
  LearnGenesOptions& options = arguments->options;
  command->add_option(
      "FASTA", arguments->fasta,
      "sequences, plain or compressed; without them (and --annotation or --from) the grammar alone is "
      "written, with usual lengths");
  CLI::Option* annotation = command->add_option("--annotation", arguments->annotation,
                                                "file of their genes, GFF3 or GTF with CDS lines");
  CLI::Option* from = command->add_option(
      "--from", arguments->from,
      "file of a gene model of another bacterium, for sequences without --annotation: what "
      "it finds with certainty is counted in its place, its weights are kept");
  from->excludes(annotation);
  add_number(*command, "--rounds", arguments->adapt.rounds, "how often --from finds and counts",
             CLI::Range(1, 100));
  command->get_option("--rounds")->needs(from);
  command->add_option("-o,--output", arguments->output, "gene model to write")->required();
  add_choice(
      *command, "--grammar", options.grammar,
      "what genes are made of: introns (eukaryote), introns of 20 bases or more that may begin with GC "
      "(fungus), or none, and three start codons (prokaryote)",
      {"eukaryote", "fungus", "prokaryote"});
  command
      ->add_option("--with", arguments->with,
                   "what the grammar knows besides, with commas: introns from GC to AG (gc-ag), those of the "
                   "U12 spliceosome (u12), stop codons that an intron splits (split-stops), untranslated "
                   "regions (utr)")
      ->type_name("NAMES");
  command
      ->add_option("--table", arguments->table,
                   "genetic code by its number at NCBI (" + genetic_code_numbers() +
                       "): which codons stop; without it the standard code, or that of --from")
      ->check(CLI::Validator(
          [](const std::string& text) {
            for (const GeneticCode& one : kGeneticCodes)
              if (text == fmt::format("{}", one.number)) return std::string();
            return text + " is none of " + genetic_code_numbers();
          },
          ""))
      ->type_name("N");
  command
      ->add_option("--sequences", arguments->sequences,
                   "names of the sequences to learn from, with commas; all without it")
      ->type_name("NAMES");
  command->add_flag("--partial", options.partial,
                    "genes are missing in the annotation: what is not annotated may be anything");
  add_track_options(*command, arguments->tracks);
  command
      ->add_option("--track-names", arguments->track_names,
                   "names of the tracks of --tracks, with commas, in their order")
      ->type_name("NAMES");
  add_choice(*command, "--track-scale", arguments->track_scale,
             "what the model works with: logarithms of the values, or the values", {"log", "linear"});
  add_number(*command, "--track-floor", arguments->track_floor,
             "the least value of which a logarithm is taken", CLI::Range(1e-30, 1.0));
  add_number(*command, "--group-penalty", options.group_penalty,
             "what the weights of a track in a content or signal cost", CLI::Range(0.0, 1e6));
  add_number(*command, "--order", options.order, "bases before a base that its content depends on",
             CLI::Range(0, 8));
  add_number(*command, "--max-iterations", options.iterations, "iterations of the fit of weights; 0: none",
             CLI::Range(0, 10000));
  add_number(*command, "-t,-@,--threads", options.threads, "number of threads", CLI::Range(1, 1024));
  for (const char* option : {"--grammar", "--with", "--partial", "--tracks", "--track", "--helixer",
                             "--track-names", "--group-penalty", "--order", "--max-iterations"})
    from->excludes(command->get_option(option));
  command->callback([arguments] { train_genes(*arguments); });
}

}  // namespace semicrf
