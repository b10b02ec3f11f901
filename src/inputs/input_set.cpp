#include "inputs/input_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "inputs/arguments/input_argument.h"
#include "inputs/arguments/input_arguments.h"
#include "inputs/arguments/lacking_tracks.h"
#include "inputs/piece_source.h"
#include "inputs/region_ranges.h"
#include "inputs/track_inputs.h"
#include "io/params/training_record.h"
#include "io/text/region.h"

namespace semicrf {
namespace {

std::vector<InputArgument> parse_arguments(const std::vector<std::string>& texts) {
  std::vector<InputArgument> arguments;
  arguments.reserve(texts.size());
  for (const std::string& text : texts)
    for (InputArgument& column : columns_of_text(parse_input_argument(text)))
      arguments.push_back(std::move(column));
  return arguments;
}

// Whether the arguments are bigWig files; both kinds together are refused.
bool all_bigwig(const std::vector<InputArgument>& arguments) {
  const bool bigwig = arguments.front().kind == InputKind::kBigWig;
  for (const InputArgument& argument : arguments)
    if ((argument.kind == InputKind::kBigWig) != bigwig)
      throw InputError({argument.path, "",
                        "this is " + describe(argument) + " and " + arguments.front().path + " is " +
                            describe(arguments.front()),
                        "give either arrays or tracks: bigWig files, reads, text"});
  return bigwig;
}

// The files that are read for the argument.
std::vector<std::string> files_of(const InputArgument& argument) {
  std::vector<std::string> files;
  if (argument.text) files = argument.text->paths_of(argument.sample.name);
  if (files.empty()) files.push_back(argument.path);
  return files;
}

// Scores by label from bigWig files: no transform, bases without a value count as 0.
std::vector<Track> plain_tracks(const std::vector<std::string>& names) {
  std::vector<Track> tracks;
  tracks.reserve(names.size());
  for (const std::string& name : names) tracks.push_back({.name = name});
  return tracks;
}

// Names of sequences become names of chromosomes in files that are written.
void check_sequence_name(const std::string& file, const std::string& name, const std::string& advice) {
  if (const std::string problem = sequence_name_problem(name); !problem.empty())
    throw InputError({file, "", "the sequence '" + name + "': " + problem, advice});
}

// What the command line names: the tracks or scores of labels, and the scores of starts and ends.
struct GivenInputs {
  std::vector<InputArgument> main, start, end;

  std::vector<InputArgument> all() const {
    std::vector<InputArgument> all = main;
    for (const auto* arguments : {&start, &end}) all.insert(all.end(), arguments->begin(), arguments->end());
    return all;
  }
};

}  // namespace

struct InputSet::State {
  // Files with scores of starts or ends.
  struct BoundaryInputs {
    std::vector<ArrayInput> arrays;
    std::vector<std::size_t> array_of;  // by Sequence::source: its entry of `arrays`
    BigWigColumns tracks;               // by column
  };

  RowFeatures features = RowFeatures::kAll;
  InputOptions options;
  Parameters parameters;
  std::shared_ptr<const LinearHeads> heads;
  DerivedColumns derived;  // the features beside the inputs, which parameters.tracks has alone
  std::vector<LackingTrack> lacking_tracks;
  bool bigwig = false;
  std::vector<Chromosome> wanted;                          // chromosomes of -g, or empty
  std::vector<Chromosome> chromosomes;                     // that have sequences, until all are known
  ListedChromosomes listed;                                // then
  std::vector<std::pair<Chromosome, InputError>> lacking;  // chromosomes that some bigWig file does not have
  std::vector<Sequence> sequences;
  std::vector<ArrayInput> arrays;
  BigWigColumns tracks;         // by column
  BoundaryInputs starts, ends;  // files of --start-scores and --end-scores
  TrackSteps steps;
  bool include_given = false;
  RegionRanges include, exclude;
  std::unordered_map<std::string, std::int64_t>
      chromosome_ends;  // end of the last sequence on each chromosome, bases
  std::vector<std::string> binding;
  std::vector<std::string> paths;
  std::vector<Warning> warnings;
  std::vector<std::pair<std::string, std::string>> named_files;  // name (or none) and path

