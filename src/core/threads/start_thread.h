// Threads where the system allows them. What a program may start is limited (ulimit -u, the process limit of
// a container, ulimit -v): work that gets no thread is done by the threads there are, with the same results.
#pragma once

#include <functional>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace semicrf {

// Called once for the process, when the system first refuses a thread, by the thread that asked for it. To be
// set before threads are started.
void tell_of_refused_threads(std::function<void()> tell);

// What a refusal is told to; for the functions below. Throws `error` again where it is no refusal.
void note_refused_thread(const std::system_error& error);

// A thread that does `work`, or one that is not joinable where the system refuses it.
template <class Work>
std::jthread start_thread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {
    note_refused_thread(error);
    return {};
  }
}

// The result of `work`, which is done beside the caller, or at once where the system refuses a thread.
template <class Work>
std::future<std::invoke_result_t<Work&>> do_beside(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error& error) {
    note_refused_thread(error);
  }
  std::packaged_task<std::invoke_result_t<Work&>()> task(std::move(work));
  task();
  return task.get_future();
}

// The result of `work`, which is done beside the caller, or where the system refuses a thread when the result
// is asked for: for work that waits for what others do before that.
template <class Work>
std::future<std::invoke_result_t<Work&>> do_beside_or_later(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error& error) {
    note_refused_thread(error);
  }
  return std::async(std::launch::deferred, std::move(work));
}

}  // namespace semicrf
