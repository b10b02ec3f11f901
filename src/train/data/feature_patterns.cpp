#include "train/data/feature_patterns.h"

#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "train/data/training_data.h"

namespace semicrf {
namespace {

constexpr std::int64_t kLonger = 4;  // positions for every pattern, at least

// Numbers the rows as they come.
class PatternNumbers {
 public:
  explicit PatternNumbers(std::size_t columns) : columns_(columns), bytes_(columns * sizeof(float)) {}

  // False: there are too many.
  bool add(const TrainingPiece& piece, std::vector<std::uint16_t>& numbers) {
    numbers.resize(piece.length);
    const float* before = nullptr;
    for (std::size_t t = 0; t < numbers.size(); ++t) {
      const float* row = piece.features.data() + t * columns_;
      if (before != nullptr && std::memcmp(before, row, bytes_) == 0) {
        numbers[t] = numbers[t - 1];
      } else {
        const auto next = static_cast<std::uint16_t>(found_.size());
        const auto [at, is_new] =
            found_.try_emplace(std::string_view(reinterpret_cast<const char*>(row), bytes_), next);
        if (is_new) rows_.insert(rows_.end(), row, row + columns_);
        if (static_cast<std::int64_t>(found_.size()) > kMostPatterns) return false;
        numbers[t] = at->second;
      }
      before = row;
    }
    return true;
  }
  FeaturePatterns patterns() && { return {std::move(rows_), static_cast<std::int64_t>(found_.size())}; }

 private:
  std::size_t columns_, bytes_;
  std::unordered_map<std::string_view, std::uint16_t> found_;  // bits of rows, which the pieces hold
  std::vector<float> rows_;
};

}  // namespace

void find_patterns(TrainingData& data) {
  PatternNumbers numbers(static_cast<std::size_t>(data.num_tracks));
  bool are_few = data.num_tracks > 0;
  for (TrainingPiece& piece : data.pieces) are_few = are_few && numbers.add(piece, piece.pattern_of);
  std::shared_ptr<const FeaturePatterns> patterns;
  if (are_few) patterns = std::make_shared<const FeaturePatterns>(std::move(numbers).patterns());
  if (patterns && patterns->count * kLonger > data.positions()) patterns = nullptr;
  for (TrainingPiece& piece : data.pieces) {
    piece.patterns = patterns;
    if (!patterns) piece.pattern_of = {};
  }
}

}  // namespace semicrf
