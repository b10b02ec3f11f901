#include "segmentation/step_files.h"

#include <cstdlib>
#include <utility>

#include "core/text/text.h"
#include "io/bigwig/bbi_writers.h"
#include "io/files/output_names.h"

namespace semicrf {
namespace {

constexpr std::int64_t kZoom = 2000;  // bases of a record of the finest zoom level

}  // namespace

struct StepFile::BigWig {
  explicit BigWig(const std::vector<Chromosome>& listed) : places(listed), writer(places, {.zoom = kZoom}) {}
  ListedChromosomes places;
  BigWigWriter writer;
};

StepFile::StepFile(OutputFile& output, const std::string& path, const std::vector<Chromosome>& listed)
    : output_(output), bigwig_(is_bigwig_name(path) ? std::make_unique<BigWig>(listed) : nullptr) {}

StepFile::~StepFile() = default;

void StepFile::add(const std::string& chromosome, const LabelTrack::Step& step) {
  std::string value = formatted("%.6f", step.value);
  if (chromosome == chromosome_ && step.begin == end_ && value == value_) {
    end_ = step.end;
    return;
  }
  emit();
  chromosome_ = chromosome;
  begin_ = step.begin;
  end_ = step.end;
  value_ = std::move(value);
}

void StepFile::emit() {
  if (chromosome_.empty()) return;
  if (bigwig_) {
    bigwig_->writer.add(bigwig_->places.place(chromosome_), begin_, end_,
                        std::strtof(value_.c_str(), nullptr));
  } else {
    output_.write(chromosome_ + "\t" + std::to_string(begin_) + "\t" + std::to_string(end_) + "\t" + value_ +
                  "\n");
  }
  chromosome_.clear();
}

void StepFile::finish() {
  emit();
  if (bigwig_) bigwig_->writer.write(output_);
}

}  // namespace semicrf
