// The declared statistics, and the page that explains them.
#include "model/statistics.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "eval/metrics/matching.h"
#include "eval/metrics/reliability.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

// The part of a page under this heading, as far as the next one of its depth.
std::string section_of(const std::string& page, const std::string& heading) {
  std::ifstream file(std::filesystem::path(SEMICRF_SOURCE_DIR) / "docs" / page);
  std::ostringstream stream;
  stream << "\n" << file.rdbuf();
  const std::string text = stream.str(), depth = heading.substr(0, heading.find(' ') + 1);
  const std::size_t begin = text.find("\n" + heading);
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find("\n" + depth, begin + 1) - begin);
}

// A row for each, as it is declared.
template <class Of>
void check_rows(const std::string& section, const StatisticList<Of>& list) {
  for (const Statistic<Of>& one : list) {
    const std::string row = "\n| `" + std::string(one.name) + "` | " + described(one) + " |\n";
    INFO("the row that the page should have: " << row);
    CHECK(section.find(row) != std::string::npos);
  }
}

template <class Of>
void check_names(const StatisticList<Of>& list) {
  std::set<std::string_view> names;
  for (const Statistic<Of>& one : list) {
    INFO(one.name);
    CHECK(names.insert(one.name).second);
    CHECK_FALSE(one.meaning.empty());
    CHECK_FALSE(one.meaning.ends_with('.'));
    CHECK(&statistic(list, one.name) == &one);
  }
  CHECK_THROWS_AS(statistic(list, "no such name"), std::logic_error);
}

}  // namespace

TEST_CASE("statistics have names of their own, and a meaning") {
  check_names(length_statistics());
  check_names(label_statistics());
  check_names(sequence_statistics());
  check_names(match_statistics());
  check_names(reliability_statistics());
  for (const auto& column : label_statistics()) CHECK_FALSE(column.heading.empty());
}

TEST_CASE("a statistic of lengths is known where there are segments") {
  DecodedLabelStats label;
  CHECK_FALSE(statistic(label_statistics(), "q25").value(label).number());
  CHECK_FALSE(statistic(label_statistics(), "in_tail").value(label).number());
  CHECK(statistic(label_statistics(), "segments").value(label).number() == 0.0);
  label.length = LengthStats{.mean = 1.5, .shortest = 1, .q25 = 2};
  CHECK(statistic(label_statistics(), "mean").value(label).number() == 1.5);
  CHECK(statistic(label_statistics(), "shortest").value(label).number() == 1.0);
  CHECK(statistic(label_statistics(), "q25").value(label).number() == 2.0);
}

TEST_CASE("pages have every column of describe and every member of eval as it is declared") {
  check_rows(section_of("users/formats.md", "### Numbers of labels (TSV)"), label_statistics());
  const std::string section = section_of("file-details.md", "## JSON (`semicrf-eval`");
  check_rows(section, match_statistics());
  check_rows(section, reliability_statistics());
}

TEST_CASE("the page of formats names every member of the statistics") {
  const std::string section = section_of("file-details.md", "## Statistics (JSON");
  const auto check = [&](const auto& list) {
    for (const auto& one : list) {
      INFO(one.name);
      if (one.part != JsonPart::kNone)
        CHECK(section.find("`" + std::string(one.name) + "`") != std::string::npos);
    }
  };
  check(length_statistics());
  check(label_statistics());
  check(sequence_statistics());
}
