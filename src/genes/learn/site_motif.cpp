#include "genes/learn/site_motif.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "genes/gene_model.h"
#include "genes/sequence_source.h"

namespace semicrf {
namespace {

constexpr int kFewestWindows = 20;
constexpr int kIterations = 30;
constexpr double kPriorBases = 2;    // that the composition counts beside the bases of the motif
constexpr double kFirstShare = 0.7;  // probability of the first word's bases in the first motif

using Rows = std::vector<std::array<double, 4>>;  // probabilities

bool is_known(std::span<const int> word) { return std::ranges::find(word, kUnknownBase) == word.end(); }

// The word that most windows have beyond what is expected: by windows times the log odds of having it.
std::vector<int> commonest_word(const std::vector<std::vector<int>>& windows, std::size_t width,
                                const std::array<double, 4>& composition) {
  std::map<std::vector<int>, double> windows_with;
  double places = 0;
  for (const std::vector<int>& window : windows) {
    std::set<std::vector<int>> here;
    for (std::size_t at = 0; at + width <= window.size(); ++at) {
      places += 1;
      const std::span word = std::span(window).subspan(at, width);
      if (is_known(word)) here.emplace(word.begin(), word.end());
    }
    for (const std::vector<int>& word : here) windows_with[word] += 1;
  }
  std::vector<int> best;
  double most = 0;
  for (const auto& [word, count] : windows_with) {
    double chance = places;
    for (const int base : word) chance *= composition[base];
    const double gain = count * std::log(count / chance);
    if (gain > most) most = gain, best = word;
  }
  return best;
}

// One step of expectation maximization.
Rows improved(const Rows& motif, const std::vector<std::vector<int>>& windows,
              const std::array<double, 4>& composition) {
  const std::size_t width = motif.size();
  Rows counts(width);
  for (auto& row : counts)
    for (std::size_t b = 0; b < 4; ++b) row[b] = kPriorBases * composition[b];
  for (const std::vector<int>& window : windows) {
    if (window.size() < width) continue;
    const std::size_t places = window.size() - width + 1;
    std::vector<double> odds(places);
    double total = kMissingMotif * static_cast<double>(places) / (1 - kMissingMotif);
    for (std::size_t at = 0; at < places; ++at) {
      if (!is_known(std::span(window).subspan(at, width))) continue;
      odds[at] = 1;
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t base = window[at + i];
        odds[at] *= motif[i][base] / composition[base];
      }
      total += odds[at];
    }
    for (std::size_t at = 0; at < places; ++at)
      if (odds[at] > 0)
        for (std::size_t i = 0; i < width; ++i) counts[i][window[at + i]] += odds[at] / total;
  }
  for (auto& row : counts) {
    const double sum = row[0] + row[1] + row[2] + row[3];
    for (double& value : row) value /= sum;
  }
  return counts;
}

}  // namespace

std::vector<std::array<float, 4>> learn_motif(const std::vector<std::vector<int>>& windows, int width,
                                              const std::array<double, 4>& composition) {
  const std::size_t size = width;
  const auto long_enough = std::count_if(
      windows.begin(), windows.end(), [&](const std::vector<int>& window) { return window.size() >= size; });
  if (long_enough < kFewestWindows) return {};
  const std::vector<int> word = commonest_word(windows, size, composition);
  if (word.empty()) return {};
  Rows motif(size);
  for (std::size_t i = 0; i < size; ++i)
    for (int b = 0; b < 4; ++b) motif[i][b] = word[i] == b ? kFirstShare : (1 - kFirstShare) / 3;
  for (int i = 0; i < kIterations; ++i) motif = improved(motif, windows, composition);
  std::vector<std::array<float, 4>> log_odds(size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t b = 0; b < 4; ++b)
      log_odds[i][b] = static_cast<float>(std::log(motif[i][b] / composition[b]));
  return log_odds;
}

}  // namespace semicrf
