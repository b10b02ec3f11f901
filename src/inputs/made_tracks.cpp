#include "inputs/made_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "inputs/input_options.h"
#include "io/bigwig/bbi_writers.h"
#include "io/files/output_file.h"
#include "reads/count_reads.h"
#include "reads/value_writers.h"

namespace semicrf {

namespace {

// How the reads of an argument are counted.
CountRule rule_of(const InputArgument& argument, const std::vector<Track>& tracks) {
  const CountRule& own = *argument.reads;
  const auto track = std::ranges::find(tracks, argument.name, &Track::name);
  if (track == tracks.end() || !track->reads) return own;
  if (!argument.reads_given) return parse_count_rule(*track->reads);
  if (const std::string text = count_rule_text(own); text != *track->reads)
    throw InputError({argument.path, "",
                      "the track " + track->name + " of the parameters counts reads by '" + *track->reads +
                          "', and here '" + text + "' is given",
                      "leave out what stands behind the ?, or train again"});
  return own;
}

}  // namespace

void ReadTracks::count(const std::vector<InputArgument>& arguments, const std::vector<Track>& tracks,
                       std::int64_t bin_size, const std::vector<Chromosome>& wanted,
                       const std::string& wanted_file, int threads, std::vector<Warning>& warnings) {
  std::vector<CountedFile> files;
  std::vector<std::string> keys;
  for (const InputArgument& argument : arguments) {
    if (!argument.reads) {
      const auto track = std::ranges::find(tracks, argument.name, &Track::name);
      if (track != tracks.end() && track->reads)
        warnings.push_back({"reads-not-checked",
                            "the parameters count reads by '" + *track->reads + "' for the track " +
                                track->name + "; how this file was made is not known",
                            argument.path});
      continue;
    }
    const CountRule rule = rule_of(argument, tracks);
    const std::string key = fmt::format("{}?{}&bin={}", argument.path, count_rule_text(rule), bin_size);
    key_of_[argument.path] = key;
    if (files_.contains(key) || std::ranges::find(keys, key) != keys.end()) continue;
    files.push_back({inspect_reads(argument.path), rule, {}});
    keys.push_back(key);
  }
  if (files.empty()) return;
  std::vector<const ReadFileInfo*> infos;
  infos.reserve(files.size());
  for (const CountedFile& file : files) infos.push_back(&file.file);
  ReadChromosomes chromosomes = chromosomes_of_reads(infos, wanted, wanted_file);
  warnings.insert(warnings.end(), chromosomes.warnings.begin(), chromosomes.warnings.end());
  const ReadGrid grid{std::move(chromosomes.list), bin_size};
  for (CountedFile& file : files) {
    file.counts = {std::make_shared<CountStore>(grid.chromosomes.size())};
    if (auto warning = older_index_warning(file.file)) warnings.push_back(std::move(*warning));
  }
  const ExcludedBases none;
  count_reads(grid, none, files, threads, true);
  std::vector<std::unique_ptr<UnnamedFile>> made(files.size());
  for (auto& file : made) file = std::make_unique<UnnamedFile>();
  parallel_for(threads, files.size(), [&](std::size_t i, int) {
    const auto values =
        scaled_values(grid, files[i].options.part, none, files[i].counts.front(), nullptr, {});
    OutputFile output({made[i]->path()});
    write_bigwig(grid, *values, output);
    output.commit();
  });
  for (std::size_t i = 0; i < files.size(); ++i) files_[keys[i]] = std::move(made[i]);
}

std::string ReadTracks::path_of(const InputArgument& argument) const {
  return files_.at(key_of_.at(argument.path))->path();
}

namespace {

constexpr std::int64_t kLongest = 4'294'967'295;  // bases of a chromosome of a bigWig file
constexpr std::int64_t kZoom = 3200;              // bases, of the finest zoom level
constexpr std::size_t kBlock = 4096;              // values of a blob of a spool
constexpr std::size_t kSpoolMemory = std::size_t{256} << 10;

// Values of one track, chromosome by chromosome.
class ValueSpool {
 public:
  // `joins`: neighbours of equal value become one interval.
  explicit ValueSpool(bool joins) : joins_(joins) {}

