#include "io/files/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace semicrf {

std::int64_t allow_open_files(std::int64_t count) {
  constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();
  const auto number = [](rlim_t limit) {
    return limit == RLIM_INFINITY ? kMany : static_cast<std::int64_t>(std::min<rlim_t>(limit, kMany));
  };
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMany;
  if (number(limit.rlim_cur) >= count) return number(limit.rlim_cur);
  rlimit raised = limit;
  raised.rlim_cur = limit.rlim_max == RLIM_INFINITY ? static_cast<rlim_t>(count)
                                                    : std::min(limit.rlim_max, static_cast<rlim_t>(count));
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return number(limit.rlim_cur);
}

}  // namespace semicrf
