#include "apps/manual/examples.h"

namespace semicrf {
namespace {

struct CommandExample {
  std::string_view command;
  Example example;
};

// The examples in the test's order: files that one makes may be read by those below it.
constexpr CommandExample kExamples[] = {
    {"count",
     {"Reads in bins of 200 bases, each counted 100 bases behind its 5' end; bigWig. BAM files need no -g.",
      "printf 'III\\t90400\\t90436\\t.\\t0\\t+\\nIII\\t91250\\t91286\\t.\\t0\\t-\\n' > reads.bed\n"
      "printf 'III\\t316620\\n' > sizes.txt\n"
      "semicrf count -g sizes.txt --shift 100 -o reads.bw reads.bed"}},
    {"decode",
     {"Genes, with strand and reading frame, in six tracks of codon statistics; BED.",
      "semicrf decode -p demo.params.json -o segments.bed codon_*.bw"}},
    {"decode",
     {"The same as a bgzip file with its index, and from the same run the boundary posterior, a table of the "
      "segments with their probabilities, and statistics.",
      "semicrf decode -p demo.params.json -o segments.bed.gz --write-index \\\n"
      "    --posterior boundaries.bg.gz --table segments.tsv --stats decode.json codon_*.bw"}},
    {"decode",
     {"What a job on a cluster needs, without computing anything.",
      "semicrf decode --dry-run -t 8 -p demo.params.json codon_*.bw"}},
    {"decode",
     {"The five most probable segmentations of an array of label scores: best.1.bed to best.5.bed.",
      "semicrf decode --best 5 -p scores.params.json -o best.bed scores.npy"}},
    {"posterior",
     {"The probability that a segment starts, at every bin; bedGraph.",
      "semicrf posterior -p demo.params.json -o boundaries.bedgraph codon_*.bw"}},
    {"posterior",
     {"Also the probability of every label, one bigWig file per label, on a part of the chromosome.",
      "semicrf posterior -p demo.params.json -r III:92001-96000 -o boundaries.bw \\\n"
      "    --labels-out labels.bw codon_*.bw"}},
    {"query",
     {"Is all of this interval intergenic? Does a gene start in that one?",
      "printf 'III\\t90400\\t91200\\tlabel:intergenic\\nIII\\t91290\\t91340\\tboundary\\n' > claims.bed\n"
      "semicrf query -p demo.params.json --claims claims.bed -o answers.tsv codon_*.bw"}},
    {"eval",
     {"How well segments agree with the annotation; tables on standard output.",
      "semicrf eval --truth genes.bed segments.bed"}},
    {"eval",
     {"Also how often what the posteriors predict is true.",
      "semicrf eval --truth genes.bed --posterior boundaries.bedgraph --json eval.json -o eval.txt "
      "segments.bed"}},
    {"describe",
     {"Segments, bases and lengths of every label, in the order of the parameter file.",
      "semicrf describe -p demo.params.json -o labels.tsv segments.bed"}},
    {"enrich",
     {"How much more often than by chance each label lies on annotation; also as a picture.",
      "semicrf enrich --svg folds.svg -o folds.tsv segments.bed genes=genes.bed"}},
    {"compare",
     {"Two samples against each other: bases with the same label, and where they differ.",
      "semicrf compare --regions differences.bed -o agreement.tsv a=segments.bed b=genes.bed"}},
    {"compare",
     {"Two conditions by their posteriors: where labels differ, at a false discovery rate of 5 %.",
      "semicrf posterior -p demo.params.json -o a.bw --labels-out a codon_fwd*.bw codon_rev*.bw\n"
      "semicrf posterior -p demo.params.json -o b.bw --labels-out b --missing-track codon_rev0 \\\n"
      "    codon_fwd*.bw codon_rev1.bw codon_rev2.bw\n"
      "semicrf compare --posterior a b --regions differing.bed --disagreement p.bedgraph -o summary.tsv"}},
    {"reproducibility",
     {"What a replicate reproduces of a segmentation, by label and base.",
      "semicrf decode -p demo.params.json -o a.bed codon_*.bw\n"
      "semicrf posterior -p demo.params.json -o boundaries.bw --labels-out a codon_*.bw\n"
      "semicrf reproducibility --labels a --r-values r.bedgraph -o labels.tsv a.bed genes.bed"}},
    {"report",
     {"One page: labels, model, certainty, places with their tracks, and the agreement with the annotation.",
      "semicrf report -p demo.params.json --segments segments.bed --posterior boundaries.bedgraph \\\n"
      "    --truth genes.bed -o report.html codon_*.bw"}},
    {"train-genes",
     {"Learn what genes of yeast look like from the annotation of a chromosome.",
      "semicrf train-genes --grammar fungus --max-iterations 3 --annotation yeast.genes.gff3 -o genes.json "
      "\\\n"
      "    yeast.fa.gz"}},
    {"genes",
     {"Genes and proteins of a sequence, with the model of yeast that comes with the program.",
      "semicrf genes -p yeast.genes.json --proteins proteins.faa --report genes.html -o found.gff3 \\\n"
      "    yeast.fa.gz"}},
    {"eval-genes",
     {"How many of the annotated genes, exons and bases were found.",
      "semicrf eval-genes --truth yeast.genes.gff3 found.gff3"}},
    {"train",
     {"Learn a model from labelled segments; bins are codons, of three bases.",
      "semicrf train -b 3 --labels genes.bed --max-iterations 30 --checkpoint fit.checkpoint \\\n"
      "    -o model.json codon_*.bw"}},
    {"train",
     {"Go on after a stop, from the checkpoint.",
      "semicrf train -b 3 --labels genes.bed --max-iterations 30 --checkpoint fit.checkpoint \\\n"
      "    --resume fit.checkpoint -o model.json codon_*.bw"}},
    {"learn",
     {"Learn two labels with their durations from tracks alone.",
      "semicrf learn --labels 2 --max-duration 20 --tail --restarts 1 --max-iterations 5 -b 30 \\\n"
      "    -o found.json codon_*.bw"}},
    {"simulate",
     {"Ten draws from the exact distribution of the segmentation: draw.1.bed to draw.10.bed.",
      "semicrf simulate -p demo.params.json --seed 1 --draws 10 -o draw.bed codon_*.bw"}},
    {"import",
     {"Parameters from a model of ChromHMM and from one of Segway.",
      "semicrf import chromhmm -b 200 -o chromhmm.json model_3.txt\n"
      "semicrf import segway -b 100 -o segway.json params.params"}},
    {"export",
     {"A model with geometric durations as ChromHMM reads it.",
      "semicrf export chromhmm -o model_out.txt chromhmm.json"}},
    {"edit",
     {"No segment of an intergenic label shorter than 20 bins.",
      "semicrf edit --min-duration intergenic=20 -o edited.json demo.params.json"}},
    {"info",
     {"What is in a parameter file or a track, checked.",
      "semicrf info demo.params.json\nsemicrf info codon_fwd0.bw"}},
    {"info",
     {"A parameter file to start from.", "semicrf info --template -L gene,between -T H3K36me3 > start.json"}},
    {"bench",
     {"Speed on this machine: 100,000 positions, segments of up to 100, 8 labels.",
      "semicrf bench -T 100000 -K 100 -C 8 -x cpu --repeats 1"}},
    {"",
     {"From tracks to segments, and the probability of a boundary at every bin.",
      "semicrf decode -p demo.params.json -o segments.bed codon_*.bw\n"
      "semicrf posterior -p demo.params.json -o boundaries.bedgraph codon_*.bw"}},
};

}  // namespace

std::vector<Example> examples_of(std::string_view command) {
  std::vector<Example> examples;
  for (const CommandExample& line : kExamples)
    if (line.command == command) examples.push_back(line.example);
  return examples;
}

}  // namespace semicrf
