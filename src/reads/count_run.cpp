#include "reads/count_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/text/region.h"
#include "log/log.h"
#include "reads/count_reads.h"
#include "reads/value_writers.h"

namespace semicrf {
namespace {

bool is_npz(const std::string& path) { return has_ending(path, {".npz"}); }

class CountRun {
 public:
  explicit CountRun(const CountOptions& options) : options_(options) {
    check_count_rule(options.reads);
    check_outputs_given();
    grid_.bin = options.bin;
    if (!options.groups_file.empty()) groups_.emplace(options.groups_file, samples_of(options.rows));
    for (const SampleRow& row : options.rows)
      rows_.push_back({add_file(row.path, row), row.control.empty() ? kNone : add_file(row.control, row)});
    settle_chromosomes();
    make_tracks();
    check_outputs(output_specs(), input_paths());
    check_memory();
  }

  void run() {
    for (const Warning& warning : warnings_) log_warning(warning);
    count_reads(grid_, excluded_, files_, options_.threads, options_.in_order);
    if (groups_) {
      for (const CountedFile& file : files_) tell_cells(file);
      for (const Track& track : tracks_) tell_reads(title(track), *track.counts, "group");
    } else {
      for (const CountedFile& file : files_) tell_reads(file.file.path, *file.counts.front(), "file");
    }
    write();
  }

  std::string plan() const {
    std::string text;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const ReadFileInfo& file = files_[rows_[i].file].file;
      text += "track:  " + title(options_.rows[i]) + " <- " + file.path +
              (file.is_text         ? " (text, read once)"
               : file.index.empty() ? " (no index, read once)"
                                    : " (by its index)") +
              (rows_[i].control == kNone ? "" : ", control " + files_[rows_[i].control].file.path) + "\n";
    }
    if (groups_)
      text += "groups: " + plural(groups_->names().size(), "group") + " of " +
              plural(groups_->cells(), "cell") + ": " + few_names(groups_->names()) + "\n";
    std::int64_t bins = 0;
    for (std::size_t i = 0; i < grid_.chromosomes.size(); ++i) bins += grid_.bins(i);
    text += fmt::format("bins:   {} of {} on {}\n", bins, amount(grid_.bin),
                        plural(grid_.chromosomes.size(), "chromosome"));
    for (const std::string& path : output_paths()) text += "output: " + path + "\n";
    if (!options_.chromhmm_folder.empty())
      text += "output: " + options_.chromhmm_folder + "/SAMPLE_CHROMOSOME_binary.txt.gz\n";
    return fmt::format("{}memory: {} MiB at most with {}, whatever the number of reads\n", text,
                       memory() >> 20, plural(options_.threads, "thread"));
  }

 private:
  static constexpr std::size_t kNone = -1;
  struct RowFiles {
    std::size_t file = 0, control = kNone;  // places in files_
  };
  struct Track {
    SampleRow row;
    std::shared_ptr<CountStore> counts, control;
  };

  // A file that several tracks need is counted once; its cells are those of one sample.
  std::size_t add_file(const std::string& path, const SampleRow& row) {
    const auto [place, is_new] =
        file_of_.try_emplace({path, groups_ ? title(row) : std::string()}, files_.size());
    if (is_new) {
      CountedFile& file = files_.emplace_back(CountedFile{inspect_reads(path), options_.reads, {}});
      if (auto warning = older_index_warning(file.file)) warnings_.push_back(std::move(*warning));
      if (groups_) {
        file.groups = &*groups_;
        file.tally = std::make_shared<CellTally>(groups_->cells());
        file.sample = row.sample;
        file.barcode_tag = options_.barcode_tag;
      }
    }
    return place->second;
  }

  // A track for each file; with groups one for each group of the cells of the files that share the track's
  // name.
  void make_tracks() {
    const std::size_t kept =
        kept_by_a_store(groups_ ? rows_.size() * groups_->names().size() : files_.size());
    const auto new_store = [&] { return std::make_shared<CountStore>(grid_.chromosomes.size(), kept); };
    if (!groups_) {
      for (CountedFile& file : files_) file.counts = {new_store()};
      for (std::size_t i = 0; i < rows_.size(); ++i)
        tracks_.push_back({options_.rows[i], files_[rows_[i].file].counts.front(),
                           rows_[i].control == kNone ? nullptr : files_[rows_[i].control].counts.front()});
      return;
    }
    std::map<std::string, std::size_t> first_of;  // track -> its first entry of tracks_
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const SampleRow& row = options_.rows[i];
      const auto [first, is_new] = first_of.try_emplace(row.track, tracks_.size());
      for (std::size_t g = 0; g < groups_->names().size(); ++g) {
        const std::string& name = groups_->names()[g];
        if (is_new) {
          Track& track = tracks_.emplace_back(Track{row, new_store(), nullptr});
          track.row.sample = name;
        }
        files_[rows_[i].file].counts.push_back(tracks_[first->second + g].counts);
      }
    }
  }

