// semicrf-lab: writes the tables of docs/paper.md.
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "lab/tables/table.h"

namespace {

using semicrf::UsageError;
using semicrf::lab::Run;

#ifdef SEMICRF_EMULATED_DEVICE
constexpr bool kEmulated = true;
#else
constexpr bool kEmulated = false;
#endif

struct Command {
  std::string_view name, what;
  std::function<void(const Run&)> write;
};

const std::vector<Command>& commands() {
  using namespace semicrf::lab;
  static const std::vector<Command> all{
      {"banded", "bandwidths and fill-in of tree operators (App. C)", write_banded},
      {"centring", "emission baselines (section 4)", write_centring},
      {"validation", "invariants and gradients (Table 5 a to c)", write_validation},
      {"training", "the same training on every engine (Table 5 d)", write_training},
      {"semirings", "semirings and durations against enumeration (App. B)", write_semirings},
      {"low-rank", "transitions that depend on the duration", write_low_rank},
      {"frontier", "time and memory of every backend (Fig. 2 A to F)", write_frontier},
      {"long", "time of the product where T or K is large (Fig. 2 E and G)", write_long},
      {"numbers", "tiles normalised one by one; sums in float and double (App. A)", write_numbers},
      {"complexity", "measured exponents in T, K and C (Table 3, App. B)", write_complexity},
  };
  return all;
}

void print_help() {
  std::printf(
      "usage: semicrf-lab TABLE [--full] [--out FOLDER] [--data FOLDER]\n       semicrf-lab given PROBLEM\n\n"
      "Writes tables of docs/paper.md as TSV files; times the engines on a problem that peers.py wrote.\n\n");
  for (const Command& command : commands())
    std::printf("  %-12.*s %.*s\n", static_cast<int>(command.name.size()), command.name.data(),
                static_cast<int>(command.what.size()), command.what.data());
  std::printf("\n  --full       the sizes of the paper; else those that take seconds\n");
  std::printf("  --out        an existing folder (default: .)\n");
  std::printf("  --data       real segmentations for low-rank (default: ../shared/data)\n");
}

int run(const std::vector<std::string_view>& words) {
  if (words.size() == 2 && words[0] == "given")
    return semicrf::lab::time_given_problem(std::string(words[1])), 0;
  Run settings{".", "../shared/data", false, kEmulated};
  std::string_view name;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") return print_help(), 0;
    if (words[i] == "--full")
      settings.full = true;
    else if (words[i] == "--out" && i + 1 < words.size())
      settings.out = words[++i];
    else if (words[i] == "--data" && i + 1 < words.size())
      settings.data = words[++i];
    else if (name.empty() && !words[i].starts_with("-"))
      name = words[i];
    else
      throw UsageError("unexpected argument " + std::string(words[i]));
  }
  if (name.empty()) throw UsageError("a table is wanted");
  for (const Command& command : commands())
    if (command.name == name) return command.write(settings), 0;
  throw UsageError("no table is called " + std::string(name));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count});
  } catch (const semicrf::lab::Skipped& reason) {
    std::printf("skipped: %s\n", reason.what());
    return semicrf::lab::kSkipped;
  } catch (const semicrf::Error& error) {
    std::fprintf(stderr, "semicrf-lab: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "semicrf-lab: error: %s\n", error.what());
    return static_cast<int>(semicrf::ExitCode::kInternal);
  }
}
