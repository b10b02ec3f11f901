#include "genes/gene_model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/chain_model.h"
#include "core/counts.h"
#include "core/error.h"
#include "core/text/names.h"
#include "genes/genetic_code.h"
#include "io/files/mapped_file.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kFormat = "semicrf-genes", kVersion = "1.0", kVersionWithTracks = "1.1",
                           kVersionWithParts = "1.2", kVersionWithCode = "1.3";
constexpr double kMost = 1e9;
constexpr NumberRule kScore{-kMost, kMost, false, true,
                            "a number of at most 1e9 in magnitude or the string \"-inf\""};
constexpr NumberRule kFinite{-kMost, kMost, false, false, "a number of at most 1e9 in magnitude"};
constexpr NumberRule kPositive{0, kMost, true, false, "a number above 0"};
constexpr NumberRule kTail{-kMost, 0, true, true, "a number below 0 or the string \"-inf\""};
constexpr std::int64_t kMostTable = 1000000;
constexpr std::int64_t kMostAround = 1000;
constexpr int kMostOrder = 8;

// Names of frame rules, in the order of FrameRule.
constexpr std::array<std::string_view, 6> kFrames{"none",    "coding",     "carry",
                                                  "overlap", "convergent", "divergent"};

// What an intron has before it of a codon, in the order of SplitCodon.
constexpr std::array<std::string_view, 5> kSplits{"any", "other", "T", "TA", "TG"};

double rounded(double value) { return std::stod(fmt::format("{:.5g}", value)); }

OrderedJson score_json(double value) {
  return value == kNegativeInfinity ? OrderedJson("-inf") : OrderedJson(rounded(value));
}

OrderedJson list_json(const auto& values) {
  OrderedJson list = OrderedJson::array();
  for (const auto value : values) list.push_back(score_json(value));
  return list;
}

OrderedJson rows_json(const std::vector<std::array<float, 4>>& rows) {
  OrderedJson list = OrderedJson::array();
  for (const auto& row : rows) list.push_back(list_json(row));
  return list;
}

OrderedJson name_or_null(const auto& list, int index) {
  return index < 0 ? OrderedJson() : OrderedJson(list[index].name);
}

OrderedJson terms_json(const std::vector<TrackTerm>& terms, const GeneModel& model, bool of_signal) {
  OrderedJson list = OrderedJson::array();
  for (const TrackTerm& term : terms) {
    OrderedJson one;
    const auto name = [&](std::size_t i) { return model.tracks[term.track[i]].name; };
    if (name(0) == name(1) && name(0) == name(2))
      one["track"] = name(0);
    else
      one["track"] = {name(0), name(1), name(2)};
    one["strand"] = term.other_strand ? "other" : "same";
    if (of_signal) one["at"] = term.at;
    one["weight"] = rounded(term.weight);
    list.push_back(std::move(one));
  }
  return list;
}

// What stands in a list of the file and is named elsewhere in it.
template <class Items>
int index_of(const Items& items, const JsonNode& node, const char* what) {
  const std::string& name = node.text("a name");
  for (int i = 0; i < count_of(items); ++i)
    if (items[i].name == name) return i;
  node.fail(fmt::format("no {} is called {}", what, in_quotes(name)));
}

template <class Items>
int optional_index(const Items& items, const std::optional<JsonNode>& node, const char* what) {
  return !node || node->is_null() ? -1 : index_of(items, *node, what);
}

// The first version that has all that is in the model.
std::string_view version_of(const GeneModel& model) {
  const bool has_parts =
      std::any_of(model.states.begin(), model.states.end(),
                  [](const GeneState& one) { return one.untranslated || one.split != SplitCodon::kAny; }) ||
      std::any_of(model.signals.begin(), model.signals.end(),
                  [](const SignalModel& one) { return !one.excluded.empty(); });
  if (!is_standard(model.genetic_code)) return kVersionWithCode;
  return has_parts ? kVersionWithParts : model.tracks.empty() ? kVersion : kVersionWithTracks;
}

