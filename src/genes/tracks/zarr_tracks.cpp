#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/text/names.h"
#include "genes/tracks/track_file.h"
#include "io/arrays/zarr_array.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;  // folders inside each other that are searched
constexpr std::size_t kMostFolders = 1 << 20;
constexpr std::size_t kMostRuns = 1 << 20;  // runs of bases that follow each other in a file
constexpr std::int64_t kMostTracks = 4096;
constexpr std::int64_t kCoordinates = 1 << 16;  // read at once
constexpr const char* kLogits = "feature_logits";

using StrandKey = std::pair<std::string, char>;  // sequence, strand

// What lies in the folder, by sequence and strand: one array of values, or parts of GeneCAD's.
struct ZarrContents {
  std::map<StrandKey, std::string> arrays;
  std::map<StrandKey, std::vector<std::string>> parts;
};

class ZarrSearch {
 public:
  explicit ZarrSearch(const std::string& root) : root_(root) { visit(root, "", 0); }
  ZarrContents take() { return std::move(contents_); }

 private:
  // `name`: the path below the root.
  void visit(const std::string& folder, const std::string& name, int depth) {
    if (++folders_ > kMostFolders)
      throw InputError({root_, "", fmt::format("more than {} folders in it", kMostFolders), ""});
    const ZarrNode node = zarr_node(folder);
    if (node == ZarrNode::kArray) {
      if (name.size() > 1 && (name.back() == '+' || name.back() == '-'))
        contents_.arrays[{name.substr(0, name.size() - 1), name.back()}] = folder;
      return;
    }
    if (node == ZarrNode::kGroup && add_part(folder)) return;
    if (depth == kDeepest) return;
    std::vector<std::string> inner;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      std::error_code ignored;
      if (at->is_directory(ignored)) inner.push_back(at->path().filename().string());
    }
    if (error) throw ReadError({folder, "", "cannot be listed: " + error.message(), ""});
    std::sort(inner.begin(), inner.end(), natural_less);
    for (const std::string& one : inner)
      visit(folder + "/" + one, name.empty() ? one : name + "/" + one, depth + 1);
  }

  // A strand of a sequence, or a part of it, as GeneCAD's prediction step writes it.
  bool add_part(const std::string& folder) {
    if (zarr_node(folder + "/" + kLogits) != ZarrNode::kArray) return false;
    const auto strand = zarr_attribute(folder, "strand"), sequence = zarr_attribute(folder, "chromosome_id");
    if (!strand || !sequence) return false;
    if (*strand != "positive" && *strand != "negative")
      throw InputError({folder, "", "its strand is neither positive nor negative", ""});
    contents_.parts[{*sequence, *strand == "positive" ? '+' : '-'}].push_back(folder);
    return true;
  }

  std::string root_;
  std::size_t folders_ = 0;
  ZarrContents contents_;
};

std::int64_t columns_of(const ZarrArray& array) {
  if (array.layout().shape.size() != 2) array.fail("one dimension where there should be bases and tracks");
  if (array.columns() < 1 || array.columns() > kMostTracks)
    array.fail(fmt::format("{} tracks", array.columns()));
  return array.columns();
}

// The array of a strand whose row i is base i.
class WholeStrand {
 public:
  WholeStrand(const std::string& folder, std::int64_t length, std::int64_t tracks) : array_(folder) {
    if (columns_of(array_) != tracks || array_.rows() != length)
      array_.fail(fmt::format("shape ({}, {}) where the sequence and the other arrays have ({}, {})",
                              array_.rows(), array_.columns(), length, tracks),
                  "give a row per base and a column per track");
  }
  void read(std::int64_t begin, std::int64_t end, float* values) const {
    array_.read_rows(begin, end, values);
  }

 private:
  ZarrArray array_;
};

// Logits of the classes in runs of rows that are bases one after the other; read as probabilities.
class GeneCadStrand {
 public:
  GeneCadStrand(const std::vector<std::string>& folders, const std::string& sequence, std::int64_t length,
                std::int64_t tracks)
      : tracks_(tracks) {
    for (const std::string& folder : folders) {
      arrays_.push_back(std::make_unique<ZarrArray>(folder + "/" + kLogits));
      const ZarrArray& logits = *arrays_.back();
      const ZarrArray bases(folder + "/sequence");
      if (columns_of(logits) != tracks || bases.rows() != logits.rows())
        logits.fail(fmt::format("shape ({}, {}) where {} bases and {} classes are listed", logits.rows(),
                                logits.columns(), bases.rows(), tracks));
      add_runs(bases, length);
    }
    std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
    std::int64_t reached = 0;
    for (const Run& run : runs_) {
      if (run.begin != reached) break;
      reached = run.end;
    }
    if (reached != length || runs_.empty() || runs_.back().end != length)
      throw InputError(
          {folders.front(), "sequence",
           fmt::format("bases 0 to {} of {} of sequence {} are there", reached, length, sequence),
           "give all that the network wrote of the sequence"});
  }

