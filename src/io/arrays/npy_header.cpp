// The header of a .npy file: magic, version, length, and a Python dictionary literal as NumPy writes it.
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/utf8.h"
#include "io/arrays/npy_reader.h"
#include "io/files/byte_view.h"
#include "io/files/input_kind.h"

namespace semicrf {
namespace {

constexpr std::size_t kPreambleBytes = 8;  // magic and version
constexpr std::size_t kMaxHeaderBytes =
    1 << 20;  // the largest legitimate one (a structured type) is far smaller

// What the dictionary says, not yet judged.
struct RawHeader {
  std::string descr;        // the type string, or the literal text of a structured type
  bool structured = false;  // descr is a list
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

class DictParser {
 public:
  // `text` begins at byte `origin` of the file.
  DictParser(std::string_view text, std::size_t origin, const ByteView& view)
      : text_(text), origin_(origin), view_(view) {}

  RawHeader parse() {
    RawHeader raw;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      bool* seen = key == "descr"           ? &has_descr
                   : key == "fortran_order" ? &has_order
                   : key == "shape"         ? &has_shape
                                            : nullptr;
      if (seen == nullptr) fail("unknown key '" + key + "'");
      if (*seen) fail("key '" + key + "' occurs twice");
      *seen = true;
      if (seen == &has_descr) {
        descr(raw);
      } else if (seen == &has_order) {
        raw.fortran_order = boolean();
      } else {
        raw.shape = shape();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) fail("descr, fortran_order or shape is missing");
    return raw;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    view_.fail(origin_ + at_, "malformed NPY header: " + what);
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("unterminated string");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content.find('\\') != std::string_view::npos) fail("escape in a string");
    at_ = end + 1;
    return std::string(content);
  }

