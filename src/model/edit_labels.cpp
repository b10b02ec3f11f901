#include "model/edit_labels.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/sizes.h"
#include "core/text/name_index.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "model/edit.h"

namespace semicrf {
namespace {

// Rows of `width` numbers each, one per label, or no numbers at all.
void reorder_rows(std::vector<double>& numbers, const std::vector<std::size_t>& order) {
  const std::vector<double> before = numbers;
  const std::size_t width = before.size() / order.size();
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < width; ++j) numbers[i * width + j] = before[order[i] * width + j];
}

// Rows of one number per label.
void reorder_columns(std::vector<double>& numbers, const std::vector<std::size_t>& order) {
  const std::vector<double> before = numbers;
  for (std::size_t at = 0; at < numbers.size(); ++at)
    numbers[at] = before[at - at % order.size() + order[at % order.size()]];
}

template <class Item>
void reorder_items(std::vector<Item>& items, const std::vector<std::size_t>& order) {
  if (items.empty()) return;
  std::vector<Item> before = std::move(items);
  items.clear();
  for (const std::size_t place : order) items.push_back(std::move(before[place]));
}

}  // namespace

void rename_labels(Parameters& parameters, const LabelNames& names) {
  std::set<std::string> renamed;
  std::vector<std::pair<std::size_t, std::string>> changes;
  for (const auto& [from, to] : names) {
    if (!renamed.insert(from).second)
      throw UsageError("--rename-label: '" + from + "' is renamed twice", "give every label one new name");
    if (const std::string problem = name_problem(to); !problem.empty())
      throw UsageError("--rename-label: the new name of '" + from + "', '" + to + "': " + problem,
                       "give another name");
    changes.emplace_back(wide(label_index(parameters, from)), to);
  }
  for (const auto& [label, name] : changes) parameters.labels[label].name = name;
  std::vector<std::string> all = names_of(parameters.labels);
  std::ranges::sort(all);
  const auto twice = std::ranges::adjacent_find(all);
  if (twice != all.end())
    throw UsageError("--rename-label: two labels would be called '" + *twice + "'",
                     "give the other one another name, too; A=B with B=A exchanges two names");
}

std::vector<std::size_t> parse_label_order(const Parameters& parameters, const std::string& text) {
  const std::vector<std::string> names = names_of(parameters.labels);
  const NameIndex index = NameIndex::of(names);
  const auto refuse = [&](const std::string& what) {
    return UsageError("--label-order: " + what,
                      "give all labels once, with commas between them: " + few_of(names, 20));
  };
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  std::vector<std::size_t> order;
  std::vector<bool> taken(names.size());
  for (std::size_t at = 0; at <= text.size();) {
    std::optional<std::size_t> label;  // label with the longest name that stands here
    std::size_t end = at;
    for (std::size_t comma = text.find(',', at);; comma = text.find(',', comma + 1)) {
      const std::size_t stop = std::min(comma, text.size());
      if (const auto found = index.find(text.substr(at, stop - at)); found && !taken[*found]) {
        label = found;
        end = stop;
      }
      if (comma == std::string::npos || stop - at > longest) break;
    }
    if (!label) {
      const std::string name = text.substr(at, std::min(text.find(',', at), text.size()) - at);
      throw refuse("'" + name + "' is " + (index.find(name) ? "given twice" : "not a label of the model"));
    }
    taken[*label] = true;
    order.push_back(*label);
    at = end + 1;
  }
  const auto lacking = std::ranges::find(taken, false);
  if (lacking != taken.end())
    throw refuse("'" + names[static_cast<std::size_t>(lacking - taken.begin())] + "' is not in the list");
  return order;
}

void reorder_labels(Parameters& parameters, const std::vector<std::size_t>& order) {
  ChainModel& chain = parameters.chain;
  reorder_items(parameters.labels, order);
  reorder_rows(chain.transition, order);
  reorder_columns(chain.transition, order);
  for (std::vector<double>* const numbers :
       {&chain.duration_bias, &chain.log_tail, &chain.start_scores, &chain.end_scores})
    reorder_columns(*numbers, order);
  reorder_items(parameters.duration.values, order);
  reorder_columns(parameters.duration.tail, order);
  if (parameters.emission) {
    reorder_rows(parameters.emission->weights, order);
    reorder_rows(parameters.emission->bias, order);
  }
  if (parameters.boundary)
    for (std::vector<double>* const numbers :
         {&parameters.boundary->start_weights, &parameters.boundary->start_bias,
          &parameters.boundary->end_weights, &parameters.boundary->end_bias})
      reorder_rows(*numbers, order);
}

}  // namespace semicrf
