// What analyses found of one piece.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <typeindex>
#include <unordered_map>
#include <utility>

#include "analyses/viterbi/segment_list.h"

namespace semicrf {

// One result of each type, such as ViterbiResult or PosteriorResult. Results stay where they are when this
// object is moved.
class PieceResult {
 public:
  PieceResult() = default;
  PieceResult(PieceResult&&) = default;
  PieceResult& operator=(PieceResult&&) = default;

  template <class Result>
  Result& put(Result result) {
    return emplace<Result>(std::move(result));
  }
  template <class Result, class... Arguments>
  Result& emplace(Arguments&&... arguments) {
    auto held = std::make_shared<Result>(std::forward<Arguments>(arguments)...);
    Result& result = *held;
    found_[typeid(Result)] = std::move(held);
    return result;
  }
  template <class Result>
  void drop() {
    found_.erase(typeid(Result));
  }
  // The result of this type; null: there is none.
  template <class Result>
  Result* find() const {
    const auto found = found_.find(typeid(Result));
    return found == found_.end() ? nullptr : static_cast<Result*>(found->second.get());
  }
  template <class Result>
  Result& get() const {
    if (Result* const found = find<Result>()) return *found;
    throw std::logic_error("a result is wanted of a piece that has none of its kind");
  }

  // The path, which is a part of one of the results.
  void set_path(const SegmentList& path) { path_ = &path; }
  const SegmentList* path_if_any() const { return path_; }
  const SegmentList& path() const {
    if (path_ != nullptr) return *path_;
    throw std::logic_error("a path is wanted of a piece that has none");
  }

  bool feasible = true;                              // false: no segmentation has a finite score
  std::optional<double> log_constraint_probability;  // natural logarithm

 private:
  std::unordered_map<std::type_index, std::shared_ptr<void>> found_;
  const SegmentList* path_ = nullptr;
};

}  // namespace semicrf
