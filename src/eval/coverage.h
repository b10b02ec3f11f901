// Which of the evaluated bases have a prediction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/metrics/stretches.h"

namespace semicrf {

class Coverage {
 public:
  // The evaluated stretches of a chromosome, from left to right. Each chromosome once.
  void add(const std::string& chromosome, std::span<const Stretch> stretches);

  std::int64_t missing() const { return missing_; }  // bases
  // Where they are: "II, III:1-2000 and 5 more"; empty where nothing is missing.
  std::string missing_places() const;
  // The options that leave them out: "-r III:2001-316620", or "-L `path`" where these would be many; empty
  // where nothing is missing, or everything.
  std::string options_to_leave_out(const std::string& path) const;

 private:
  struct Run {
    std::string chromosome;
    std::int64_t begin = 0;  // bases
    std::int64_t end = 0;
    bool is_predicted = false;
    bool is_alone = true;  // the only run of its chromosome
  };
  void append(const std::string& chromosome, std::int64_t begin, std::int64_t end, bool is_predicted);
  std::vector<std::string> places(bool are_predicted) const;

  std::vector<Run> runs_;
  std::int64_t missing_ = 0;
};

}  // namespace semicrf