class Reader {
 public:
  explicit Reader(const JsonNode& root) : root_(root) {}

  GeneModel read() {
    constexpr std::array<std::string_view, 10> kKeys{
        "format",   "format_version", "description", "states", "transitions",
        "contents", "signals",        "lengths",     "tracks", "genetic_code"};
    root_.expect_object(kKeys);
    if (root_.at("format").text() != kFormat)
      root_.at("format").fail_expected("\"semicrf-genes\"", "make it with semicrf train-genes");
    if (!root_.at("format_version").text().starts_with("1."))
      root_.at("format_version")
          .fail_expected("a version that begins with 1.", "use the program that wrote it");
    if (const auto description = root_.find("description")) model_.description = description->text();
    if (const auto code = root_.find("genetic_code")) {
      model_.genetic_code = static_cast<int>(code->integer(0, 1000));
      if (find_genetic_code(model_.genetic_code) == nullptr) code->fail_expected(genetic_code_numbers());
    }
    if (root_.find("tracks"))
      read_list("tracks", model_.tracks, [&](const JsonNode& node) { return read_track(node); });
    read_list("contents", model_.contents, [&](const JsonNode& node) { return read_content(node); });
    read_list("signals", model_.signals, [&](const JsonNode& node) { return read_signal(node); });
    read_list("lengths", model_.lengths, [&](const JsonNode& node) { return read_length(node); });
    read_list("states", model_.states, [&](const JsonNode& node) { return read_state(node); });
    if (model_.states.empty() || model_.states[0].stranded)
      root_.at("states").fail("the first state stands at the ends of sequences and is on no strand",
                              "put it first");
    const JsonNode list = root_.at("transitions");
    for (std::size_t i = 0; i < list.list_size("of transitions"); ++i) {
      const JsonNode node = list.element(i);
      node.expect_list(3, "from, to, score");
      model_.transitions.push_back({index_of(model_.states, node.element(0), "state"),
                                    index_of(model_.states, node.element(1), "state"),
                                    node.element(2).number(kFinite)});
    }
    return std::move(model_);
  }

 private:
  template <class Items, class Read>
  void read_list(const char* key, Items& items, Read read) const {
    const JsonNode list = root_.at(key);
    std::set<std::string> names;
    for (std::size_t i = 0; i < list.list_size("of objects"); ++i) {
      items.push_back(read(list.element(i)));
      if (!names.insert(items.back().name).second) list.element(i).at("name").fail("the name is there twice");
    }
  }

  static std::string name_of(const JsonNode& node) {
    const std::string& name = node.at("name").text("a name");
    if (const std::string problem = name_problem(name); !problem.empty()) node.at("name").fail(problem);
    return name;
  }

  static TrackModel read_track(const JsonNode& node) {
    constexpr std::array<std::string_view, 3> kKeys{"name", "scale", "floor"};
    node.expect_object(kKeys);
    TrackModel track;
    track.name = name_of(node);
    const std::string& scale = node.at("scale").text("log or linear");
    if (scale != "log" && scale != "linear") node.at("scale").fail_expected("log or linear");
    track.logarithm = scale == "log";
    if (track.logarithm) track.floor = node.at("floor").number(kPositive);
    return track;
  }

