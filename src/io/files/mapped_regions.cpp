#include "io/files/mapped_regions.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/error.h"

namespace semicrf {

// Is never freed, because a handler on another thread may be reading it, but used again.
struct MappedRegion::Entry {
  std::atomic<bool> taken{true};
  std::atomic<std::uintptr_t> begin{0}, end{0};  // both 0: no region
  std::string line;
  Entry* next = nullptr;
};

namespace {

std::atomic<MappedRegion::Entry*> registry{nullptr};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
                  std::atomic<MappedRegion::Entry*>::is_always_lock_free,
              "the signal handler reads these");

MappedRegion::Entry* free_entry() {
  for (MappedRegion::Entry* entry = registry.load(); entry != nullptr; entry = entry->next) {
    bool taken = false;
    if (entry->taken.compare_exchange_strong(taken, true)) return entry;
  }
  auto* const entry = new MappedRegion::Entry();
  entry->next = registry.load();
  while (!registry.compare_exchange_weak(entry->next, entry)) {
  }
  return entry;
}

}  // namespace

MappedRegion::MappedRegion(const void* data, std::size_t size, const std::string& path) {
  const ReadError error({path, "", "changed while it was being read: it has become shorter",
                         "run again when nothing writes to it"});
  entry_ = free_entry();
  entry_->line = std::string("semicrf: error: ") + error.what() + "\n";
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  entry_->begin.store(begin);
  entry_->end.store(begin + size);
}

MappedRegion::MappedRegion(MappedRegion&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  if (this != &other) {
    release();
    entry_ = std::exchange(other.entry_, nullptr);
  }
  return *this;
}

void MappedRegion::release() noexcept {
  if (entry_ == nullptr) return;
  entry_->end.store(0);
  entry_->begin.store(0);
  std::exchange(entry_, nullptr)->taken.store(false);
}

std::string_view line_of_lost_page(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (MappedRegion::Entry* entry = registry.load(); entry != nullptr; entry = entry->next)
    if (at >= entry->begin.load() && at < entry->end.load()) return entry->line;
  return {};
}

}  // namespace semicrf
