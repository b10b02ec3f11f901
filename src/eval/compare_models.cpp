#include "eval/compare_models.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analyses/posteriors/expected_score.h"
#include "analyses/posteriors/posterior_summing.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/posteriors/posteriors.h"
#include "core/error.h"
#include "core/text/names.h"
#include "eval/eval_input.h"
#include "eval/eval_rescore.h"
#include "eval/metrics/stretches.h"
#include "inputs/arguments/input_arguments.h"
#include "io/params/params_json.h"
#include "log/log.h"
#include "model/compare.h"
#include "model/scores/edge_roles.h"
#include "runs/device_choice.h"
#include "runs/piece_stream.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

constexpr std::size_t kSlabBytes = std::size_t{8} << 20;  // scores of Q that are read at a time

struct Plans {
  WindowPlan first, second;
};

class Comparer {
 public:
  Comparer(const ComparisonRequest& request, const ParameterFile& first, const ParameterFile& second,
           AlignedModels models, Progress* progress)
      : request_(request),
        models_(std::move(models)),
        progress_(progress),
        inputs_(InputSet::open(request.input, models_.first)),
        other_inputs_(InputSet::open(request.input, models_.second)),
        engines_(half_of(request.engine), models_.first.chain),
        other_engines_(half_of(request.engine), models_.second.chain) {
    log_note("engine: " + engine_line(engines_.whole(), request.engine.threads));
    for (const std::string& line : inputs_.binding()) log_detail("input: " + line);
    result_.params = file_title(request.input.parameters);
    result_.other = file_title(request.against);
    result_.params_sha256 = first.sha256;
    result_.other_sha256 = second.sha256;
    result_.device = engines_.whole().description();
    result_.bin_size = inputs_.bin_size();
    for (const Sequence& sequence : other_inputs_.sequences()) other_places_.add(sequence.title);
  }

  ModelComparison run() {
    collect_regions();
    ReadOptions read;
    read.precision = request_.engine.precision;
    read.threads = request_.engine.threads;
    read.cache_bytes = kDefaultWindowMemory / 8;
    RunReport report;
    PieceStream pieces(inputs_, read, report,
                       [&](const Sequence& sequence, const std::vector<BinRange>& all) {
                         return common_ranges(all, other_pieces(sequence, read));
                       });
    if (progress_ != nullptr) progress_->begin(2 * wanted_positions());
    while (const std::optional<Piece> piece = pieces.next(nullptr)) add(*piece, compare(*piece));
    if (progress_ != nullptr) progress_->end();
    report.tell_missing_values();
    if (uncertain_pieces_ > 0)
      report.warn(uncertain_entropy_warning("segmentation_entropy or cross_entropy", uncertain_pieces_,
                                            uncertainty_));
    for (const Warning& warning : inputs_.warnings()) report.warn(warning);
    result_.warnings = report.finish("", "").warnings;
    std::erase_if(result_.sequences, [](const ModelDifference& one) { return one.pieces == 0; });
    for (const ModelDifference& sequence : result_.sequences) result_.total += sequence;
    if (result_.total.pieces == 0)
      throw InputError({inputs_.paths().at(1), "", "has no bin that both models use", ""});
    return std::move(result_);
  }

 private:
  // Both engines have memory of a device at the same time.
  static EngineOptions half_of(EngineOptions options) {
    options.device_memory /= 2;
    return options;
  }

  std::int64_t wanted_positions() const {
    std::int64_t positions = 0;
    for (std::size_t i = 0; i < inputs_.sequences().size(); ++i)
      positions += total_bins(make_pieces(inputs_.piece_request(i)));
    return positions;
  }

  // Entries for all sequences and for the regions that are asked for.
  void collect_regions() {
    const InputOptions& input = request_.input;
    const bool given = !input.regions.empty() || !input.regions_file.empty();
    for (std::size_t i = 0; i < inputs_.sequences().size(); ++i) {
      const Sequence& sequence = inputs_.sequences()[i];
      result_.sequences.emplace_back().name = sequence.title;
      region_bins_.emplace_back();
      first_region_.push_back(result_.regions.size());
      if (!given) continue;
      PieceRequest request = inputs_.piece_request(i);
      request.exclude.clear();
      region_bins_.back() = make_pieces(request);
      const BinLocation location = locate(sequence, inputs_.bin_size(), 0);
      for (const BinRange& bins : region_bins_.back())
        result_.regions.emplace_back().name = location.place(bins.begin, bins.end);
    }
  }

  // The pieces of a sequence that Q has, whose scores are opened for it.
  const std::vector<BinRange>& other_pieces(const Sequence& sequence, const ReadOptions& read) {
    if (other_title_ == sequence.title) return other_ranges_;
    other_title_ = sequence.title;
    other_ranges_.clear();
    other_scores_.reset();
    const std::optional<std::size_t> index = other_places_.find(sequence.title);
    if (!index) return other_ranges_;
    PieceRequest request = other_inputs_.piece_request(*index);
    if (make_pieces(request).empty()) return other_ranges_;
    other_scores_ = other_inputs_.open_scores(*index, read);
    request.missing = other_inputs_.scan(*index, *other_scores_).missing;
    other_ranges_ = make_pieces(request);
    return other_ranges_;
  }

