// Runs a piece of a test in a forked child, for what ends or changes a process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>

namespace semicrf::test {

// Forks; the child runs `body` and exits with what it returns (99 when it throws). Returns the wait status.
inline int run_in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    _exit(status);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid failed");
  return status;
}

// The exit code of a child that must have ended by itself; -1 when a signal ended it.
inline int exit_code_in_child(const std::function<int()>& body) {
  const int status = run_in_child(body);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace semicrf::test
