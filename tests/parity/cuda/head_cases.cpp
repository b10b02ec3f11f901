#include "parity/cuda/head_cases.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/batch.h"
#include "parity/cuda/head_sequences.h"

namespace semicrf::testing {
namespace {

struct Outcome {
  std::vector<double> log_partitions;     // of posteriors_of(), then of log_partitions()
  std::vector<std::vector<double>> rows;  // labels, starts, ends of each sequence
  ExpectedCounts counts;
};

std::vector<std::vector<double>*> arrays_of(ExpectedFeatures& sums) {
  return {&sums.emission.weights, &sums.emission.bias, &sums.start.weights, &sums.start.bias,
          &sums.finish.weights,   &sums.finish.bias,   &sums.first,         &sums.last};
}

// `step`: sequences per call; `sums`: one for each sequence, which may be the same; empty: none.
Outcome compute(Engine& engine, const std::vector<ScoreWindow>& sequences, std::size_t step,
                const std::vector<ExpectedFeatures*>& sums) {
  const auto labels = static_cast<std::size_t>(engine.model().num_labels);
  Outcome outcome;
  outcome.rows.resize(3 * sequences.size());
  std::vector<PosteriorArrays> out(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (std::size_t which = 0; which < 3; ++which)
      outcome.rows[3 * i + which].resize(static_cast<std::size_t>(sequences[i].length) * labels);
    out[i].labels = outcome.rows[3 * i].data();
    out[i].starts = outcome.rows[3 * i + 1].data();
    out[i].ends = outcome.rows[3 * i + 2].data();
    if (!sums.empty()) out[i].features = sums[i];
  }
  const std::span<const ScoreWindow> all = sequences;
  const std::span<const PosteriorArrays> arrays = out;
  const auto add = [&](const std::vector<SequenceResult>& results) {
    for (const SequenceResult& result : results) outcome.log_partitions.push_back(result.log_partition);
  };
  const auto part = [&](std::size_t i) { return std::min(step, all.size() - i); };
  for (std::size_t i = 0; i < all.size(); i += step)
    add(engine.batches().posteriors_of(all.subspan(i, part(i)), arrays.subspan(i, part(i)), &outcome.counts));
  for (std::size_t i = 0; i < all.size(); i += step)
    add(engine.batches().log_partitions(all.subspan(i, part(i))));
  return outcome;
}

// The sums of a sequence, of its posteriors.
template <class Score>
void add_to(ExpectedFeatures& sums, const HeadCase<Score>& sample, std::size_t i, const Outcome& outcome) {
  const auto& sequence = sample.sequences()[i];
  const auto labels = static_cast<std::size_t>(sample.shape().labels);
  const auto tracks = static_cast<std::size_t>(sample.shape().tracks);
  const auto add = [&](ExpectedFeatures::Head& head, const HeadTable& table,
                       const std::vector<double>& rows) {
    for (std::int64_t t = 0; t < sequence.length; ++t) {
      for (std::size_t c = 0; c < labels; ++c) {
        const double p = rows[static_cast<std::size_t>(t) * labels + c];
        head.bias[c] += p;
        std::size_t at = c;
        for (int offset = table.first; offset <= table.last && !table.weights.empty(); ++offset) {
          const std::int64_t position = t + offset;
          for (std::size_t f = 0; f < tracks; ++f, at += labels)
            if (position >= 0 && position < sequence.length)
              head.weights[at] +=
                  p * static_cast<double>(sequence.features[static_cast<std::size_t>(position) * tracks + f]);
        }
      }
    }
  };
  const std::vector<double>& cover = outcome.rows[3 * i];
  const FeatureRows tables = sample.heads().rows_for(0, 0, 0);
  add(sums.emission, *tables.emission, cover);
  add(sums.start, *tables.start, outcome.rows[3 * i + 1]);
  add(sums.finish, *tables.finish, outcome.rows[3 * i + 2]);
  for (std::size_t c = 0; c < labels; ++c) {
    sums.first[c] += cover[c];
    sums.last[c] += cover[cover.size() - labels + c];
  }
}

template <class Score>
class HeadCheck {
 public:
  HeadCheck(const MakeEngine& make, const HeadShape& shape, std::uint64_t seed)
      : make_(make), sample_(shape, seed) {}

  std::vector<std::string> run() {
    std::vector<ScoreWindow> stored, projected;
    for (std::size_t i = 0; i < sample_.sequences().size(); ++i) {
      stored.push_back(sample_.stored(i));
      projected.push_back(sample_.projected(i));
    }
    const auto engine = new_engine();
    const Outcome expected = compute(*engine, stored, stored.size(), {});
    // Two sums that the sequences take in turns, and a few sequences without.
    std::vector<ExpectedFeatures> alone(2, sample_.no_sums()), together = alone, again = alone, host = alone;
    const auto targets = [&](std::vector<ExpectedFeatures>& sums) {
      std::vector<ExpectedFeatures*> of_all;
      for (std::size_t i = 0; i < projected.size(); ++i)
        of_all.push_back(i % 5 == 3 ? nullptr : &sums[i % 2]);
      return of_all;
    };
    compare(expected, compute(*engine, projected, 1, targets(alone)), "alone");
    compare(expected, compute(*engine, projected, projected.size(), targets(together)), "together");
    compare(expected, compute(*new_engine(), projected, 3, targets(again)), "by threes");
    for (std::size_t i = 0; i < projected.size(); ++i)
      if (i % 5 != 3) add_to(host[i % 2], sample_, i, expected);
    for (std::size_t i = 0; i < 2; ++i) {
      same_sums(together[i], alone[i], "together");
      same_sums(again[i], alone[i], "by threes");
      close_sums(alone[i], host[i]);
    }
    check_windows();
    return problems_;
  }

