// Values along chromosomes, written as bedGraph or bigWig.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/files/output_file.h"
#include "io/text/chromosomes.h"
#include "segmentation/label_tracks.h"

namespace semicrf {

// Steps of the same printed value (six decimals) that touch are one.
class StepFile {
 public:
  // bigWig where `path` says so, else bedGraph. `listed`: all chromosomes of a bigWig file, in the order in
  // which they are added; stays valid as long as this. The caller commits `output`.
  StepFile(OutputFile& output, const std::string& path, const std::vector<Chromosome>& listed);
  ~StepFile();

  // From left to right, chromosome by chromosome.
  void add(const std::string& chromosome, const LabelTrack::Step& step);
  // To be called once, behind the last step. WriteError.
  void finish();

 private:
  void emit();

  struct BigWig;
  OutputFile& output_;
  std::unique_ptr<BigWig> bigwig_;  // null: bedGraph
  std::string chromosome_, value_;  // the open step; empty: there is none
  std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace semicrf
