// What the names of labels, tracks and sequences may be, and how they are found, ordered and guessed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace semicrf {

// Why `name` cannot be a name, or an empty string: names are not empty, are UTF-8 and hold no control
// characters (which includes tabs and line ends: names become a column of the outputs).
std::string name_problem(std::string_view name);

// Why `name` cannot be that of a sequence, which is the first column of BED files: it does not begin with #
// either.
std::string sequence_name_problem(std::string_view name);

// The most labels that a model or a segmentation may have.
inline constexpr std::int64_t kMaxLabels = 2000;

// InputError at this place of a file, where so many different names in column 4 cannot be labels.
void check_label_count(std::size_t labels, const std::string& path, const std::string& where);

// The places of names in a list, each found in constant time. Keeps copies of the names: about 100 bytes
// each.
class NameIndex {
 public:
  NameIndex() = default;
  // Indexes chromosomes, labels, tracks or the like by their `name`; the first of equal names counts.
  template <class Items>
  static NameIndex of(const Items& items) {
    NameIndex index;
    index.places_.reserve(std::size(items));
    std::size_t place = 0;
    for (const auto& item : items) index.places_.try_emplace(name_of(item), place++);
    return index;
  }

  // Gives a new name the next place. The place of the name, and whether it is new.
  std::pair<std::size_t, bool> add(std::string_view name) {
    if (const auto known = find(name)) return {*known, false};
    const std::size_t place = places_.size();
    places_.emplace(name, place);
    return {place, true};
  }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  bool contains(std::string_view name) const { return places_.contains(name); }
  std::size_t size() const { return places_.size(); }  // different names

 private:
  static const std::string& name_of(const std::string& name) { return name; }
  template <class Item>
  static const std::string& name_of(const Item& item) {
    return item.name;
  }

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
};

// Whether `a` comes before `b` in the order in which people list names that have numbers in them (E1, E2,
// E10): runs of digits are compared by their values, everything else byte by byte. Names that differ only in
// leading zeros are in the order of their bytes, so that no two names are equal.
inline bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t first = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(first, at - first);
    };
    const std::string_view left = number(a, i);
    const std::string_view right = number(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;
}

// The rank of every name in that order.
inline std::vector<std::size_t> natural_ranks(const std::vector<std::string>& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t x, std::size_t y) { return natural_less(names[x], names[y]); });
  std::vector<std::size_t> ranks(names.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

// The known name that a mistyped one most likely stands for: the element of `known` with the smallest edit
// distance to `name` (letter case ignored), the first of several; empty when `known` is empty. Only the first
// 64 characters of `name` count.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace semicrf