  void read(std::int64_t begin, std::int64_t end, float* values) const {
    auto run = std::upper_bound(runs_.begin(), runs_.end(), begin,
                                [](std::int64_t at, const Run& one) { return at < one.end; });
    for (; run != runs_.end() && run->begin < end; ++run) {
      const std::int64_t from = std::max(begin, run->begin), to = std::min(end, run->end);
      float* out = values + (from - begin) * tracks_;
      arrays_[run->part]->read_rows(run->row + from - run->begin, run->row + to - run->begin, out);
      for (std::int64_t t = from; t < to; ++t, out += tracks_) make_probabilities(out);
    }
  }

 private:
  struct Run {
    std::int64_t begin = 0, end = 0;  // bases
    std::size_t part = 0;
    std::int64_t row = 0;  // in its part, of the first
  };

  void add_runs(const ZarrArray& bases, std::int64_t length) {
    std::vector<std::int64_t> some(kCoordinates);
    const std::size_t part = arrays_.size() - 1, first_run = runs_.size();
    for (std::int64_t row = 0; row < bases.rows();) {
      const std::int64_t to = std::min(bases.rows(), row + kCoordinates);
      bases.read_integers(row, to, some.data());
      for (std::size_t i = 0; row < to; ++row, ++i) {
        if (some[i] < 0 || some[i] >= length)
          bases.fail(fmt::format("row {} is base {} of a sequence of {}", row, some[i], length),
                     "give the sequence that the network was asked about");
        if (runs_.size() == first_run || runs_.back().end != some[i]) {
          if (runs_.size() == kMostRuns) bases.fail("bases are in no order");
          runs_.push_back({some[i], some[i], part, row});
        }
        runs_.back().end += 1;
      }
    }
  }

  void make_probabilities(float* row) const {
    const float largest = *std::max_element(row, row + tracks_);
    float sum = 0;
    for (std::size_t i = 0; i < tracks_; ++i) sum += row[i] = std::exp(row[i] - largest);
    for (std::size_t i = 0; i < tracks_; ++i) row[i] /= sum;
  }

  std::size_t tracks_;
  std::vector<std::unique_ptr<ZarrArray>> arrays_;
  std::vector<Run> runs_;
};

template <class Strand>
class ZarrValues : public TrackValues {
 public:
  ZarrValues(std::unique_ptr<Strand> plus, std::unique_ptr<Strand> minus)
      : plus_(std::move(plus)), minus_(std::move(minus)) {}
  void read(char strand, std::int64_t begin, std::int64_t end, float* values) const override {
    (strand == '+' ? plus_ : minus_)->read(begin, end, values);
  }

 private:
  std::unique_ptr<Strand> plus_, minus_;
};

class ZarrTracks : public TrackFile {
 public:
  explicit ZarrTracks(const std::string& folder) : folder_(folder), contents_(ZarrSearch(folder).take()) {
    if (contents_.arrays.empty() && contents_.parts.empty())
      throw InputError({folder, "", "no Zarr arrays of tracks in it",
                        "give a store with arrays NAME+ and NAME-, or what GeneCAD predicted"});
    if (!contents_.arrays.empty()) {
      tracks_ = columns_of(ZarrArray(contents_.arrays.begin()->second));
      return;
    }
    const std::string& part = contents_.parts.begin()->second.front();
    tracks_ = columns_of(ZarrArray(part + "/" + kLogits));
    if (zarr_node(part + "/feature") != ZarrNode::kArray) return;
    const ZarrArray names(part + "/feature");
    if (names.layout().kind != ZarrLayout::Kind::kText) return;
    names_ = names.read_texts();
    if (std::ssize(names_) != tracks_) names.fail("not a name for each class");
    for (const std::string& one : names_)
      if (const std::string problem = name_problem(one); !problem.empty()) names.fail(problem);
  }

  std::shared_ptr<const TrackValues> open(const std::string& sequence, std::int64_t length) const override {
    if (contents_.arrays.empty()) {
      const auto strand = [&](char which) {
        return std::make_unique<GeneCadStrand>(find(contents_.parts, sequence, which), sequence, length,
                                               tracks_);
      };
      auto plus = strand('+');  // whose errors are told first
      return std::make_shared<ZarrValues<GeneCadStrand>>(std::move(plus), strand('-'));
    }
    const auto strand = [&](char which) {
      return std::make_unique<WholeStrand>(find(contents_.arrays, sequence, which), length, tracks_);
    };
    auto plus = strand('+');
    return std::make_shared<ZarrValues<WholeStrand>>(std::move(plus), strand('-'));
  }
  std::size_t count() const override { return tracks_; }
  std::vector<std::string> names() const override { return names_; }
  std::string path() const override { return folder_; }

 private:
  template <class Value>
  const Value& find(const std::map<StrandKey, Value>& known, const std::string& sequence, char strand) const {
    const auto found = known.find({sequence, strand});
    if (found == known.end())
      throw InputError({folder_, "", "no sequence " + sequence + " on strand " + strand,
                        "names of sequences must be the same in all files"});
    return found->second;
  }

  std::string folder_;
  ZarrContents contents_;
  std::int64_t tracks_ = 0;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<TrackFile> open_zarr_tracks(const std::string& folder) {
  return std::make_unique<ZarrTracks>(folder);
}

}  // namespace semicrf