  void open_inputs();
  void record_bindings(const GivenInputs& given);
  void open_array_inputs(const GivenInputs& given);
  void bind_arrays();
  void open_generated();
  void open_bigwig_inputs(const GivenInputs& given);
  void open_site_inputs(const GivenInputs& given);
  void warn_of_left_out(const CommonChromosomes& common);
  Sequence place_array(const ArrayInput& array, const ChromosomeIndex& of_genome) const;
  void sort_sequences();
  void find_ends();
  void read_regions_given();
  void require_something_left() const;
  PieceRequest regions_of(const Sequence& sequence) const;
  std::unique_ptr<RowReader> bigwig_rows(const BigWigColumns& files, const std::vector<Track>& of,
                                         const Sequence& sequence, const ReadOptions& read) const;
  RandomRows random_rows(const Sequence& sequence) const;
  void open_rows(const Sequence& sequence, const ReadOptions& read, SequenceScores& scores) const;
};

void InputSet::State::open_inputs() {
  if (!has_inputs(options) && options.generated.empty()) throw UsageError("no input given");
  if (options.bin_size) {
    if (*options.bin_size < 1) throw UsageError("--bin-size must be at least 1");
    if (parameters.bin_size_given && parameters.bin_size != *options.bin_size)
      throw UsageError(fmt::format("--bin-size is {}, the parameters' bin_size is {}", *options.bin_size,
                                   parameters.bin_size),
                       "leave --bin-size out");
    parameters.bin_size = *options.bin_size;
  }
  if (features == RowFeatures::kAll) {
    RecordedEmissions recorded = recorded_emissions(parameters.training);
    lacking_tracks = settle_lacking(options, parameters, recorded);
  }
  if (parameters.emission) heads = std::make_shared<const LinearHeads>(parameters);
  derived = take_derived(parameters.tracks);
  if (heads && ((heads->has_start() && !options.start_scores.empty()) ||
                (heads->has_end() && !options.end_scores.empty())))
    throw UsageError("the parameters have a boundary section, which makes start or end scores",
                     "leave --start-scores and --end-scores out");
  if (!options.generated.empty()) {
    open_generated();
    find_ends();
    read_regions_given();
    return;
  }
  if (!options.chrom_sizes_file.empty()) wanted = read_chrom_sizes(options.chrom_sizes_file);

  const GivenInputs given{input_arguments(options), parse_arguments(options.start_scores),
                          parse_arguments(options.end_scores)};
  const std::vector<InputArgument> all = given.all();
  bigwig = all_bigwig(all);
  check_column_names(options, parameters, bigwig);
  bigwig = bigwig && !options.sites;
  for (const LackingTrack& track : lacking_tracks) binding.push_back(describe(track));
  record_bindings(given);
  for (Track& track : parameters.tracks)
    if (track.missing == MissingPolicy::kDefault)
      track.missing = bigwig ? MissingPolicy::kZero : MissingPolicy::kSkip;
  paths.push_back(options.parameters);
  NameIndex known_paths;
  known_paths.add(options.parameters);
  for (const InputArgument& argument : all)
    for (const std::string& path : files_of(argument))
      if (known_paths.add(path).second) paths.push_back(path);
  for (const std::string& path :
       {options.samples_file, options.chrom_sizes_file, options.regions_file, options.exclude_file})
    if (!path.empty()) paths.push_back(path);

  if (bigwig) {
    open_bigwig_inputs(given);
  } else if (options.sites) {
    open_site_inputs(given);
  } else {
    open_array_inputs(given);
  }
  find_ends();
  read_regions_given();
}

// Which file is which track (or sequence), for the headers of outputs.
void InputSet::State::record_bindings(const GivenInputs& given) {
  const auto record = [&](const std::vector<InputArgument>& arguments, const std::string& role) {
    for (const InputArgument& argument : arguments) {
      // The arrays of an archive have names of their own.
      const bool named = argument.named || argument.kind != InputKind::kNpz;
      named_files.push_back({named ? role + argument.name : "", argument.path});
    }
  };
  record(given.main, "");
  record(given.start, "start-scores:");
  record(given.end, "end-scores:");
}

void InputSet::State::open_generated() {
  paths.push_back(options.parameters);
  for (const std::string& path : {options.regions_file, options.exclude_file})
    if (!path.empty()) paths.push_back(path);
  const std::int64_t bin = parameters.bin_size;
  NameIndex names;
  for (const GeneratedSequence& generated : options.generated) {
    if (generated.bins < 1 || generated.bins > (std::int64_t{1} << 62) / bin)
      throw UsageError(fmt::format("a sequence of {} bins cannot be generated", generated.bins));
    if (!names.add(generated.name).second)
      throw UsageError("two sequences are named \"" + generated.name + "\"");
    Sequence sequence;
    sequence.title = sequence.chromosome = generated.name;
    sequence.bins = generated.bins;
    sequence.length = generated.bins * bin;
    sequence.source = sequences.size();
    binding.push_back(generated.name + " <- N(0,1)");
    chromosomes.push_back({generated.name, sequence.length});
    sequences.push_back(std::move(sequence));
  }
}

RandomRows InputSet::State::random_rows(const Sequence& sequence) const {
  RandomRows rows;
  rows.key = sequence_key(options.seed, sequence.title);
  rows.rows = sequence.bins;
  rows.columns = heads ? parameters.tracks.size() : parameters.labels.size();
  if (heads) rows.tracks = parameters.tracks;
  return rows;
}

void InputSet::State::open_array_inputs(const GivenInputs& given) {
  const std::int64_t labels = parameters.num_labels();
  arrays = heads ? open_arrays(given.main, parameters.num_tracks(), "tracks", warnings)
                 : open_arrays(given.main, labels, "labels", warnings);
  if (!given.start.empty()) {
    starts.arrays = open_arrays(given.start, labels, "labels", warnings);
    starts.array_of = pair_arrays(arrays, starts.arrays, "--start-scores");
  }
  if (!given.end.empty()) {
    ends.arrays = open_arrays(given.end, labels, "labels", warnings);
    ends.array_of = pair_arrays(arrays, ends.arrays, "--end-scores");
  }
  const ChromosomeIndex of_genome(wanted);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Sequence sequence = place_array(arrays[i], of_genome);
    sequence.source = i;
    sequences.push_back(std::move(sequence));
  }
  bind_arrays();
  sort_sequences();
}

