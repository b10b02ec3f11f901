#include "model/bins.h"

#include <algorithm>

namespace semicrf {
namespace {

bool begins_before(const BinRange& a, const BinRange& b) {
  return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
}

// Sorts and merges those that overlap.
void merge_overlapping(std::vector<BinRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), begins_before);
  std::size_t kept = 0;
  for (const BinRange& range : ranges) {
    if (kept > 0 && range.begin < ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

// What is left of `ranges` without `removed`; both sorted and disjoint.
std::vector<BinRange> subtract(const std::vector<BinRange>& ranges, const std::vector<BinRange>& removed) {
  std::vector<BinRange> rest;
  std::size_t first = 0;  // first removed range that may still matter
  for (const BinRange& range : ranges) {
    while (first < removed.size() && removed[first].end <= range.begin) ++first;
    std::int64_t begin = range.begin;
    for (std::size_t i = first; i < removed.size() && removed[i].begin < range.end; ++i) {
      if (removed[i].begin > begin) rest.push_back({begin, removed[i].begin});
      begin = removed[i].end;
    }
    if (begin < range.end) rest.push_back({begin, range.end});
  }
  return rest;
}

}  // namespace

std::int64_t count_bins(std::int64_t length, std::int64_t bin_size) {
  return length / bin_size + (length % bin_size != 0 ? 1 : 0);
}

std::vector<BinRange> widen_to_bins(const std::vector<BaseRange>& ranges, std::int64_t length,
                                    std::int64_t bin_size) {
  std::vector<BinRange> widened;
  widened.reserve(ranges.size());
  for (const BaseRange& range : ranges) {
    const std::int64_t begin = std::max<std::int64_t>(range.begin, 0);
    const std::int64_t end = std::min(range.end, length);
    if (begin < end) widened.push_back({begin / bin_size, count_bins(end, bin_size)});
  }
  merge_overlapping(widened);
  return widened;
}

std::vector<BinRange> make_pieces(const PieceRequest& request) {
  const std::int64_t bins = count_bins(request.length, request.bin_size);
  const std::vector<BinRange> included =
      request.include ? widen_to_bins(*request.include, request.length, request.bin_size)
                      : std::vector<BinRange>{{0, bins}};
  std::vector<BinRange> removed = widen_to_bins(request.exclude, request.length, request.bin_size);
  for (const BinRange& range : request.missing) {
    if (range.begin < range.end) removed.push_back(range);
  }
  merge_overlapping(removed);
  return subtract(included, removed);
}

CutEdges cut_edges(std::span<const BinRange> pieces, std::size_t number, std::int64_t sequence_bins,
                   ChromosomeEnds ends) {
  const BinRange& piece = pieces[number];
  const bool begins = piece.begin == 0 && ends.left;
  const bool ends_here = piece.end == sequence_bins && ends.right;
  const bool touches_left = number > 0 && pieces[number - 1].end == piece.begin;
  const bool touches_right = number + 1 < pieces.size() && pieces[number + 1].begin == piece.end;
  return {!begins && !touches_left, !ends_here && !touches_right};
}

std::int64_t total_bins(const std::vector<BinRange>& ranges) {
  std::int64_t bins = 0;
  for (const BinRange& range : ranges) bins += range.size();
  return bins;
}

namespace {

class RunMaker {
 public:
  explicit RunMaker(const BinGrid& grid) : grid_(grid) {}

  void add(const LabelRecord& record) {
    const std::int64_t begin = std::max<std::int64_t>(0, record.begin - grid_.origin);
    const std::int64_t end = std::min(grid_.length, record.end - grid_.origin);
    if (begin >= end) return;
    const std::int64_t first = begin / grid_.bin_size;
    const std::int64_t last = (end - 1) / grid_.bin_size;
    share(first, record, std::min(end, (first + 1) * grid_.bin_size) - begin);
    if (last == first) return;
    settle();
    if (first + 1 < last) append(first + 1, last, record);
    share(last, record, end - last * grid_.bin_size);
  }

  std::vector<LabelledRun> finish() {
    settle();
    return std::move(runs_);
  }

 private:
  struct Share {
    const LabelRecord* record;
    std::int64_t bases;
  };

  void share(std::int64_t bin, const LabelRecord& record, std::int64_t bases) {
    if (bin != bin_) settle();
    bin_ = bin;
    shares_.push_back({&record, bases});
  }

  // In the file; several items may share a line, where the format does not care for lines.
  static bool is_before(const LabelRecord& a, const LabelRecord& b) {
    return a.line != b.line ? a.line < b.line : a.begin < b.begin;
  }

  // The line that wins the open bin.
  void settle() {
    if (shares_.empty()) return;
    std::int64_t covered = 0;
    const Share* winner = nullptr;
    std::int64_t winning_bases = 0;
    const LabelRecord* winning_record = nullptr;
    for (const Share& share : shares_) {
      covered += share.bases;
      std::int64_t bases = 0;  // bases that have this share's label
      const LabelRecord* first = share.record;
      const Share* most = &share;
      for (const Share& other : shares_) {
        if (other.record->label != share.record->label) continue;
        bases += other.bases;
        if (is_before(*other.record, *first)) first = other.record;
        if (other.bases > most->bases ||
            (other.bases == most->bases && is_before(*other.record, *most->record)))
          most = &other;
      }
      if (winner == nullptr || bases > winning_bases ||
          (bases == winning_bases && is_before(*first, *winning_record))) {
        winner = most;
        winning_bases = bases;
        winning_record = first;
      }
    }
    const std::int64_t bases_of_bin = std::min(grid_.bin_size, grid_.length - bin_ * grid_.bin_size);
    if (2 * covered >= bases_of_bin) append(bin_, bin_ + 1, *winner->record);
    shares_.clear();
  }

  void append(std::int64_t begin, std::int64_t end, const LabelRecord& record) {
    if (last_ == &record && runs_.back().end == begin) {
      runs_.back().end = end;
    } else {
      runs_.push_back({begin, end, record.label, record.line});
    }
    last_ = &record;
  }

  BinGrid grid_;
  std::int64_t bin_ = -1;
  std::vector<Share> shares_;  // shares of the open bin
  std::vector<LabelledRun> runs_;
  const LabelRecord* last_ = nullptr;  // label of the last run
};

}  // namespace

std::vector<LabelledRun> label_bins(std::span<const LabelRecord> records, const BinGrid& grid) {
  RunMaker maker(grid);
  for (const LabelRecord& record : records) maker.add(record);
  return maker.finish();
}

std::vector<LabelledRun> with_background(const std::vector<LabelledRun>& runs, std::int64_t bins, int label) {
  std::int64_t line = runs.empty() ? 0 : runs.front().line;
  return with_gaps_filled(runs, bins, [&](std::int64_t begin, std::int64_t end, const LabelledRun* before) {
    if (before != nullptr) line = before->line;
    return LabelledRun{begin, end, label, line};
  });
}

}  // namespace semicrf
