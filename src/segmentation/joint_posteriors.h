// Label posteriors of several runs over one genome, read side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/text/chromosomes.h"

namespace semicrf {

// The posteriors of all labels of all runs, from left to right.
//
// Runs have the files that `posterior --labels-out PREFIX` writes, bedGraph or bigWig. Labels are matched by
// the names that files have (in_file_name()). One line of each file is held at a time, beside names of
// chromosomes: memory does not depend on the length of the genome.
class JointPosteriors {
 public:
  // `prefixes`: by run. Reads the first file of each run once for its chromosomes. InputError: no such files,
  // two runs without one label or one chromosome in common, chromosomes in another order, other lengths of
  // chromosomes (bigWig), other bins, small values left out (--min-posterior), a damaged file. ReadError.
  explicit JointPosteriors(const std::vector<std::string>& prefixes);
  ~JointPosteriors();

  // Names of labels that any run has, in natural order.
  const std::vector<std::string>& labels() const { return labels_; }
  // Labels and chromosomes that not all runs have, each with the prefixes that lack it: "E3 (not in a, b)".
  const std::vector<std::string>& partial_labels() const { return partial_labels_; }
  const std::vector<std::string>& partial_chromosomes() const { return partial_chromosomes_; }
  // Those that all runs have, in their order.
  const std::vector<std::string>& chromosomes() const { return chromosomes_; }
  // All chromosomes of the genome as a bigWig file of the first run lists them; empty where it is bedGraph.
  const std::vector<Chromosome>& lengths() const { return lengths_; }

  // Calls visit for the parts of the chromosomes in which no posterior changes and for which every run has
  // posteriors; `values` are P(label) by run and label, row-major. To be called once. InputError with the
  // place: a value outside 0..1, labels of a run that do not add up to 1 (up to the digits of the file).
  using Visitor = std::function<void(const std::string& chromosome, std::int64_t begin, std::int64_t end,
                                     std::span<const double> values)>;
  void visit(const Visitor& visit);
  // Bases for which some runs have posteriors, but not all; known after visit().
  std::int64_t incomplete() const { return incomplete_; }

 private:
  class File;
  // What is known of a run before its posteriors are read.
  struct Run {
    std::string prefix;
    std::map<std::string, std::string> files;  // by label
    std::vector<std::string> chromosomes;      // those of the first file, in its order
    double tolerance = 0;                      // how far from 1 its posteriors may add up to
  };

  void join_labels();
  void join_chromosomes();
  void open_files();
  void visit_chromosome(std::size_t place, const Visitor& visit);
  void check_sums(std::size_t place, std::int64_t begin, std::int64_t end,
                  std::span<const double> values) const;

  std::vector<Run> runs_;
  std::vector<std::string> labels_, chromosomes_, partial_labels_, partial_chromosomes_;
  std::unordered_map<std::string, std::size_t> places_;  // in chromosomes_
  std::vector<Chromosome> lengths_;
  std::vector<std::unique_ptr<File>> files_;
  std::int64_t incomplete_ = 0;
};

}  // namespace semicrf