// Each chromosome with sites is an array of them.
void InputSet::State::open_site_inputs(const GivenInputs& given) {
  if (!heads || heads->has_start() || heads->has_end() || !given.start.empty() || !given.end.empty())
    throw UsageError("--sites takes tracks, and a model of them without scores of starts or ends");
  if (parameters.bin_size != 1)
    throw UsageError(fmt::format("--sites counts distances in bases, and the parameters have bins of {}",
                                 parameters.bin_size),
                     "learn with --sites");
  if (parameters.centering == Centering::kMean)
    throw UsageError("--sites does not go with \"centering\": \"mean\"", "learn with --sites");
  if (options.edges.value_or(parameters.edges) != EdgeRule::kComplete)
    throw UsageError("--sites does not go with cut edges", "leave --edges out");
  const std::vector<const InputArgument*> columns =
      bind_columns(given.main, names_of(parameters.tracks), "tracks", binding);
  const ChromosomeIndex of_genome(wanted);
  for (const SiteRows& sites : options.made_tracks->sites(columns, options.threads)) {
    check_sequence_name(columns.front()->path, sites.chromosome, "give the chromosomes other names");
    const Chromosome* const known = of_genome.find(sites.chromosome);
    if (known == nullptr && !wanted.empty()) continue;
    const std::int64_t end = std::int64_t{sites.at->back()} + 1;
    if (known != nullptr && end > known->length)
      throw InputError(
          {options.chrom_sizes_file, "",
           fmt::format("{} has {}, and a site at base {}", sites.chromosome, amount(known->length), end),
           "give files of one genome"});
    Sequence sequence;
    sequence.chromosome = sequence.title = sites.chromosome;
    sequence.length = known != nullptr ? known->length : end;
    sequence.bins = sites.rows.rows();
    sequence.source = arrays.size();
    sequence.sites = sites.at;
    ArrayInput array;
    array.name = sites.chromosome;
    array.file = columns.front()->path;
    array.rows = sequence.bins;
    array.columns = sites.rows.columns();
    array.array = sites.rows;
    arrays.push_back(std::move(array));
    sequences.push_back(std::move(sequence));
  }
  if (sequences.empty())
    throw InputError({options.chrom_sizes_file, "", "has none of the chromosomes of the sites",
                      "use files of one genome; chromosome names must match exactly"});
  if (!wanted.empty()) {
    const NameIndex order = NameIndex::of(wanted);
    std::ranges::stable_sort(sequences, {}, [&](const Sequence& one) { return order.find(one.chromosome); });
  }
  for (const Sequence& sequence : sequences) chromosomes.push_back({sequence.chromosome, sequence.length});
}

