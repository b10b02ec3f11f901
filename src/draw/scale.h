// From numbers to pixels, and where axes have their ticks.
#pragma once

#include <string>
#include <vector>

namespace semicrf {

// From numbers begin..end to pixels from..to; numbers beyond are put at the edge.
struct Scale {
  double begin = 0, end = 1;
  double from = 0, to = 1;
  bool logarithmic = false;  // 0 < begin < end

  double at(double value) const;
};

// Round numbers within [low, high] (low < high) of the form 1, 2 or 5 times a power of ten, at most `most` of
// them (>= 4), evenly spaced.
std::vector<double> nice_ticks(double low, double high, int most);
// Powers of ten within [low, high] (0 < low < high), every second or third of them where there are more than
// `most`; with less than two of them also 2 and 5 times these.
std::vector<double> log_ticks(double low, double high, int most);
// The smallest number of the form 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten that is at least `value`; 1
// for 0.
double nice_ceiling(double value);

// Edges of classes of whole numbers 1..last (>= 1), growing by a constant factor where that is more than 1,
// at most `most` classes: class i has edges[i] <= k < edges[i+1].
std::vector<long long> growing_classes(long long last, int most);

}  // namespace semicrf
