#include "apps/console/progress_display.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace semicrf {
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