// A line for each array, or for each archive where it has many.
void InputSet::State::bind_arrays() {
  constexpr std::size_t kMany = 8;
  const auto archive_of = [this](std::size_t i) {  // "scores.npz" of "scores.npz[name]"
    const std::string& file = arrays[i].file;
    return file.ends_with(']') ? file.substr(0, file.rfind('[')) : file;
  };
  for (std::size_t begin = 0, end = 0; begin < arrays.size(); begin = end) {
    const std::string archive = archive_of(begin);
    for (end = begin + 1; end < arrays.size() && archive_of(end) == archive;) ++end;
    if (end - begin > kMany) {
      binding.push_back(plural(end - begin, "sequence") + " <- " +
                        std::filesystem::path(archive).filename().string());
      continue;
    }
    for (std::size_t i = begin; i < end; ++i)
      binding.push_back(sequences[i].title + " <- " +
                        std::filesystem::path(arrays[i].file).filename().string());
  }
}

// Which bases an array covers.
Sequence InputSet::State::place_array(const ArrayInput& array, const ChromosomeIndex& of_genome) const {
  check_sequence_name(array.file, array.name, "give it another name: NAME=PATH");
  const std::int64_t bin = parameters.bin_size;
  const Chromosome* known = of_genome.find(array.name);
  const auto part = known == nullptr ? parse_chromosome_part(array.name) : std::nullopt;
  if (known == nullptr && !part && looks_like_part(array.name))
    throw InputError({array.file, "",
                      "the sequence '" + array.name +
                          "' is called like a part of a chromosome, but its positions are none: they count "
                          "from 1, both ends included",
                      "write NAME:BEGIN-END=PATH, or give it another name"});
  Sequence sequence;
  sequence.title = array.name;
  sequence.chromosome = part ? part->chromosome : array.name;
  sequence.bins = array.rows;
  if (part) known = of_genome.find(part->chromosome);
  if (!wanted.empty() && known == nullptr)
    throw InputError({array.file, "",
                      "the sequence \"" + sequence.chromosome + "\" is not in " + options.chrom_sizes_file +
                          ", which has " + chromosome_names(wanted),
                      "give the array the name of its chromosome: NAME=PATH"});
  if (array.rows > (std::int64_t{1} << 62) / bin)
    throw InputError(
        {array.file, "",
         fmt::format("{} bins are more than the program can count in {}", array.rows, units().many), ""});
  if (part) {
    sequence.origin = part->begin;
    sequence.length = part->end - part->begin;
    sequence.begins_chromosome = part->begin == 0;
    sequence.ends_chromosome = known != nullptr && part->end == known->length;
    if (part->begin % bin != 0)
      throw InputError(
          {array.file, "",
           "the part \"" + array.name + "\" does not begin at an edge of the bins of " + amount(bin),
           "begin it at a multiple of the bin size plus 1"});
    if (known != nullptr && part->end > known->length)
      throw InputError(
          {array.file, "",
           "the part \"" + array.name + "\" ends beyond its chromosome, which has " + amount(known->length),
           ""});
  } else {
    sequence.length = known != nullptr ? known->length : array.rows * bin;
    sequence.begins_chromosome = sequence.ends_chromosome = known != nullptr;
  }
  const std::int64_t expected = count_bins(sequence.length, bin);
  if (array.rows != expected)
    throw InputError({array.file, "",
                      fmt::format("has {} rows, but \"{}\" has {} bins of {}", array.rows, array.name,
                                  expected, amount(bin)),
                      ""});
  return sequence;
}

void InputSet::State::open_bigwig_inputs(const GivenInputs& given) {
  const std::vector<std::string> labels = names_of(parameters.labels);
  MadeTracks& made = *options.made_tracks;
  made.make(given.all(), parameters.tracks,
            {parameters.bin_size, wanted, options.chrom_sizes_file, options.threads}, warnings, binding);
  tracks = heads ? bind_bigwigs(given.main, names_of(parameters.tracks), "tracks", made, binding)
                 : bind_bigwigs(given.main, labels, "labels", made, binding);
  std::vector<std::string> boundary_binding;
  if (!given.start.empty())
    starts.tracks = bind_bigwigs(given.start, labels, "labels", made, boundary_binding);
  if (!given.end.empty()) ends.tracks = bind_bigwigs(given.end, labels, "labels", made, boundary_binding);
  std::vector<const BigWigFile*> files;
  for (const BigWigColumns* columns : {&tracks, &starts.tracks, &ends.tracks})
    for (const auto& file : *columns) files.push_back(file.get());
  steps = steps_of(files);
  // The order of the command line decides whose chromosome order counts.
  std::stable_partition(files.begin(), files.end(),
                        [&](const BigWigFile* file) { return file->path() == given.main.front().path; });
  CommonChromosomes common = common_chromosomes(files, wanted, options.chrom_sizes_file, options.chromosomes);
  lacking = std::move(common.lacking);
  warn_of_left_out(common);
  for (const Chromosome& chromosome : common.chosen) {
    check_sequence_name(files.front()->path(), chromosome.name,
                        "choose the other chromosomes with -g FILE, or make the tracks with another name");
    Sequence sequence;
    sequence.chromosome = sequence.title = chromosome.name;
    sequence.length = chromosome.length;
    sequence.bins = count_bins(chromosome.length, parameters.bin_size);
    sequence.has_values = std::any_of(tracks.begin(), tracks.end(), [&](const auto& file) {
      const auto index = file->find_chromosome(chromosome.name);
      return index && file->has_values(*index);
    });
    chromosomes.push_back(chromosome);
    sequences.push_back(std::move(sequence));
  }
}

