#include "eval/eval_rescore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/analyse.h"
#include "analyses/posteriors/posteriors.h"
#include "core/chain_model.h"
#include "core/error.h"
#include "eval/metrics/stretches.h"
#include "log/log.h"
#include "runs/device_choice.h"
#include "runs/piece_stream.h"
#include "windows/memory_budget.h"
#include "windows/path_score.h"

namespace semicrf {
namespace {

// Why the chain itself forbids a path over `positions` positions; empty when it does not. `roles`: of a label
// in the chain, which the path's labels are of (EdgeRoles); 1: there are none.
std::string chain_problem(const ChainModel& model, int roles, const std::vector<std::string>& label_names,
                          const std::vector<Segment>& path, std::int64_t positions,
                          const BinLocation& location) {
  const auto name_of = [&](int label) { return label_names[label / roles]; };
  std::int64_t at = 0;
  int left = -1;
  for (const Segment& segment : path) {
    if (segment.begin > at) return "no segment at " + location.place(at, segment.begin);
    const std::string place = location.place(segment.begin, segment.end);
    const std::string name = name_of(segment.label);
    if (segment.label >= model.num_labels) return "the model has no label \"" + name + "\", " + place;
    const std::int64_t duration = segment.end - segment.begin;
    if (model.duration_score(duration, segment.label) == kNegativeInfinity)
      return fmt::format(
          "a segment of \"{}\" cannot have {} bins, {}{}", name, duration, place,
          duration > model.max_duration ? fmt::format(" (max_duration is {})", model.max_duration) : "");
    if (left >= 0 && model.transition_at(left, segment.label) == kNegativeInfinity)
      return "\"" + name + "\" cannot follow \"" + name_of(left) + "\", " + place;
    left = segment.label;
    at = segment.end;
  }
  return at < positions ? "no segment at " + location.place(at, positions) : "";
}

// The parts of `pieces` in which every bin has a segment.
std::vector<BinRange> labelled_parts(const std::vector<BinRange>& pieces,
                                     const std::vector<Segment>& segments) {
  return common_ranges(pieces, covered_ranges(segments));
}

void add_path(RescoredPath& total, const RescoredPath& path) {
  if (total.impossible.empty()) total.impossible = path.impossible;
  if (total.impossible.empty()) {
    PathScores sum = total.score.value_or(PathScores{});
    sum.log_weight += path.score->log_weight;
    sum.viterbi_score += path.score->viterbi_score;
    total.score = sum;
  } else {
    total.score.reset();
  }
  total.segments += path.segments;
  total.moved += path.moved;
  total.lost += path.lost;
}

class Rescorer {
 public:
  Rescorer(const RescoreRequest& request, const ParameterFile& parameters,
           const std::vector<std::string>& names, const Segmentation& truth, const Segmentation& predicted,
           Progress* progress)
      : request_(request),
        names_(names),
        truth_(truth),
        predicted_(predicted),
        progress_(progress),
        inputs_(InputSet::open(request.input, parameters.parameters)),
        engines_(request.engine, parameters.parameters.chain) {
    log_note("engine: " + engine_line(engines_.whole(), request.engine.threads));
    for (const std::string& line : inputs_.binding()) log_detail("input: " + line);
    result_.device = engines_.whole().description();
    result_.params_sha256 = parameters.sha256;
    result_.bin_size = inputs_.bin_size();
  }

