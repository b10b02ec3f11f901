// The `[name=]PATH` of a command line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/input_kind.h"
#include "io/tracks/track_text.h"
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
  std::shared_ptr<const TrackText> text;  // a track as text, whose kind is kBigWig, too; or null
  std::string column;                     // name of the one that is the track, where the text has several
  TextSample sample;                      // whose values of the text
  std::string from;                       // "sheet.tsv line 3"; empty: the command line
};

// A text that is the name of an existing file is a PATH as a whole, whatever characters it has. ReadError:
// cannot be opened. InputError: not NPY, NPZ, bigWig, BAM, CRAM or a track as text.
InputArgument parse_input_argument(const std::string& text);

// Finds out what the argument's path is, and takes the options of a file of reads or of text from it. Errors
// as above.
void settle_kind(InputArgument& argument);

// What the argument is, for messages: "a bigWig file", "bedGraph", "a file of reads".
std::string describe(const InputArgument& argument);

// Where the name of NAME=PATH ends; npos: the text is a path as a whole, perhaps with options behind a ?.
std::size_t end_of_name(const std::string& text);

// Chooses a column of text with several: the one that the argument's name or ?column= says, or without both
// an argument for each column, under its name. Everything else comes back as it is. UsageError: no such
// column or sample, or several samples of which none is chosen.
std::vector<InputArgument> columns_of_text(InputArgument argument);

// Where a text has several cell types or samples and none was chosen: chooses that of this name.
void choose_sample(const std::string& sample, InputArgument& argument);
// The choice as options behind a ?, "&cell=K562"; empty: none.
std::string sample_options(const InputArgument& argument);

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