// What -g leaves out is said, as its file may be of another genome.
void InputSet::State::warn_of_left_out(const CommonChromosomes& common) {
  std::vector<std::string> parts;
  const auto add = [&](const std::vector<std::string>& names, const char* reason) {
    if (!names.empty())
      parts.push_back(plural(names.size(), "chromosome") + " of the tracks " + reason + " (" +
                      few_names(names) + ")");
  };
  add(common.not_wanted, "that it does not list");
  add(common.not_in_first, "that it lists and the first track lacks");
  if (!parts.empty())
    warnings.push_back(
        {"chromosomes-left-out", options.chrom_sizes_file + " leaves out " + joined(parts, " and ")});
}

// Arrays: the order of -g, else that of the arguments; parts of one chromosome together, by position.
void InputSet::State::sort_sequences() {
  std::map<std::string, std::size_t> rank;
  for (const Chromosome& chromosome : wanted) rank.emplace(chromosome.name, rank.size());
  for (const Sequence& sequence : sequences) rank.emplace(sequence.chromosome, rank.size());
  std::stable_sort(sequences.begin(), sequences.end(), [&](const Sequence& a, const Sequence& b) {
    return std::pair(rank[a.chromosome], a.origin) < std::pair(rank[b.chromosome], b.origin);
  });
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    const std::int64_t end = sequence.origin + sequence.length;
    if (chromosomes.empty() || chromosomes.back().name != sequence.chromosome) {
      chromosomes.push_back({sequence.chromosome, end});
    } else {
      if (sequence.origin < chromosomes.back().length)
        throw InputError({arrays[sequence.source].file, "",
                          "\"" + sequence.title + "\" overlaps \"" + sequences[i - 1].title + "\" of " +
                              arrays[sequences[i - 1].source].file,
                          ""});
      chromosomes.back().length = end;
    }
  }
  const ChromosomeIndex of_genome(wanted);
  for (Chromosome& chromosome : chromosomes)
    if (const Chromosome* known = of_genome.find(chromosome.name)) chromosome.length = known->length;
}

void InputSet::State::find_ends() {
  for (const Sequence& sequence : sequences) {
    std::int64_t& end = chromosome_ends[sequence.chromosome];
    end = std::max(end, sequence.origin + sequence.length);
  }
}

void InputSet::State::read_regions_given() {
  include_given = !options.regions.empty() || !options.regions_file.empty();
  std::vector<Chromosome> known = chromosomes;
  std::unordered_map<std::string, const InputError*> lacking_by_name;
  for (const auto& [chromosome, error] : lacking) {
    known.push_back(chromosome);
    lacking_by_name.emplace(chromosome.name, &error);
  }
  const ChromosomeIndex by_name(known);
  // Regions must lie on chromosomes that all tracks have.
  const auto refuse_lacking = [&](const Region& region) {
    const auto found = lacking_by_name.find(region.chromosome);
    if (found != lacking_by_name.end()) throw InputError(*found->second);
  };
  std::vector<Region> included, places;
  if (!options.regions.empty())
    for (const Sequence& sequence : sequences)
      places.push_back({sequence.chromosome, sequence.origin, sequence.origin + sequence.length});
  const RegionRanges covered(places);
  for (const std::string& text : options.regions) {
    included.push_back(parse_region(text, by_name));
    const Region& region = included.back();
    refuse_lacking(region);
    if (covered.within(region.chromosome, region.begin, region.end).empty())
      throw InputError({"", text, "no input covers this region", ""});
  }
  if (!options.regions_file.empty()) {
    // Records on chromosomes that were to be left out are passed over like those on unknown ones.
    const bool common = options.chromosomes == ChromosomePolicy::kCommon;
    const ChromosomeIndex chosen(chromosomes);
    const std::vector<Region> more =
        read_regions(options.regions_file, RegionRole::kIncluded, common ? chosen : by_name, warnings);
    for (const Region& region : more) refuse_lacking(region);
    included.insert(included.end(), more.begin(), more.end());
  }
  include = RegionRanges(included);
  if (!options.exclude_file.empty())
    exclude = RegionRanges(read_regions(options.exclude_file, RegionRole::kExcluded, by_name, warnings));
  require_something_left();
  if (lacking.empty() || include_given) return;
  if (options.chromosomes == ChromosomePolicy::kError) throw lacking.front().second;
  std::vector<std::string> without;
  for (const auto& [chromosome, error] : lacking) without.push_back(chromosome.name);
  binding.push_back("not in all tracks, left out: " + few_names(without));
}

