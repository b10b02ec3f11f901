// semicrf eval-genes: predicted genes against annotated ones.
#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "genes/gene_evaluation.h"
#include "io/files/output_file.h"

namespace semicrf {
namespace {

struct EvalGenesArguments {
  std::string truth, predicted, output = "-", sequences, exons = "coding";
};

void eval_genes(const EvalGenesArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}},
                std::vector<std::string>{arguments.truth, arguments.predicted});
  const GeneAnnotation predicted = read_annotation(arguments.predicted);
  GeneAnnotation truth = read_annotation(arguments.truth);
  write_whole_output(arguments.output,
                     gene_levels_text(evaluate_genes(
                         truth, predicted, arguments.sequences,
                         arguments.exons == "whole" ? ComparedExons::kWhole : ComparedExons::kCoding)));
}

}  // namespace

void add_eval_genes_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "eval-genes", "Compare predicted genes with annotated ones.",
      "Reads the CDS lines of two GFF3 or GTF files. A gene, exon, intron, start or stop is found where it "
      "is the\n"
      "same to the base on the same strand; what is there twice counts once.\n\n"
      "Outputs:\n"
      "  -o FILE               a line per level, tab-separated: level (base, exon, intron, start, stop,\n"
      "                        intron_chain, transcript, locus), truth, predicted, matched (of the truth): "
      "how many;\n"
      "                        sensitivity, precision, f1\n");
  const auto arguments = std::make_shared<EvalGenesArguments>();
  command->add_option("PRED", arguments->predicted, "predicted genes, GFF3 or GTF")->required();
  command->add_option("--truth", arguments->truth, "file of the annotated genes, GFF3 or GTF")->required();
  command->add_option("-o,--output", arguments->output, "table to write; - for standard output (default)");
  command
      ->add_option("--sequences", arguments->sequences,
                   "names of the sequences to compare, with commas; all without it")
      ->type_name("NAMES");
  add_choice(*command, "--exons", arguments->exons,
             "what transcripts consist of: CDS alone (coding), or all of their exons (whole); start and stop "
             "are those of the CDS",
             {"coding", "whole"});
  command->callback([arguments] { eval_genes(*arguments); });
}

}  // namespace semicrf
