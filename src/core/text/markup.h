// Text inside of HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace semicrf {

// `text` for HTML and XML, in elements and in attributes: characters with a meaning are escaped, control
// characters become blanks, and bytes that are no UTF-8 or no character of XML become U+FFFD.
std::string markup_escaped(std::string_view text);

}  // namespace semicrf