  bool word(std::string_view expected) {
    skip_space();
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  bool boolean() {
    if (word("True")) return true;
    if (word("False")) return false;
    fail("fortran_order must be True or False");
  }

  void descr(RawHeader& raw) {
    if (peek() != '[' && peek() != '(') {
      raw.descr = string();
      return;
    }
    raw.structured = true;
    const std::size_t begin = at_;
    int depth = 0;
    do {
      const char c = peek();
      if (c == '\0') fail("unterminated type");
      if (c == '\'' || c == '"') {
        string();
        continue;
      }
      depth += (c == '[' || c == '(') - (c == ']' || c == ')');
      ++at_;
    } while (depth > 0);
    raw.descr = std::string(text_.substr(begin, at_ - begin));
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(integer());
      if (sizes.size() > 64) fail("more than 64 dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::int64_t integer() {
    skip_space();
    std::int64_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto [next, error] = std::from_chars(text_.data() + at_, end, value);
    if (error == std::errc::result_out_of_range) fail("a dimension is larger than 2^63 - 1");
    if (error != std::errc() || value < 0) fail("expected a dimension");
    at_ = next - text_.data();
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote them
    return value;
  }

  std::string_view text_;
  std::size_t origin_;
  const ByteView& view_;
  std::size_t at_ = 0;
};

const char* kind_name(char kind) {
  switch (kind) {
    case 'O':
      return "Python objects";
    case 'c':
      return "complex numbers";
    case 'i':
      return "integers";
    case 'u':
      return "unsigned integers";
    case 'b':
      return "booleans";
    case 'S':
    case 'a':
      return "byte strings";
    case 'U':
      return "strings";
    case 'M':
      return "dates";
    case 'm':
      return "time differences";
    case 'V':
      return "raw records";
    case 'f':
      return "floating-point numbers of this size";
    default:
      return "an unknown type";
  }
}

ErrorText type_error(const std::string& name, const std::string& descr, const std::string& meaning,
                     const std::string& advice) {
  return {name, "",
          "dtype '" + shortened(descr, 60) + "' (" + meaning +
              ") is not supported; expected float16, float32 or float64",
          advice};
}

[[noreturn]] void refuse_type(const std::string& name, const std::string& descr, char kind) {
  const std::string meaning = kind_name(kind);
  switch (kind) {
    case 'i':
    case 'u':
    case 'b':
    case 'f':
      throw InputError(type_error(name, descr, meaning, "convert it with a.astype('float32')"));
    case 'c':
      throw InputError(type_error(name, descr, meaning, "give real numbers, such as abs(a) or a.real"));
    case 'O':
      throw NotNumbers(
          type_error(name, descr, meaning, "save an array of numbers, one array for each sequence"));
    default:
      throw NotNumbers(type_error(name, descr, meaning, "give an array of numbers"));
  }
}

void set_type(const RawHeader& raw, const std::string& name, NpyHeader& header) {
  if (raw.structured)
    throw NotNumbers(type_error(name, raw.descr, "a structured type",
                                "make one array of its numbers: "
                                "numpy.lib.recfunctions.structured_to_unstructured(a)"));
  std::string_view descr = raw.descr;
  const char order = descr.empty() ? '\0' : descr.front();
  const bool has_order = order == '<' || order == '>' || order == '=' || order == '|';
  if (has_order) descr.remove_prefix(1);
  if (descr == "f2") {
    header.type = NpyType::kFloat16;
  } else if (descr == "f4") {
    header.type = NpyType::kFloat32;
  } else if (descr == "f8") {
    header.type = NpyType::kFloat64;
  } else {
    refuse_type(name, raw.descr, descr.empty() ? '\0' : descr.front() == '?' ? 'b' : descr.front());
  }
  if (order == '|')
    throw InputError(
        type_error(name, raw.descr, "a number without byte order", "convert it with a.astype('float32')"));
  header.big_endian = order == '>';
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size() && i < 8; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text + (shape.size() > 8 ? ", ...)" : shape.size() == 1 ? ",)" : ")");
}

void set_shape(const RawHeader& raw, const std::string& name, NpyHeader& header) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(
        {name, "", "shape " + shape_text(raw.shape) + " " + what, "store one sequence per array"});
  };
  if (raw.shape.empty() || raw.shape.size() > 2)
    refuse("is not one- or two-dimensional (positions, columns)");
  header.rows = raw.shape[0];
  header.columns = raw.shape.size() == 2 ? raw.shape[1] : 1;
  if (header.rows == 0) refuse("has no positions");
  if (header.columns == 0) refuse("has no columns");
  header.fortran_order = raw.fortran_order && raw.shape.size() == 2;
}

void check_size(std::uint64_t file_bytes, const std::string& name, const NpyHeader& header) {
  std::uint64_t expected = 0;
  const bool overflow = __builtin_mul_overflow(header.rows, header.columns, &expected) ||
                        __builtin_mul_overflow(expected, std::uint64_t{header.item_bytes()}, &expected) ||
                        __builtin_add_overflow(expected, std::uint64_t{header.data_offset}, &expected);
  if (!overflow && expected == file_bytes) return;
  const std::string shape = shape_text({header.rows, header.columns});
  throw InputError({name, "",
                    fmt::format("the file has {} bytes, but shape {} needs {}", file_bytes, shape,
                                overflow ? "more than 2^64" : fmt::to_string(expected)),
                    "the file is truncated or damaged; write it again"});
}

}  // namespace

std::size_t NpyHeader::item_bytes() const {
  return type == NpyType::kFloat16 ? 2 : type == NpyType::kFloat32 ? 4 : 8;
}

NpyHeader parse_npy_header(std::span<const std::uint8_t> bytes, const std::string& name) {
  require_input_kind(InputKind::kNpy, name, bytes);
  const ByteView view(bytes, name, false);
  const auto version = view.number<std::uint8_t>(6, "the NPY version");
  if (version < 1 || version > 3)
    view.fail(6, fmt::format("NPY version {} is not supported; expected 1, 2 or 3", version));
  view.number<std::uint8_t>(7, "the NPY version");
  const bool is_short = version == 1;
  const std::uint64_t length = is_short ? view.number<std::uint16_t>(kPreambleBytes, "the header length")
                                        : view.number<std::uint32_t>(kPreambleBytes, "the header length");
  const std::size_t text_at = kPreambleBytes + (is_short ? 2 : 4);
  if (length > kMaxHeaderBytes) view.fail(kPreambleBytes, fmt::format("a header of {} bytes", length));
  const auto text = view.slice(text_at, length, "the NPY header");
  const std::string characters(text.begin(), text.end());
  const RawHeader raw = DictParser(characters, text_at, view).parse();

  NpyHeader header;
  header.data_offset = text_at + length;
  set_type(raw, name, header);
  set_shape(raw, name, header);
  check_size(bytes.size(), name, header);
  return header;
}

}  // namespace semicrf
