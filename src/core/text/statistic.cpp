#include "core/text/statistic.h"

#include <fmt/format.h>

#include <type_traits>

#include "core/text/text.h"

namespace semicrf {

std::string statistic_text(const StatisticValue& value, const char* format, const char* unknown) {
  std::string text = unknown;
  value.visit([&](auto number) {
    if constexpr (std::is_integral_v<decltype(number)>)
      text = fmt::format("{}", number);
    else
      text = formatted(format, number);
  });
  return text;
}

std::string with_unit(std::string_view meaning, StatisticUnit unit) {
  std::string text(meaning);
  if (unit == StatisticUnit::kBases) text += ", bases";
  if (unit == StatisticUnit::kNats) text += ", nats";
  return text;
}

std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z')
    result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

}  // namespace semicrf
