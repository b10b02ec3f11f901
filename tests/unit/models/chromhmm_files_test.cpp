// Files of ChromHMM: models, and the durations of a segmentation.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "io/models/chromhmm_model.h"
#include "io/segments/segmentation.h"
#include "support/catch.h"
#include "support/temp_folder.h"
#include "unit/models/chromhmm_fixture.h"

namespace semicrf {
namespace {

// Its lines: 1 the first, 2-3 probinit, 4-7 transitionprobs, 8-15 emissionprobs.
const std::string kGood = chromhmm_model_text(test::small_model());

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

ChromHmmModel read_back(const std::string& text) {
  const test::TempFolder folder;
  return read_chromhmm_model(folder.add("model.txt", text));
}

TEST_CASE("a ChromHMM model is read as it is written") {
  const ChromHmmModel model = test::small_model(), back = read_back(kGood);
  CHECK(back.order == 'E');
  CHECK(back.log_likelihood == model.log_likelihood);
  CHECK(back.iterations == model.iterations);
  CHECK(back.marks == model.marks);
  CHECK(back.first == model.first);
  CHECK(back.transition == model.transition);
  CHECK(back.emission == model.emission);
  CHECK(chromhmm_model_text(back) == kGood);
}

TEST_CASE("ChromHMM models: numbers of Java, line ends of Windows, order of lines") {
  CHECK(read_back(replaced(kGood, "\t0.125\n", "\t1.25E-1\n")).transition[2] == 0.125);
  ChromHmmModel model =
      read_back(replaced(replaced(kGood, "\t0.25\n", "\t1.0E-400\n"), "\t0.75\n", "\t1.0\n"));
  CHECK(model.first[0] == 0);
  std::string windows = kGood;
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2)
    windows.insert(at, "\r");
  CHECK(read_back(windows).emission == test::small_model().emission);
  const std::string line = "probinit\t1\t0.25\n";
  CHECK(read_back(replaced(kGood, line, "") + line).first == test::small_model().first);
}

TEST_CASE("damaged ChromHMM models are refused with their line") {
  const std::string last = "emissionprobs\t2\t1\tB\t1\t0.7\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "line 1: is missing"},
      {"hello\n", "line 1: is not the first line"},
      {replaced(kGood, "2\t2\tE", "2\tE"), "line 1: is not the first line"},
      {replaced(kGood, "-12.5", "NaN"), "line 1: is not the first line"},
      {replaced(kGood, "-12.5", "x"), "line 1: is not the first line"},
      {replaced(kGood, "\t7\n", "\t7.5\n"), "line 1: is not the first line"},
      {replaced(kGood, "2\t2\tE", "99999999999999999999\t2\tE"), "line 1: is not the first line"},
      {replaced(kGood, "2\t2\tE", "1001\t2\tE"), "line 1: has 1001 states; 1 to 1000"},
      {replaced(kGood, "2\t2\tE", "0\t2\tE"), "line 1: has 0 states"},
      {replaced(kGood, "2\t2\tE", "2\t10001\tE"), "line 1: has 10001 marks"},
      {replaced(kGood, "2\t2\tE", "2\t2\tX"), "line 1: has the order \"X\""},
      {replaced(kGood, "probinit\t1", "probint\t1"), "line 2: begins with \"probint\""},
      {replaced(kGood, "probinit\t1", "probinit\t3"), "line 2: \"3\" is not the number of a state"},
      {replaced(kGood, "probinit\t1", "probinit\t0"), "line 2: \"0\" is not the number of a state"},
      {replaced(kGood, "\t0.25\n", "\t0.25\t1\n"), "line 2: has 4 columns; probinit has 3"},
      {replaced(kGood, "\t0.25\n", "\n"), "line 2: has 2 columns"},
      {replaced(kGood, "\t0.25\n", "\tzero\n"), "line 2: \"zero\" is not a probability"},
      {replaced(kGood, "\t0.25\n", "\t0.25x\n"), "line 2: \"0.25x\" is not a probability"},
      {replaced(kGood, "\t0.25\n", "\t1.5\n"), "line 2: \"1.5\" is not a probability"},
      {replaced(kGood, "\t0.25\n", "\t1e400\n"), "line 2: \"1e400\" is not a probability"},
      {replaced(kGood, "\t0.25\n", "\t-0.5\n"), "line 2: \"-0.5\" is not a probability"},
      {replaced(kGood, "\t0.25\n", "\tnan\n"), "line 2: \"nan\" is not a probability"},
      {replaced(kGood, "\t0.75\n", "\t0.7\n"), "line 3: the probabilities of first states sum to 0.95"},
      {replaced(kGood, "\t0.875\n", "\t0.9\n"), "line 7: the transitions from state 2 sum to 1.025"},
      {replaced(kGood, last, "emissionprobs\t2\t1\tB\t1\t0.8\n"),
       "line 15: the emissions of mark 1 in state 2"},
      {replaced(kGood, "transitionprobs\t1\t1", "transitionprobs\t1\tx"),
       "line 4: \"x\" is not the number of a state"},
      {replaced(kGood, last, ""), "line 14: ends without a line for the emission of mark 1 in state 2"},
      {replaced(kGood, "probinit\t2\t0.75\n", ""), "line 14: ends without a line for probinit of state 2"},
      {replaced(kGood, "transitionprobs\t2\t1\t0.125\n", ""),
       "line 14: ends without a line for the transition"},
      {kGood + last, "line 16: gives a probability that a line before gives"},
      {replaced(kGood, "\tB\t1\t0.1\n", "\tC\t1\t0.1\n"), "line 11: calls mark 1 \"C\""},
      {replaced(kGood, "\t1\tB\t0\t0.9\n", "\t1\tA\t0\t0.9\n"), "line 10: names a second mark \"A\""},
      {replaced(kGood, "1\t0\tA\t0", "1\t0\t\t0"), "line 8: the name of the mark"},
      {replaced(kGood, "1\t0\tA\t0", "1\t2\tA\t0"), "line 8: \"2\" is not the number of a mark"},
      {replaced(kGood, "1\t0\tA\t0", "1\t0\tA\t2"), "line 8: \"2\" is not the number of a value"},
  };
  for (const auto& [text, needle] : cases) {
    const std::string message = test::input_error([&text = text] { read_back(text); });
    INFO(needle << " / " << message);
    CHECK(message.find("model.txt:" + needle) != std::string::npos);
    CHECK(message.find("; give the file model_N.txt") != std::string::npos);
  }
  // Every file that is cut at the end of a line but the last is refused.
  for (std::size_t at = kGood.find('\n'); at + 1 < kGood.size(); at = kGood.find('\n', at + 1))
    CHECK(!test::input_error([&] { read_back(kGood.substr(0, at + 1)); }).empty());
  CHECK_THROWS_AS(read_chromhmm_model("no such file"), ReadError);
}

