#include "cpu/instruction_set.h"

#include <algorithm>
#include <mutex>

#include "core/error.h"
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

std::string join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

std::vector<std::string> cpu_instruction_sets() {
  const std::lock_guard lock(dispatch_mutex());
  std::vector<std::string> names;
  for (const std::int64_t target : targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string with_instruction_set(const std::string& name, const std::function<void()>& make) {
  const std::vector<std::string> names = cpu_instruction_sets();
  const auto found = name.empty() ? names.begin() : std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw DeviceError({"", "", "instruction set '" + name + "' cannot run on this processor",
                       "choose one of " + join(names)});
  }
  const std::lock_guard lock(dispatch_mutex());
  const std::vector<std::int64_t> all = targets();
  std::int64_t better = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(found - names.begin()); ++i) better |= all[i];
  hwy::DisableTargets(better);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  try {
    make();
  } catch (...) {
    hwy::DisableTargets(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    throw;
  }
  hwy::DisableTargets(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return *found;
}

}  // namespace semicrf
