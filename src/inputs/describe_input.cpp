#include "inputs/describe_input.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.h"
#include "core/text/text.h"
#include "inputs/arguments/track_steps.h"
#include "io/arrays/npy_reader.h"
#include "io/arrays/npz_reader.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/files/input_kind.h"
#include "io/params/params_json.h"
#include "io/params/training_record.h"
#include "io/tracks/track_text.h"
#include "model/describe.h"

namespace semicrf {
namespace {

std::string describe_array(const NpyArray& array) {
  const NpyHeader& header = array.header();
  const std::string bits = fmt::to_string(8 * header.item_bytes());
  return fmt::format("float{}{}{}, {} rows, {} columns\n", bits, header.big_endian ? ", big-endian" : "",
                     header.fortran_order ? ", Fortran order" : "", header.rows, header.columns);
}

std::string describe_archive(const std::string& path) {
  const NpzFile archive = NpzFile::open(path);
  std::string text = fmt::format("NPZ archive, {} arrays\n", archive.members().size());
  for (std::size_t i = 0; i < archive.members().size(); ++i) {
    const std::optional<NpyArray> array = archive.load_numbers(i);
    text += "  " + escape_control(archive.members()[i].name) + ": " +
            (array ? describe_array(*array) : "not numbers, passed over where other members are\n");
  }
  return text;
}

// How coarse the values are, and how much of the file says so.
std::string describe_step(const BigWigFile& file) {
  const BigWigStep step = file.sampled_step();
  const std::string read =
      step.sections < file.block_count() ? fmt::format(" of {}", file.block_count()) : " (all)";
  const std::string sections = fmt::format("{}{} sections read", step.sections, read);
  if (step.bases == 0) return "step: not known, " + sections + "\n";
  const std::string note =
      step.bases == 1 ? "" : fmt::format(", so bins of {} bases (-b) hold all it says", step.bases);
  return "step: values change at multiples of " + plural(step.bases, "base") + note + "; " + sections + "\n";
}

std::string describe_bigwig(const std::string& path) {
  const BigWigFile file = BigWigFile::open(path);
  std::string text =
      fmt::format("bigWig version {}{}{}, {} blocks, {} zoom levels\n", file.version(),
                  file.compressed() ? ", compressed" : ", not compressed",
                  file.big_endian() ? ", big-endian" : "", file.block_count(), file.zoom_levels());
  if (const auto& summary = file.summary())
    text += fmt::format("bases with a value: {}, minimum {}, maximum {}, sum {} (as stated in the file)\n",
                        summary->bases_covered, described_number(summary->minimum),
                        described_number(summary->maximum), described_number(summary->sum));
  text += describe_step(file);
  text += plural(file.chromosomes().size(), "chromosome") + "\n";
  for (std::size_t i = 0; i < file.chromosomes().size(); ++i) {
    const Chromosome& chromosome = file.chromosomes()[i];
    text += fmt::format("  {}: {} bases{}\n", escape_control(chromosome.name), chromosome.length,
                        file.has_values(i) ? "" : ", no values");
  }
  return text;
}

// The chromosomes of text are known when it was read.
std::string describe_text(const std::string& path) {
  const TrackText text = inspect_track_text(path);
  std::string said = describe(text.format);
  const bool named = text.columns.size() > 1 || !text.columns.front().empty();
  if (named) said += ", columns " + joined(text.columns, ", ");
  const bool chromhmm = is_chromhmm(text.format);
  const std::vector<std::string>& samples = text.samples;
  if (!samples.empty())
    said += std::string("; ") + (chromhmm ? "cell" : "sample") + (samples.size() == 1 ? " " : "s ") +
            joined(samples, ", ");
  said += "\n";
  if (!chromhmm && samples.size() > 1) return said;  // rows depend on what is chosen
  const std::vector<std::size_t> first = {0};
  TrackRow row;
  std::string chromosome;
  std::int64_t rows = 0;
  const auto end_chromosome = [&] {
    if (rows > 0)
      said += "  " + chromosome + ": " + plural(rows, "row") +
              (chromhmm ? "" : fmt::format(", the last one ends at base {}", row.end)) + "\n";
    rows = 0;
  };
  for (const std::string& sample : samples.empty() ? std::vector<std::string>{""} : samples) {
    const auto reader = open_track_text(text, first, {sample, ""}, 1);
    if (samples.size() > 1) said += sample + "\n";
    TrackRow next;
    while (reader->next(next)) {
      if (next.chromosome != chromosome || rows == 0) end_chromosome();
      chromosome = next.chromosome;
      row.end = next.end;
      ++rows;
    }
    end_chromosome();
  }
  return said;
}

}  // namespace

std::string describe_input(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return describe_text(path);
  switch (const InputKind kind = detect_input_kind(path)) {
    case InputKind::kText:
    case InputKind::kGzip:
    case InputKind::kBgzip:
      return describe_text(path);
    case InputKind::kNpy:
      return "NPY array, " + describe_array(NpyArray::open(path));
    case InputKind::kNpz:
      return describe_archive(path);
    case InputKind::kBigWig:
      return describe_bigwig(path);
    case InputKind::kJson: {
      const ParameterFile file = read_params_json(path);
      return describe_parameters(file.parameters, training_facts(file.parameters)) +
             "sha256: " + file.sha256 + "\n";
    }
    default:
      throw InputError({path, "", std::string("this is ") + describe(kind),
                        "give a parameter file, a bigWig file, a track as text, or an NPY or NPZ array"});
  }
}

}  // namespace semicrf
