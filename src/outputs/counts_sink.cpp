// log Z and the expected counts of all pieces as an NPZ archive.
#include <array>
#include <vector>

#include "core/compensated_sum.h"
#include "io/arrays/npy_writer.h"
#include "outputs/formats.h"

namespace semicrf {
namespace {

class CountsSink : public OutputSink {
 public:
  CountsSink(OutputFile& file, const ChainModel& model)
      : archive_(file), labels_(model.num_labels), durations_(model.max_duration) {
    counts_.shape_for(model);
  }

  void end_piece(const PieceResult& result) override {
    const auto& posteriors = result.get<PosteriorResult>();
    log_partition_.add(posteriors.log_partition);
    const ExpectedCounts& counts = posteriors.sums->counts;
    add(counts.transition, counts_.transition);
    add(counts.duration, counts_.duration);
    add(counts.tail, counts_.tail);
  }
  void finish() override {
    counts_.tail.resize(labels_);  // zeros where the model has no tail
    archive_.add("log_partition", {1, 0, true}, std::array{log_partition_.value()});
    archive_.add("transition", {labels_, labels_, true}, counts_.transition);
    archive_.add("duration", {durations_, labels_, true}, counts_.duration);
    archive_.add("tail", {labels_, 0, true}, counts_.tail);
    archive_.finish();
  }

 private:
  static void add(const std::vector<double>& counts, std::vector<double>& sums) {
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
  }

  NpzWriter archive_;
  std::int64_t labels_, durations_;
  CompensatedSum log_partition_;
  ExpectedCounts counts_;  // pieces are added in their order
};

}  // namespace

std::unique_ptr<OutputSink> make_counts_sink(OutputFile& file, const ChainModel& model) {
  return std::make_unique<CountsSink>(file, model);
}

}  // namespace semicrf
