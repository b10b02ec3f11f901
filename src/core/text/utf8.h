// Text that people and files give: whether it is UTF-8, and as much of it as a message should show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace semicrf {

// Bytes of the UTF-8 character at the beginning of `text`, which is not empty; 0 where no character begins
// there: a stray byte, a longer form than needed, a surrogate, a code above U+10FFFF.
std::size_t utf8_length(std::string_view text);

enum class TextFault {
  kNone,
  kControl,  // U+0000 to U+001F, U+007F to U+009F: tabs and line ends, too
  kNotUtf8,
};
// What the first fault of `text` is.
TextFault text_fault(std::string_view text);

// Control characters of `text` as \n, \t or \xHH, and bytes that are not UTF-8 as \xHH, so that a message
// stays on one line of a terminal, and a file that quotes the text remains UTF-8.
std::string escape_control(std::string_view text);

// `text` where it has no more than `most` bytes; else its beginning, "...[N bytes]..." with its size, and its
// end, together about `most` bytes, cut between characters.
std::string shortened(std::string_view text, std::size_t most);

// A message of the program about somebody's data: control characters escaped, words of more than 200 bytes
// and a text of more than 700 shortened.
std::string message_text(std::string_view text);

// `text` for HTML and XML, in elements and in attributes: characters with a meaning are escaped, control
// characters become blanks, and bytes that are no UTF-8 or no character of XML become U+FFFD.
std::string markup_escaped(std::string_view text);

}  // namespace semicrf
