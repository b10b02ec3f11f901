#include "pipeline/windows/memory_budget.h"

#include <algorithm>
#include <fstream>

#include "core/error.h"
#include "io/memory_size.h"

namespace semicrf {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// Bytes that can be had without swapping; nothing when the system does not tell.
std::optional<std::size_t> available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::size_t kibibytes = 0;
  for (std::string unit; meminfo >> name >> kibibytes; std::getline(meminfo, unit))
    if (name == "MemAvailable:") return kibibytes * 1024;
  return std::nullopt;
}

}  // namespace

void check_memory_limit(const std::optional<std::int64_t>& max_memory, std::size_t bytes,
                        const std::string& who, const std::string& use, const std::string& advice) {
  if (!max_memory || bytes <= static_cast<std::size_t>(*max_memory)) return;
  throw MemoryError({"", "",
                     who + " needs " + print_memory_size(static_cast<std::int64_t>(bytes)) + use +
                         " and --max-memory is " + print_memory_size(*max_memory),
                     advice});
}

std::optional<std::size_t> sufficient_memory(std::size_t least,
                                             const std::function<bool(std::size_t)>& fits) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // MiB
  const auto enough = [&](std::size_t mebibytes) { return fits(mebibytes * kMebibyte); };
  std::size_t too_few = least / kMebibyte;
  std::size_t many = too_few + 1;
  for (; !enough(many); many *= 2) {
    if (many > kMost) return std::nullopt;
    too_few = many;
  }
  while (many - too_few > 1) {
    const std::size_t middle = too_few + (many - too_few) / 2;
    (enough(middle) ? many : too_few) = middle;
  }
  return many * kMebibyte;
}

std::string memory_option(std::size_t bytes) {
  return std::to_string((bytes + kMebibyte - 1) / kMebibyte) + "M";
}

void refuse_memory_limit(std::int64_t max_memory, std::size_t fixed, std::size_t sufficient) {
  const auto text = [](std::size_t bytes) { return print_memory_size(static_cast<std::int64_t>(bytes)); };
  throw MemoryError({"", "",
                     "--max-memory " + print_memory_size(max_memory) +
                         " is not enough: the program itself takes " + text(fixed) +
                         " and its smallest window " + text(sufficient - fixed),
                     "give --max-memory " + memory_option(sufficient)});
}

std::size_t window_memory(const std::optional<std::int64_t>& max_memory, std::size_t fixed,
                          std::size_t modest, std::size_t comfortable) {
  if (!max_memory) return std::max(modest, std::min(comfortable, available_memory().value_or(comfortable)));
  check_memory_limit(max_memory, fixed, "the program itself", " before any window", "raise --max-memory");
  return static_cast<std::size_t>(*max_memory) - fixed;
}

}  // namespace semicrf
