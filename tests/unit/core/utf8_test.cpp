#include "core/text/utf8.h"

#include "core/error.h"
#include "core/text/names.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("UTF-8 is told from what only looks like it") {
  for (const char* const good :
       {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"})
    CHECK(text_fault(good) == TextFault::kNone);
  // Alone, cut, longer than needed, a surrogate, too large.
  for (const char* const bad : {"\x80", "\xE9", "x\xC3", "\xC3x", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "\xFF"})
    CHECK(text_fault(bad) == TextFault::kNotUtf8);
  for (const char* const control : {"\x1b", "a\tb", "a\n", "\x7f", "\xC2\x85"})
    CHECK(text_fault(control) == TextFault::kControl);
}

TEST_CASE("names are UTF-8 without control characters, those of sequences no comments") {
  CHECK(name_problem("H3K4me3 \xC3\xA9").empty());
  CHECK(name_problem("#c").empty());
  for (const char* const bad : {"", "a\tb", "tr\xE9", "a\x7f"}) CHECK(!name_problem(bad).empty());
  CHECK(!sequence_name_problem("#c").empty());
  CHECK(sequence_name_problem("c#").empty());
}

TEST_CASE("what is quoted is UTF-8 on one line") {
  CHECK(escape_control("a\n\tb\xE9\xC3\xA9\xC2\x85") == "a\\n\\tb\\xe9\xC3\xA9\\xc2\\x85");
}

TEST_CASE("long texts lose their middle, between characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened(std::string(100, 'a') + std::string(900, 'b') + "c", 50) ==
        std::string(22, 'a') + "...[1001 bytes]..." + std::string(9, 'b') + "c");
  std::string wide;
  for (int i = 0; i < 300; ++i) wide += "\xE2\x82\xAC";
  for (std::size_t most = 20; most < 60; ++most) {
    const std::string text = shortened(wide, most);
    CHECK(text.size() <= most + 4);
    CHECK(text_fault(text) == TextFault::kNone);
  }
}

TEST_CASE("an error is short, whatever it quotes") {
  const std::string huge(1'000'000, 'A');
  const std::string binary(1'000'000, '\0');
  std::string list;
  for (int i = 0; i < 100'000; ++i) list += "name" + std::to_string(i) + ", ";
  for (const std::string& data : {huge, binary, list}) {
    const InputError error({data, data, "expected 'x', found '" + data + "'", "give one of " + data});
    CHECK(std::string(error.what()).size() < 2000);
    CHECK(text_fault(error.what()) == TextFault::kNone);
  }
  const InputError error({"a.bed", "line 3", "the label '" + huge + "' is not known", "give one of A, B"});
  const std::string text = error.what();
  CHECK(text.starts_with("a.bed:line 3: the label 'AAAA"));
  CHECK(text.ends_with("AAAA' is not known; give one of A, B"));
  CHECK(text.find("[1000002 bytes]") != std::string::npos);
  CHECK(text.size() < 300);
}
