// semicrf train-genes: a gene model from annotated sequences.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/commands/genes/sequence_choice.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "genes/fasta.h"
#include "genes/gene_model_file.h"
#include "genes/learn_genes.h"
#include "genes/sequence_source.h"
#include "io/files/output_file.h"
#include "log/log.h"

namespace semicrf {
namespace {

struct TrainGenesArguments {
  std::string fasta, annotation, output, sequences;
  LearnGenesOptions options;
};

std::vector<AnnotatedSequence> annotated(const TrainGenesArguments& arguments) {
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
    if (found != annotation.transcripts.end())
      sequences.push_back({sequence.name, base_codes(sequence.bases), std::move(found->second)});
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

void train_genes(const TrainGenesArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}},
                std::vector<std::string>{arguments.fasta, arguments.annotation});
  const std::vector<AnnotatedSequence> sequences = annotated(arguments);
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
                  "  -o FILE               gene model, JSON (docs/users/genes.md)\n");
  const auto arguments = std::make_shared<TrainGenesArguments>();
  LearnGenesOptions& options = arguments->options;
  command->add_option("FASTA", arguments->fasta, "sequences, plain or compressed")->required();
  command
      ->add_option("--annotation", arguments->annotation, "file of their genes, GFF3 or GTF with CDS lines")
      ->required();
  command->add_option("-o,--output", arguments->output, "gene model to write")->required();
  add_choice(
      *command, "--grammar", options.grammar,
      "what genes are made of: introns (eukaryote), introns of 20 bases or more that may begin with GC "
      "(fungus), or none, and three start codons (prokaryote)",
      {"eukaryote", "fungus", "prokaryote"});
  command
      ->add_option("--sequences", arguments->sequences,
                   "names of the sequences to learn from, with commas; all without it")
      ->type_name("NAMES");
  command->add_flag("--partial", options.partial,
                    "genes are missing in the annotation: what is not annotated may be anything");
  add_number(*command, "--order", options.order, "bases before a base that its content depends on",
             CLI::Range(0, 8));
  add_number(*command, "--max-iterations", options.iterations, "iterations of the fit of weights; 0: none",
             CLI::Range(0, 10000));
  add_number(*command, "-t,-@,--threads", options.threads, "number of threads", CLI::Range(1, 1024));
  command->callback([arguments] { train_genes(*arguments); });
}

}  // namespace semicrf
