#include "windows/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/error.h"
#include "core/process_memory.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

using Bytes = std::optional<std::size_t>;

// The number behind `name` in a file of lines "name number ...".
Bytes named_number(const fs::path& file, const std::string& name) {
  std::ifstream lines(file);
  std::string word;
  std::size_t number = 0;
  for (std::string rest; lines >> word >> number; std::getline(lines, rest))
    if (word == name) return number;
  return std::nullopt;
}

// The number that a file begins with; nothing where it says "max".
Bytes first_number(const fs::path& file) {
  std::ifstream content(file);
  std::size_t number = 0;
  if (content >> number) return number;
  return std::nullopt;
}

void take_smaller(Bytes& bytes, Bytes other) {
  if (other && (!bytes || *other < *bytes)) bytes = other;
}

// How the files of a version of control groups are called.
struct GroupFiles {
  const char *folder, *limit, *used;
};

// What a control group and those around it leave; pages of files that are only cached count as free.
Bytes left_in_groups(const fs::path& root, fs::path group, const GroupFiles& files) {
  Bytes left;
  for (group = group.relative_path();; group = group.parent_path()) {
    const fs::path folder = root / files.folder / group;
    const Bytes limit = first_number(folder / files.limit);
    const Bytes used = first_number(folder / files.used);
    if (limit && used) {
      const fs::path numbers = folder / "memory.stat";
      const std::size_t cached = named_number(numbers, "inactive_file").value_or(0) +
                                 named_number(numbers, "active_file").value_or(0);
      const std::size_t taken = *used - std::min(cached, *used);
      take_smaller(left, *limit - std::min(taken, *limit));
    }
    if (group.empty()) return left;
  }
}

}  // namespace

std::size_t fixed_memory(std::size_t kept) {
  constexpr std::size_t kUsual = std::size_t{8} << 20;
  return kFixedMemory + kept - std::min(kept, kUsual);
}

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
  return fmt::format("{}M", (bytes + kMebibyte - 1) / kMebibyte);
}

void refuse_memory_limit(std::int64_t max_memory, std::size_t fixed, std::size_t sufficient) {
  const auto text = [](std::size_t bytes) { return print_memory_size(static_cast<std::int64_t>(bytes)); };
  throw MemoryError({"", "",
                     "--max-memory " + print_memory_size(max_memory) +
                         " is not enough: the program itself takes " + text(fixed) +
                         " and its smallest window " + text(sufficient - fixed),
                     "give --max-memory " + memory_option(sufficient)});
}

std::optional<std::size_t> available_memory(const std::string& root) {
  const fs::path top = root.empty() ? "/" : root;
  Bytes available;
  if (const Bytes kibibytes = named_number(top / "proc/meminfo", "MemAvailable:"))
    available = *kibibytes * 1024;
  // Lines "number:controllers:group"; version 2 has no controllers.
  std::ifstream groups(top / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) {
      take_smaller(available, left_in_groups(top, group, {"sys/fs/cgroup", "memory.max", "memory.current"}));
    } else if (controllers == "memory") {
      take_smaller(available, left_in_groups(top, group,
                                             {"sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                              "memory.usage_in_bytes"}));
    }
  }
  return available;
}

std::size_t window_memory(const std::optional<std::int64_t>& max_memory, std::size_t fixed,
                          const WindowWish& wish, const std::optional<std::size_t>& available) {
  if (!max_memory) {
    constexpr std::size_t kLeast = std::size_t{16} << 20;
    const std::size_t all = available.value_or(std::max(2 * wish.modest, wish.comfortable));
    const std::size_t modest = std::min(wish.modest, std::max(kLeast, all / 2));
    // Where more than the modest part is wished for, a job with little memory is not to take all of it.
    const std::size_t comfortable = all / 2 < wish.modest ? 0 : std::min(wish.comfortable, all);
    return std::max({modest, comfortable, std::min(wish.ample, available.value_or(0) / 2)});
  }
  check_memory_limit(max_memory, fixed, "the program", " before it reads any data", "raise --max-memory");
  return (*max_memory) - fixed;
}

}  // namespace semicrf
