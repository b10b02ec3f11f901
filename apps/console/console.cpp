#include "apps/console/console.h"

#include <fcntl.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "io/files/file_errors.h"

namespace semicrf {

namespace {

// A log file. Lines are written at once, behind what others have written; the first failure is kept, and what
// comes after it is dropped.
class LogFile final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // WriteError where the file cannot be opened.
  explicit LogFile(const std::string& path) : path_(path) {
    constexpr mode_t kReadWriteAll = 0666;
    const auto given = descriptor_of(path);
    descriptor_ = given && given->own
                      ? fcntl(given->number, F_DUPFD_CLOEXEC, 0)
                      : open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kReadWriteAll);
    if (descriptor_ < 0) throw write_error(path, "cannot be opened as a log file", errno);
  }
  ~LogFile() override { close(descriptor_); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  const std::string& path() const { return path_; }
  int error_number() const { return error_number_; }  // 0: all lines are there

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const char* at = line.data();
    std::size_t left = line.size();
    while (error_number_ == 0 && left > 0) {
      const ssize_t written = write(descriptor_, at, left);
      if (written < 0 && errno != EINTR) error_number_ = errno;
      if (written < 0) continue;
      at += written;
      left -= written;
    }
  }
  void flush_() override {}

 private:
  std::string path_;
  int descriptor_ = -1;
  std::atomic<int> error_number_ = 0;
};

// The logger's file; null without one.
std::shared_ptr<LogFile>& file_sink() {
  static std::shared_ptr<LogFile> sink;
  return sink;
}

spdlog::level::level_enum terminal_level(Verbosity verbosity) {
  switch (verbosity) {
    case Verbosity::kQuiet:
      return spdlog::level::err;
    case Verbosity::kVerbose:
      return spdlog::level::debug;
    default:
      return spdlog::level::info;
  }
}

}  // namespace

void set_up_logging(Verbosity verbosity, const std::string& log_file) {
  auto terminal = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  terminal->set_level(terminal_level(verbosity));
  terminal->set_pattern("semicrf: %l: %v");
  std::vector<spdlog::sink_ptr> sinks = {terminal};
  if (!log_file.empty()) {
    file_sink() = std::make_shared<LogFile>(log_file);
    file_sink()->set_level(verbosity == Verbosity::kVerbose ? spdlog::level::debug : spdlog::level::info);
    file_sink()->set_pattern("%Y-%m-%d %H:%M:%S %l: %v");
    sinks.push_back(file_sink());
  }
  auto logger = std::make_shared<spdlog::logger>("semicrf", sinks.begin(), sinks.end());
  logger->set_level(spdlog::level::debug);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(logger);
  tell_of_refused_threads([] {
    spdlog::warn(
        "the system allows no more threads: the work goes on with those there are, and takes longer; give "
        "fewer "
        "(-t), or raise the limit on processes or memory (ulimit -u, ulimit -v) [threads-refused]");
  });
}

void check_log() {
  if (file_sink() && file_sink()->error_number() != 0)
    throw write_error(file_sink()->path(), "the log cannot be written", file_sink()->error_number());
}

void log_fatal(const std::string& line) {
  if (!file_sink()) return;
  file_sink()->log(spdlog::details::log_msg("semicrf", spdlog::level::err, line));
  file_sink()->flush();
}

namespace {

using Clock = std::chrono::steady_clock;

class Display final : public Progress {
 public:
  explicit Display(bool bar) : bar_(bar) {}
  ~Display() override { end(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void begin(std::int64_t total) override {
    total_ = std::max<std::int64_t>(1, total);
    started_ = Clock::now();
  }

  void advance(std::int64_t positions) override {
    done_ += positions;
    if (bar_) {
      const auto now = Clock::now();
      if (now - drawn_ < std::chrono::milliseconds(100)) return;
      drawn_ = now;
      draw_bar();
    } else if (const std::int64_t tenth = 10 * done_ / total_; tenth > tenths_) {
      tenths_ = tenth;
      std::fprintf(stderr, "semicrf: info: %3d %%, %.1f s\n", percent(), seconds());
    }
  }

  void end() override {
    if (shown_) std::fprintf(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  int percent() const { return static_cast<int>(std::min<std::int64_t>(100, 100 * done_ / total_)); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  void draw_bar() {
    shown_ = true;
    constexpr int kCells = 40;
    const int filled = percent() * kCells / 100;
    char cells[kCells + 1];
    for (int i = 0; i < kCells; ++i) cells[i] = i < filled ? '=' : ' ';
    cells[kCells] = '\0';
    const double left =
        done_ > 0 ? seconds() * static_cast<double>(total_ - done_) / static_cast<double>(done_) : 0;
    std::fprintf(stderr, "\r[%s] %3d %%, %.0f s left\033[K", cells, percent(), std::max(0.0, left));
    std::fflush(stderr);
  }

  bool bar_;
  bool shown_ = false;  // a bar is on the screen
  std::int64_t total_ = 1;
  std::int64_t done_ = 0;
  std::int64_t tenths_ = 0;
  Clock::time_point started_, drawn_;
};

}  // namespace

std::unique_ptr<Progress> make_progress(const std::string& kind, bool quiet) {
  if (kind == "off" || (kind == "auto" && (quiet || isatty(STDERR_FILENO) == 0))) return nullptr;
  return std::make_unique<Display>(kind != "line");
}

}  // namespace semicrf
