#include "io/models/segway_model.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/params/training_record.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

constexpr std::size_t kMostEntries = 10'000'000;  // most entries of a table
constexpr std::size_t kMostSegs = 1000, kMostSubsegs = 1000;
constexpr double kSumToOne = 1e-3;  // tolerance
constexpr const char* kSegwayAdvice = "give the params.params of a folder that `segway train` made";

// Words between white space, without comments.
class Words {
 public:
  explicit Words(const std::string& path) : lines_(path) {}

  std::string next(const std::string& what) {
    while (at_ == words_.size()) {
      std::string line;
      if (!lines_.next(line)) fail("ends before " + what);
      split(line);
    }
    return words_[at_++];
  }

  std::int64_t whole(const std::string& what, std::int64_t least, std::int64_t most) {
    const std::string word = next(what);
    const auto value = number_in<std::int64_t>(word);
    if (!value || *value < least || *value > most)
      fail(fmt::format("has {} in place of {}, a whole number from {} to {}", in_quotes(word), what, least,
                       most));
    return *value;
  }

  // Finite. Numbers too small for a double are 0.
  double number(const std::string& what) {
    const std::string word = next(what);
    double value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool tiny = parsed.ec == std::errc::result_out_of_range && word.find("e-") != std::string::npos;
    if (parsed.ptr != word.data() + word.size() || (parsed.ec != std::errc() && !tiny) ||
        !std::isfinite(value))
      fail("has " + in_quotes(word) + " in place of " + what + ", a number");
    return tiny ? 0 : value;
  }

  // The prior of a table or PMF, which GMTK names before the numbers: DirichletTable NAME, DirichletConst
  // NUMBER.
  void skip_prior() {
    if (next("a number").starts_with("Dirichlet"))
      next("a prior");
    else
      --at_;
  }

  // Whether only comments are left.
  bool at_end() {
    std::string line;
    while (at_ == words_.size() && lines_.next(line)) split(line);
    return at_ == words_.size();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(lines_.path(), lines_.line_number(), what, kSegwayAdvice);
  }

 private:
  void split(std::string_view line) {
    line = line.substr(0, line.find('%'));
    words_.clear();
    at_ = 0;
    constexpr std::string_view kSpace = " \t\r\f\v";
    for (std::size_t begin = line.find_first_not_of(kSpace); begin != std::string_view::npos;
         begin = line.find_first_not_of(kSpace, begin)) {
      const std::size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
      words_.emplace_back(line.substr(begin, end - begin));
      begin = end;
    }
  }

  TextLines lines_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

struct Table {
  std::vector<std::size_t> sizes;  // sizes of the parents, then of the variable
  std::vector<double> values;
};

// "seg3_subseg0_NAME" after a prefix.
struct StateTrack {
  std::size_t seg = 0, subseg = 0;
  std::string track;
};
std::optional<StateTrack> state_track(std::string_view name, std::string_view prefix) {
  const auto take = [&](std::string_view text) {
    if (!name.starts_with(text)) return false;
    name.remove_prefix(text.size());
    return true;
  };
  const auto take_number = [&](std::size_t& value) {
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), value);
    if (parsed.ec != std::errc()) return false;
    name.remove_prefix(parsed.ptr - name.data());
    return true;
  };
  StateTrack found;
  if (!take(prefix) || !take("seg") || !take_number(found.seg) || !take("_subseg") ||
      !take_number(found.subseg) || !take("_") || name.empty())
    return std::nullopt;
  found.track = name;
  return found;
}

class SegwayReader {
 public:
  SegwayReader(const std::string& path, std::vector<Warning>& warnings) : words_(path), warnings_(warnings) {}

  SegwayModel read() {
    each_entry("tables of probabilities", [&](const std::string& name) { read_table(name); });
    take_tables();
    each_entry("means", [&](const std::string& name) {
      read_scalar(name, means_);
      mean_names_.push_back(name);
    });
    each_entry("variances", [&](const std::string& name) { read_scalar(name, variances_); });
    if (words_.at_end()) {
      take_named_means();
      return std::move(model_);
    }
    each_entry("PMFs", [&](const std::string&) { read_pmf(); });
    read_components();
    read_mixtures();
    if (!words_.at_end()) words_.fail("goes on after the mixtures");
    return std::move(model_);
  }