  void add(std::size_t chromosome, std::int64_t begin, std::int64_t end, float value) {
    if (chromosome != chromosome_) {
      flush();
      chromosome_ = chromosome;
    }
    if (joins_ && !open_.empty() && open_.back().end == begin && open_.back().value == value) {
      open_.back().end = static_cast<std::uint32_t>(end);
      return;
    }
    if (open_.size() == kBlock) flush();
    open_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), value});
  }

  void flush() {
    if (open_.empty()) return;
    spool_->append(std::as_bytes(std::span(open_)));
    if (chromosome_ >= blobs_.size()) blobs_.resize(chromosome_ + 1);
    blobs_[chromosome_].push_back(spool_->size() - 1);
    open_.clear();
  }

  // Calls visit(begin, end, value) for the values of a chromosome. After flush().
  template <class Visit>
  void visit(std::size_t chromosome, Visit visit) {
    if (chromosome >= blobs_.size()) return;
    for (const std::size_t blob : blobs_[chromosome]) {
      open_.resize(spool_->blob_size(blob) / sizeof(Item));
      spool_->read(blob, std::as_writable_bytes(std::span(open_)));
      for (const Item& item : open_) visit(item.begin, item.end, item.value);
    }
    open_.clear();
  }

 private:
  struct Item {
    std::uint32_t begin = 0, end = 0;
    float value = 0;
  };
  bool joins_;
  std::unique_ptr<TempSpool> spool_ = std::make_unique<TempSpool>(kSpoolMemory, "");
  std::size_t chromosome_ = 0;
  std::vector<Item> open_;
  std::vector<std::vector<std::size_t>> blobs_;  // by chromosome
};

// What is read of a text: the columns that are tracks.
struct TextRead {
  std::shared_ptr<const TrackText> text;
  TextSample sample;
  std::vector<std::size_t> columns;     // their places in the text
  std::vector<std::string> keys;        // keys of the tracks, by column
  std::vector<ValueSpool> values;       // by column
  NameIndex names;                      // names of the chromosomes
  std::vector<Chromosome> chromosomes;  // in their order, with the end of the last value
};

class Reading {
 public:
  Reading(TextRead& into, const KnownChromosomes& known, const ChromosomeIndex& lengths,
          std::int64_t bin_size)
      : into_(into), known_(known), lengths_(lengths), bin_size_(bin_size) {}

  void run() {
    const bool joins = is_chromhmm(into_.text->format);
    for (std::size_t i = 0; i < into_.columns.size(); ++i) into_.values.emplace_back(joins);
    const auto reader = open_track_text(*into_.text, into_.columns, into_.sample, bin_size_);
    TrackRow row;
    while (reader->next(row)) take(row);
    if (into_.chromosomes.empty())
      throw InputError({into_.text->path, "", "has no values", "check the path"});
    check_bins(row);
    for (ValueSpool& values : into_.values) values.flush();
  }

 private:
  void take(TrackRow& row) {
    std::vector<Chromosome>& found = into_.chromosomes;
    if (found.empty() || found.back().name != row.chromosome) {
      check_bins(row);
      into_.names.add(row.chromosome);
      found.push_back({row.chromosome, 0});
      const Chromosome* chromosome = lengths_.find(row.chromosome);
      length_ = chromosome != nullptr ? chromosome->length : 0;
    }
    const std::int64_t most = length_ > 0 ? length_ : kLongest;
    if (row.is_bin && row.begin < most) row.end = std::min(row.end, most);
    if (row.end > most)
      throw row.refused(
          fmt::format("ends at base {}, and {}{}", row.end, row.chromosome,
                      length_ > 0 ? fmt::format(" has {} in {}", length_, known_.file)
                                  : fmt::format(" may have {}", kLongest)),
          row.is_bin ? "give the size of the bins (-b), or files of one genome" : "give files of one genome");
    found.back().length = row.end;
    for (std::size_t i = 0; i < into_.values.size(); ++i)
      if (!std::isnan(row.values[i]))
        into_.values[i].add(found.size() - 1, row.begin, row.end, row.values[i]);
  }

