// The whole command line: a word per line of the input. The program runs in an empty folder, so that it
// parses and checks what is given and ends at the first file that it would read. What it says must keep the
// rules of errors.
#include <dirent.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/text/text.h"
#include "fuzz/fuzz_input.h"

int semicrf_main(int argc, char** argv);  // main() of the program
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t longest);

namespace semicrf::fuzz {
namespace {

constexpr std::size_t kMostWords = 60;
constexpr std::size_t kLongestMessage = 4096;  // bytes on standard error

// What the program reads and writes without naming files: nothing, and two files in memory.
class Streams {
 public:
  Streams() {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int reports = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    said_ = memfd_create("written", MFD_CLOEXEC);
    require(nothing >= 0 && reports >= 0 && said_ >= 0, "the streams of the program");
    __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(reports)));
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    close(nothing);
  }

  // From now on what is written to `descriptor`, 1 or 2, is kept.
  void begin(int descriptor) {
    require(ftruncate(said_, 0) == 0 && lseek(said_, 0, SEEK_SET) == 0, "nothing is written yet");
    before_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
    dup2(said_, descriptor);
  }

  // What was written since begin().
  std::string end(int descriptor) {
    dup2(before_, descriptor);
    close(before_);
    std::string text(static_cast<std::size_t>(lseek(said_, 0, SEEK_END)), '\0');
    require(pread(said_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
            "what was written is read");
    return text;
  }

 private:
  int said_ = -1, before_ = -1;
};

// A folder of this process, in which the program runs.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / "semicrf-fuzz-XXXXXX"),
        home_(std::filesystem::current_path()) {
    require(mkdtemp(path_.data()) != nullptr, "a temporary folder");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void enter() const { std::filesystem::current_path(path_); }
  void leave() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      std::filesystem::remove_all(entry.path());
    std::filesystem::current_path(home_);
  }

 private:
  std::string path_;
  std::filesystem::path home_;
};

// Signals as they were, whatever the program does with them; meanwhile none is delivered.
class KeptSignals {
 public:
  KeptSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &mask_);
    for (int number = 1; number < kSignals; ++number)
      sigaction(number, nullptr, &actions_[static_cast<std::size_t>(number)]);
  }
  ~KeptSignals() {
    for (int number = 1; number < kSignals; ++number)
      sigaction(number, &actions_[static_cast<std::size_t>(number)], nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr int kSignals = 32;
  sigset_t mask_;
  std::array<struct sigaction, kSignals> actions_{};
};

std::vector<std::string> words_of(std::span<const std::uint8_t> bytes) {
  std::vector<std::string> words{"semicrf"};
  for (const std::string_view line : split_at('\n', text_of(bytes))) {
    if (words.size() == kMostWords) break;
    words.emplace_back(line.substr(0, line.find('\0')));
    // Nothing outside the folder is read or written.
    std::ranges::replace(words.back(), '/', '_');
    if (words.back() == "..") words.back() = ".";
  }
  // A bench needs no file and takes a while.
  if (words.size() > 1 && words[1] == "bench") words.emplace_back("--help");
  return words;
}

void check(int code, const std::string& said) {
  require(std::set<int>{0, 2, 3, 4, 5, 6, 7, 141}.contains(code),
          "the exit code is one of the documented ones");
  require(said.size() <= kLongestMessage || said.starts_with("Exact inference"), "messages are short");
  std::size_t errors = 0;
  for (const std::string_view line : split_at('\n', said))
    errors += line.starts_with("semicrf: error: ") ? 1 : 0;
  const bool usage = code == 2 && said.starts_with("Exact inference");  // nothing was given
  require(errors == (code == 0 || code == 141 || usage ? 0 : 1), "an error is one line");
  require(std::ranges::all_of(said, [](char c) { return static_cast<unsigned char>(c) >= 32 || c == '\n'; }),
          "control characters are escaped");
}

// The exit code and what the program wrote to `descriptor`.
std::pair<int, std::string> run_program(std::vector<std::string> words, int descriptor) {
  static const Folder folder;
  static Streams streams;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int code = 0;
  {
    const KeptSignals signals;
    folder.enter();
    streams.begin(descriptor);
    code = semicrf_main(static_cast<int>(words.size()), arguments.data());
  }
  std::string text = streams.end(descriptor);
  folder.leave();
  return {code, std::move(text)};
}

// Commands, options and words of options, as the program tells a shell, and values of every kind.
const std::vector<std::string>& vocabulary() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> found{"1",
                                   "0",
                                   "-1",
                                   "0.5",
                                   "1e999",
                                   "nan",
                                   "",
                                   "-",
                                   ".",
                                   "a",
                                   "a,b",
                                   "a=b",
                                   "A=B,C",
                                   "8G",
                                   "99999999999999999999",
                                   "chr1:1-10",
                                   "a:geometric:mean=20",
                                   "cuda:0",
                                   "{sample}.{track}.bw",
                                   "o.bw",
                                   "o.bed.gz",
                                   "\xff",
                                   "\t"};
    std::string word;
    for (const char c : run_program({"semicrf", "completion", "bash"}, STDOUT_FILENO).second + " ") {
      const bool inside =
          (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || (c >= 'A' && c <= 'Z');
      if (inside) {
        word += c;
      } else {
        if (word.size() > 1) found.push_back(word);
        word.clear();
      }
    }
    return found;
  }();
  return words;
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  const auto [code, said] = run_program(words_of(bytes), STDERR_FILENO);
  check(code, said);
}

}  // namespace semicrf::fuzz

// Half of the time a word is put in, replaced, taken out or doubled; else bytes change.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t longest,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, longest);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string_view> lines = semicrf::split_at('\n', text);
  std::vector<std::string> words(lines.begin(), lines.end());
  const auto& known = semicrf::fuzz::vocabulary();
  const std::string& word = known[random() % known.size()];
  const std::size_t at = random() % words.size();
  const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 5) {
    case 0:
      *place = word;
      break;
    case 1:
      words.erase(place);
      break;
    case 2:
      words.insert(place, std::string(*place));
      break;
    default:
      words.insert(place + 1, word);
  }
  const std::string changed = semicrf::joined(words, "\n");
  const std::size_t length = std::min(changed.size(), longest);
  std::copy_n(changed.begin(), length, data);
  return length;
}