  RescoreResult run(const std::vector<std::string>& chromosomes) {
    const NameIndex wanted = NameIndex::of(chromosomes);
    const auto is_wanted = [&](const Sequence& sequence) { return wanted.contains(sequence.chromosome); };
    std::int64_t positions = 0;
    for (std::size_t i = 0; i < inputs_.sequences().size(); ++i)
      if (is_wanted(inputs_.sequences()[i])) positions += total_bins(make_pieces(inputs_.piece_request(i)));
    if (progress_ != nullptr) progress_->begin(positions);
    RunReport report;
    PieceStream pieces(
        inputs_, read_options(), report, [&](const Sequence& sequence, const std::vector<BinRange>& all) {
          return is_wanted(sequence) ? labelled_parts(all, labelled_on(sequence)) : std::vector<BinRange>();
        });
    std::map<std::size_t, Rescoring> sequences;  // by their index
    while (const std::optional<Piece> piece = pieces.next(nullptr))
      run_piece(*piece, sequences[piece->sequence], report.sequence(piece->sequence));
    if (progress_ != nullptr) progress_->end();
    report.tell_missing_values();
    for (const Warning& warning : inputs_.warnings()) report.warn(warning);
    Stats stats = report.finish("", "");
    for (auto& [index, sequence] : sequences) add(std::move(sequence), stats.sequences[index]);
    result_.warnings = std::move(stats.warnings);
    if (result_.total.positions == 0) refuse_nothing(chromosomes);
    result_.total.boundary_entropy /= static_cast<double>(result_.sequences.size());
    result_.total.position_entropy /= static_cast<double>(result_.total.positions);
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse_nothing(const std::vector<std::string>& chromosomes) const {
    std::vector<std::string> there;
    for (const Sequence& sequence : inputs_.sequences())
      if (there.empty() || there.back() != sequence.chromosome) there.push_back(sequence.chromosome);
    throw InputError({inputs_.paths().at(1), "",
                      "has no bin that is labelled in the truth: the evaluated chromosomes are " +
                          few_names(chromosomes) + ", the inputs have " + few_names(there),
                      "chromosome names must match exactly, including any \"chr\" prefix"});
  }

  ReadOptions read_options() const {
    ReadOptions read;
    read.precision = request_.engine.precision;
    read.threads = request_.engine.threads;
    read.cache_bytes = kDefaultWindowMemory / 4;
    return read;
  }

  // The bins that the truth labels.
  std::vector<Segment> labelled_on(const Sequence& sequence) const {
    const BinLocation whole = locate(sequence, inputs_.bin_size(), 0);
    return bin_segments(truth_.on(sequence.chromosome), {whole.origin, whole.bin_size, whole.limit}).segments;
  }

  PiecePlan plan_in_memory(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                           const AnalysisList& analyses, std::size_t kept) const {
    return semicrf::plan_in_memory(
        request_.max_memory, window_wish(engine, source, chain, analyses), [&](std::size_t memory) {
          return plan_piece(engine, source, chain, analyses, memory - std::min(memory, kept));
        });
  }

  void run_piece(const Piece& piece, Rescoring& sums, SequenceReport& report) {
    Engine& engine = engines_.take_up(piece.cut);
    const EdgeRoles* const roles = engines_.roles();
    const std::unique_ptr<ScoreSource> source =
        with_edge_roles(make_piece_source(piece.scores, piece.bins), roles);
    const PieceChain chain{roles};
    AnalysisList analyses;
    analyses.add<Posteriors>(PosteriorRequest{});
    const PiecePlan plan = plan_in_memory(engine, *source, chain, analyses, piece.scores->cached_bytes);
    const PieceResult result = analyse_piece(
        engine, *source, chain, analyses, plan, {}, [](const PieceResult&, const PosteriorBlock&) {},
        [&](std::int64_t positions) {
          if (progress_ != nullptr) progress_->advance(positions);
        });
    const std::int64_t bins = piece.bins.size();
    if (!result.feasible)
      throw InputError({"", piece.place(), fmt::format("no segmentation of {} bins has a finite score", bins),
                        "leave this region out with --exclude"});
    report.add(analyses, {result, piece.location, bins, engine.model()});
    add_path(sums.truth, score_segmentation(truth_, piece.location, bins, *source));
    add_path(sums.predicted, score_segmentation(predicted_, piece.location, bins, *source));
  }

  RescoredPath score_segmentation(const Segmentation& segmentation, const BinLocation& location,
                                  std::int64_t positions, ScoreSource& source) const {
    const BaseGrid grid{location.begin_base(0), location.bin_size, location.end_base(positions)};
    BinnedSegments binned =
        bin_segments(segments_meeting(segmentation.on(location.chromosome), grid.origin, grid.limit), grid);
    RescoredPath path;
    path.segments = std::ssize(binned.segments);
    path.moved = binned.moved;
    path.lost = binned.lost;
    const EdgeRoles* const roles = engines_.roles();
    if (roles != nullptr)
      for (Segment& segment : binned.segments) segment.label = roles->with_role(segment, positions);
    const ChainModel& model = roles != nullptr ? roles->chain() : engines_.whole().model();
    path.impossible = chain_problem(model, roles != nullptr ? roles->count() : 1, names_, binned.segments,
                                    positions, location);
    if (!path.impossible.empty()) return path;
    path.score = score_path(model, source, binned.segments);
    if (!path.score)
      path.impossible = "a score of -inf in the inputs or in start and end, " + location.place(0, positions);
    return path;
  }

  void add(Rescoring sequence, const SequenceStats& stats) {
    sequence.name = stats.name;
    sequence.positions = stats.covered;
    sequence.pieces = stats.pieces;
    sequence.log_partition = stats.log_partition.value_or(0);
    sequence.boundary_entropy = stats.boundary_entropy.value_or(0);
    sequence.position_entropy = stats.position_entropy.value_or(0);
    Rescoring& total = result_.total;
    total.positions += sequence.positions;
    total.pieces += sequence.pieces;
    total.log_partition += sequence.log_partition;
    total.boundary_entropy += sequence.boundary_entropy;
    total.position_entropy += sequence.position_entropy * static_cast<double>(sequence.positions);
    add_path(total.truth, sequence.truth);
    add_path(total.predicted, sequence.predicted);
    result_.sequences.push_back(std::move(sequence));
  }

  const RescoreRequest& request_;
  const std::vector<std::string>& names_;
  const Segmentation& truth_;
  const Segmentation& predicted_;
  Progress* progress_;
  InputSet inputs_;
  PieceEngine engines_;
  RescoreResult result_;
};

}  // namespace

std::optional<PathScores> score_path(const ChainModel& model, ScoreSource& source,
                                     const std::vector<Segment>& path) {
  PathScores scores;
  scores.viterbi_score = path_score(model, source, path);
  if (!std::isfinite(scores.viterbi_score)) return std::nullopt;  // -inf, or NaN from adding to it
  scores.log_weight = scores.viterbi_score + initial_gain(model, path.front().label);
  return scores;
}

RescoreResult rescore(const RescoreRequest& request, const ParameterFile& parameters,
                      const std::vector<std::string>& label_names,
                      const std::vector<std::string>& chromosomes, const Segmentation& truth,
                      const Segmentation& predicted, Progress* progress) {
  return Rescorer(request, parameters, label_names, truth, predicted, progress).run(chromosomes);
}

}  // namespace semicrf