  static void tell_reads(const std::string& name, const CountStore& counts, const std::string& what) {
    log_note(name + ": " + plural(counts.reads(), "read") + " counted");
    if (counts.reads() == 0) log_warning({"no-reads", "no read of this " + what + " is counted", name});
  }

  // InputError: barcodes of the reads are not those of the table.
  void tell_cells(const CountedFile& file) const {
    const CellTally& tally = *file.tally;
    const std::int64_t without = tally.without_barcode(), others = tally.of_other_cells();
    const std::string column =
        file.file.is_text ? "in column 4" : "(tag " + options_.barcode_tag + ", --barcode-tag)";
    if (tally.cells_found() == 0 && others + without > 0)
      throw InputError({file.file.path, "",
                        others == 0 ? "no read has a barcode " + column
                                    : "no read has a barcode of " + groups_->path() + ": there is " +
                                          groups_->example() + ", here " + tally.example(),
                        "give the barcodes of the table as the reads have them"});
    log_note(fmt::format("{}: {} of {} found", file.file.path, tally.cells_found(),
                         plural(groups_->cells(), "cell")));
    if (others + without == 0) return;
    log_warning({"reads-without-group",
                 fmt::format("{} with a barcode that {} lacks{}, and {} without one {} are not counted",
                             plural(others, "read"), groups_->path(),
                             others == 0 ? "" : ", such as " + tally.example(), without, column),
                 file.file.path});
  }

  void settle_chromosomes() {
    std::vector<Chromosome> sizes;
    if (!options_.chrom_sizes_file.empty()) sizes = read_chrom_sizes(options_.chrom_sizes_file);
    std::vector<const ReadFileInfo*> infos;
    for (const CountedFile& file : files_) infos.push_back(&file.file);
    if (!options_.fasta_file.empty()) check_reference(infos, options_.fasta_file);
    for (CountedFile& file : files_) file.file.reference = options_.fasta_file;
    ReadChromosomes chosen = chromosomes_of_reads(infos, sizes, options_.chrom_sizes_file);
    grid_.chromosomes = std::move(chosen.list);
    warnings_.insert(warnings_.end(), chosen.warnings.begin(), chosen.warnings.end());
    const ChromosomeIndex known(grid_.chromosomes);
    if (!options_.exclude_file.empty())
      excluded_ =
          ExcludedBases(grid_, read_regions(options_.exclude_file, RegionRole::kExcluded, known, warnings_));
    std::vector<Region> wanted;
    for (const std::string& text : options_.regions) wanted.push_back(parse_region(text, known));
    if (!options_.regions_file.empty()) {
      const auto more = read_regions(options_.regions_file, RegionRole::kIncluded, known, warnings_);
      wanted.insert(wanted.end(), more.begin(), more.end());
    }
    if (!wanted.empty()) grid_.wanted = WantedBins(grid_.chromosomes, grid_.bin, wanted);
    if (!groups_) return;
    constexpr std::int64_t kBinsOfAThread = std::int64_t{1} << 21;  // in a tile of each group
    grid_.tile_bases = std::clamp(kBinsOfAThread / std::ssize(groups_->names()) * grid_.bin,
                                  ReadGrid::kTileBases >> 4, ReadGrid::kTileBases);
  }