  std::vector<TrackTerm> read_terms(const JsonNode& owner, bool of_signal, bool knows_codons) const {
    std::vector<TrackTerm> terms;
    const auto list = owner.find("tracks");
    if (!list) return terms;
    for (std::size_t i = 0; i < list->list_size("of terms"); ++i) {
      const JsonNode node = list->element(i);
      constexpr std::array<std::string_view, 4> kKeys{"track", "strand", "weight", "at"};
      node.expect_object(std::span(kKeys).first(of_signal ? 4 : 3));
      TrackTerm term;
      const JsonNode track = node.at("track");
      if (track.json().is_array()) {
        if (!knows_codons) track.fail("a track for each position of a codon needs a content with codons");
        track.expect_list(3, "one per position of a codon");
        for (std::size_t c = 0; c < 3; ++c)
          term.track[c] = index_of(model_.tracks, track.element(c), "track");
      } else {
        term.track.fill(index_of(model_.tracks, track, "track"));
      }
      const std::string& strand = node.at("strand").text("same or other");
      if (strand != "same" && strand != "other") node.at("strand").fail_expected("same or other");
      term.other_strand = strand == "other";
      if (of_signal) term.at = static_cast<int>(node.at("at").integer(-kMostAround, kMostAround));
      term.weight = node.at("weight").number(kFinite);
      terms.push_back(term);
    }
    return terms;
  }

  ContentModel read_content(const JsonNode& node) const {
    constexpr std::array<std::string_view, 7> kKeys{"name", "order",  "codons", "weight",
                                                    "bias", "tables", "tracks"};
    node.expect_object(kKeys);
    ContentModel content;
    content.name = name_of(node);
    content.order = static_cast<int>(node.at("order").integer(0, kMostOrder));
    content.codons = flag(node, "codons");
    content.weight = node.at("weight").number(kPositive);
    content.bias = node.at("bias").number(kFinite);
    const JsonNode tables = node.at("tables");
    tables.expect_list(content.codons ? 3 : 1, content.codons ? "one per position of a codon" : "one");
    for (std::size_t i = 0; i < (content.codons ? 3U : 1U); ++i) {
      const std::vector<double> numbers = tables.element(i).numbers(
          std::size_t{1} << (2 * (content.order + 1)), "one per word of order + 1 bases", kFinite);
      content.tables.emplace_back(numbers.begin(), numbers.end());
    }
    content.terms = read_terms(node, false, content.codons);
    return content;
  }

  static bool flag(const JsonNode& node, const char* key) {
    const auto value = node.find(key);
    if (!value) return false;
    if (!value->json().is_boolean()) value->fail_expected("true or false");
    return value->json().get<bool>();
  }

  // Log odds of A, C, G and T for each of some bases.
  static std::vector<std::array<float, 4>> read_rows(const JsonNode& node) {
    const std::size_t count = node.list_size("of rows");
    if (count > kMostAround) node.fail("more than 1000 rows");
    const std::vector<double> numbers = node.matrix(count, "a row per base", 4, "A, C, G, T", kFinite);
    std::vector<std::array<float, 4>> rows(count);
    for (std::size_t i = 0; i < numbers.size(); ++i) rows[i / 4][i % 4] = static_cast<float>(numbers[i]);
    return rows;
  }

