#include "core/process_memory.h"

#include <features.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "core/error.h"
#include "core/text/fixed_decimal.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

// A line "NAME: 1234 kB" of /proc/self/status, in bytes.
std::int64_t status_bytes(const std::string& wanted) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(wanted)) return std::stoll(line.substr(wanted.size())) * 1024;
  return 0;
}

constexpr std::string_view kLetters = "kmgt";
constexpr std::array<const char*, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
constexpr double kStep = 1024;

// The factor that a suffix stands for: nothing, "g", "gb", "gib"; 0 when it is not a suffix.
double suffix_factor(std::string_view suffix) {
  if (suffix.empty() || (suffix.size() == 1 && lower(suffix[0]) == 'b')) return 1;
  const std::size_t letter = kLetters.find(lower(suffix[0]));
  if (letter == std::string_view::npos) return 0;
  std::string rest;
  for (const char c : suffix.substr(1)) rest += lower(c);
  if (!rest.empty() && rest != "b" && rest != "i" && rest != "ib") return 0;
  return std::pow(kStep, letter + 1);
}

}  // namespace

ResidentBytes resident_bytes() { return {status_bytes("RssAnon:"), status_bytes("RssFile:")}; }

// The kernel's maximum of getrusage begins with what the parent had; the one of /proc does not.
std::int64_t peak_resident_bytes() {
  if (const std::int64_t peak = status_bytes("VmHWM:"); peak > 0) return peak;
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? std::int64_t{usage.ru_maxrss} * 1024 : 0;
}

void share_one_heap() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);  // NOLINT(concurrency-mt-unsafe): runs call it before they start threads
#endif
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kNever = std::numeric_limits<int>::max();
  mallopt(M_MMAP_THRESHOLD, kNever);  // NOLINT(concurrency-mt-unsafe): main calls it before there are threads
  mallopt(M_TRIM_THRESHOLD, kNever);  // NOLINT(concurrency-mt-unsafe)
#endif
}

std::int64_t parse_memory_size(std::string_view text, std::string_view option) {
  double number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number, std::chars_format::fixed);
  const double factor = error == std::errc() ? suffix_factor(std::string_view(end, text_end - end)) : 0;
  const double bytes = std::floor(number * factor);
  constexpr double kLimit = 9.2e18;  // just below 2^63
  if (!(bytes >= 1 && bytes < kLimit)) {
    throw UsageError(std::string(option) + ": '" + std::string(text) + "' is not an amount of memory",
                     "write for example 8G, 1.5G or 500M");
  }
  return static_cast<std::int64_t>(bytes);
}

std::string print_mebibytes(std::size_t bytes) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  return fmt::format("{} MiB", (bytes + kMebibyte - 1) / kMebibyte);
}

std::string print_memory_size(std::int64_t bytes) {
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= kStep && unit + 1 < kUnits.size(); ++unit) amount /= kStep;
  const int decimals = unit == 0 || amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  char number[FixedDecimal::kMaxLength];
  const FixedDecimal decimal(decimals);
  std::string text(number, decimal.print(decimal.round(amount), number));
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text + " " + kUnits[unit];
}

}  // namespace semicrf
