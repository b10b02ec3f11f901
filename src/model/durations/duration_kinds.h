// The duration laws (duration distributions) that parameter files and `semicrf train` know.
//
// A new kind is a class in duration_kinds.cpp (or a file of its own) and one entry in its list; then its
// place in docs/params.schema.json and docs/users/formats.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace semicrf {

// One column of a (K, C) table: entry k-1 for duration k.
template <class Value>
struct DurationColumn {
  Value* first = nullptr;
  std::size_t stride = 1;  // C
  std::size_t count = 0;   // K
  Value& operator[](std::size_t i) const { return first[i * stride]; }
};

// A distribution of the durations of one label by a formula with few parameters, or (`table`) scores one by
// one.
class DurationKind {
 public:
  struct Parameter {
    std::string_view name;
    bool is_probability;  // within (0, 1), its coordinate in training is its log odds; else above 0: its
                          // logarithm
  };
  // A geometric tail beyond K with which the formula goes on as if there were no K.
  struct ContinuedTail {
    double q;
    double log_q;
    double slope;  // derivative of log_q by the coordinate of the first parameter
  };

  virtual ~DurationKind() = default;
  virtual std::string_view name() const = 0;
  // In the order of files. None: `table`, and kinds without parameters.
  virtual std::span<const Parameter> parameters() const { return {}; }
  virtual bool is_table() const { return false; }

  // Log scores of durations 1..K, not renormalised. `values`: of the parameters.
  virtual void fill(std::span<const double> values, DurationColumn<double> scores) const = 0;
  // The derivative by the coordinate of a parameter, from those by the scores.
  virtual double derivative(std::span<const double> values, std::size_t parameter,
                            DurationColumn<const double> by_scores) const;
  // Where training starts: values with the moments of the durations seen, of which there is at least one.
  virtual std::vector<double> estimate(std::span<const std::int64_t> durations) const;
  virtual std::optional<ContinuedTail> continued_tail(std::span<const double> values) const;
};

std::span<const DurationKind* const> duration_kinds();
// Null: there is none of this name.
const DurationKind* find_duration_kind(std::string_view name);
const DurationKind& table_durations();

// What estimates are made of.
double mean_duration(std::span<const std::int64_t> durations);
double clamped_probability(double p);  // never 0 or 1

// A distribution of durations from segments that were seen: a table up to K, and a geometric tail.
struct FittedDurations {
  std::vector<double> log_probability;  // (K), natural logarithms; all finite
  double tail = 0.5;                    // q of the tail, within (0, 1): d > K bins have p[K] q^(d-K)
};

// From durations >= 1 in bins, at least one. Each below K is spread over those within a fifth of it, the
// nearer the more; one segment more is spread over all in proportion to 1/d, so that each of 1..K is
// possible. Those of K bins or more are geometric from K on, with the mean of those seen and one segment
// more. Table and tail together sum to 1.
FittedDurations fit_durations(std::span<const std::int64_t> seen, int max_duration);

// The durations of a state that stays with probability `stay` in each bin; of a state that always or never
// does, nearly so.
FittedDurations staying_durations(double stay, int max_duration);

// The smallest duration that this share of the durations, 0..1, does not exceed; at least one is given.
std::int64_t duration_quantile(std::vector<std::int64_t> durations, double share);

}  // namespace semicrf
