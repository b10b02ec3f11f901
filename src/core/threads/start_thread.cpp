#include "core/threads/start_thread.h"

#include <atomic>

namespace semicrf {
namespace {

std::function<void()>& listener() {
  static std::function<void()> tell;
  return tell;
}

}  // namespace

void tell_of_refused_threads(std::function<void()> tell) { listener() = std::move(tell); }

void note_refused_thread(const std::system_error& error) {
  static std::atomic<bool> told{false};
  if (error.code() != std::errc::resource_unavailable_try_again) throw error;
  if (!told.exchange(true) && listener()) listener()();
}

}  // namespace semicrf