 private:
  std::unique_ptr<Engine> new_engine() const {
    return make_(sample_.model(), sizeof(Score) == sizeof(float) ? Precision::kFloat : Precision::kDouble);
  }
  void problem(const std::string& what) {
    problems_.push_back("C=" + std::to_string(sample_.shape().labels) +
                        " F=" + std::to_string(sample_.shape().tracks) + " " + std::to_string(sizeof(Score)) +
                        " bytes: " + what);
  }

  void compare(const Outcome& expected, const Outcome& found, const std::string& how) {
    if (found.log_partitions != expected.log_partitions) problem(how + ": another log Z");
    for (std::size_t i = 0; i < expected.rows.size(); ++i)
      if (found.rows[i] != expected.rows[i])
        problem(how + ": other posteriors in sequence " + std::to_string(i / 3));
    if (found.counts.transition != expected.counts.transition ||
        found.counts.duration != expected.counts.duration)
      problem(how + ": other counts");
  }
  void same_sums(ExpectedFeatures& found, ExpectedFeatures& expected, const std::string& how) {
    const auto a = arrays_of(found), b = arrays_of(expected);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (*a[i] != *b[i]) problem(how + ": other digits in sum " + std::to_string(i));
  }
  void close_sums(ExpectedFeatures& found, ExpectedFeatures& expected) {
    const auto a = arrays_of(found), b = arrays_of(expected);
    for (std::size_t i = 0; i < a.size(); ++i) {
      double size = 1;
      for (const double value : *b[i]) size = std::max(size, std::fabs(value));
      for (std::size_t j = 0; j < b[i]->size(); ++j) {
        if (std::fabs((*a[i])[j] - (*b[i])[j]) <= 1e-13 * size) continue;
        problem("sum " + std::to_string(i) + " is not that of the posteriors");
        break;
      }
    }
  }

  // The longest sequence in windows, where it has more than one chunk.
  void check_windows() {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < sample_.sequences().size(); ++i)
      if (sample_.sequences()[i].length > sample_.sequences()[longest].length) longest = i;
    const std::int64_t length = sample_.sequences()[longest].length;
    const auto engine = new_engine();
    const ChunkGrid grid = engine->grid(length);
    if (length <= grid.chunk) return;
    ExpectedFeatures whole = sample_.no_sums(), parts = whole;
    PosteriorArrays wanted;
    wanted.features = &whole;
    engine->posteriors(sample_.projected(longest), {0, length}, nullptr, nullptr, wanted);
    wanted.features = &parts;
    BoundaryState left;
    for (std::int64_t begin = 0; begin < length; begin += grid.chunk) {
      const std::int64_t end = std::min(length, begin + grid.chunk);
      const ScoreWindow window = sample_.projected(longest, std::max<std::int64_t>(0, begin - grid.warmup),
                                                   std::min(length, end + grid.warmup));
      left = engine->posteriors(window, {begin, end}, begin == 0 ? nullptr : &left, nullptr, wanted)
                 .right_forward;
    }
    same_sums(parts, whole, "in windows");
  }

  const MakeEngine& make_;
  HeadCase<Score> sample_;
  std::vector<std::string> problems_;
};

const std::vector<std::int64_t> kShortOnes{40, 1, 2, 15, 16, 17, 100, 1, 33, 64};

std::vector<std::string> check_shapes(const MakeEngine& make, const std::vector<HeadShape>& shapes,
                                      const Precisions& precisions) {
  std::vector<std::string> problems;
  std::uint64_t seed = 871;
  for (const HeadShape& shape : shapes) {
    ++seed;
    for (const Precision precision : precisions)
      append(problems, precision == Precision::kFloat ? HeadCheck<float>(make, shape, seed).run()
                                                      : HeadCheck<double>(make, shape, seed).run());
  }
  return problems;
}

}  // namespace

std::vector<std::string> check_heads(const MakeEngine& make, const Precisions& of_long_ones) {
  std::vector<std::string> problems = check_shapes(make,
                                                   {{1, 1, 0, false, kShortOnes},
                                                    {5, 3, 0.5, true, kShortOnes},
                                                    {24, 17, 0, false, kShortOnes, false},
                                                    {33, 3, 0.1, false, kShortOnes},
                                                    {5, 17, 0.1, true, kShortOnes}},
                                                   kBothPrecisions);
  append(problems, check_shapes(make,
                                {{2, 3, 0.25, false, {700, 8192 + 1500, 2100}},
                                 // Chunks that are no whole number of stretches.
                                 {2, 1, 0, false, {300, 8704 + 1500}, true, 130}},
                                of_long_ones));
  return problems;
}

std::vector<std::string> check_few_heads(const MakeEngine& make) {
  return check_shapes(make, {{5, 3, 0.5, true, kShortOnes}}, kBothPrecisions);
}

}  // namespace semicrf::testing