// InputError where --exclude takes all that the regions, or the inputs, have.
void InputSet::State::require_something_left() const {
  if (options.exclude_file.empty()) return;
  const bool left = std::ranges::any_of(
      sequences, [&](const Sequence& sequence) { return !make_pieces(regions_of(sequence)).empty(); });
  if (!left)
    throw InputError({options.exclude_file, "",
                      std::string("excludes all of ") + (include_given ? "the regions" : "the inputs") +
                          ", so that nothing is left",
                      "check what is to be left out"});
}

std::unique_ptr<RowReader> InputSet::State::bigwig_rows(const BigWigColumns& files,
                                                        const std::vector<Track>& of,
                                                        const Sequence& sequence,
                                                        const ReadOptions& read) const {
  BigWigRows rows;
  rows.chromosome = sequence.chromosome;
  rows.length = sequence.length;
  rows.bin_size = parameters.bin_size;
  for (std::size_t i = 0; i < files.size(); ++i)
    rows.columns.push_back({files[i].get(), files[i]->find_chromosome(sequence.chromosome), of[i]});
  return make_bigwig_rows(std::move(rows), read.precision, read.threads);
}

void InputSet::State::open_rows(const Sequence& sequence, const ReadOptions& read,
                                SequenceScores& scores) const {
  const std::size_t source = sequence.source;
  if (!options.generated.empty()) {
    scores.rows = make_random_rows(random_rows(sequence), read.precision);
  } else if (bigwig) {
    const std::vector<Track> labels = plain_tracks(names_of(parameters.labels));
    scores.rows = bigwig_rows(tracks, heads ? parameters.tracks : labels, sequence, read);
    scores.missing_values = std::make_shared<MissingCounter>(heads ? parameters.tracks : labels, true);
    if (!starts.tracks.empty()) scores.start = bigwig_rows(starts.tracks, labels, sequence, read);
    if (!ends.tracks.empty()) scores.end = bigwig_rows(ends.tracks, labels, sequence, read);
  } else {
    scores.rows =
        heads ? make_track_rows(arrays[source].load(), parameters.tracks, read.precision, read.threads)
              : make_score_rows(arrays[source].load(), read.precision, read.threads);
    if (heads) scores.missing_values = std::make_shared<MissingCounter>(parameters.tracks, false);
    if (!starts.array_of.empty())
      scores.start =
          make_score_rows(starts.arrays[starts.array_of[source]].load(), read.precision, read.threads);
    if (!ends.array_of.empty())
      scores.end = make_score_rows(ends.arrays[ends.array_of[source]].load(), read.precision, read.threads);
  }
  if (scores.missing_values) scores.rows->count_into(scores.missing_values);
  if (features == RowFeatures::kAll)
    scores.rows = make_derived_rows(std::move(scores.rows), derived, read.threads);
  std::size_t cache = read.cache_bytes;
  for (std::unique_ptr<RowReader>* rows : {&scores.rows, &scores.start, &scores.end}) {
    if (*rows == nullptr || (*rows)->bytes_per_row() == 0) continue;
    const std::size_t bytes = (*rows)->bytes_per_row() * (*rows)->rows();
    if (bytes > cache) continue;
    cache -= bytes;
    scores.cached_bytes += bytes;
    *rows = make_cached_rows(std::move(*rows));
  }
}

InputSet::InputSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
InputSet::~InputSet() = default;
InputSet::InputSet(InputSet&&) noexcept = default;