  static std::vector<std::string> read_words(const JsonNode& node) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < node.list_size("of words"); ++i) {
      const std::string& word = node.element(i).text("bases");
      if (word.empty() || word.size() > 20 || word.find_first_not_of("ACGT") != word.npos)
        node.element(i).fail_expected("1 to 20 letters of A, C, G and T");
      words.push_back(word);
    }
    return words;
  }

  SignalModel read_signal(const JsonNode& node) const {
    constexpr std::array<std::string_view, 11> kKeys{"motif_places", "motif",    "name",    "consensus",
                                                     "consensus_at", "in_frame", "first",   "log_odds",
                                                     "weight",       "tracks",   "excluded"};
    node.expect_object(kKeys);
    SignalModel signal;
    signal.name = name_of(node);
    const JsonNode words = node.at("consensus");
    signal.consensus = read_words(words);
    if (signal.consensus.empty()) words.fail("no word in it");
    for (std::size_t i = 1; i < signal.consensus.size(); ++i)
      if (signal.consensus[i].size() != signal.consensus[0].size())
        words.element(i).fail("words of a signal have one length");
    if (const auto excluded = node.find("excluded")) signal.excluded = read_words(*excluded);
    signal.consensus_at = static_cast<int>(node.at("consensus_at").integer(-kMostAround, kMostAround));
    signal.in_frame = flag(node, "in_frame");
    signal.first = static_cast<int>(node.at("first").integer(-kMostAround, kMostAround));
    signal.weight = node.at("weight").number(kPositive);
    signal.log_odds = read_rows(node.at("log_odds"));
    signal.terms = read_terms(node, true, false);
    if (const auto motif = node.find("motif")) {
      signal.motif = read_rows(*motif);
      const JsonNode places = node.at("motif_places");
      places.expect_list(2, "the first, and one behind the last");
      signal.motif_from = static_cast<int>(places.element(0).integer(-kMostAround, kMostAround));
      signal.motif_to = static_cast<int>(places.element(1).integer(-kMostAround, kMostAround));
      if (signal.motif_to <= signal.motif_from) places.fail("no place in it");
    }
    return signal;
  }

  static LengthModel read_length(const JsonNode& node) {
    constexpr std::array<std::string_view, 4> kKeys{"name", "log_tail", "weight", "table"};
    node.expect_object(kKeys);
    LengthModel length;
    length.name = name_of(node);
    length.log_tail = node.at("log_tail").number(kTail);
    length.weight = node.at("weight").number(kPositive);
    const JsonNode table = node.at("table");
    const std::size_t count = table.list_size("of scores");
    if (count == 0 || count > kMostTable) table.fail("a table has 1 to 1000000 durations");
    length.table = table.numbers(count, "one per duration", kScore);
    return length;
  }

  GeneState read_state(const JsonNode& node) const {
    constexpr std::array<std::string_view, 11> kKeys{"name",    "stranded",     "frame",       "coding",
                                                     "content", "start",        "end",         "length",
                                                     "split",   "ends_in_stop", "untranslated"};
    node.expect_object(kKeys);
    GeneState state;
    state.name = name_of(node);
    state.stranded = flag(node, "stranded");
    state.coding = flag(node, "coding");
    constexpr const char* kWanted = "none, coding, carry, overlap, convergent or divergent";
    const std::string& frame = node.at("frame").text(kWanted);
    const auto rule = std::find(kFrames.begin(), kFrames.end(), frame);
    if (rule == kFrames.end()) node.at("frame").fail_expected(kWanted);
    state.frame = static_cast<FrameRule>(rule - kFrames.begin());
    state.untranslated = flag(node, "untranslated");
    if (state.untranslated && (state.coding || !state.stranded))
      node.at("untranslated").fail("untranslated bases are on a strand and no CDS");
    if (const auto split = node.find("split")) {
      const auto found = std::find(kSplits.begin(), kSplits.end(), split->text("bases"));
      if (found == kSplits.end()) split->fail_expected("any, other, T, TA or TG");
      state.split = static_cast<SplitCodon>(found - kSplits.begin());
    }
    state.ends_in_stop = flag(node, "ends_in_stop");
    if (!state.stranded && state.frame != FrameRule::kNone)
      node.at("frame").fail("a state on no strand has no frame", "write none, or \"stranded\": true");
    state.content = optional_index(model_.contents, node.find("content"), "content");
    state.start = optional_index(model_.signals, node.find("start"), "signal");
    state.end = optional_index(model_.signals, node.find("end"), "signal");
    state.length = index_of(model_.lengths, node.at("length"), "length");
    const FrameRule wanted = state.ends_in_stop ? FrameRule::kCoding : FrameRule::kCarry;
    if (state.split != SplitCodon::kAny && (state.frame != wanted || state.start < 0 || state.end < 0))
      node.at("split").fail(
          "an intron splits codons",
          "give it a start, an end and \"frame\": \"carry\" (\"coding\" with \"ends_in_stop\")");
    if (state.ends_in_stop && state.split < SplitCodon::kT)
      node.at("ends_in_stop").fail("no stop codon is split there", "\"split\" is T, TA or TG then");
    if (state.content >= 0 && model_.contents[state.content].codons && state.frame != FrameRule::kCoding)
      node.at("content").fail("a content with codons needs a state with \"frame\": \"coding\"");
    return state;
  }

  JsonNode root_;
  GeneModel model_;
};

}  // namespace

