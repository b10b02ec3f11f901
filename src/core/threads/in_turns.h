// Parts that several threads make and one takes in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/threads/parallel.h"
#include "core/threads/turns.h"

namespace semicrf {

// Calls make(i) for i = 0..count-1 on `threads` threads, and take(what it made) in the order of i on one of
// its own. What was made must be copyable; about two per thread wait. Throws what either throws; nothing more
// is taken then.
template <class Make, class Take>
void in_turns(int threads, std::size_t count, const Make& make, const Take& take) {
  Turns turns(2 * static_cast<std::size_t>(threads), Turns::Thread::kOwn);
  try {
    parallel_for(threads, count, [&](std::size_t i, int) {
      turns.submit(static_cast<std::int64_t>(i), [&take, made = make(i)] { take(made); });
    });
  } catch (const Turns::Cancelled&) {
    // finish() throws the error itself.
  }
  turns.finish();
}

}  // namespace semicrf
