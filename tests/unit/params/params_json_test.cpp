#include "io/params/params_json.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "core/text/names.h"
#include "io/json/json_document.h"
#include "io/text/provenance_header.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

// A valid document; the pieces of text are replaced by tests.
const std::string kDocument = R"({
  "format": "semicrf-params", "format_version": "1.0",
  "labels": ["A", {"name": "B", "color": "#00ff7F"}],
  "max_duration": 3,
  "transition": [["-inf", 0.25], [-1.5, "-inf"]],
  "duration": {"kind": "table", "bias": [[0, "-inf"], [-1, -2.5], [-3, 1e-3]], "tail": [null, 0.5]},
  "end": [0, -1]
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// The message about `text`, or "accepted".
std::string message_about(const std::string& text) {
  try {
    parse_params_json(text, "p.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string json_message(const std::string& text, const JsonLimits& limits = {}) {
  try {
    parse_json(text, "p.json", limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("semicrf_params_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a parameter file becomes numbers") {
  const Parameters parameters = parse_params_json(kDocument, "p.json");
  REQUIRE(parameters.num_labels() == 2);
  CHECK(parameters.labels[0].name == "A");
  CHECK(!parameters.labels[0].color);
  REQUIRE(parameters.labels[1].color);
  CHECK(*parameters.labels[1].color == std::array<std::uint8_t, 3>{0, 255, 127});
  CHECK(parameters.bin_size == 1);
  CHECK(!parameters.bin_size_given);
  CHECK(parameters.centering == Centering::kMean);
  const ChainModel& chain = parameters.chain;
  CHECK(chain.initial == InitialTerm::kUniform);
  CHECK(chain.num_labels == 2);
  CHECK(chain.max_duration == 3);
  CHECK(chain.transition == std::vector<double>{kNegativeInfinity, 0.25, -1.5, kNegativeInfinity});
  CHECK(chain.duration_bias == std::vector<double>{0, kNegativeInfinity, -1, -2.5, -3, 1e-3});
  CHECK(chain.log_tail == std::vector<double>{kNegativeInfinity, std::log(0.5)});
  CHECK(chain.start_scores == std::vector<double>{0, 0});
  CHECK(chain.end_scores == std::vector<double>{0, -1});
  CHECK(parameters.duration.kind->is_table());
  CHECK(parameters.tracks.empty());
  CHECK(!parameters.emission);
  CHECK(!parameters.boundary);
  CHECK(parameters.training.empty());
}

TEST_CASE("a bin size of 1 that is given is not an absent one") {
  const Parameters parameters = parse_params_json(
      replaced(kDocument, "\"max_duration\"", "\"bin_size\": 1, \"max_duration\""), "p.json");
  CHECK(parameters.bin_size == 1);
  CHECK(parameters.bin_size_given);
}

TEST_CASE("a geometric tail that continues has the decay of its table") {
  const std::string text = replaced(
      kDocument, R"("kind": "table", "bias": [[0, "-inf"], [-1, -2.5], [-3, 1e-3]], "tail": [null, 0.5])",
      R"("kind": "geometric", "p": [1e-20, 0.3], "tail": "continue")");
  const Parameters parameters = parse_params_json(text, "p.json");
  CHECK(parameters.chain.log_tail == std::vector<double>{std::log1p(-1e-20), std::log1p(-0.3)});
  CHECK(parameters.chain.duration_score(7, 1) == Approx(6 * std::log(0.7) + std::log(0.3)));
}

TEST_CASE("files are read with their digest and refused with the right class of error") {
  const TemporaryFile file(kDocument);
  const ParameterFile read = read_params_json(file.path());
  CHECK(read.parameters.num_labels() == 2);
  CHECK(read.sha256 == sha256_hex(kDocument));
  CHECK_THROWS_AS(read_params_json(file.path() + ".missing"), ReadError);
  CHECK_THROWS_AS(read_params_json(std::filesystem::temp_directory_path().string()), ReadError);
  const TemporaryFile empty("");
  CHECK_THROWS_AS(read_params_json(empty.path()), InputError);
}

TEST_CASE("broken JSON is refused with its offset") {
  CHECK(contains(message_about(""), "p.json: the file is empty"));
  CHECK(contains(message_about(" \n"), "p.json: the file is empty"));
  CHECK(contains(message_about("{\n  \"format\": }"), "p.json:14: not valid JSON (line 2, column 13)"));
  CHECK(contains(message_about("{"), "not valid JSON"));
  CHECK(contains(message_about(kDocument.substr(0, kDocument.size() / 2)), "not valid JSON"));
  CHECK(contains(message_about(kDocument + "x"), "text follows the end of the document"));
  CHECK(contains(message_about(kDocument + "{}"), "text follows the end of the document"));
  CHECK(contains(message_about(kDocument + "NaN"), "text follows the end of the document"));
  CHECK(contains(message_about(kDocument + std::string(1, '\0')), "a zero byte"));
  CHECK(contains(message_about(kDocument + std::string("\0{", 2)), "a zero byte"));
  CHECK(message_about(kDocument + " \r\n\t") == "accepted");
  CHECK(message_about("\xef\xbb\xbf" + kDocument) == "accepted");  // byte order mark
  CHECK(contains(message_about(replaced(kDocument, "\"A\"", "\"\xff\"")), "not valid JSON"));
  CHECK(contains(message_about(replaced(kDocument, "\"A\"", "\"\xc0\x80\"")), "not valid JSON"));
  CHECK(contains(message_about(replaced(kDocument, "\"A\"", "\"a\tb\"")), "not valid JSON"));
  CHECK(contains(message_about("// remark\n" + kDocument), "not valid JSON"));
  CHECK(contains(message_about(replaced(kDocument, "-1.5,", "-1.5,,")), "not valid JSON"));
  // Any truncation and any single changed byte is either valid or refused as bad input.
  for (std::size_t i = 0; i < kDocument.size(); ++i) {
    REQUIRE(message_about(kDocument.substr(0, i)) != "accepted");
    for (const char byte : {'\0', '"', '[', '}', '9', '\xf0'}) {
      std::string changed = kDocument;
      changed[i] = byte;
      message_about(changed);
    }
  }
}

TEST_CASE("NaN, Infinity and overflowing numbers are refused at their pointer") {
  for (const char* literal : {"NaN", "nan", "-NaN", "Infinity", "-Infinity", "inf", "-inf"}) {
    INFO(literal);
    CHECK(contains(message_about(replaced(kDocument, "-1.5", literal)),
                   "p.json:/transition/1/0: NaN and Infinity are not JSON numbers"));
  }
  CHECK(contains(message_about(replaced(kDocument, "-1.5", "1e999")),
                 "p.json:/transition/1/0: number 1e999 is too large"));
  CHECK(contains(message_about(replaced(kDocument, "1e-3]]", "-1e999]]")),
                 "p.json:/duration/bias/2/1: number -1e999 is too large"));
  CHECK(message_about(replaced(kDocument, "-1.5", "1e-999")) == "accepted");
}

TEST_CASE("duplicate keys are refused at any depth, free ones too") {
  CHECK(contains(message_about(replaced(kDocument, "\"end\"", "\"labels\": [], \"end\"")),
                 "p.json:/labels: key \"labels\" is given twice"));
  CHECK(contains(message_about(replaced(kDocument, "\"name\": \"B\"", "\"name\": \"B\", \"name\": \"C\"")),
                 "p.json:/labels/1/name: key \"name\" is given twice"));
  CHECK(contains(message_about(replaced(kDocument, "\"end\"", "\"x_\": [1, {\"a\": {}, \"a\": 2}], \"end\"")),
                 "p.json:/x_/1/a: key \"a\" is given twice"));
  CHECK(contains(message_about(replaced(kDocument, "\"end\"", "\"e\\u006ed\": [0, 0], \"end\"")),
                 "p.json:/end: key \"end\" is given twice"));
}

TEST_CASE("hostile documents meet limits") {
  const std::string deep(1'000'000, '[');
  CHECK(contains(json_message(deep), "nested more than 64 deep"));
  std::string deep_objects;
  for (int i = 0; i < 1000; ++i) deep_objects += "{\"a\":";
  CHECK(contains(json_message(deep_objects), "nested more than 64 deep"));
  std::string fits(64, '[');
  fits.append(64, ']');
  CHECK(json_message(fits) == "accepted");

  JsonLimits small;
  small.values = 5;
  small.containers = 2;
  small.bytes = 40;
  CHECK(json_message("[1, 2, 3, 4]", small) == "accepted");
  CHECK(contains(json_message("[1, 2, 3, 4, 5]", small), "p.json:/4: the file has more than 5 values"));
  CHECK(contains(json_message("[[], []]", small), "p.json:/1: the file has more than 2 lists and objects"));
  CHECK(contains(json_message(std::string(41, ' '), small), "the file is larger than 40 bytes"));

  // Long keys, names and tokens are not repeated in full; the message is one line.
  const std::string key(100'000, 'k');
  const std::string message = message_about(replaced(kDocument, "\"end\"", "\"" + key + "\": 1, \"end\""));
  CHECK(contains(message, "unknown key"));
  CHECK(message.size() < 500);
  const std::string cut = message_about(replaced(kDocument, "\"A\"", "\"" + key));
  CHECK(contains(cut, "not valid JSON"));
  CHECK(cut.size() < 500);
  const std::string escaped = message_about(replaced(kDocument, "\"end\"", "\"a\\nb\": 1, \"end\""));
  CHECK(contains(escaped, "unknown key \"a\\nb\""));
  CHECK(escaped.find('\n') == std::string::npos);
}

TEST_CASE("quoted text is cut between characters") {
  CHECK(abbreviated("short") == "short");
  std::string text(59, 'a');
  text += "\xc3\xa9 and more";
  CHECK(abbreviated(text) == text.substr(0, 59) + "...");
  CHECK(pointer_step("a/b~c") == "/a~1b~0c");
}

TEST_CASE("the nearest known name is found") {
  constexpr std::string_view kNames[] = {"labels", "centering", "start", "end"};
  CHECK(nearest_name("label", kNames) == "labels");
  CHECK(nearest_name("Centring", kNames) == "centering");
  CHECK(nearest_name("", kNames) == "end");
  CHECK(nearest_name("START", kNames) == "start");
  CHECK(nearest_name("x", {}).empty());
}
