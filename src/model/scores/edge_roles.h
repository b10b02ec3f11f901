// Pieces that were cut out of something longer: their first and last segment are seen in part, and score what
// was seen of them by its survival (docs/algorithm.md, "Cut edges").
//
// Such a piece is a chain like any other, of a model with more labels: beside each label stands one for a
// first segment, which a cut made shorter at its left, or one for a last segment, or both. They share the
// emissions of their label and have the logarithms of its survival in place of its durations. So every engine
// and every sum is exact for cut pieces, and nothing of them knows that a piece was cut.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "core/segment.h"
#include "model/scores/linear_heads.h"
#include "model/scores/score_source.h"

namespace semicrf {

// The columns of the roles of a label, which stand together in rows over a chain with roles.
struct RoleColumns {
  int count = 1;
  int first = 0;  // segments that a cut at the begin made shorter; 0, as whole ones: it is no cut
  int last = 0;   // likewise at the end

  // Those of the reversed sequence.
  RoleColumns mirrored() const { return {count, last, first}; }
};

// The chain of pieces whose edges are cut like this. Its labels are label * count() + role, role 0 being
// that of segments which are seen whole.
class EdgeRoles {
 public:
  // `cut.any()`. Labels of `base` have a finite duration or none at all; a tail begins at a finite B[K].
  EdgeRoles(const ChainModel& base, CutEdges cut);

  const ChainModel& base() const { return base_; }
  const ChainModel& chain() const { return chain_; }
  CutEdges cut() const { return cut_; }
  int count() const { return count_; }
  RoleColumns columns() const { return {count_, cut_.left ? 1 : 0, cut_.right ? role_of_last() : 0}; }
  int label_of(int with_role) const { return with_role / count_; }
  // The label with role of a segment of the base's label in a piece of that length.
  int with_role(const Segment& segment, std::int64_t length) const;
  int role_of_last() const { return count_ - 1; }  // where the right edge is cut

  // ln of the sum over j >= k of e^{B[j,c]}, for k >= 1: the score of a segment of which k positions are
  // seen.
  double survival(std::int64_t k, int label) const;
  // What a segment of the base's label scores for its duration in a piece of that length: by its survival
  // function where it is the first or last one at a cut, and for its places where it covers the whole piece.
  double duration_score(const Segment& segment, std::int64_t length) const;
  // Whether one segment may cover a piece that is cut at both ends; such a chain has start scores.
  bool has_whole_pieces() const { return cut_.left && cut_.right; }
  // What a segment that covers a piece of this length scores beyond survival(length): it may lie in
  // (j - length + 1) places for every duration j. 0 where only one edge is cut. Belongs to the start score of
  // position 0 of the label's last role.
  double whole_piece(std::int64_t length, int label) const;
  // (C * count()) scores of starts at position 0 of a piece of this length, whose left edge is cut: of whole
  // pieces, and 0 of the others, as nothing starts there.
  std::vector<double> first_starts(std::int64_t length) const;

  // The sum over the roles of a label in a row of posteriors (C * count()).
  double of_label(std::span<const double> row, std::size_t label) const;
  // (n, C * count()) rows of posteriors become (n, C) rows, in the same memory.
  template <class Allocator>
  void fold_rows(std::vector<double, Allocator>& rows) const {
    rows.resize(folded(rows));
  }
  // Expected counts of chain() become derivatives of log Z by the transitions, durations and tails of base():
  // a segment seen in part counts for every duration that it may have, by its probability.
  ExpectedCounts fold(const ExpectedCounts& counts) const;
  // What is missing in these where both edges are cut: of segments that cover a whole piece of this length,
  // each with probability p_whole[c * count() + role_of_last()], or of so many of them; (C * count()).
  void add_whole_piece(std::int64_t length, std::span<const double> p_whole, ExpectedCounts& folded) const;

 private:
  // fold_rows() without the resizing: the number of values that are left, at the beginning.
  std::size_t folded(std::span<double> rows) const;
  std::size_t entry(std::int64_t k, int label) const { return (k - 1) * base_.num_labels + label; }
  bool has_tail(int label) const { return base_.has_tail() && base_.log_tail[label] > kNegativeInfinity; }
  // q / (1-q) of the label's tail, which begins at B[K]; 0: there is none.
  double tail_odds(int label) const;
  void make_chain();
  void fold_durations(const ExpectedCounts& counts, int role, ExpectedCounts& folded) const;

