#include "io/text/text_lines.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "io/segments/textgrid.h"
#include "support/catch.h"
#include "support/messages.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;
using namespace std::string_literals;

namespace {

std::vector<std::string> lines_of(const std::string& path, TextForm form = {}) {
  TextLines lines(path, form);
  std::vector<std::string> found;
  for (std::string line; lines.next(line);) found.push_back(line);
  REQUIRE(static_cast<std::size_t>(lines.line_number()) == found.size());
  return found;
}

std::string utf16(std::u16string_view text, bool big_endian) {
  std::string bytes = big_endian ? "\xFE\xFF" : "\xFF\xFE";
  for (const char16_t unit : text) {
    const char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
    bytes += big_endian ? high : low;
    bytes += big_endian ? low : high;
  }
  return bytes;
}

}  // namespace

TEST_CASE("lines end with LF, CRLF or CR") {
  const TempFolder folder;
  const std::vector<std::string> expected = {"a\t1", "", "b", "c", "", "d"};
  CHECK(lines_of(folder.add("lf", "a\t1\n\nb\nc\n\nd\n")) == expected);
  CHECK(lines_of(folder.add("crlf", "a\t1\r\n\r\nb\r\nc\r\n\r\nd")) == expected);
  CHECK(lines_of(folder.add("cr", "a\t1\r\rb\rc\r\rd\r")) == expected);
  CHECK(lines_of(folder.add("mixed", "a\t1\r\n\nb\rc\n\rd")) == expected);
  CHECK(lines_of(folder.add("empty", "")).empty());
  CHECK(lines_of(folder.add("blank", "\r\n")) == std::vector<std::string>{""});
}

TEST_CASE("a line end may lie between two buffers") {
  const TempFolder folder;
  for (const std::size_t length : std::initializer_list<std::size_t>{65533, 65534, 65535, 65536, 65537}) {
    const std::string first(length, 'x');
    CHECK(lines_of(folder.add("crlf", first + "\r\ny\r\n")) == std::vector<std::string>{first, "y"});
    CHECK(lines_of(folder.add("cr", first + "\ry")) == std::vector<std::string>{first, "y"});
  }
}

TEST_CASE("byte order marks of UTF-8 are passed over, also where files were put together") {
  const TempFolder folder;
  CHECK(lines_of(folder.add("a",
                            "\xEF\xBB\xBF"
                            "chr1\t5\n\xEF\xBB\xBF"
                            "chr2\n")) == std::vector<std::string>{"chr1\t5", "chr2"});
  CHECK(lines_of(folder.add("b", "\xEF\xBB\xBF")) == std::vector<std::string>{""});
}

TEST_CASE("UTF-16 and UTF-32 are named, and UTF-16 is read where a format has it") {
  const TempFolder folder;
  for (const bool big : {false, true}) {
    const std::string path = folder.add("a", utf16(u"x\u00e9\U0001F600\r\ny\r", big));
    CHECK(message_of([&] { lines_of(path); }) == path + ": is UTF-16; save it as UTF-8");
    CHECK(lines_of(path, {.utf16 = true}) == std::vector<std::string>{"x\xC3\xA9\xF0\x9F\x98\x80", "y"});
    const std::string damaged = folder.add("b", utf16(u"x\xD800y", big) + "z");
    CHECK(lines_of(damaged, {.utf16 = true}) == std::vector<std::string>{"x\xEF\xBF\xBDy\xEF\xBF\xBD"});
  }
  const std::string wide = folder.add("c", "\xFF\xFE\0\0a\0\0\0"s);
  CHECK(message_of([&] { lines_of(wide, {.utf16 = true}); }) == wide + ": is UTF-32; save it as UTF-8");
  const std::string unmarked = folder.add("d", "a\0b\0\n\0"s);
  CHECK(holds(message_of([&] { lines_of(unmarked); }), "zero byte"));
}

TEST_CASE("UTF-16 may be cut anywhere by a buffer") {
  const TempFolder folder;
  for (const std::size_t before : std::initializer_list<std::size_t>{32765, 32766, 32767, 32768}) {
    const std::string path = folder.add("a", utf16(std::u16string(before, u'x') + u"\U0001F600\n", false));
    CHECK(lines_of(path, {.utf16 = true}) ==
          std::vector<std::string>{std::string(before, 'x') + "\xF0\x9F\x98\x80"});
  }
}

TEST_CASE("text that is not UTF-8, or has control characters, is refused with its line and column") {
  const TempFolder folder;
  const std::string latin = folder.add("a", "chr1\t0\t9\ta\nchr1\t9\t20\tPr\xE9\n");
  CHECK(message_of([&] { lines_of(latin); }) ==
        latin +
            ":line 2: column 4, 'Pr\\xe9', is not UTF-8; convert the file, for example with iconv -f LATIN1 "
            "-t UTF-8");
  for (const char* const text : {"a\x1b[31m", "a\x7f", "a\xC2\x85", "a\x0c"}) {
    const std::string path = folder.add("b", std::string("x\n") + text + "\n");
    CHECK(holds(message_of([&] { lines_of(path); }), "b:line 2: column 1"));
    CHECK(holds(message_of([&] { lines_of(path); }), "control"));
  }
  CHECK(lines_of(folder.add("c", "#M\xFCller\tx\x07\nok \xC3\xBC\n")) ==
        std::vector<std::string>{"#M\\xfcller\tx\\x07", "ok \xC3\xBC"});
}

TEST_CASE("lines have a longest length, devices an end") {
  const TempFolder folder;
  std::string text = "x\n";
  text.append((4 << 20) + 1, 'A');
  const std::string path = folder.add("a", text);
  CHECK(holds(message_of([&] { lines_of(path); }), "line 2: the line has more than 4 MiB"));
  text.pop_back();
  text += "\r\nx";
  CHECK(lines_of(folder.add("b", text)).size() == 3);
  CHECK(holds(message_of([&] { lines_of("/dev/zero"); }), "zero byte"));
}

TEST_CASE("a TextGrid is a stream of values, whatever separates them") {
  const TempFolder folder;
  const std::string head = "\"ooTextFile\" \"TextGrid\" 0 2 <exists> 1 \"IntervalTier\" \"t\" 0 2 2 ";
  for (const char separator : {' ', '\n', '\r', '\t'}) {
    std::string text = head + "0 1 \"a\" 1 2 \"b\"";
    std::ranges::replace(text, ' ', separator);
    const std::string path = folder.add("a.TextGrid", text);
    REQUIRE(is_textgrid(path));
    const auto tiers = read_textgrid(path);
    REQUIRE(tiers.size() == 1);
    REQUIRE(tiers[0].intervals.size() == 2);
    CHECK(tiers[0].intervals[1].text == "b");
  }
}