  // ChromHMM leaves out at most the bin that the end of a chromosome cuts.
  void check_bins(const TrackRow& row) const {
    if (!is_chromhmm(into_.text->format) || length_ == 0) return;
    const Chromosome& last = into_.chromosomes.back();
    if (last.length + bin_size_ > length_) return;
    const auto file = std::ranges::find_if(into_.text->files, [&](const ChromHmmFile& one) {
      return one.chromosome == last.name && (into_.sample.name.empty() || one.cell == into_.sample.name);
    });
    throw InputError(
        {file == into_.text->files.end() ? row.file : file->path, "",
         fmt::format("has {}, and {} has {} bins of {} bases in {}", plural(last.length / bin_size_, "row"),
                     last.name, length_ / bin_size_, bin_size_, known_.file),
         "give the size of the bins (-b), or files of one genome"});
  }

  TextRead& into_;
  const KnownChromosomes& known_;
  const ChromosomeIndex& lengths_;
  std::int64_t bin_size_;
  std::int64_t length_ = 0;  // length of the chromosome, 0: not known
};

// All chromosomes of the run: those known, then others by the texts.
std::vector<Chromosome> all_chromosomes(const std::vector<TextRead>& texts, const KnownChromosomes& known) {
  std::vector<Chromosome> all = known.list;
  NameIndex places = NameIndex::of(all);
  for (const TextRead& text : texts)
    for (const Chromosome& chromosome : text.chromosomes) {
      const auto [place, is_new] = places.add(chromosome.name);
      if (is_new) all.push_back(chromosome);
      if (place >= known.list.size()) all[place].length = std::max(all[place].length, chromosome.length);
    }
  return all;
}

// Names of chromosomes that are written in two ways must not look like tracks without values.
void require_common(const std::vector<TextRead>& texts, const KnownChromosomes& known) {
  const NameIndex listed = NameIndex::of(known.list);
  for (const TextRead& text : texts) {
    const auto shares = [&](const auto& names) {
      return std::ranges::any_of(text.chromosomes,
                                 [&](const Chromosome& one) { return names.contains(one.name); });
    };
    const TextRead& first = texts.front();
    const bool alone = known.list.empty();
    if (alone ? &text == &first || shares(first.names) : shares(listed)) continue;
    throw InputError({text.text->path, "",
                      "has none of the chromosomes of " + (alone ? first.text->path : known.file) + " (" +
                          chromosome_names(alone ? first.chromosomes : known.list) + "); it has " +
                          chromosome_names(text.chromosomes),
                      "use files of one genome; chromosome names must match exactly"});
  }
}

void write_values(const TextRead& text, const ListedChromosomes& chromosomes, ValueSpool& values,
                  const std::string& path) {
  BigWigWriter writer(chromosomes, {.zoom = kZoom, .one_of_many = true});
  for (std::size_t i = 0; i < chromosomes.size(); ++i)
    if (const auto place = text.names.find(chromosomes.list()[i].name))
      values.visit(*place, [&](std::int64_t begin, std::int64_t end, float value) {
        writer.add(i, begin, end, value);
      });
  OutputFile output({path});
  writer.write(output);
  output.commit();
}

}  // namespace

std::string TextTracks::key_of(const InputArgument& argument) const {
  return argument.path + "?column=" + argument.column + "&sample=" + argument.sample.name +
         "&normal=" + argument.sample.normal + run_;
}

std::string TextTracks::path_of(const InputArgument& argument) const {
  return files_.at(key_of(argument))->path();
}

