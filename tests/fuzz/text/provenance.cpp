// Header lines: what the lines of the input say is written as a header, whose options must read back; and the
// input itself is read as the header of a BED file.
#include <algorithm>

#include "core/error.h"
#include "core/text/text.h"
#include "fuzz/fuzz_input.h"
#include "io/segments/bed_reader.h"
#include "io/text/provenance_header.h"

namespace semicrf::fuzz {
namespace {

// Lines in turn are the name and the value of an option; the first two are a file and its track.
void write_and_read(std::string_view text) {
  const std::vector<std::string_view> lines = split_at('\n', text);
  const auto line = [&](std::size_t i) { return i < lines.size() ? std::string(lines[i]) : std::string(); };
  Provenance provenance{"1.2.3", "decode", line(0), "abc", {{line(0), 7, line(1)}, {line(1), -1, ""}}, {}};
  for (std::size_t i = 2; i + 1 < lines.size(); i += 2) provenance.options.emplace_back(line(i), line(i + 1));
  const std::string header = provenance_header(provenance);
  require(static_cast<std::size_t>(std::ranges::count(header, '\n')) == 4 + provenance.options.size(),
          "a line for everything");
  std::size_t option = 0;
  for (const std::string_view one : split_at('\n', header)) {
    require(one.empty() || one.front() == '#', "header lines begin with #");
    require(std::ranges::all_of(one, [](char c) { return static_cast<unsigned char>(c) >= 32 && c != 127; }),
            "control characters are escaped");
    const auto found = header_option(one);
    if (!found) continue;
    require(option < provenance.options.size(), "no more options than were written");
    const auto& [name, value] = provenance.options[option++];
    if (name.find('=') != std::string::npos) continue;
    require(found->first == escape_control(name) && found->second == escape_control(value),
            "options read back");
  }
  require(option == provenance.options.size(), "all options read back");
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  write_and_read(text_of(bytes));
  allow_refusal([&] {
    BedReader reader(as_file(bytes));
    for (BedRecord record; reader.next(record);) {
    }
    const auto bin = reader.bin_size();
    require(!bin || *bin > 0, "bins have a size");
    require(bin == bin_size_option(reader.options()), "the bin size is the option's");
  });
}

}  // namespace semicrf::fuzz
