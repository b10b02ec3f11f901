#include "genes/lattice/open_segments.h"

#include <algorithm>
#include <cmath>

#include "core/chain_model.h"

namespace semicrf {
namespace {

// Terms so far below the largest are nothing beside it in double precision.
constexpr double kNegligible = -40;

}  // namespace

OpenSegments::OpenSegments(const LatticeLaw& law, const LatticeLabel& label, LatticeSemiring semiring)
    : law_(&law),
      semiring_(semiring),
      modulus_(label.modulus),
      residue_(label.residue),
      longest_(static_cast<std::int64_t>(law.table.size())),
      tail_from_(longest_ - (longest_ - label.residue + label.modulus) % label.modulus),
      classes_(static_cast<std::size_t>(label.modulus)) {}

int OpenSegments::class_of(std::int64_t boundary) const {
  const auto remainder = static_cast<int>(boundary % modulus_);
  return remainder < 0 ? remainder + modulus_ : remainder;
}

void OpenSegments::open(std::int64_t boundary, double value) {
  classes_[class_of(boundary)].starts.push_back({boundary, value});
}

void OpenSegments::forget(std::int64_t boundary) {
  for (Class& kept : classes_) {
    kept.tail = {};
    while (kept.first < kept.starts.size() && kept.starts[kept.first].boundary <= boundary) ++kept.first;
    if (kept.first == kept.starts.size()) kept.starts.clear(), kept.first = 0;
  }
}

// Moves those that began more than K ago to the tail.
void OpenSegments::age(Class& kept, std::int64_t boundary) const {
  while (kept.first < kept.starts.size() && boundary - kept.starts[kept.first].boundary > longest_) {
    const Start& start = kept.starts[kept.first++];
    if (law_->log_tail == kNegativeInfinity || tail_from_ < 1 ||
        law_->table[tail_from_ - 1] == kNegativeInfinity)
      continue;
    const double value = start.value - static_cast<double>(start.boundary) * law_->log_tail;
    Tail& tail = kept.tail;
    if (semiring_ == LatticeSemiring::kMax) {
      if (value >= tail.value) tail.value = value, tail.best_start = start.boundary;
      continue;
    }
    const double total = log_add(tail.value, value);
    const double share = std::exp(value - total);
    tail.mean_start += share * (static_cast<double>(start.boundary) - tail.mean_start);
    tail.value = total;
  }
  // The room of those that are gone, once it is most of it.
  if (kept.first > 64 && kept.first * 2 > kept.starts.size()) {
    kept.starts.erase(kept.starts.begin(), kept.starts.begin() + static_cast<std::ptrdiff_t>(kept.first));
    kept.first = 0;
  }
}

ClosedSegments OpenSegments::close(std::int64_t boundary) {
  Class& kept = classes_[class_of(boundary - residue_)];
  age(kept, boundary);
  return semiring_ == LatticeSemiring::kLog ? sum(kept, boundary) : best(kept, boundary);
}

ClosedSegments OpenSegments::sum(const Class& kept, std::int64_t boundary) const {
  const double* const table = law_->table.data();
  double largest = kNegativeInfinity;
  for (std::size_t i = kept.first; i < kept.starts.size(); ++i) {
    const Start& start = kept.starts[i];
    if (start.boundary == boundary) break;
    largest = std::max(largest, start.value + table[boundary - start.boundary - 1]);
  }
  const double behind = static_cast<double>(boundary - tail_from_) * law_->log_tail;
  const bool has_tail = kept.tail.value > kNegativeInfinity;
  const double tail = has_tail ? kept.tail.value + law_->table[tail_from_ - 1] + behind : kNegativeInfinity;
  largest = std::max(largest, tail);
  ClosedSegments closed;
  if (largest == kNegativeInfinity) return closed;
  double total = 0, weighed = 0;
  for (std::size_t i = kept.first; i < kept.starts.size(); ++i) {
    const Start& start = kept.starts[i];
    if (start.boundary == boundary) break;
    const double score = table[boundary - start.boundary - 1];
    const double below = start.value + score - largest;
    if (below < kNegligible) continue;
    const double weight = std::exp(below);
    total += weight;
    weighed += weight * score;
  }
  if (has_tail && tail - largest >= kNegligible) {
    const double weight = std::exp(tail - largest);
    total += weight;
    weighed += weight * (law_->table[tail_from_ - 1] + behind - kept.tail.mean_start * law_->log_tail);
  }
  closed.value = largest + std::log(total);
  closed.duration_score = weighed / total;
  return closed;
}

ClosedSegments OpenSegments::best(const Class& kept, std::int64_t boundary) const {
  ClosedSegments closed;
  if (kept.tail.value > kNegativeInfinity) {
    closed.value = kept.tail.value + law_->table[tail_from_ - 1] +
                   static_cast<double>(boundary - tail_from_) * law_->log_tail;
    closed.start = kept.tail.best_start;
  }
  for (std::size_t i = kept.first; i < kept.starts.size(); ++i) {
    const Start& start = kept.starts[i];
    if (start.boundary == boundary) break;
    const double value = start.value + law_->table[boundary - start.boundary - 1];
    if (value >= closed.value && value > kNegativeInfinity)
      closed.value = value, closed.start = start.boundary;
  }
  return closed;
}

}  // namespace semicrf
