// Numbers as people read them. The same in every locale.
#pragma once

#include <cstdint>
#include <string>

namespace semicrf {

std::string count_text(std::int64_t count);  // "1,234,567"
std::string share_text(double share);        // 0.2414 as "24.1 %", below a thousandth "<0.1 %"
std::string short_number(double value);      // three significant digits, such as "0.0123", "1.2e-05"
std::string exact_number(double value);      // nine significant digits, as tables have them
// A length or a number of bases: "870 bp", "1.25 kb", "40.6 Mb"; where positions have another name
// (core/text/units) "870 frames". `digits`: significant ones.
std::string bases_text(double bases, int digits = 3);
std::string place_text(const std::string& chromosome, std::int64_t begin,
                       std::int64_t end);  // chr1:1,001-2,000

}  // namespace semicrf