  void check_outputs_given() const {
    const bool text = !options_.chromhmm_folder.empty();
    if (options_.output.empty() && options_.prefix.empty() && !text)
      throw UsageError("no output is given",
                       "give -o FILE, --prefix PREFIX or with --binarise --chromhmm-out FOLDER");
    if (!options_.output.empty() && !is_npz(options_.output) && !is_bigwig_name(options_.output))
      throw UsageError(options_.output + ": counts are written as bigWig or NumPy arrays",
                       "give a name ending in .bw or .npz");
    if (!options_.groups_file.empty() && has_controls())
      throw UsageError("controls cannot be given with --groups", "leave them out");
    if (options_.reads.keep_duplicates > 0 && !options_.in_order)
      throw UsageError("--keep-dup needs sorted files", "sort the files, and leave --unsorted out");
    const bool several_groups = !options_.groups_file.empty() && options_.rows.size() > 1;
    const std::size_t samples = several_groups ? options_.rows.size() : samples_of(options_.rows).size();
    if (!options_.output.empty() && is_npz(options_.output) && samples > 1)
      throw UsageError(fmt::format("an .npz file has the tracks of one sample, and {} are given", samples),
                       "give --prefix PREFIX, or one sample at a time");
    if (!options_.output.empty() && !is_npz(options_.output) && !options_.groups_file.empty())
      throw UsageError("-o names one bigWig file, and every group has its own",
                       "give --prefix PREFIX, or a name ending in .npz");
    if (!options_.output.empty() && !is_npz(options_.output) && options_.rows.size() > 1)
      throw UsageError("-o names one bigWig file, and there are " + plural(options_.rows.size(), "track"),
                       "give --prefix PREFIX, or a name ending in .npz");
    if (text && !options_.binarise)
      throw UsageError("--chromhmm-out has binarised counts", "give --binarise, too");
    if (options_.binarise && options_.reads.part == CountedPart::kDepth)
      throw UsageError("depths cannot be binarised", "give --count start, centre, overlap or span");
    if (options_.binarise &&
        !(options_.exclude_file.empty() && options_.regions.empty() && options_.regions_file.empty()))
      throw UsageError("--region, --regions-file and --exclude cannot be given with --binarise",
                       "name the chromosomes to count: -g FILE");
  }

  bool has_controls() const {
    return std::ranges::any_of(options_.rows, [](const SampleRow& row) { return !row.control.empty(); });
  }