  Plans plan(const Engine& engine, const Engine& other_engine, const ScoreSource& source,
             const ScoreSource& other, const PosteriorSelection& selection, std::size_t kept) const {
    const WindowNeeds needs = posterior_needs(engine, source, selection);
    const WindowNeeds other_needs = log_needs(other_engine, other);
    const std::size_t slab = CrossScore::bytes(other, kSlabBytes) + kept;
    const auto comfortable = [&](const Engine& own, const WindowNeeds& of) {
      return comfortable_window_bytes(source.length(), own.grid(source.length()), of);
    };
    WindowWish wish;
    wish.comfortable =
        slab + 2 * std::max(comfortable(engine, needs), comfortable(other_engine, other_needs));
    return plan_in_memory(request_.max_memory, wish, [&](std::size_t memory) {
      const std::size_t half = (memory - std::min(memory, slab)) / 2;
      return Plans{plan_windows(source.length(), engine.grid(source.length()), needs, half),
                   plan_windows(source.length(), other_engine.grid(source.length()), other_needs, half)};
    });
  }

  ModelDifference compare(const Piece& piece) {
    Engine& engine = engines_.take_up(piece.cut);
    Engine& other_engine = other_engines_.take_up(piece.cut);
    const std::unique_ptr<ScoreSource> source =
        with_edge_roles(make_piece_source(piece.scores, piece.bins), engines_.roles());
    const std::unique_ptr<ScoreSource> other =
        with_edge_roles(make_piece_source(other_scores_, piece.bins), other_engines_.roles());
    PosteriorSelection selection;
    selection.counts = true;
    selection.threads = request_.engine.threads;
    const Plans plans = plan(engine, other_engine, *source, *other, selection,
                             piece.scores->cached_bytes + other_scores_->cached_bytes);
    const auto progress = [&](std::int64_t positions) {
      if (progress_ != nullptr) progress_->advance(positions);
    };
    ModelDifference result;
    result.pieces = 1;
    result.positions = piece.bins.size();
    result.other_log_partition = log_partition(other_engine, *other, plans.second, {}, progress);
    double uncertainty = 0;
    const auto expect = [&](Engine& of_p, const WindowPlan& plan, const ProgressCallback& advance) {
      CrossScore cross(of_p.model(), other_engine.model(), *other, of_p.precision(), request_.engine.threads,
                       kSlabBytes);
      selection.observer = &cross;
      const PosteriorResult posteriors = sweep_posteriors(
          of_p, *source, plan, selection, [](const PosteriorBlock&) {}, advance);
      if (!posteriors.feasible) refuse_piece(piece);
      uncertainty = add_expectations(posteriors, cross.score(), piece, result);
    };
    expect(engine, plans.first, progress);
    if (uncertainty > 0 && engine.precision() == Precision::kFloat) {
      const std::unique_ptr<Engine> precise =
          make_engine(options_in_double(half_of(request_.engine), request_.engine.threads, source->length()),
                      engine.model());
      expect(*precise, plan_at_least(*precise, *source, selection, plans.first.budget), {});
    }
    if (uncertainty > 0) ++uncertain_pieces_;
    uncertainty_ += uncertainty;
    return result;
  }

  // What posteriors of P, and the score of Q under them, say of a piece. Returns how uncertain that is, in
  // nats; 0 where it stands.
  double add_expectations(const PosteriorResult& posteriors, const ExpectedScore& score, const Piece& piece,
                          ModelDifference& result) const {
    result.log_partition = posteriors.log_partition;
    result.entropy = posteriors.sums->entropy;
    const ExpectedCounts& counts = posteriors.sums->counts;
    result.forbidden.clear();
    if (const auto forbidden = score.first_forbidden(counts)) {
      result.forbidden = reason(*forbidden, piece);
    } else if (result.other_log_partition == kNegativeInfinity) {
      result.forbidden = "no segmentation of " + piece.place() + " has a finite score under " + result_.other;
    }
    double uncertainty = 0;
    const auto judge = [&](double entropy, double by) {
      if (!is_certain(entropy, by)) uncertainty = std::max(uncertainty, by);
    };
    judge(result.entropy, posteriors.sums->entropy_uncertainty);
    if (!result.forbidden.empty()) {
      result.cross_entropy = -kNegativeInfinity;
    } else {
      result.cross_entropy = score.minus_expectation(result.other_log_partition, counts);
      judge(result.cross_entropy, score.uncertainty(counts));
    }
    return uncertainty;
  }

  [[noreturn]] void refuse_piece(const Piece& piece) const {
    throw InputError({"", piece.place(),
                      fmt::format("no segmentation of {} bins has a finite score under {}", piece.bins.size(),
                                  result_.params),
                      "leave this region out with --exclude"});
  }

