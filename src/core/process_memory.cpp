#include "core/process_memory.h"

#include <features.h>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fstream>
#include <string>

namespace semicrf {
namespace {

// A line "NAME: 1234 kB" of /proc/self/status, in bytes.
std::int64_t status_bytes(const std::string& wanted) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(wanted)) return std::stoll(line.substr(wanted.size())) * 1024;
  return 0;
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

}  // namespace semicrf
