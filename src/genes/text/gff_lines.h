// The lines of a GFF3 or GTF file, plain or compressed: nine columns, attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/text/text_lines.h"

namespace semicrf {

struct GffLine {
  std::string_view sequence, kind, strand, attributes;
  std::int64_t begin = 0, end = 0;  // bases, 0-based, half-open; by check_place()

  std::string_view columns[9];
};

class GffLines {
 public:
  explicit GffLines(const std::string& path) : lines_(path) {}
  // False at the end, or where FASTA begins. Texts are valid until the next. InputError: fewer than nine
  // columns.
  bool next(GffLine& line);
  // Reads the place. InputError: no positions, an end before the begin, a strand that is neither + nor -.
  void check_place(GffLine& line) const;
  std::int64_t line_number() const { return lines_.line_number(); }
  [[noreturn]] void fail(const std::string& what, const std::string& advice) const;

 private:
  std::int64_t number(std::string_view text, const char* what) const;

  TextLines lines_;
  std::string text_;
};

// The value of a GFF3 (key=value) or GTF (key "value") attribute.
std::optional<std::string_view> gff_attribute(std::string_view attributes, std::string_view key);

}  // namespace semicrf
