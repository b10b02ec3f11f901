// Numbers on pictures and pages: as people read them, as pixels, and where axes have their ticks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace semicrf {

std::string count_text(std::int64_t count);  // "1,234,567"
std::string share_text(double share);        // 0.2414 as "24.1 %", below a thousandth "<0.1 %"
std::string short_number(double value);      // three significant digits, such as "0.0123", "1.2e-05"
std::string exact_number(double value);      // nine significant digits, as tables have them
// A length or a number of bases: "870 bp", "1.25 kb", "40.6 Mb"; where positions have another name
// (core/text/text) "870 frames". `digits`: significant ones.
std::string bases_text(double bases, int digits = 3);
std::string place_text(const std::string& chromosome, std::int64_t begin,
                       std::int64_t end);  // chr1:1,001-2,000

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
