#include "cpu/instruction_set.h"

#include <algorithm>
#include <mutex>

#include "core/error.h"
#include "core/text/text.h"
#include "hwy/highway.h"
#include "hwy/targets.h"

namespace semicrf {
namespace {

// Highway counts better targets with lower bits.
std::vector<std::int64_t> targets() {
  hwy::DisableTargets(0);
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  std::vector<std::int64_t> out;
  for (int bit = 0; bit < 62; ++bit) {
    const std::int64_t target = std::int64_t{1} << bit;
    if ((usable & target) != 0) out.push_back(target);
  }
  return out;
}

std::mutex& dispatch_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

std::vector<std::string> cpu_instruction_sets() {
  const std::lock_guard lock(dispatch_mutex());
  std::vector<std::string> names;
  for (const std::int64_t target : targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string chosen_instruction_set(const std::string& name) {
  const std::vector<std::string> names = cpu_instruction_sets();
  if (name.empty()) return names.front();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  throw DeviceError({"", "", "instruction set '" + name + "' cannot run on this processor",
                     "choose one of " + joined(names, ", ")});
}

void with_instruction_set(const std::string& name, const std::function<void()>& make) {
  const std::string chosen = chosen_instruction_set(name);
  const std::lock_guard lock(dispatch_mutex());
  std::int64_t better = 0;
  for (const std::int64_t target : targets()) {
    if (chosen == hwy::TargetName(target)) break;
    better |= target;
  }
  struct Limit {
    explicit Limit(std::int64_t disabled) { disable(disabled); }
    ~Limit() { disable(0); }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;
    static void disable(std::int64_t disabled) {
      hwy::DisableTargets(disabled);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  };
  const Limit limit(better);
  make();
}

}  // namespace semicrf