std::string gene_model_text(const GeneModel& model) {
  OrderedJson root;
  root["format"] = kFormat;
  root["format_version"] = version_of(model);
  root["description"] = model.description;
  if (!is_standard(model.genetic_code)) root["genetic_code"] = model.genetic_code;
  for (const TrackModel& one : model.tracks) {
    OrderedJson track = {{"name", one.name}, {"scale", one.logarithm ? "log" : "linear"}};
    if (one.logarithm) track["floor"] = one.floor;
    root["tracks"].push_back(std::move(track));
  }
  root["states"] = OrderedJson::array();
  for (const GeneState& state : model.states) {
    root["states"].push_back({{"name", state.name},
                              {"stranded", state.stranded},
                              {"frame", kFrames[static_cast<std::size_t>(state.frame)]},
                              {"coding", state.coding},
                              {"content", name_or_null(model.contents, state.content)},
                              {"start", name_or_null(model.signals, state.start)},
                              {"end", name_or_null(model.signals, state.end)},
                              {"length", model.lengths[state.length].name}});
    OrderedJson& written = root["states"].back();
    if (state.untranslated) written["untranslated"] = true;
    if (state.split != SplitCodon::kAny) written["split"] = kSplits[static_cast<std::size_t>(state.split)];
    if (state.ends_in_stop) written["ends_in_stop"] = true;
  }
  root["transitions"] = OrderedJson::array();
  for (const GeneTransition& one : model.transitions)
    root["transitions"].push_back(
        {model.states[one.from].name, model.states[one.to].name, rounded(one.score)});
  root["contents"] = OrderedJson::array();
  for (const ContentModel& one : model.contents) {
    OrderedJson tables = OrderedJson::array();
    for (const std::vector<float>& table : one.tables) tables.push_back(list_json(table));
    root["contents"].push_back({{"name", one.name},
                                {"order", one.order},
                                {"codons", one.codons},
                                {"weight", rounded(one.weight)},
                                {"bias", rounded(one.bias)},
                                {"tables", tables}});
    if (!one.terms.empty()) root["contents"].back()["tracks"] = terms_json(one.terms, model, false);
  }
  root["signals"] = OrderedJson::array();
  for (const SignalModel& one : model.signals) {
    OrderedJson signal = {{"name", one.name},
                          {"consensus", one.consensus},
                          {"consensus_at", one.consensus_at},
                          {"in_frame", one.in_frame},
                          {"weight", rounded(one.weight)},
                          {"first", one.first},
                          {"log_odds", rows_json(one.log_odds)}};
    if (!one.excluded.empty()) signal["excluded"] = one.excluded;
    if (!one.motif.empty()) {
      signal["motif_places"] = {one.motif_from, one.motif_to};
      signal["motif"] = rows_json(one.motif);
    }
    if (!one.terms.empty()) signal["tracks"] = terms_json(one.terms, model, true);
    root["signals"].push_back(std::move(signal));
  }
  root["lengths"] = OrderedJson::array();
  for (const LengthModel& one : model.lengths)
    root["lengths"].push_back({{"name", one.name},
                               {"weight", rounded(one.weight)},
                               {"log_tail", score_json(one.log_tail)},
                               {"table", list_json(one.table)}});
  return root.dump() + "\n";
}

GeneModel read_gene_model(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Json json = parse_json(text, path, {}, "a gene model");
  return Reader(JsonNode(json, path)).read();
}

}  // namespace semicrf
