#include "inputs/sequence_scan.h"

#include <algorithm>

#include "core/threads/parallel.h"
#include "engine/device_memory.h"
#include "model/scores/centering.h"

namespace semicrf {
namespace {

constexpr std::int64_t kScanSlab = 1 << 16;  // rows read at a time

class Scanner {
 public:
  Scanner(RowReader& rows, const ScanRequest& request)
      : rows_(rows), request_(request), mean_(rows.columns(), request.threads) {}

  SequenceScan run() {
    RowBuffer buffer;
    // Rows that are used where they lie cost no memory.
    const std::int64_t slab = rows_.bytes_per_row() == 0 ? kScanSlab * request_.threads : kScanSlab;
    for (std::int64_t begin = 0; begin < rows_.rows(); begin += slab) {
      const std::int64_t end = std::min(rows_.rows(), begin + slab);
      const ScoreArray values = rows_.read(begin, end, buffer);
      collect_missing(begin, buffer.missing);
      if (request_.want_mean) add_counted(begin, end, values, buffer.missing);
    }
    if (request_.want_mean) {
      scan_.mean = mean_.mean();
      scan_.masked = mean_.masked();
    }
    return std::move(scan_);
  }

 private:
  void collect_missing(std::int64_t begin, const std::vector<std::uint8_t>& missing) {
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (missing[i] == 0) continue;
      const std::int64_t bin = begin + static_cast<std::int64_t>(i);
      if (!scan_.missing.empty() && scan_.missing.back().end == bin) {
        scan_.missing.back().end = bin + 1;
      } else {
        scan_.missing.push_back({bin, bin + 1});
      }
    }
  }

  // Adds the rows of the slab that are neither excluded nor missing.
  void add_counted(std::int64_t begin, std::int64_t end, const ScoreArray& values,
                   const std::vector<std::uint8_t>& missing) {
    std::int64_t at = begin;
    while (at < end) {
      while (next_excluded_ < request_.excluded.size() && request_.excluded[next_excluded_].end <= at)
        ++next_excluded_;
      std::int64_t stop = end;
      if (next_excluded_ < request_.excluded.size()) {
        const BinRange& excluded = request_.excluded[next_excluded_];
        if (excluded.begin <= at) {
          at = std::min(end, excluded.end);
          continue;
        }
        stop = std::min(end, excluded.begin);
      }
      const auto is_missing = [&](std::int64_t bin) { return !missing.empty() && missing[bin - begin] != 0; };
      while (at < stop && is_missing(at)) ++at;
      std::int64_t run_end = at;
      while (run_end < stop && !is_missing(run_end)) ++run_end;
      if (run_end > at) add_rows(begin, at, run_end, values);
      at = run_end;
    }
  }

  void add_rows(std::int64_t origin, std::int64_t begin, std::int64_t end, const ScoreArray& values) {
    const std::size_t skip = static_cast<std::size_t>(begin - origin) * rows_.columns();
    if (values.f32 != nullptr) {
      mean_.add(values.f32 + skip, begin, end);
    } else {
      mean_.add(values.f64 + skip, begin, end);
    }
  }

  RowReader& rows_;
  const ScanRequest& request_;
  SequenceMean mean_;
  std::size_t next_excluded_ = 0;
  SequenceScan scan_;
};

}  // namespace

SequenceScan scan_sequence(RowReader& rows, const ScanRequest& request) {
  if (!request.want_mean && !rows.can_miss()) return {};
  return Scanner(rows, request).run();
}

std::optional<SequenceScan> scan_on_device(SequenceScores& scores, Engine& engine, bool want_mean) {
  constexpr std::int64_t kWorthwhile = 1 << 18;  // positions; fewer are added up before a copy has begun
  const std::int64_t length = scores.rows->rows();
  if (length < kWorthwhile) return std::nullopt;
  const BinRange all{0, length};
  std::optional<ScoreWindow> whole = scores_in_place(scores, all);
  if (!whole || engine.own_memory() == nullptr) return std::nullopt;
  whole->sequence = sequence_number(scores, all);
  scores.prefetch = engine.own_memory()->prefetch(*whole);
  if (!scores.prefetch) return std::nullopt;
  SequenceScan scan;
  std::optional<BlockSums> sums;
  if (want_mean) sums = scores.prefetch->block_sums(kMaskScore);
  if (want_mean ? !sums : !scores.prefetch->sound(length)) {
    scores.prefetch.reset();
    return std::nullopt;
  }
  scores.rows->assume_checked(0, length);
  if (!want_mean) return scan;
  SequenceMean mean(scores.rows->columns());
  mean.add(*sums, length);
  scan.mean = mean.mean();
  scan.masked = mean.masked();
  return scan;
}

}  // namespace semicrf
