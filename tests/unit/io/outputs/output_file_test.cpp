#include "io/files/output_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;
using test::exit_code_in_child;
using test::TempFolder;
using Names = std::vector<std::string>;

std::string many_lines() {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "chr1\t" + std::to_string(i) + "\t" + std::to_string(i + 1) + "\n";
  return text;
}

TEST_CASE("an output appears when committed, not before") {
  const TempFolder folder;
  const std::string path = folder / "out.bed";
  const std::string text = many_lines();
  {
    OutputFile output({path});
    output.write(text);
    CHECK_FALSE(fs::exists(path));
    output.commit();
    CHECK(test::read_file(path) == text);
    CHECK_THROWS_AS(
        [&] {
          output.write(text);
          output.commit();
        }(),
        std::logic_error);
  }
  CHECK(folder.names() == Names{"out.bed"});
}

TEST_CASE("a finished output is complete but not under its name") {
  const TempFolder folder;
  const std::string path = folder.add("out.bed.gz", "old");
  {
    OutputFile output({path, IndexKind::kTbi});
    output.write(many_lines());
    output.finish();
    CHECK(test::read_file(path) == "old");
    CHECK(folder.names().size() == 3);
    CHECK_THROWS_AS(output.finish(), std::logic_error);
    output.commit();
    CHECK(folder.names() == Names{"out.bed.gz", "out.bed.gz.tbi"});
    CHECK_THROWS_AS(output.commit(), std::logic_error);
  }
  {
    OutputFile output({path, IndexKind::kTbi});
    output.write("chr1\t0\t1\n");
    output.finish();
  }
  CHECK(test::read_file(path).size() > 1000);
  CHECK(folder.names() == Names{"out.bed.gz", "out.bed.gz.tbi"});
}

TEST_CASE("an output that is not committed leaves the old file and no temporary") {
  const TempFolder folder;
  const std::string path = folder.add("out.bed", "old\n");
  try {
    OutputFile output({path});
    output.write(many_lines());
    CHECK(folder.names().size() == 2);
    throw InputError({"x", "", "something went wrong half way", ""});
  } catch (const InputError&) {
  }
  CHECK(folder.names() == Names{"out.bed"});
  CHECK(test::read_file(path) == "old\n");
}

TEST_CASE("an output keeps the permissions of the file it replaces") {
  const TempFolder folder;
  const std::string path = folder.add("out.bed", "old\n");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  OutputFile output({path});
  output.write("new\n");
  output.commit();
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(test::read_file(path) == "new\n");
}

TEST_CASE("an output through a symbolic link replaces the file behind it") {
  const TempFolder folder;
  fs::create_directory(folder / "real");
  for (const bool exists : {false, true}) {
    const std::string real = folder / "real/out.bed";
    if (exists) test::write_file(real, "old\n");
    fs::remove(folder / "link");
    fs::create_symlink("real/out.bed", folder / "link");
    OutputFile output({folder / "link"});
    output.write("new\n");
    output.commit();
    CHECK(fs::is_symlink(folder / "link"));
    CHECK(test::read_file(real) == "new\n");
    CHECK(output_folder(folder / "link") == fs::canonical(folder / "real").string());
    fs::remove(real);
  }
}

TEST_CASE("reserve and write mix in order") {
  const TempFolder folder;
  for (const char* name : {"out.txt", "out.txt.gz"}) {
    std::string expected;
    OutputFile output({folder / name});
    for (int i = 0; i < 300; ++i) {
      const std::string text(1 + static_cast<std::size_t>(i) * 13 % OutputFile::kMaxReserve,
                             static_cast<char>('a' + i % 26));
      expected += text;
      if (i % 2 == 0) {
        output.write(text);
      } else {
        std::copy(text.begin(), text.end(), output.reserve(text.size()));
        output.advance(text.size());
      }
    }
    output.commit();
    if (std::string_view(name) == "out.txt") CHECK(test::read_file(folder / name) == expected);
  }
}

TEST_CASE("what is longer than the buffer comes in its place") {
  const TempFolder folder;
  const std::string text = many_lines();
  OutputFile output({folder / "out.txt"});
  std::string expected;
  for (const std::size_t size : {std::size_t{5}, text.size(), std::size_t{1}, text.size() / 2, text.size()}) {
    output.write(std::string_view(text).substr(0, size));
    expected += text.substr(0, size);
  }
  output.commit();
  CHECK((test::read_file(folder / "out.txt") == expected));
}