 private:
  using Scalars = std::map<std::string, double>;
  struct Component {
    std::string mean, variance, distribution;
  };
  using Components = std::map<std::pair<std::size_t, std::string>, Component>;  // by state and track

  // The number of entries, then each after its number and name.
  template <class Read>
  void each_entry(const std::string& what, Read read) {
    const std::int64_t count = words_.whole("the number of " + what, 0, kMostEntries);
    for (std::int64_t i = 0; i < count; ++i) {
      words_.whole("the number of an entry", i, i);
      read(words_.next("a name"));
    }
  }

  void read_table(const std::string& name) {
    Table table;
    const std::int64_t parents = words_.whole("the number of parents", 0, 10);
    std::size_t entries = 1;
    for (std::int64_t i = 0; i <= parents; ++i) {
      table.sizes.push_back(words_.whole("a cardinality", 1, kMostEntries));
      entries *= table.sizes.back();
      if (entries > kMostEntries) words_.fail("has a table of more than 10 million numbers");
    }
    words_.skip_prior();
    const std::size_t row = table.sizes.back();
    for (std::size_t i = 0; i < entries; i += row) {
      double sum = 0;
      for (std::size_t j = 0; j < row; ++j) {
        table.values.push_back(words_.number("a probability"));
        if (table.values.back() < 0 || table.values.back() > 1 + kSumToOne)
          words_.fail(fmt::format("has a probability of {:.6g} in the table {}", table.values.back(),
                                  in_quotes(name)));
        sum += table.values.back();
      }
      if (!(std::fabs(sum - 1) <= kSumToOne))
        words_.fail(
            fmt::format("has probabilities that sum to {:.6g} in the table {}", sum, in_quotes(name)));
    }
    if (!tables_.emplace(name, std::move(table)).second) words_.fail("has " + in_quotes(name) + " twice");
  }

  Table take_table(const std::string& name, std::size_t dimensions) {
    const auto found = tables_.find(name);
    if (found == tables_.end()) words_.fail("has no table " + in_quotes(name) + " before here");
    Table table = std::move(found->second);
    tables_.erase(found);
    if (table.sizes.size() != dimensions)
      words_.fail(fmt::format("has a table {} of {} variables, not {}", in_quotes(name), table.sizes.size(),
                              dimensions));
    return table;
  }

  void require_sizes(const std::string& name, const Table& table,
                     const std::vector<std::size_t>& sizes) const {
    if (table.sizes != sizes)
      words_.fail("has a table " + in_quotes(name) +
                  " whose sizes are not the numbers of labels and sub-labels");
  }

  void take_tables() {
    const Table first = take_table("start_seg", 1), sub_first = take_table("seg_subseg", 2);
    model_.segs = first.sizes[0];
    model_.subsegs = sub_first.sizes[1];
    if (model_.segs > kMostSegs || model_.subsegs > kMostSubsegs || model_.states() > kMostSegs)
      words_.fail(fmt::format("has more than {} labels", kMostSegs));
    const std::size_t segs = model_.segs, subs = model_.subsegs;
    require_sizes("seg_subseg", sub_first, {segs, subs});
    // The table of a single label has no parent.
    Table next =
        take_table("seg_seg", segs == 1 && tables_.contains("seg_seg") ? tables_["seg_seg"].sizes.size() : 2);
    const Table sub_next = take_table("seg_subseg_subseg", 3),
                change = take_table("segCountDown_seg_segTransition", 3);
    if (segs == 1) next.sizes.resize(2, 1);
    require_sizes("seg_seg", next, {segs, segs});
    require_sizes("seg_subseg_subseg", sub_next, {segs, subs, subs});
    require_sizes("segCountDown_seg_segTransition", change, {change.sizes[0], segs, 3});
    model_.first = first.values;
    model_.sub_first = sub_first.values;
    model_.next = next.values;
    model_.sub_next = sub_next.values;
    model_.countdowns = change.sizes[0];
    take_changes(change);
    for (const auto& [name, table] : tables_)
      warnings_.push_back({"table-left-out", "the table " + in_quotes(name) +
                                                 " has no place in a parameter file and is left out"});
  }

