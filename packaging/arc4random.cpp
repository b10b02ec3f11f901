// For the portable program alone: glibc has arc4random since 2.36, which the C++ library that is linked
// statically asks for (std::random_device, which semicrf does not use). This one asks the kernel, so that an
// older glibc will do.
#include <sys/random.h>

#include <cstdlib>

extern "C" unsigned arc4random() {
  unsigned value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}