InputSet InputSet::open(const InputOptions& options, const Parameters& parameters, RowFeatures features) {
  auto state = std::make_unique<State>();
  state->features = features;
  state->options = options;
  state->parameters = parameters;
  state->open_inputs();
  state->listed = ListedChromosomes(std::exchange(state->chromosomes, {}));
  return InputSet(std::move(state));
}

const std::vector<Sequence>& InputSet::sequences() const { return state_->sequences; }
const std::vector<std::string>& InputSet::binding() const { return state_->binding; }
const std::vector<Warning>& InputSet::warnings() const { return state_->warnings; }
const std::vector<LackingTrack>& InputSet::lacking_tracks() const { return state_->lacking_tracks; }
const TrackSteps& InputSet::steps() const { return state_->steps; }
const std::vector<std::string>& InputSet::paths() const { return state_->paths; }
std::size_t InputSet::num_labels() const { return state_->parameters.labels.size(); }
std::int64_t InputSet::bin_size() const { return state_->parameters.bin_size; }

std::size_t InputSet::mapped_bytes(std::size_t cache_bytes) const {
  constexpr double kPage = 4096, kBlock = 4096;  // the least that a file takes of memory
  // Bases of chromosomes with values, those that are read; bytes of arrays.
  double bases = 0, read = 0, values = 0;
  for (std::size_t i = 0; i < state_->sequences.size(); ++i) {
    const Sequence& sequence = state_->sequences[i];
    const std::int64_t bins = total_bins(make_pieces(piece_request(i)));
    const bool cached =
        state_->bigwig &&
        sequence.bins * (state_->tracks.size() + state_->derived.columns()) * sizeof(float) <= cache_bytes;
    const bool whole = bins > 0 && (cached || state_->parameters.centering == Centering::kMean);
    const double share = whole ? 1 : ratio(bins, std::max<std::int64_t>(1, sequence.bins));
    if (sequence.has_values) bases += static_cast<double>(sequence.length);
    read += share * static_cast<double>(sequence.length);
    if (state_->bigwig || !state_->options.generated.empty()) continue;
    const auto add = [&](const ArrayInput& array) {
      const NpyArray loaded = array.load();
      values += share * static_cast<double>(loaded.rows()) * static_cast<double>(loaded.columns()) *
                static_cast<double>(loaded.header().item_bytes());
    };
    add(state_->arrays[sequence.source]);
    if (!state_->starts.array_of.empty())
      add(state_->starts.arrays[state_->starts.array_of[sequence.source]]);
    if (!state_->ends.array_of.empty()) add(state_->ends.arrays[state_->ends.array_of[sequence.source]]);
  }
  for (const BigWigColumns* columns : {&state_->tracks, &state_->starts.tracks, &state_->ends.tracks})
    for (const auto& file : *columns)
      values += kBlock + std::max(kPage, static_cast<double>(file->bytes()) *
                                             std::min(1.0, read / std::max(1.0, bases)));
  return static_cast<std::size_t>(values);
}

std::size_t InputSet::kept_bytes() const {
  // As measured: the sequence with its names, in the lists of sequences, chromosomes and their ends; a bigWig
  // file with its pages and its last block, and a chromosome in its list; an array.
  constexpr std::size_t kSequence = 420, kFile = 20'000, kChromosome = 120, kArray = 300;
  constexpr std::size_t kShortName = 15, kCopies = 4;  // longer names are apart from their strings
  std::size_t bytes = state_->include.kept_bytes() + state_->exclude.kept_bytes();
  for (const Sequence& sequence : state_->sequences) {
    bytes += kSequence;
    if (sequence.title.size() > kShortName) bytes += kCopies * sequence.title.size();
  }
  for (const BigWigColumns* columns : {&state_->tracks, &state_->starts.tracks, &state_->ends.tracks})
    for (const auto& file : *columns) bytes += kFile + file->chromosomes().size() * kChromosome;
  for (const std::vector<ArrayInput>* arrays :
       {&state_->arrays, &state_->starts.arrays, &state_->ends.arrays})
    bytes += arrays->size() * kArray;
  return bytes;
}