  ChainModel base_;
  CutEdges cut_;
  int count_;
  std::vector<double> survival_;  // (K, C)
  ChainModel chain_;
};

// What the segments of a piece score for their durations, by where they lie: a segment that a cut edge hides
// in part scores its survival. Natural logarithms.
class PieceDurations {
 public:
  // `roles`: of the cut edges of the piece; null: it has none. Both must outlive this object.
  PieceDurations(const ChainModel& model, const EdgeRoles* roles, std::int64_t length)
      : model_(&model), roles_(roles), length_(length) {}

  double score(const Segment& segment) const {
    return roles_ == nullptr ? model_->duration_score(segment.end - segment.begin, segment.label)
                             : roles_->duration_score(segment, length_);
  }
  // The score of the first K+1 positions of a longer segment.
  double into_tail(std::int64_t start, int label) const {
    const std::int64_t positions = std::int64_t{model_->max_duration} + 1;
    return start == 0 && starts_cut() ? roles_->survival(positions, label)
                                      : model_->duration_score(positions, label);
  }
  // What a segment longer than K scores beyond its tail where it ends: at a cut the sum over what is hidden.
  double out_of_tail(std::int64_t end, int label) const {
    if (end != length_ || roles_ == nullptr || !roles_->cut().right) return 0;
    return -std::log1p(-std::exp(model_->log_tail[label]));
  }
  // Whether the first segment is seen from its start on, and has the model's initial term.
  bool has_initial_term() const { return model_->initial == InitialTerm::kUniform && !starts_cut(); }

 private:
  bool starts_cut() const { return roles_ != nullptr && roles_->cut().left; }

  const ChainModel* model_;
  const EdgeRoles* roles_;
  std::int64_t length_;
};

// The centred scores of a window in the labels of the model, where its columns are those of labels with
// roles.
class LabelScores {
 public:
  // `chain`: of the columns of `window`; both must outlive this object.
  LabelScores(const ChainModel& chain, const ScoreWindow& window, RoleColumns columns = {})
      : scores_(chain, window), columns_(columns), last_position_(window.length - 1) {}

  double emission(std::int64_t t, int label) const { return scores_.emission(t, label * columns_.count); }
  template <class Use>
  decltype(auto) of_label(int label, const Use& use) const {
    return scores_.of_label(label * columns_.count, use);
  }
  double start(std::int64_t t, int label) const {
    return scores_.start(t, label * columns_.count + (t == 0 ? columns_.first : 0));
  }
  double end(std::int64_t t, int label) const {
    return scores_.end(t, label * columns_.count + (t == last_position_ ? columns_.last : 0));
  }

 private:
  CentredScores scores_;
  RoleColumns columns_;
  std::int64_t last_position_;
};

// Gives scores, never features: those of `source` once for every role of a label. Start scores of position 0
// and end scores of the last one are left out where the edge is cut, as nothing starts or ends there.
class EdgeSource : public ScoreSource {
 public:
  // `roles` must outlive this object.
  EdgeSource(std::unique_ptr<ScoreSource> source, const EdgeRoles& roles);

  std::int64_t length() const override { return source_->length(); }
  std::size_t bytes_per_position() const override;
  std::size_t score_bytes() const override;
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override;

 private:
  std::unique_ptr<ScoreSource> source_;
  HostProjection projected_;
  const EdgeRoles& roles_;
  ScoreBuffers read_;
  std::vector<double> baseline_;
};

// That of a piece that was cut, or `source` itself: where `roles` is null.
std::unique_ptr<ScoreSource> with_edge_roles(std::unique_ptr<ScoreSource> source, const EdgeRoles* roles);

// `window` for that chain, in `buffers`. It has scores; `baseline` becomes its centring's.
ScoreWindow with_edge_roles(const ScoreWindow& window, const EdgeRoles& roles, ScoreBuffers& buffers,
                            std::vector<double>& baseline);

}  // namespace semicrf
