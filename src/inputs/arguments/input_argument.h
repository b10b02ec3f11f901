// The `[name=]PATH` of a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/files/input_kind.h"
#include "reads/count_rule.h"

namespace semicrf {

struct InputArgument {
  std::string path;
  std::string name;    // given before "=", else the file's name without folder and extension
  bool named = false;  // given before "=", or by a sheet or a pattern
  InputKind kind = InputKind::kUnknown;
  std::optional<CountRule>
      reads;                 // a file of reads, whose kind is kBigWig as its counts are: how it is counted
  bool reads_given = false;  // the rule stands behind the path: file.bam?mapq=30
  std::string from;          // "sheet.tsv line 3"; empty: the command line
};

// A text that is the name of an existing file is a PATH as a whole, whatever characters it has. ReadError:
// cannot be opened. InputError: not NPY, NPZ, bigWig, BAM or CRAM.
InputArgument parse_input_argument(const std::string& text);

// Finds out what the argument's path is, and takes the options of a file of reads from it. Errors as above.
void settle_kind(InputArgument& argument);

// A part of a chromosome, "chr1:1001-2000" (1-based inclusive). nullopt when the text does not end like that.
struct ChromosomePart {
  std::string chromosome;
  std::int64_t begin = 0;  // base, 0-based
  std::int64_t end = 0;    // one past the last base, > begin
};
std::optional<ChromosomePart> parse_chromosome_part(const std::string& name);
// Whether the text ends like a part, be its positions such or not: "chr1:0-599".
bool looks_like_part(const std::string& name);

}  // namespace semicrf
