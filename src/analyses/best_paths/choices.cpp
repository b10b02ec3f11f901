#include "analyses/best_paths/choices.h"

#include <algorithm>

#include "core/chain_model.h"

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
      add_possible(k - 1,
                   content.plus(before.level - base) + (before.value + model_.duration_score(k, node.label)),
                   content, choices);
    }
  });
  if (k <= model_.max_duration || !model_.has_tail()) return;
  const LogMessage tail = rows_.tail(e, node.label);
  add_possible(model_.max_duration, tail.value + (tail.level - base), content, choices);
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
               content.plus(before.level - base) +
                   (before.value + model_.duration_score(model_.max_duration + 1, node.label)),
               content, choices);
  if (start == 0) return;
  const double last = scores_.emission(b - 1, node.label);
  const LogMessage longer = rows_.tail(b - 1, node.label);
  content.add(-last);
  add_possible(1, (last + (longer.level - base)) + (longer.value + model_.log_tail[node.label]), content,
               choices);
}

double ChoiceFinder::start_score(std::int64_t start, int label) const {
  const bool first = start == 0 && model_.initial == InitialTerm::kUniform;
  return scores_.start(start, label) + (first ? transitions_into(model_, label).largest : 0);
}

CompensatedSum ChoiceFinder::gain(const PathNode& node, const Choice& choice) const {
  if (node.kind == PathNode::Kind::kLast) return {};
  if (node.kind == PathNode::Kind::kStart)
    return CompensatedSum(model_.transition_at(static_cast<int>(choice.number), node.label));
  CompensatedSum sum;
  if (node.kind == PathNode::Kind::kEnd) sum.add(scores_.end(node.boundary - 1, node.label));
  if (finds_start(model_, node, choice.number)) {
    const std::int64_t start = next_node(model_, node, choice.number).boundary;
    sum.add(choice.content);
    sum.add(model_.duration_score(node.boundary - start, node.label));
    sum.add(start_score(start, node.label));
  } else if (node.kind == PathNode::Kind::kTail) {
    sum.add(scores_.emission(node.boundary - 1, node.label));
    sum.add(model_.log_tail[node.label]);
  }
  return sum;
}

}  // namespace semicrf
