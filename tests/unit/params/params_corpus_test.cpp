// Every document of params/corpus.json through the reader; schema_test.py puts the same ones through the
// schema.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/error.h"
#include "io/params/params_json.h"
#include "support/catch.h"

using nlohmann::json;

namespace {

const std::filesystem::path kRoot = SEMICRF_SOURCE_DIR;

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

json build(const json& corpus, const json& entry) {
  json document = corpus["bases"][entry["base"].get<std::string>()];
  if (entry.contains("set")) {
    for (const auto& place : entry["set"].items()) document[json::json_pointer(place.key())] = place.value();
  }
  if (entry.contains("remove")) {
    for (const auto& place : entry["remove"]) {
      const json::json_pointer pointer(place.get<std::string>());
      json& parent = document[pointer.parent_pointer()];
      if (parent.is_array()) {
        parent.erase(std::stoul(pointer.back()));
      } else {
        parent.erase(pointer.back());
      }
    }
  }
  return document;
}

}  // namespace

TEST_CASE("the reader accepts every good document of the corpus and writes it back") {
  const json corpus = json::parse(file_text(kRoot / "tests/unit/params/corpus.json"));
  REQUIRE(!corpus["good"].empty());
  for (const json& entry : corpus["good"]) {
    INFO(entry["name"]);
    const std::string text = build(corpus, entry).dump();
    semicrf::Parameters parameters;
    REQUIRE_NOTHROW(parameters = semicrf::parse_params_json(text, "p.json"));
    const std::string written = semicrf::write_params_json(parameters);
    const semicrf::Parameters again = semicrf::parse_params_json(written, "written.json");
    CHECK(semicrf::write_params_json(again) == written);
    CHECK(again.chain.transition == parameters.chain.transition);
    CHECK(again.chain.duration_bias == parameters.chain.duration_bias);
    CHECK(again.chain.log_tail == parameters.chain.log_tail);
    CHECK(again.chain.start_scores == parameters.chain.start_scores);
    CHECK(again.chain.end_scores == parameters.chain.end_scores);
  }
}

TEST_CASE("the reader refuses every bad document of the corpus at the right place") {
  const json corpus = json::parse(file_text(kRoot / "tests/unit/params/corpus.json"));
  REQUIRE(!corpus["bad"].empty());
  for (const json& entry : corpus["bad"]) {
    INFO(entry["name"]);
    const std::string text = build(corpus, entry).dump();
    std::string message = "accepted";
    try {
      semicrf::parse_params_json(text, "p.json");
    } catch (const semicrf::InputError& error) {
      message = error.what();
    }
    const std::string expected = "p.json" + entry["error"].get<std::string>();
    CHECK(message.substr(0, expected.size()) == expected);
  }
}

TEST_CASE("the example in docs/users/formats.md and the parameter files in data are valid") {
  const std::string page = file_text(kRoot / "docs/users/formats.md");
  const std::string fence = "```json\n";
  std::size_t examples = 0;
  for (std::size_t begin = page.find(fence); begin != std::string::npos;
       begin = page.find(fence, begin + 1)) {
    const std::size_t start = begin + fence.size();
    const std::string block = page.substr(start, page.find("```", start) - start);
    if (block.find("semicrf-params") == std::string::npos) continue;
    CHECK_NOTHROW(semicrf::parse_params_json(block, "docs/users/formats.md"));
    ++examples;
  }
  CHECK(examples > 0);
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "data")) {
    const std::string name = entry.path().filename().string();
    if (name.size() < 12 || name.substr(name.size() - 12) != ".params.json") continue;
    INFO(name);
    CHECK_NOTHROW(semicrf::read_params_json(entry.path().string()));
  }
}
