#include "log/stage_times.h"

#include <algorithm>

#include "core/text/text.h"
#include "log/log.h"

namespace semicrf {

StageTimes::~StageTimes() {
  std::string text;
  for (const auto& [stage, seconds] : seconds_)
    text += (text.empty() ? "" : ", ") + stage + formatted(" %.4f s", seconds);
  log_detail(what_ + (": " + text));
}

void StageTimes::end(const char* stage) {
  const auto now = std::chrono::steady_clock::now();
  auto found = std::ranges::find(seconds_, stage, &std::pair<std::string, double>::first);
  if (found == seconds_.end()) found = seconds_.insert(found, {stage, 0});
  found->second += std::chrono::duration<double>(now - last_).count();
  last_ = now;
}

}  // namespace semicrf