TEST_CASE("probabilities that ChromHMM rounded are taken") {
  CHECK(read_back(replaced(kGood, "\t0.75\n", "\t0.7495\n")).first[1] == 0.7495);
}

TEST_CASE("the record of an imported model is found again") {
  const test::TempFolder folder;
  const std::string path = folder.add("model_2.txt", kGood);
  const std::string record = chromhmm_record_text(test::small_model(), path, "");
  CHECK(record.find("\"model_2.txt\"") != std::string::npos);
  CHECK(record.find(folder.path()) == std::string::npos);
  ChromHmmModel model;
  take_chromhmm_record(record, model);
  CHECK(model.log_likelihood == -12.5);
  CHECK(model.iterations == 7);
  for (const std::string other : {"", "[]", "{}", "{\"program\":3}", "{\"program\":\"x\",\"iterations\":9}",
                                  "{\"program\":\"ChromHMM\",\"iterations\":\"9\"}"})
    take_chromhmm_record(other, model);
  CHECK(model.iterations == 7);
}

const std::vector<Label> kLabels = {{"E1", std::nullopt}, {"E2", std::nullopt}};

SegmentDurations durations_of(const std::string& text) {
  const test::TempFolder folder;
  return read_segment_durations(folder.add("s.bed", text), kLabels, 200);
}

TEST_CASE("durations of a segmentation") {
  const SegmentDurations found = durations_of(
      "#a comment\nchr1\t0\t400\tE1\t0\t.\t0\t400\t255,0,10\n"
      "chr1\t400\t600\tE2\t0\t.\t0\t0\t0\nchr1\t600\t1000\tE2\n"  // touch
      "chr1\t1200\t1400\tE2\nchr2\t1400\t1500\tE2\t0\t.\t0\t0\t1,2,3\nchr2\t1600\t2100\tE1\t0\t.\t0\t0\t1,1,"
      "1\n");
  CHECK(found.seen[0] == std::vector<std::int64_t>{2, 3});
  CHECK(found.seen[1] == std::vector<std::int64_t>{3, 1, 1});
  CHECK(found.color[0] == std::array<std::uint8_t, 3>{255, 0, 10});
  CHECK(found.color[1] == std::array<std::uint8_t, 3>{1, 2, 3});
}

TEST_CASE("segmentations that do not fit the model are refused with their line") {
  const std::string good = "chr1\t0\t400\tE1\nchr1\t400\t600\tE2\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "has no segments"},
      {good + "chr1\t600\t800\tE3\n",
       "line 3: \"E3\" is not a state of the model; its states are named E1 to E2"},
      {good + "chr1\t600\t800\n", "line 3: the segment has no label"},
      {good + "chr1\t700\t800\tE1\n", "line 3: the segment does not begin on a bin of 200 bases"},
      {good + "chr1\t400\t800\tE1\n", "line 3: the segment begins before the one above it ends"},
      {good + "chr2\t0\t200\tE1\nchr1\t600\t800\tE1\n", "line 4: segments of \"chr1\" are in two places"},
      {good + "chr1\t800\t800\tE1\n", "line 3"},
  };
  for (const auto& [text, needle] : cases) {
    const std::string message = test::input_error([&text = text] { durations_of(text); });
    INFO(message);
    CHECK(message.find(needle) != std::string::npos);
  }
}

}  // namespace
}  // namespace semicrf