TEST_CASE("threads that compress BGZF blocks change no byte") {
  const TempFolder folder;
  const std::string text = many_lines() + many_lines();
  for (const int threads : {1, 3, 40}) {
    OutputFile output({folder / std::to_string(threads) + ".gz"});
    output.compress_with(threads);
    for (std::size_t at = 0; at < text.size(); at += 100'000)
      output.write(std::string_view(text).substr(at, 100'000));
    output.commit();
  }
  for (const char* name : {"3.gz", "40.gz"})
    CHECK((test::read_file(folder / name) == test::read_file(folder / "1.gz")));
}

TEST_CASE("a full device is a WriteError naming the file") {
  if (access("/dev/full", W_OK) != 0) {
    WARN("skipped: no /dev/full here");
    return;
  }
  OutputFile output({"/dev/full"});
  output.write("one line\n");
  CHECK_THROWS_WITH(output.commit(),
                    Catch::Matchers::StartsWith("/dev/full: cannot be written (No space left"));
  CHECK_THROWS_AS(output.write(many_lines()), WriteError);
  struct stat status = {};
  REQUIRE(stat("/dev/full", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
}

TEST_CASE("standard output on a full device is a WriteError") {
  if (access("/dev/full", W_OK) != 0) {
    WARN("skipped: no /dev/full here");
    return;
  }
  CHECK(exit_code_in_child([] {
          dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
          try {
            OutputFile output({"-"});
            output.write("line\n");
            output.commit();
          } catch (const WriteError& error) {
            return std::string_view(error.what()).starts_with("standard output: cannot be written") ? 5 : 1;
          }
          return 0;
        }) == 5);
}

TEST_CASE("a disk that fills up half way leaves the old file and no temporary") {
  const TempFolder folder;
  for (const std::string name : {"out.bed", "out.bed.gz"}) {
    const std::string path = folder.add(name, "old\n");
    // A limit on the size of files stands for the full disk: it works without privileges.
    CHECK(exit_code_in_child([&] {
            signal(SIGXFSZ, SIG_IGN);
            const rlimit limit = {20000, 20000};
            setrlimit(RLIMIT_FSIZE, &limit);
            try {
              OutputFile output({path});
              output.write(many_lines());
              output.commit();
            } catch (const WriteError& error) {
              return std::string_view(error.what()).starts_with(path + ": cannot be written") ? 5 : 1;
            }
            return 0;
          }) == 5);
    CHECK(test::read_file(path) == "old\n");
  }
  CHECK(folder.names() == Names{"out.bed", "out.bed.gz"});
}

TEST_CASE("a closed pipe is ClosedPipe") {
  CHECK(exit_code_in_child([] {
          signal(SIGPIPE, SIG_IGN);
          int ends[2];
          if (pipe(ends) != 0) return 1;
          close(ends[0]);
          dup2(ends[1], STDOUT_FILENO);
          try {
            OutputFile output({"-"});
            output.write(many_lines());
            output.commit();
          } catch (const ClosedPipe&) {
            return 141;
          }
          return 0;
        }) == 141);
}

TEST_CASE("standard output gets the bytes") {
  const TempFolder folder;
  const std::string path = folder / "captured";
  const std::string text = many_lines();
  CHECK(exit_code_in_child([&] {
          dup2(open(path.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
          OutputFile output({"-"});
          output.write(text);
          output.commit();
          return 0;
        }) == 0);
  CHECK(test::read_file(path) == text);
}

TEST_CASE("an output that cannot be made is a WriteError") {
  const TempFolder folder;
  fs::create_directory(folder / "a_folder");
  CHECK_THROWS_WITH(OutputFile({folder / "a_folder"}), Catch::Matchers::Contains("Is a directory"));
  CHECK_THROWS_WITH(
      OutputFile({folder / "missing/out.bed"}),
      Catch::Matchers::Contains("cannot be created (No such file or directory); make the folder first"));
  const std::string file = folder.add("a_file", "");
  CHECK_THROWS_AS(OutputFile({file + "/out.bed"}), WriteError);
  CHECK(folder.names() == Names{"a_file", "a_folder"});
}

TEST_CASE("a read-only folder is a WriteError") {
  if (geteuid() == 0) {
    WARN("skipped: root may write everywhere");
    return;
  }
  const TempFolder folder;
  fs::create_directory(folder / "locked");
  REQUIRE(chmod((folder / "locked").c_str(), 0555) == 0);
  CHECK_THROWS_WITH(OutputFile({folder / "locked/out.bed"}), Catch::Matchers::Contains("Permission denied"));
  const std::vector<OutputSpec> outputs = {{folder / "locked/out.bed"}};
  CHECK_THROWS_AS(check_outputs(outputs, {}), WriteError);
  REQUIRE(chmod((folder / "locked").c_str(), 0755) == 0);
}

}  // namespace
}  // namespace semicrf
