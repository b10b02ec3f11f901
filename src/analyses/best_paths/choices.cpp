#include "analyses/best_paths/choices.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/chain_model.h"
#include "core/segment.h"

namespace semicrf {

namespace {

void add_possible(std::int64_t number, double score, const CompensatedSum& content,
                  std::vector<Choice>& choices) {
  if (score > kNegativeInfinity) choices.push_back({number, score, content});
}

}  // namespace

bool finds_start(const ChainModel& model, const PathNode& node, std::int64_t number) {
  return (node.kind == PathNode::Kind::kEnd && number < model.max_duration) ||
         (node.kind == PathNode::Kind::kTail && number == 0);
}

PathNode next_node(const ChainModel& model, const PathNode& node, std::int64_t number) {
  if (finds_start(model, node, number)) {
    const std::int64_t duration = node.kind == PathNode::Kind::kEnd ? number + 1 : model.max_duration + 1;
    const std::int64_t start = node.boundary - duration;
    return {start, start == 0 ? PathNode::Kind::kDone : PathNode::Kind::kStart, node.label};
  }
  if (node.kind == PathNode::Kind::kEnd) return {node.boundary, PathNode::Kind::kTail, node.label};
  if (node.kind == PathNode::Kind::kTail) return {node.boundary - 1, PathNode::Kind::kTail, node.label};
  return {node.boundary, PathNode::Kind::kEnd, static_cast<int>(number)};
}

void ChoiceFinder::find(const PathNode& node, const CompensatedSum& open,
                        std::vector<Choice>& choices) const {
  choices.clear();
  if (node.kind == PathNode::Kind::kEnd) return find_ends(node, choices);
  if (node.kind == PathNode::Kind::kTail) return find_tails(node, open, choices);
  for (int c = 0; c < model_.num_labels; ++c) {
    const double into = node.kind == PathNode::Kind::kStart ? model_.transition_at(c, node.label) : 0;
    add_possible(c, rows_.alpha(node.boundary, c).value + into, {}, choices);
  }
}

void ChoiceFinder::find_ends(const PathNode& node, std::vector<Choice>& choices) const {
  const std::int64_t e = node.boundary;
  const std::int64_t longest = std::min<std::int64_t>(model_.max_duration, e);
  const double base = rows_.alpha(e, node.label).level;
  CompensatedSum content;
  std::int64_t k = 1;
  scores_.of_label(node.label, [&](const auto& score) {
    for (; k <= longest; ++k) {
      const double here = score(e - k);
      if (here == kNegativeInfinity) return;
      content.add(here);
      const LogMessage before = rows_.start(e - k, node.label);
      add_possible(
          k - 1,
          content.plus(before.level - base) + (before.value + durations_.score({e - k, e, node.label})),
          content, choices);
    }
  });
  if (k <= model_.max_duration || !model_.has_tail()) return;
  const LogMessage tail = rows_.tail(e, node.label);
  add_possible(model_.max_duration, tail.value + (tail.level - base) + durations_.out_of_tail(e, node.label),
               content, choices);
}

void ChoiceFinder::find_tails(const PathNode& node, const CompensatedSum& open,
                              std::vector<Choice>& choices) const {
  const std::int64_t b = node.boundary;
  const std::int64_t start = b - model_.max_duration - 1;
  if (start < 0) return;
  const double base = rows_.tail(b, node.label).level;
  const double first = scores_.emission(start, node.label);
  if (first == kNegativeInfinity) return;
  CompensatedSum content = open;
  content.add(first);
  const LogMessage before = rows_.start(start, node.label);
  add_possible(0,
               content.plus(before.level - base) + (before.value + durations_.into_tail(start, node.label)),
               content, choices);
  if (start == 0) return;
  const double last = scores_.emission(b - 1, node.label);
  const LogMessage longer = rows_.tail(b - 1, node.label);
  content.add(-last);
  add_possible(1, (last + (longer.level - base)) + (longer.value + model_.log_tail[node.label]), content,
               choices);
}

double ChoiceFinder::start_score(std::int64_t start, int label) const {
  const bool first = start == 0 && durations_.has_initial_term();
  return scores_.start(start, label) + (first ? transitions_into(model_, label).largest : 0);
}

CompensatedSum ChoiceFinder::gain(const PathNode& node, const Choice& choice) const {
  if (node.kind == PathNode::Kind::kLast) return {};
  if (node.kind == PathNode::Kind::kStart)
    return CompensatedSum(model_.transition_at(static_cast<int>(choice.number), node.label));
  const bool at_end = node.kind == PathNode::Kind::kEnd;
  CompensatedSum sum;
  if (at_end) sum.add(scores_.end(node.boundary - 1, node.label));
  if (finds_start(model_, node, choice.number)) {
    const std::int64_t start = next_node(model_, node, choice.number).boundary;
    sum.add(choice.content);
    sum.add(at_end ? durations_.score({start, node.boundary, node.label})
                   : durations_.into_tail(start, node.label));
    sum.add(start_score(start, node.label));
  } else if (at_end) {
    sum.add(durations_.out_of_tail(node.boundary, node.label));
  } else {
    sum.add(scores_.emission(node.boundary - 1, node.label));
    sum.add(model_.log_tail[node.label]);
  }
  return sum;
}

namespace {

constexpr std::size_t kBlobStarts = 512;

std::int64_t position_of(std::uint64_t packed) {
  return static_cast<std::int64_t>(packed >> kPackedLabelBits);
}

void append(std::span<const std::uint64_t> packed, std::int64_t begin, std::int64_t end,
            std::vector<SegmentStarts::Start>& starts) {
  for (const std::uint64_t one : packed)
    if (const std::int64_t position = position_of(one); position >= begin && position < end)
      starts.push_back({position, packed_label(one)});
}

// The place of a deviation among the choices of its node, for the tie rule. Where two choices lose nothing,
// rounding may have made the best path take the one with the larger number: that one comes first all the
// same, so that no path ranks before the path that it deviates from.
std::pair<std::int64_t, std::int64_t> place_of(const Deviation& one) {
  if (one.loss == 0 && one.number < one.usual) return {one.usual, one.number + 1};
  return {one.number, 0};
}
std::pair<std::int64_t, std::int64_t> usual_place(const Deviation& one) { return {one.usual, 0}; }

}  // namespace

void SegmentStarts::add(std::int64_t position, int label, TempSpool& spool) {
  latest_.push_back(wide(position) << kPackedLabelBits | wide(label));
  if (latest_.size() < kBlobStarts) return;
  blobs_.push_back(
      {spool.append(std::as_bytes(std::span<const std::uint64_t>(latest_))), position_of(latest_.front())});
  latest_.clear();
}

void SegmentStarts::read(std::int64_t begin, std::int64_t end, const TempSpool& spool,
                         std::vector<Start>& starts) const {
  std::vector<std::uint64_t> packed(kBlobStarts);
  // Reading begins with the last blob whose first start is at `end` or right of it: the blobs before it have
  // no start left of `end`.
  auto blob =
      std::partition_point(blobs_.begin(), blobs_.end(), [&](const Blob& one) { return one.first >= end; });
  if (blob != blobs_.begin()) --blob;
  for (; blob != blobs_.end() && blob->first >= begin; ++blob) {
    spool.read(blob->index, std::as_writable_bytes(std::span<std::uint64_t>(packed)));
    append(packed, begin, end, starts);
  }
  append(latest_, begin, end, starts);
}

std::strong_ordering compare_choices(const DeviationChain& a, const DeviationChain& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const Deviation* const one = i < a.size() ? a[i] : nullptr;
  const Deviation* const other = i < b.size() ? b[i] : nullptr;
  if (one == nullptr && other == nullptr) return std::strong_ordering::equal;
  // Up to here both paths made the same choices. At the first node where one of them deviates, the other may
  // follow the walk.
  if (other == nullptr || (one != nullptr && one->node > other->node))
    return place_of(*one) <=> usual_place(*one);
  if (one == nullptr || other->node > one->node) return usual_place(*other) <=> place_of(*other);
  return place_of(*one) <=> place_of(*other);
}

DeviationChain chain_of(const Way& way) {
  DeviationChain chain;
  for (const Deviation* at = way.last.get(); at != nullptr; at = at->before.get()) chain.push_back(at);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool comes_before(const Way& a, const Way& b) {
  if (a.loss != b.loss) return a.loss < b.loss;
  return a.last != b.last && std::is_lt(compare_choices(chain_of(a), chain_of(b)));
}

}  // namespace semicrf
