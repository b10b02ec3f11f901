// Pieces on their way through an engine: what it is given of each, and what becomes of its answer.
//
// An engine that projects (Engine::projects) is given features, and gives sums of features over positions. To
// the other engines go scores that the host made of the features (model/scores/score_source), and the
// posteriors of every position come back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/batch.h"
#include "model/scores/linear_heads.h"
#include "model/scores/score_source.h"
#include "train/objective/head_gradient.h"
#include "train/objective/objective.h"

namespace semicrf {

class DensityGradient;
class DensityScores;

class PieceBatch {
 public:
  // Which segmentations count: all, or those that agree with a piece's evidence.
  enum class Sum { kAll, kAllowed };
  struct Setup {
    const Parameters& parameters;
    const LinearHeads& heads;  // heads of the parameters
    const ObjectiveOptions& options;
    Precision precision = Precision::kFloat;  // precision of scores
    bool project = false;                     // whether the engine projects
    bool with_gradient = false;
    const EdgeRoles* roles = nullptr;  // roles of pieces that were cut; else null
    bool has_role_chain = false;       // whether the engine has their chain; else it knows cut edges. Such an
                                       // engine is not made to project
    Sum sum = Sum::kAll;
    double penalty = 0;  // allowed_scores.h; of kAllowed
    std::vector<const TrainingPiece*> pieces;
    const DensityScores* densities = nullptr;           // where these make the scores
    const DensityGradient* density_gradient = nullptr;  // where derivatives by their numbers are wanted
    std::vector<std::vector<float>*> posteriors = {};   // where those of each piece go, or empty
    std::vector<std::size_t> shard_ends;                // shards are runs of pieces, with sums of their own

    std::size_t shard_begin(std::size_t shard) const { return shard == 0 ? 0 : shard_ends[shard - 1]; }
  };
  explicit PieceBatch(Setup setup);

  const Setup& setup() const { return setup_; }
  // Makes piece i ready for the engine, on several threads; several pieces may be made ready side by side.
  // Returns the score of its true segments, 0 where not all are known.
  double prepare(std::size_t i, int threads);
  // Asks the engine about all pieces, which are ready. `counts` are added to where there is a gradient: those
  // of the engine's chain.
  std::vector<SequenceResult> ask(Engine& engine, ExpectedCounts& counts);
  // The best paths of all pieces, which are ready, with the labels of the model.
  std::vector<SequencePath> paths(Engine& engine);
  // Adds the derivatives of a shard, after the engine was asked: all but those by expected counts.
  void add_gradient(std::size_t shard, int threads, ParameterGradient& gradient);

 private:
  struct Work {
    std::vector<double> baseline;
    std::vector<int> true_labels;  // (T)
    ScoreBuffers scores;           // scores for engines that do not project
    ScoreBuffers allowed;          // where not all segmentations count
    ScoreBuffers with_roles;       // where the engine has the chain of roles
    std::vector<double> roles_baseline;
    ScoreWindow window;
    std::vector<double> cover, starts, ends;  // (T, C) posteriors, of engines that do not project
    std::size_t group = 0;                    // group of pieces, for engines that project
  };
  // Consecutive pieces of a shard with the same mean of the features: what centring takes from a feature is
  // the same for all of them.
  struct Group {
    ExpectedFeatures sums;
    const TrainingPiece* first;
  };
  // Whether what is asked for is taken from what the true segments make of it.
  bool takes_truth(const TrainingPiece& piece) const { return setup_.sum == Sum::kAll && piece.is_settled(); }
  void project(const TrainingPiece& piece, int threads, Work& work) const;
  void score_densities(const TrainingPiece& piece, int threads, Work& work) const;
  bool is_centred() const { return setup_.parameters.centering == Centering::kMean; }
  WantedHeads wanted_heads() const;
  void make_groups();
  PosteriorArrays wanted(Work& work);
  void add_posteriors(const TrainingPiece& piece, Work& work, int threads, ParameterGradient& gradient) const;
  void take_true_counts(const TrainingPiece& piece, ParameterGradient& gradient) const;
  void take_truth(const TrainingPiece& piece, Work& work, ParameterGradient& gradient) const;
  void add_edges(std::size_t shard, ParameterGradient& gradient);
  static void hide_starts_and_ends(const TrainingPiece& piece, Work& work, std::size_t width);
  void add_sums(const Group& group, ParameterGradient& gradient) const;

  Setup setup_;
  std::vector<Work> works_;
  std::vector<Group> groups_;
};

}  // namespace semicrf
