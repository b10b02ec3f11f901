// Segmentations from BED files: sound ones, and every kind of bad line with its number.
#include "eval/eval_input.h"

#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "support/catch.h"
#include "support/seeds.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

Segmentation read(const TempFolder& folder, const std::string& content, LabelNumbers& labels,
                  const std::vector<Chromosome>& known = {}) {
  return read_segmentation(folder.add("x.bed", content), known, labels);
}

// The message of the error that reading gives; empty when there is none.
std::string problem(const TempFolder& folder, const std::string& content,
                    const std::vector<Chromosome>& known = {}) {
  LabelNumbers labels;
  try {
    read(folder, content, labels, known);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("lines in any order, labels numbered as they come, two files share the numbers") {
  const TempFolder folder;
  LabelNumbers labels;
  const Segmentation first =
      read(folder, "#head\nb\t10\t20\tx\n\na\t5\t9\ty\ttail\r\nb 0 10 y\ntrack name=t\na\t0\t5\tz\n", labels);
  CHECK(first.count == 4);
  CHECK(first.chromosomes == std::vector<std::string>{"b", "a"});
  CHECK(first.on("b") == std::vector<Segment>{{0, 10, 1}, {10, 20, 0}});
  CHECK(first.on("a") == std::vector<Segment>{{0, 5, 2}, {5, 9, 1}});
  CHECK(first.on("c").empty());
  const Segmentation second = read(folder, "a\t0\t5\tw\na\t7\t8\tx\n", labels);
  CHECK(second.on("a") == std::vector<Segment>{{0, 5, 3}, {7, 8, 0}});
  CHECK(labels.names() == std::vector<std::string>{"x", "y", "z", "w"});
  CHECK(read(folder, "", labels).count == 0);
}

TEST_CASE("overlaps are refused, naming both lines") {
  const TempFolder folder;
  const std::string found = problem(folder, "a\t10\t20\tx\nb\t0\t9\tx\n# more\na\t0\t11\ty\n");
  CHECK(found.find(":line 4: a:0-11 overlaps line 1, a:10-20") != std::string::npos);
  CHECK(problem(folder, "a\t0\t9\tx\na\t0\t9\tx\n").find("line 2") != std::string::npos);
  // A long line over several later ones: the first neighbour shows it.
  CHECK(problem(folder, "a\t0\t100\tx\na\t5\t6\tx\na\t50\t60\tx\n").find("line 2") != std::string::npos);
  CHECK(problem(folder, "a\t0\t9\tx\na\t9\t10\tx\n").empty());
}

TEST_CASE("chromosome sizes bound the segments") {
  const TempFolder folder;
  const std::vector<Chromosome> known = {{"a", 10}};
  CHECK(problem(folder, "a\t0\t10\tx\n", known).empty());
  CHECK(problem(folder, "a\t0\t3\tx\na\t3\t11\tx\n", known).find("line 2: ends at 11, beyond the 10") !=
        std::string::npos);
  CHECK(problem(folder, "chra\t0\t10\tx\n", known).find("line 1: chromosome 'chra'") != std::string::npos);
}

TEST_CASE("one bad line among good ones: the error has its number") {
  const std::vector<std::string> bad = {
      "c\t5",
      "c\t5\t9",
      "c\t5\t9\t",
      "c\tx\t9\tl",
      "c\t5\t\tl",
      "c\t5\t9.5\tl",
      "c\t-5\t9\tl",
      "c\t9\t9\tl",
      "c\t9\t5\tl",
      "\t5\t9\tl",
      "c\t5\t99999999999999999999\tl",
      "c\t5\t9\tl\x01",
      "c\t5 \t9\tl",
      "c\t+5\t9\tl",
      "nonsense",
      std::string("c\t5\t\0"
                  "9\tl",
                  8),
  };
  const TempFolder folder;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(testing::test_seed(seed));
    const std::string& damage = bad[random() % bad.size()];
    const std::size_t lines = 1 + random() % 12, at = random() % lines;
    std::string content;
    for (std::size_t i = 0; i < lines; ++i) {
      if (i == at) {
        content += damage;
      } else if (random() % 5 == 0) {
        content += random() % 2 == 0 ? "# note" : "";
      } else {
        content += "d\t" + std::to_string(10 * i) + "\t" + std::to_string(10 * i + 10) + "\tl";
      }
      content += random() % 8 == 0 ? "\r\n" : "\n";
    }
    const std::string found = problem(folder, content);
    INFO("seed " << seed << ", bad line: " << damage << ", error: " << found);
    REQUIRE(found.find("x.bed:line " + std::to_string(at + 1) + ": ") != std::string::npos);
  }
}

TEST_CASE("random bytes give an error of input or a segmentation, nothing else") {
  const TempFolder folder;
  const std::string alphabet = "ab\t\t\t 0123456789\n\n#.-\r\x7f";
  for (unsigned seed = 0; seed < 500; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(testing::test_seed(seed));
    std::string content;
    for (std::size_t i = random() % 200; i > 0; --i) content += alphabet[random() % alphabet.size()];
    LabelNumbers labels;
    try {
      const Segmentation found = read(folder, content, labels);
      for (const auto& [name, segments] : found.segments)
        for (std::size_t i = 1; i < segments.size(); ++i) REQUIRE(segments[i - 1].end <= segments[i].begin);
    } catch (const InputError& error) {
      REQUIRE(std::string(error.what()).find("line ") != std::string::npos);
    }
  }
}
