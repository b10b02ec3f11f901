#include "io/json/stats_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/output_file.h"
#include "io/json/statistic_json.h"

namespace semicrf {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename Value>
void put_optional(OrderedJson& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = *value;
}

OrderedJson missing_json(const std::vector<MissingStats>& tracks) {
  OrderedJson list = OrderedJson::array();
  for (const MissingStats& track : tracks) {
    list.push_back({{"track", track.track}, {"bins", track.bins}});
    put_optional(list.back(), "bases", track.bases);
    list.back()["policy"] = track.policy;
  }
  return list;
}

OrderedJson labels_json(const std::vector<LabelStats>& labels) {
  OrderedJson list = OrderedJson::array();
  for (const LabelStats& label : labels)
    list.push_back({{"name", label.name},
                    {"expected_segments", label.expected_segments},
                    {"expected_bases", label.expected_bases},
                    {"position_entropy", label.position_entropy}});
  return list;
}

OrderedJson length_json(const LengthStats& length) {
  OrderedJson object;
  put_known(object, length_statistics(), length);
  return object;
}

OrderedJson decoded_json(const std::vector<DecodedLabelStats>& labels) {
  OrderedJson list = OrderedJson::array();
  for (const DecodedLabelStats& label : labels) {
    const auto put = [&](JsonPart part) { put_known(list.back(), label_statistics(), label, part); };
    list.push_back(OrderedJson::object());
    list.back()["name"] = label.name;
    put(JsonPart::kFirst);
    if (label.length) list.back()["length"] = length_json(*label.length);
    put(JsonPart::kSecond);
    put(JsonPart::kThird);
    list.back()["followed_by"] = label.followed_by;
  }
  return list;
}

OrderedJson pieces_json(const std::vector<PieceStats>& pieces) {
  OrderedJson list = OrderedJson::array();
  for (const PieceStats& piece : pieces) {
    OrderedJson object;
    object["start"] = piece.start;
    object["end"] = piece.end;
    put_optional(object, "log_partition", piece.log_partition);
    put_optional(object, "expected_segments", piece.expected_segments);
    put_optional(object, "segmentation_entropy", piece.segmentation_entropy);
    put_optional(object, "log_constraint_probability", piece.log_constraint_probability);
    list.push_back(std::move(object));
  }
  return list;
}

// Numbers of the sequence: sums of file r over the pieces that have an r-th segmentation.
void put_ranks(OrderedJson& object, const std::vector<RankStats>& pieces) {
  std::vector<double> score, log_probability;
  OrderedJson list = OrderedJson::array();
  for (const RankStats& piece : pieces) {
    const std::size_t ranks = std::max(score.size(), piece.score.size());
    score.resize(ranks);
    log_probability.resize(ranks);
    for (std::size_t i = 0; i < piece.score.size(); ++i) {
      score[i] += piece.score[i];
      log_probability[i] += piece.log_probability[i];
    }
    list.push_back({{"start", piece.start},
                    {"end", piece.end},
                    {"score", piece.score},
                    {"log_probability", piece.log_probability}});
  }
  object["score"] = score;
  object["log_probability"] = log_probability;
  object["best"] = list;
}

OrderedJson sequence_json(const SequenceStats& sequence) {
  OrderedJson object;
  const auto put = [&](JsonPart part) { put_known(object, sequence_statistics(), sequence, part); };
  object["name"] = sequence.name;
  put(JsonPart::kFirst);
  if (sequence.missing_values) object["missing_values"] = missing_json(*sequence.missing_values);
  put_optional(object, "baseline", sequence.baseline);
  put(JsonPart::kSecond);
  if (sequence.best) put_ranks(object, *sequence.best);
  put_optional(object, "log_likelihood", sequence.log_likelihood);
  put(JsonPart::kThird);
  if (sequence.labels) object["labels"] = labels_json(*sequence.labels);
  if (sequence.decoded_labels) object["decoded_labels"] = decoded_json(*sequence.decoded_labels);
  if (sequence.each_piece) object["each_piece"] = pieces_json(*sequence.each_piece);
  return object;
}

// Names that are not UTF-8 must not make the statistics fail.
std::string indented(const OrderedJson& json) {
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, OrderedJson::error_handler_t::replace);
}

template <class Write>
void write_parts(const Stats& stats, Write write) {
  const StatsFrame frame = stats_frame(stats, !stats.sequences.empty());
  write(frame.before);
  for (const SequenceStats& sequence : stats.sequences)
    write(stats_entry(sequence, &sequence == stats.sequences.data()));
  write(frame.behind);
}

}  // namespace

std::string stats_entry(const SequenceStats& sequence, bool is_first) {
  const std::string line = "\n    ";  // two levels below the document
  std::string text = is_first ? line : "," + line;
  for (const char c : indented(sequence_json(sequence)))
    if (c == '\n') {
      text += line;
    } else {
      text += c;
    }
  return text;
}

StatsFrame stats_frame(const Stats& stats, bool has_entries) {
  OrderedJson document;
  document["format"] = "semicrf-stats";
  document["format_version"] = "1.0";
  document["version"] = stats.version;
  document["device"] = stats.device;
  document["timings"] = OrderedJson::object();
  for (const auto& [name, seconds] : stats.timings) document["timings"][name] = seconds;
  put_optional(document, "peak_memory", stats.peak_memory);
  document["warnings"] = OrderedJson::array();
  for (const Warning& warning : stats.warnings) {
    document["warnings"].push_back({{"code", warning.code}, {"message", warning.message}});
  }
  if (!stats.missing_tracks.empty()) {
    document["missing_tracks"] = OrderedJson::array();
    for (const MissingTrackStats& track : stats.missing_tracks)
      document["missing_tracks"].push_back({{"track", track.track}, {"policy", track.policy}});
  }
  put_optional(document, "log_constraint_probability", stats.log_constraint_probability);
  if (stats.learning) {
    document["log_likelihood"] = stats.learning->log_likelihood;
    for (const auto& [name, value] : stats.learning->numbers) document[name] = value;
  }
  if (stats.decoded_labels) document["decoded_labels"] = decoded_json(*stats.decoded_labels);
  if (stats.decoded_lengths) document["decoded_lengths"] = length_json(*stats.decoded_lengths);
  document["sequences"] = OrderedJson::array();
  const std::string text = indented(document) + "\n";  // it ends with this empty list
  const std::size_t end_of_list = text.rfind(']');
  return {text.substr(0, end_of_list), (has_entries ? "\n  " : "") + text.substr(end_of_list)};
}

std::string stats_text(const Stats& stats) {
  std::string text;
  write_parts(stats, [&](const std::string& part) { text += part; });
  return text;
}

void write_stats(const std::string& path, const Stats& stats, const SpooledText& entries) {
  OutputFile file({path, IndexKind::kNone});
  const StatsFrame frame = stats_frame(stats, !entries.empty());
  file.write(frame.before);
  entries.visit([&](std::string_view part) { file.write(part); });
  file.write(frame.behind);
  file.commit();
}

}  // namespace semicrf
