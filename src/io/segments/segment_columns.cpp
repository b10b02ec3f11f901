#include "io/segments/segment_columns.h"

#include <algorithm>
#include <cmath>

#include "io/text/fixed_decimal.h"
#include "io/text/palette.h"

namespace semicrf {
namespace {
constexpr int kMaxScore = 1000;
}  // namespace

int bed_score(double probability) {
  return std::clamp(static_cast<int>(std::lround(kMaxScore * probability)), 0, kMaxScore);
}

SegmentColumns::SegmentColumns(const std::vector<Label>& labels, SupportColumns support)
    : support_(support), colors_(color_columns(labels)) {
  for (const Label& label : labels) labels_.push_back(label.name);
}

void SegmentColumns::append(const Segment& segment, const SegmentSupport& support, std::string_view begin,
                            std::string_view end, std::string& text) const {
  const auto label = static_cast<std::size_t>(segment.label);
  char number[20];
  const auto column = [&](std::string_view value) {
    text += '\t';
    text += value;
  };
  const auto probability = [&](double value) {
    column({number, static_cast<std::size_t>(print_six_significant(value, number) - number)});
  };
  text += labels_[label];
  const int score = bed_score(support.mean_label_posterior);
  column({number, static_cast<std::size_t>(print_integer(score, number) - number)});
  column(".");
  column(begin);
  column(end);
  column(colors_[label]);
  if (support_.label) probability(support.mean_label_posterior);
  if (support_.segment) {
    if (support.exact_posterior) {
      probability(*support.exact_posterior);
    } else {
      column(".");
    }
  }
  if (support_.edges) {
    probability(support.start_posterior);
    probability(support.end_posterior);
  }
}

}  // namespace semicrf
