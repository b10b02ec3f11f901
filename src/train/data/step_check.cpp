#include "train/data/step_check.h"

#include <numeric>
#include <string>

#include "core/error.h"

namespace semicrf {
namespace {

// Calls visit(base) for the edges of the labels, but for those at an end of a sequence.
template <class Visit>
void for_each_edge(const InputSet& inputs, const LabelFile& labels, Visit visit) {
  for (const Sequence& sequence : inputs.sequences()) {
    const auto records = labels.chromosomes.find(sequence.chromosome);
    if (records == labels.chromosomes.end()) continue;
    std::int64_t last = -1;  // the edge that two touching labels share is one
    for (const LabelRecord& record : records->second)
      for (const std::int64_t edge : {record.begin, record.end}) {
        if (edge != sequence.length && edge != last) visit(edge);
        last = edge;
      }
  }
}

// What the labels say about bins of `step` bases.
std::string label_edges(const InputSet& inputs, const LabelFile& labels, std::int64_t step) {
  std::int64_t edges = 0, between = 0;
  for_each_edge(inputs, labels, [&](std::int64_t edge) {
    ++edges;
    between += edge % step == 0 ? 0 : 1;
  });
  if (between == 0) return " and so do all labels";
  return " (" + std::to_string(between) + " of " + std::to_string(edges) +
         " label edges lie in between and would move to the nearest edge of a bin)";
}

}  // namespace

void require_bin_size(const InputSet& inputs, const LabelFile& labels) {
  const std::int64_t common = inputs.steps().common();
  if (common <= 1) return;
  std::int64_t step = common;
  for_each_edge(inputs, labels, [&](std::int64_t edge) { step = std::gcd(step, edge); });
  if (step == 1) step = common;
  const std::string bases = std::to_string(step);
  throw UsageError("no bin size is given, and bins of 1 base would be " + bases +
                       " times the work for nothing: the values of all tracks change only at multiples of " +
                       bases + " bases" + label_edges(inputs, labels, step),
                   "add -b " + bases + ", or -b 1 if single bases are meant");
}

}  // namespace semicrf
