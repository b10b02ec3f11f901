// Finding names in lists of any length.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace semicrf {

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

}  // namespace semicrf
