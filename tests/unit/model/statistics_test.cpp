// The declared statistics, and the page that explains them.
#include "model/statistics.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "eval/metrics/eval_report.h"
#include "io/params/training_record.h"
#include "io/segments/segment_columns.h"
#include "learn/learn_record.h"
#include "segmentation/enrichment.h"
#include "segmentation/reproducibility.h"
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
  check_names(reliability_part_statistics());
  check_names(label_posterior_statistics());
  check_names(interval_statistics());
  check_names(evaluated_label_statistics());
  check_names(evaluation_statistics());
  check_names(difference_statistics());
  check_names(rescoring_statistics());
  check_names(path_statistics());
  check_names(training_statistics());
  check_names(fit_statistics());
  check_names(segment_statistics());
  check_names(reproducibility_statistics());
  check_names(overlap_statistics());
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

TEST_CASE("pages of formats name every member of the statistics, of eval and of training") {
  const auto check = [&](const std::string& section, const auto& list) {
    for (const auto& one : list) {
      const std::string name(one.name);
      INFO(name);
      const bool named = section.find("`" + name + "`") != std::string::npos ||
                         section.find("\"" + name + "\":") != std::string::npos;
      if (one.part != JsonPart::kNone) CHECK(named);
    }
  };
  const std::string statistics = section_of("file-details.md", "## Statistics (JSON");
  check(statistics, length_statistics());
  check(statistics, label_statistics());
  check(statistics, sequence_statistics());
  const std::string eval = section_of("file-details.md", "## JSON (`semicrf-eval`");
  check(eval, evaluation_statistics());
  check(eval, evaluated_label_statistics());
  check(eval, reliability_part_statistics());
  check(eval, label_posterior_statistics());
  check(eval, interval_statistics());
  check(eval, rescoring_statistics());
  check(eval, path_statistics());
  check(eval, difference_statistics());
  const std::string training = section_of("file-details.md", "## The section `training`");
  check_rows(training, training_statistics());
  check_rows(training, fit_statistics());
  const std::string table = section_of("users/formats.md", "### Tables of segments");
  for (const auto& one : segment_statistics()) CHECK(table.find(std::string(one.name)) != std::string::npos);
}

TEST_CASE("a statistic as text has its format, and a sign where it is not known") {
  const StatisticList<LengthStats> list =
      in_format<LengthStats>("%.2f", {{"mean", "", StatisticUnit::kBases, "mean", &LengthStats::mean},
                                      {"median", "", StatisticUnit::kBases, "median", &LengthStats::median},
                                      {"none", "", StatisticUnit::kShare, "none",
                                       [](const LengthStats&) { return std::optional<double>(); }}});
  const LengthStats lengths{.mean = 2.0 / 3, .median = 4};
  CHECK(tabbed_names(list) == "\tmean\tmedian\tnone");
  CHECK(tabbed_values(list, lengths) == "\t0.67\t4\t.");
  CHECK(statistic_text(list[2], lengths, "-") == "-");
}
