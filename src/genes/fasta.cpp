#include "genes/fasta.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/text/names.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

// The longest sequence in a line of its own.
constexpr std::size_t kLongestLine = std::size_t{1} << 32;

bool is_letter(char c) {
  constexpr std::string_view kLetters = "ACGTUNRYSWKMBDHVX-*.";
  const char large = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return kLetters.find(large) != kLetters.npos;
}

}  // namespace

FastaReader::FastaReader(const std::string& path)
    : lines_(path, {.utf16 = false, .longest_line = kLongestLine}) {}

bool FastaReader::next(FastaSequence& sequence) {
  while (!has_name_) {
    if (!lines_.next(line_)) {
      if (names_.empty()) throw InputError({lines_.path(), "", "no sequence in it", "give FASTA"});
      return false;
    }
    if (line_.empty() || line_.front() == ';') continue;
    if (line_.front() != '>')
      throw InputError(lines_.path(), lines_.line_number(), "no name before the first bases",
                       "give FASTA: a line with > and a name before each sequence");
    has_name_ = true;
  }
  sequence.name =
      line_.substr(1, line_.find_first_of(" \t") == line_.npos ? line_.npos : line_.find_first_of(" \t") - 1);
  const std::int64_t at = lines_.line_number();
  if (const std::string problem = sequence_name_problem(sequence.name); !problem.empty())
    throw InputError(lines_.path(), at, problem, "give the sequence another name");
  if (!names_.insert(sequence.name).second)
    throw InputError(lines_.path(), at, "a second sequence " + in_quotes(sequence.name),
                     "give it another name");
  sequence.bases.clear();
  has_name_ = false;
  while (lines_.next(line_)) {
    if (!line_.empty() && line_.front() == '>') {
      has_name_ = true;
      break;
    }
    while (!line_.empty() && line_.back() == ' ') line_.pop_back();
    const auto wrong = std::find_if_not(line_.begin(), line_.end(), is_letter);
    if (wrong != line_.end())
      throw InputError(lines_.path(), lines_.line_number(),
                       "no base: " + in_quotes(std::string_view(&*wrong, 1)),
                       "sequences of DNA have A, C, G, T and IUPAC codes");
    sequence.bases += line_;
  }
  return true;
}

}  // namespace semicrf