void TextTracks::read(const std::vector<InputArgument>& arguments, const KnownChromosomes& known,
                      std::int64_t bin_size, int threads, std::vector<std::string>& notes) {
  run_ = fmt::format("&bin={} beside {}", bin_size, known.file);
  for (const InputArgument& argument : arguments) run_ += " " + argument.path;
  std::vector<TextRead> texts;
  for (const InputArgument& argument : arguments) {
    if (!argument.text || files_.contains(key_of(argument))) continue;
    const auto same = [&](const TextRead& one) {
      return one.text->path == argument.path && one.sample == argument.sample;
    };
    auto found = std::ranges::find_if(texts, same);
    if (found == texts.end()) {
      texts.push_back({argument.text, argument.sample, {}, {}, {}, {}, {}});
      found = std::prev(texts.end());
    }
    const auto column = std::ranges::find(argument.text->columns, argument.column);
    const std::size_t place = column - argument.text->columns.begin();
    if (std::ranges::find(found->columns, place) != found->columns.end()) continue;
    found->columns.push_back(place);
    found->keys.push_back(key_of(argument));
  }
  if (texts.empty()) return;
  const ChromosomeIndex lengths(known.list);
  parallel_for(threads, texts.size(),
               [&](std::size_t i, int) { Reading(texts[i], known, lengths, bin_size).run(); });
  require_common(texts, known);
  const ListedChromosomes chromosomes(all_chromosomes(texts, known));
  if (chromosomes.size() > known.list.size())
    notes.push_back(plural(chromosomes.size() - known.list.size(), "chromosome") +
                    " of tracks as text end with their last value; -g FILE says lengths");
  std::vector<std::pair<std::size_t, std::size_t>> tracks;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = 0; j < texts[i].columns.size(); ++j) tracks.emplace_back(i, j);
  std::vector<std::unique_ptr<UnnamedFile>> made(tracks.size());
  for (auto& file : made) file = std::make_unique<UnnamedFile>();
  parallel_for(threads, tracks.size(), [&](std::size_t i, int) {
    TextRead& text = texts[tracks[i].first];
    write_values(text, chromosomes, text.values[tracks[i].second], made[i]->path());
  });
  for (std::size_t i = 0; i < tracks.size(); ++i)
    files_[texts[tracks[i].first].keys[tracks[i].second]] = std::move(made[i]);
}

std::shared_ptr<MadeTracks> new_made_tracks() { return std::make_shared<MadeTracks>(); }

void MadeTracks::make(const std::vector<InputArgument>& arguments, const std::vector<Track>& tracks,
                      const MakingOptions& options, std::vector<Warning>& warnings,
                      std::vector<std::string>& notes) {
  reads_.count(arguments, tracks, options.bin_size, options.wanted, options.wanted_file, options.threads,
               warnings);
  const auto is_text = [](const InputArgument& argument) { return argument.text != nullptr; };
  if (std::ranges::none_of(arguments, is_text)) return;
  KnownChromosomes known{options.wanted, options.wanted_file};
  NameIndex names;
  for (const InputArgument& argument : arguments) {
    if (!options.wanted.empty() || is_text(argument)) continue;
    if (known.file.empty()) known.file = argument.path;
    const BigWigFile file = open(argument);
    for (const Chromosome& chromosome : file.chromosomes())
      if (names.add(chromosome.name).second) known.list.push_back(chromosome);
  }
  texts_.read(arguments, known, options.bin_size, options.threads, notes);
}

const std::vector<SiteRows>& MadeTracks::sites(const std::vector<const InputArgument*>& tracks, int threads) {
  std::string key;
  for (const InputArgument* track : tracks)
    key += track->path + "?" + track->column + "?" + track->sample.name + "?" + track->sample.normal + "\n";
  const auto found = sites_.find(key);
  return found != sites_.end() ? found->second
                               : sites_.emplace(key, read_sites(tracks, threads)).first->second;
}

std::string MadeTracks::path_of(const InputArgument& argument) const {
  if (argument.text) return texts_.path_of(argument);
  return argument.reads ? reads_.path_of(argument) : argument.path;
}

}  // namespace semicrf