  std::size_t memory() const {
    constexpr std::size_t kProgram = std::size_t{32} << 20, kWriter = std::size_t{2} << 20;
    constexpr std::size_t kOutput = std::size_t{256} << 10;  // what an open file has to write
    const std::size_t writers = std::min(tracks_.size(), static_cast<std::size_t>(options_.threads));
    std::size_t bytes = kProgram + count_memory(grid_, files_, options_.threads, options_.in_order) +
                        tracks_.size() * kOutput + writers * kWriter;
    if (!is_npz(options_.output)) return bytes;
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < grid_.chromosomes.size(); ++i) longest = std::max(longest, grid_.bins(i));
    constexpr std::size_t kPerValue = 16;
    return bytes + longest * tracks_.size() * kPerValue;
  }

  void check_memory() const {
    if (!options_.max_memory || memory() <= wide(*options_.max_memory)) return;
    throw MemoryError({"", "",
                       fmt::format("count needs {} MiB, and --max-memory is {} MiB", memory() >> 20,
                                   *options_.max_memory >> 20),
                       "give fewer threads (-t), larger bins (-b), bigWig in place of .npz, or more memory"});
  }

  static std::string title(const SampleRow& row) {
    return (row.sample.empty() ? "" : row.sample + ".") + row.track;
  }
  // In the names of files.
  std::string title(const Track& track) const {
    const bool only_file = groups_ && options_.rows.size() == 1 && options_.rows.front().sample.empty();
    return only_file ? track.row.sample : title(track.row);
  }
  std::string cell(const Track& track) const {
    return track.row.sample.empty() ? options_.cell : track.row.sample;
  }

  // By track with --prefix, else the only one.
  std::vector<std::string> output_paths() const {
    std::vector<std::string> paths;
    if (!options_.output.empty()) paths.push_back(options_.output);
    if (!options_.prefix.empty())
      for (const Track& track : tracks_)
        paths.push_back(options_.prefix + "." + in_file_name(title(track)) + ".bw");
    return paths;
  }
  std::vector<OutputSpec> output_specs() const {
    std::vector<OutputSpec> specs;
    for (const std::string& path : output_paths()) specs.push_back({path, IndexKind::kNone});
    return specs;
  }
  std::vector<std::string> input_paths() const {
    std::vector<std::string> paths;
    for (const CountedFile& file : files_) paths.push_back(file.file.path);
    return paths;
  }

  // Entry i is of track i.
  std::vector<std::unique_ptr<BinValues>> values() const {
    std::vector<std::unique_ptr<BinValues>> values(tracks_.size());
    if (!options_.binarise) {
      for (std::size_t i = 0; i < tracks_.size(); ++i)
        values[i] = scaled_values(grid_, options_.reads.part, excluded_, tracks_[i].counts,
                                  tracks_[i].control, options_.values);
      return values;
    }
    std::map<std::string, std::vector<std::size_t>> cells;
    for (std::size_t i = 0; i < tracks_.size(); ++i) cells[cell(tracks_[i])].push_back(i);
    for (const auto& [name, members] : cells) {
      std::vector<std::shared_ptr<const CountStore>> of_cell, controls;
      for (const std::size_t i : members) {
        of_cell.push_back(tracks_[i].counts);
        controls.push_back(tracks_[i].control);
      }
      auto binarised = binarised_values(grid_, of_cell, controls, *options_.binarise);
      for (std::size_t k = 0; k < members.size(); ++k) values[members[k]] = std::move(binarised[k]);
    }
    return values;
  }

  void write() const {
    const std::vector<std::unique_ptr<BinValues>> all = values();
    std::vector<const BinValues*> views;
    views.reserve(all.size());
    for (const auto& one : all) views.push_back(one.get());
    std::optional<NewFolder> folder;
    if (!options_.chromhmm_folder.empty()) folder.emplace(options_.chromhmm_folder);
    OutputGroup outputs;
    std::vector<std::pair<OutputFile*, const BinValues*>> tracks;
    if (is_npz(options_.output)) {
      write_npz(grid_, views, outputs.open(options_.output));
    } else if (!options_.output.empty()) {
      tracks.emplace_back(&outputs.open(options_.output), views.front());
    }
    if (!options_.prefix.empty())
      for (std::size_t i = 0; i < tracks_.size(); ++i)
        tracks.emplace_back(&outputs.open(options_.prefix + "." + in_file_name(title(tracks_[i])) + ".bw"),
                            views[i]);
    parallel_for(options_.threads, tracks.size(),
                 [&](std::size_t i, int) { write_bigwig(grid_, *tracks[i].second, *tracks[i].first); });
    if (folder) write_texts(views, outputs);
    outputs.commit();
  }

  void write_texts(const std::vector<const BinValues*>& views, OutputGroup& outputs) const {
    std::set<std::string> marks;
    std::map<std::string, std::map<std::string, const BinValues*>> cells;  // by cell and mark
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      marks.insert(tracks_[i].row.track);
      cells[cell(tracks_[i])][tracks_[i].row.track] = views[i];
    }
    struct Text {
      const std::string* cell;
      std::vector<const BinValues*> tracks;
      std::size_t chromosome;
      OutputFile* file;
    };
    std::vector<Text> texts;
    for (const auto& [name, of_cell] : cells) {
      std::vector<const BinValues*> tracks;
      tracks.reserve(marks.size());
      for (const std::string& mark : marks)
        tracks.push_back(of_cell.contains(mark) ? of_cell.at(mark) : nullptr);
      for (std::size_t i = 0; i < grid_.chromosomes.size(); ++i) {
        if (!has_binary_text(tracks, i)) continue;
        const std::string file = in_file_name(name + "_" + grid_.chromosomes[i].name + "_binary.txt.gz");
        OutputFile& output = outputs.open(options_.chromhmm_folder + "/" + file);
        output.use_small_buffer();
        texts.push_back({&name, tracks, i, &output});
      }
    }
    const std::vector<std::string> header(marks.begin(), marks.end());
    parallel_for(options_.threads, texts.size(), [&](std::size_t i, int) {
      write_binary_text(grid_, texts[i].chromosome, *texts[i].cell, header, texts[i].tracks, *texts[i].file);
    });
  }

  const CountOptions& options_;
  ReadGrid grid_;
  ExcludedBases excluded_;
  std::optional<CellGroups> groups_;
  std::vector<CountedFile> files_;
  std::map<std::pair<std::string, std::string>, std::size_t> file_of_;  // by path, and with groups the track
  std::vector<RowFiles> rows_;                                          // by row of the options
  std::vector<Track> tracks_;
  std::vector<Warning> warnings_;
};

}  // namespace

void run_count(const CountOptions& options) { CountRun(options).run(); }

std::string plan_count(const CountOptions& options) { return CountRun(options).plan(); }

}  // namespace semicrf