  // Segments that reach a longest length have the countdown 0 and must end; before that they may.
  void take_changes(const Table& change) {
    const std::size_t row = 3 * model_.segs;
    model_.change.assign(change.values.begin(), change.values.begin() + static_cast<std::ptrdiff_t>(row));
    std::vector<std::string> limited;
    for (std::size_t c = 0; c < model_.segs && model_.countdowns > 1; ++c) {
      const auto at = [&](std::size_t countdown) { return &change.values[countdown * row + 3 * c]; };
      if (at(0)[0] > 0 || at(0)[1] > 0) continue;
      if (!(at(1)[2] > 0))
        words_.fail(fmt::format("has the label {}, whose segments all have the same length in Segway", c));
      std::copy_n(at(1), 3, model_.change.begin() + static_cast<std::ptrdiff_t>(3 * c));
      limited.push_back(fmt::to_string(c));
    }
    if (!limited.empty())
      warnings_.push_back({"longest-lengths-lost",
                           "Segway ends segments that reach the longest length of their "
                           "label; here these labels have none: " +
                               joined(limited, ", ")});
  }

  void read_scalar(const std::string& name, Scalars& scalars) {
    words_.whole("the number of values of " + in_quotes(name), 1, 1);
    const double value = words_.number("a value");
    if (&scalars == &variances_ && !(value > 0))
      words_.fail(fmt::format("has a variance of {:.6g}, {}", value, in_quotes(name)));
    if (!scalars.emplace(name, value).second) words_.fail("has " + in_quotes(name) + " twice");
  }

  // Weights of the components of mixtures: with one component they say nothing.
  void read_pmf() {
    const std::int64_t values = words_.whole("the number of values of a PMF", 1, kMostEntries);
    words_.skip_prior();
    for (std::int64_t i = 0; i < values; ++i) words_.number("a weight");
  }

  void read_components() {
    const std::int64_t count = words_.whole("the number of components", 0, kMostEntries);
    for (std::int64_t i = 0; i < count; ++i) {
      words_.whole("the number of an entry", i, i);
      words_.whole("the dimension of a component", 1, 1);
      const std::int64_t type = words_.whole("the type of a component", 0, 100);
      const std::string name = words_.next("the name of a component");
      if (type != 0)
        words_.fail(
            fmt::format("has the component {} of type {}{}; only normal distributions have heads that are "
                        "linear in a track and its square",
                        in_quotes(name), type, type == 3 ? ", a gamma distribution" : ""));
      Component component;
      component.mean = words_.next("the name of a mean");
      component.variance = words_.next("the name of a variance");
      component.distribution = name.substr(0, name.find("_seg"));
      if (!components_.emplace(name, std::move(component)).second)
        words_.fail("has " + in_quotes(name) + " twice");
    }
  }

  void read_mixtures() {
    const std::int64_t count = words_.whole("the number of mixtures", 1, kMostEntries);
    Components found;
    for (std::int64_t i = 0; i < count; ++i) {
      words_.whole("the number of an entry", i, i);
      words_.whole("the dimension of a mixture", 1, 1);
      const std::string name = words_.next("the name of a mixture");
      const std::int64_t parts = words_.whole("the number of components", 1, kMostEntries);
      if (parts != 1)
        words_.fail(
            fmt::format("has the mixture {} of {} components; only one normal distribution has a linear head",
                        in_quotes(name), parts));
      words_.next("the name of a PMF");
      const std::string component = words_.next("the name of a component");
      const StateTrack state = checked_state_track(name, "mx_");
      const auto known = components_.find(component);
      if (known == components_.end())
        words_.fail("has no component " + in_quotes(component) + " before here");
      add_component(state, name, known->second, found);
    }
    const std::string distribution = found.begin()->second.distribution;
    if (distribution != "mc_asinh_norm" && distribution != "mc_norm")
      words_.fail("has components named " + in_quotes(distribution) + ", not mc_asinh_norm or mc_norm");
    model_.asinh = distribution == "mc_asinh_norm";
    set_emissions(found);
  }