PieceRequest InputSet::State::regions_of(const Sequence& sequence) const {
  PieceRequest request;
  request.length = sequence.length;
  request.bin_size = parameters.bin_size;
  const std::int64_t begin = sequence.origin, end = sequence.origin + sequence.length;
  if (include_given) request.include = include.within(sequence.chromosome, begin, end);
  request.exclude = exclude.within(sequence.chromosome, begin, end);
  if (!sequence.sites) return request;
  request.length = sequence.bins;
  request.bin_size = 1;
  const auto to_sites = [&](std::vector<BaseRange>& ranges) {
    for (BaseRange& range : ranges)
      for (std::int64_t* edge : {&range.begin, &range.end})
        *edge = std::ranges::lower_bound(*sequence.sites, *edge) - sequence.sites->begin();
  };
  if (request.include) to_sites(*request.include);
  to_sites(request.exclude);
  return request;
}

CutEdges InputSet::cut_edges(std::size_t index, std::span<const BinRange> pieces, std::size_t number) const {
  if (state_->options.edges.value_or(state_->parameters.edges) == EdgeRule::kComplete) return {};
  const Sequence& sequence = state_->sequences[index];
  return semicrf::cut_edges(pieces, number, sequence.bins,
                            {sequence.begins_chromosome, sequence.ends_chromosome});
}

PieceRequest InputSet::piece_request(std::size_t index) const {
  const Sequence& sequence = state_->sequences[index];
  PieceRequest request = state_->regions_of(sequence);
  if (!sequence.has_values && !state_->options.all_chromosomes) request.include = std::vector<BaseRange>();
  return request;
}

bool InputSet::left_out(std::size_t index) const {
  const Sequence& sequence = state_->sequences[index];
  return !sequence.has_values && !state_->options.all_chromosomes &&
         !make_pieces(state_->regions_of(sequence)).empty();
}

std::shared_ptr<SequenceScores> InputSet::open_scores(std::size_t index, const ReadOptions& options) const {
  auto scores = std::make_shared<SequenceScores>();
  scores->heads = state_->heads;
  scores->precision = options.precision;
  scores->threads = options.threads;
  scores->subtract_position_max = state_->parameters.centering == Centering::kPositionMax;
  state_->open_rows(state_->sequences[index], options, *scores);
  return scores;
}

RandomRows InputSet::random_rows(std::size_t index) const {
  return state_->random_rows(state_->sequences[index]);
}

InputSet::Scan InputSet::scan(std::size_t index, SequenceScores& scores, Engine* engine) const {
  ScanRequest request;
  const PieceRequest pieces = piece_request(index);
  request.excluded = widen_to_bins(pieces.exclude, pieces.length, pieces.bin_size);
  request.want_mean = state_->parameters.centering == Centering::kMean;
  request.threads = scores.threads;
  std::optional<SequenceScan> on_device;
  if (engine != nullptr && (request.want_mean || scores.rows->can_miss()) &&
      make_pieces(pieces) == std::vector<BinRange>{{0, scores.rows->rows()}})
    on_device = scan_on_device(scores, *engine, request.want_mean);
  SequenceScan found = on_device ? std::move(*on_device) : scan_sequence(*scores.rows, request);
  if (request.want_mean)
    scores.baseline = scores.heads ? scores.heads->mean_emissions(found.mean) : std::move(found.mean);
  Scan scan;
  scan.missing = std::move(found.missing);
  if (found.masked > 0 && !scores.heads)
    scan.warnings.push_back(
        {"masked-mean",
         fmt::format("{} scores are -1e6 or less; they distort the mean used for centring", found.masked),
         state_->sequences[index].title});
  return scan;
}

std::vector<ProvenanceInput> InputSet::provenance() const {
  std::vector<ProvenanceInput> inputs;
  const auto add = [&](const std::string& name, const std::string& path) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    inputs.push_back({path, error ? -1 : static_cast<std::int64_t>(bytes), name});
  };
  std::unordered_set<std::string_view> named;
  for (const auto& [name, path] : state_->named_files) {
    add(name, path);
    named.insert(path);
  }
  for (std::size_t i = 1; i < state_->paths.size(); ++i)  // the first one is the parameter file
    if (!named.contains(state_->paths[i])) add("", state_->paths[i]);
  return inputs;
}

std::optional<std::int64_t> InputSet::end_of(const std::string& chromosome) const {
  const auto found = state_->chromosome_ends.find(chromosome);
  return found == state_->chromosome_ends.end() ? std::nullopt : std::optional(found->second);
}

const ListedChromosomes& InputSet::chromosomes() const { return state_->listed; }

std::int64_t InputSet::longest_chromosome() const {
  std::int64_t longest = 0;
  for (const Chromosome& chromosome : state_->listed.list()) longest = std::max(longest, chromosome.length);
  return longest;
}

}  // namespace semicrf
