// Files of where samples differ.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "io/files/output_file.h"
#include "io/text/chromosomes.h"
#include "segmentation/agreement.h"
#include "segmentation/label_tracks.h"

namespace semicrf {

inline constexpr std::int64_t kFinestZoom = 2000;  // bases of a record of the finest zoom level

// What bigBed and bigWig files list: all chromosomes of the file `chrom_sizes`, or where that is empty those
// that the first sample knows. Those that it has segments on come first, in its order, which is that of the
// data. InputError: the sizes lack one of these, or segments are longer than they say. UsageError: no lengths
// are known; `output` is the file that needs them.
std::vector<Chromosome> listed_chromosomes(const std::vector<Sample>& samples, const std::string& chrom_sizes,
                                           const std::string& output);

// The regions that differ as BED, widest first; or, where the name says so, as bigBed, sorted by position.
// `listed`: for bigBed. One of `files`. WriteError.
void write_differences(OutputGroup& files, const std::string& path, const std::vector<Sample>& samples,
                       const Agreement& agreement, const std::vector<Chromosome>& listed);

// Values along chromosomes, written as bedGraph or bigWig.
//
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