  // Takes emissions from a file without components: means and the variances of their tracks, tied over the
  // labels or not.
  void take_named_means() {
    if (mean_names_.empty()) words_.fail("has no means");
    Components found;
    for (const std::string& name : mean_names_) {
      const StateTrack state = checked_state_track(name, "mean_");
      if (state.track.ends_with("_component0"))
        words_.fail("has a mixture of several components, " + in_quotes(name) +
                    "; only one normal distribution has a linear head");
      const std::string own = "covar_" + name.substr(std::string_view("mean_").size());
      add_component(state, name, {name, variances_.contains(own) ? own : "covar_" + state.track, ""}, found);
    }
    set_emissions(found);
  }

  StateTrack checked_state_track(const std::string& name, const std::string& prefix) const {
    std::optional<StateTrack> state = state_track(name, prefix);
    if (!state) words_.fail("has " + in_quotes(name) + " in place of " + prefix + "segN_subsegM_TRACK");
    if (state->seg >= model_.segs || state->subseg >= model_.subsegs)
      words_.fail("has " + in_quotes(name) + " of a label beyond the tables");
    if (const std::string problem = name_problem(state->track); !problem.empty())
      words_.fail("has the track " + in_quotes(state->track) + ": " + problem);
    return std::move(*state);
  }

  void add_component(const StateTrack& state, const std::string& name, const Component& component,
                     Components& found) {
    if (std::ranges::find(model_.tracks, state.track) == model_.tracks.end())
      model_.tracks.push_back(state.track);
    if (!found.emplace(std::pair(state.seg * model_.subsegs + state.subseg, state.track), component).second)
      words_.fail("has " + in_quotes(name) + " twice");
  }

  void set_emissions(const Components& found) {
    const std::string distribution = found.begin()->second.distribution;
    for (const std::string& track : model_.tracks)
      if (std::ranges::find(model_.tracks, track + "^2") != model_.tracks.end())
        words_.fail("has the tracks " + in_quotes(track) + " and " + in_quotes(track + "^2") +
                    ", which is the name of the square of the first");
    for (std::size_t c = 0; c < model_.states(); ++c)
      for (const std::string& track : model_.tracks) {
        const auto entry = found.find({c, track});
        if (entry == found.end())
          words_.fail(fmt::format("has no distribution of track {} for label {}, sub-label {}",
                                  in_quotes(track), c / model_.subsegs, c % model_.subsegs));
        if (entry->second.distribution != distribution)
          words_.fail("mixes distributions: " + in_quotes(distribution) + " and " +
                      in_quotes(entry->second.distribution));
        model_.mean.push_back(scalar(means_, entry->second.mean));
        model_.variance.push_back(scalar(variances_, entry->second.variance));
      }
  }

  double scalar(const Scalars& scalars, const std::string& name) const {
    const auto found = scalars.find(name);
    if (found == scalars.end()) words_.fail("has no mean or variance " + in_quotes(name));
    return found->second;
  }

  Words words_;
  std::vector<Warning>& warnings_;
  SegwayModel model_;
  std::map<std::string, Table> tables_;
  Scalars means_, variances_;
  std::vector<std::string> mean_names_;  // in the order of the file
  std::map<std::string, Component> components_;
};

}  // namespace

SegwayModel read_segway_model(const std::string& path, std::vector<Warning>& warnings) {
  return SegwayReader(path, warnings).read();
}

std::string segway_record_text(const std::string& path, const std::string& segments, std::int64_t bin_size) {
  Json record{{"program", "Segway"},
              {"emission", "gaussian"},
              {"file", std::filesystem::path(path).filename().string()},
              {"sha256", file_sha256(path)}};
  if (bin_size != 1) record["emission_scale"] = bin_size;
  if (!segments.empty())
    record["segments"] = {{"file", std::filesystem::path(segments).filename().string()},
                          {"sha256", file_sha256(segments)}};
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace semicrf