  // What Q forbids, for people.
  std::string reason(const ForbiddenPart& part, const Piece& piece) const {
    using Kind = ForbiddenPart::Kind;
    const int roles = engines_.roles() != nullptr ? engines_.roles()->count() : 1;
    const auto name = [&](int label) { return '"' + models_.first.labels[label / roles].name + '"'; };
    const std::string place = piece.location.place(part.position, part.position + 1);
    const std::string label = name(part.label);
    if (!models_.second_has[part.label / roles])
      return result_.other + " has no label " + label + ", " + place;
    switch (part.kind) {
      case Kind::kEmission:
        return "the score of " + label + " is -inf, " + place;
      case Kind::kStart:
        return "no segment of " + label + " may start, " + place;
      case Kind::kEnd:
        return "no segment of " + label + " may end, " + place;
      case Kind::kTransition:
        return label + " cannot follow " + name(part.from) + ", " + place;
      case Kind::kInitial:
        return "no transition leads to " + label + ", so that it cannot be first, " + place;
      case Kind::kDuration:
        return fmt::format("a segment of {} cannot have {} bins, somewhere in {}", label, part.duration,
                           piece.place());
      case Kind::kTail:
        return fmt::format("a segment of {} cannot have more than {} bins, somewhere in {}", label,
                           part.duration, piece.place());
    }
    return "";
  }

  void add(const Piece& piece, const ModelDifference& found) {
    result_.sequences[piece.sequence] += found;
    const std::vector<BinRange>& regions = region_bins_[piece.sequence];
    for (std::size_t i = 0; i < regions.size(); ++i)
      if (regions[i].begin <= piece.bins.begin && piece.bins.end <= regions[i].end)
        result_.regions[first_region_[piece.sequence] + i] += found;
  }

  const ComparisonRequest& request_;
  AlignedModels models_;
  Progress* progress_;
  InputSet inputs_, other_inputs_;
  NameIndex other_places_;  // places of the sequences' titles
  PieceEngine engines_, other_engines_;
  std::vector<std::vector<BinRange>> region_bins_;  // by sequence
  std::vector<std::size_t> first_region_;           // first region of each sequence, in the result
  std::string other_title_;                         // the sequence of Q that is open
  std::vector<BinRange> other_ranges_;              // its pieces
  std::shared_ptr<SequenceScores> other_scores_;    // scores of that sequence
  std::int64_t uncertain_pieces_ = 0;               // whose entropies do not stand
  double uncertainty_ = 0;                          // entropy of these pieces, nats
  ModelComparison result_;
};

// The bin size that either file says is that of both.
void settle_bin_sizes(const ComparisonRequest& request, Parameters& first, Parameters& second) {
  if (first.bin_size_given && second.bin_size_given && first.bin_size != second.bin_size)
    throw InputError({request.against, "/bin_size",
                      fmt::format("is {}, but {} has {}", second.bin_size,
                                  file_title(request.input.parameters), first.bin_size),
                      "two models can be compared only on the same bins"});
  Parameters& known = first.bin_size_given ? first : second;
  Parameters& other = first.bin_size_given ? second : first;
  if (!known.bin_size_given) return;
  other.bin_size = known.bin_size;
  other.bin_size_given = true;
}

void check_inputs(const ComparisonRequest& request, const Parameters& first, const Parameters& second) {
  const std::string name = file_title(request.input.parameters);
  const auto kind = [](const Parameters& parameters) {
    return parameters.emission ? "makes its scores of tracks" : "takes label scores";
  };
  if (first.emission.has_value() != second.emission.has_value())
    throw InputError({request.against, "/emission",
                      std::string("this model ") + kind(second) + ", but " + name + " " + kind(first),
                      "two models can be compared only on the same inputs"});
  const bool arrays = std::ranges::any_of(input_arguments(request.input), [](const InputArgument& argument) {
    return argument.kind == InputKind::kNpy || argument.kind == InputKind::kNpz;
  });
  if (!arrays) return;
  // Columns have no names: they are those of the first model.
  const auto check_names = [&](const char* where, const auto& have, const auto& wanted,
                               const std::string& what) {
    for (const auto& one : wanted)
      if (std::ranges::none_of(have, [&](const auto& known) { return known.name == one.name; }))
        throw InputError({request.against, where,
                          "has the " + what + " \"" + one.name + "\", which " + name +
                              " lacks: the arrays have no column for it",
                          "give bigWig files, which are bound by their names"});
  };
  if (first.emission) check_names("/tracks", first.tracks, second.tracks, "track");
  if (!first.emission) check_names("/labels", first.labels, second.labels, "label");
}

}  // namespace

ModelComparison compare_models(const ComparisonRequest& request, Progress* progress) {
  ParameterFile first = read_params_json(request.input.parameters);
  ParameterFile second = read_params_json(request.against);
  settle_bin_sizes(request, first.parameters, second.parameters);
  if (!request.input.edges && first.parameters.edges != second.parameters.edges)
    throw InputError({request.against, "/edges",
                      "differs from that of " + file_title(request.input.parameters) +
                          ": one scores the first and last segments of cut pieces as complete, the other as "
                          "censored",
                      "say --edges complete or --edges censored, for both"});
  check_inputs(request, first.parameters, second.parameters);
  return Comparer(request, first, second, align_models(first.parameters, second.parameters), progress).run();
}

}  // namespace semicrf
