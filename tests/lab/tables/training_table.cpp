// Table 5 (d): 100 epochs from the same seed by the product's engines and by the paper's algorithms.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "lab/backends/all_backends.h"
#include "lab/product.h"
#include "lab/tables/table.h"
#include "lab/validation/training.h"

namespace semicrf::lab {
namespace {

Value by_engine(const std::string& name, const Problem& problem) {
  Marginals found = marginals(*product_engine(name, chain_of(problem)), sequence_of(problem));
  return {found.log_partition, std::move(found.labels), std::move(found.counts.transition),
          std::move(found.counts.duration)};
}

template <class Backend>
Value by_backend(const Problem& problem) {
  Memory memory;
  const auto [log_partition, gradients] = log_partition_and_gradients<Backend>(problem, memory);
  return {log_partition, gradients.labels(), gradients.transition, gradients.duration};
}

struct Trainer {
  std::string name;
  int epochs;
  Evaluate evaluate;
  Trained trained{};
  double seconds = 0;
};

// Over the epochs that both have.
double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

// The reference engine on scores that were rounded to float: what no engine that is given floats can mend.
Value with_rounded_scores(const Problem& problem) {
  const auto rounded = [](std::vector<double> values) {
    for (double& value : values) value = static_cast<float>(value);
    return values;
  };
  Problem given = problem;
  const std::vector<double> emissions = rounded(emissions_of(problem));
  for (Index i = 0; i < emissions.size(); ++i) given.S[i + given.shape.C] = given.S[i] + emissions[i];
  given.transition = rounded(problem.transition);
  given.duration = rounded(problem.duration);
  return by_engine("reference", given);
}

// Where trainings from rounded scores depart from that of the reference, relative to its final loss: what the
// engine says at the reference's last parameters, and what the reference says at the last ones of the other.
void write_rounding(const Run& run, const TrainingData& data, const std::vector<Trainer>& trainers) {
  Table table(
      run, "training_rounding.tsv",
      {"engine", "log_Z", "final_nll", "engine_at_reference_parameters", "reference_at_its_parameters"});
  const Trainer& reference = trainers.front();
  double log_partitions = 0;
  const double loss = mean_loss(data, reference.trained.last, [&](const Problem& problem) {
    Value value = reference.evaluate(problem);
    log_partitions += value.log_partition;
    return value;
  });
  const auto difference = [&](const Parameters& parameters, const Evaluate& evaluate) {
    return std::fabs(mean_loss(data, parameters, evaluate) - loss) / std::fabs(loss);
  };
  for (const Trainer& trainer : trainers)
    if (trainer.name.find("float") != std::string::npos)
      table.row(trainer.name, log_partitions / static_cast<double>(data.rows.size()), loss,
                difference(reference.trained.last, trainer.evaluate),
                difference(trainer.trained.last, reference.evaluate));
}

// A training that other programs can do, too (peers/training_peers.py): the data as text, a line of shapes,
// then the rows of features of every sequence, then its segments as "begin end label"; and what the engines
// make of it.
void write_shared(const Run& run) {
  const Index B = 4, T = 100, C = 8, K = 20, D = 16;
  const int epochs = 100;
  const TrainingData data = training_data(B, T, C, K, D, 7);
  std::ofstream file(run.out / "training_shared_data.txt");
  file.precision(17);
  file << B << ' ' << T << ' ' << C << ' ' << K << ' ' << D << ' ' << epochs << '\n';
  for (Index b = 0; b < B; ++b) {
    for (const double value : data.rows[b]) file << value << ' ';
    file << '\n';
    for (const Segment& segment : data.segments[b])
      file << segment.begin << ' ' << segment.end << ' ' << segment.label << ' ';
    file << '\n';
  }
  Table table(run, "training_shared.tsv", {"program", "B", "T", "C", "K", "epochs", "final_nll", "seconds"});
  for (const std::string name : {"reference", "cpu double", "cpu float"}) {
    const double begin = processor_seconds();
    const auto trained =
        train(data, epochs, [&](const Problem& problem) { return by_engine(name, problem); });
    table.exact_row("semicrf, " + name, B, T, C, K, epochs, trained.curve.back(),
                    processor_seconds() - begin);
  }
}

}  // namespace

void write_training(const Run& run) {
  write_shared(run);
  const Index B = 4, T = run.pick<Index>(100, 500), C = run.pick<Index>(8, 32), K = run.pick<Index>(20, 50);
  const int epochs = run.pick(30, 100);
  std::vector<Trainer> trainers;
  for (const std::string& name : product_engines()) {
    const bool emulated = run.emulated && name.starts_with("cuda");
    trainers.push_back({name + (emulated ? ", emulated" : ""), epochs,
                        [name](const Problem& problem) { return by_engine(name, problem); }});
  }
  trainers.push_back({"reference, float scores", epochs, with_rounded_scores});
  // At the paper's sizes the paper's algorithm takes 29 times as long as the reference: ten epochs of it.
  trainers.push_back({"lab streaming", run.pick(epochs, 10), by_backend<StreamingBackend>});
  if (!run.full) trainers.push_back({"lab joint-scan", epochs, by_backend<LinearScanBackend<true>>});
  const TrainingData data = training_data(B, T, C, K, 16, 7);
  Table table(run, "training.tsv",
              {"engine", "B", "T", "C", "K", "epochs", "first_nll", "final_nll", "relative_difference",
               "curve_cosine", "seconds"});
  for (Trainer& trainer : trainers) {
    const double begin = seconds_for(trainer.name);
    trainer.trained = train(data, trainer.epochs, trainer.evaluate);
    trainer.seconds = seconds_for(trainer.name) - begin;
    const std::vector<double>&curve = trainer.trained.curve, &truth = trainers.front().trained.curve;
    const double last = curve.back(), true_last = truth[curve.size() - 1];
    table.row(trainer.name, B, T, C, K, trainer.epochs, curve.front(), last,
              std::fabs(last - true_last) / std::fabs(true_last), cosine(curve, truth), trainer.seconds);
  }
  Table curves(run, "training_curves.tsv", {"engine", "epoch", "nll"});
  for (const Trainer& trainer : trainers)
    for (std::size_t epoch = 0; epoch < trainer.trained.curve.size(); ++epoch)
      curves.row(trainer.name, epoch, trainer.trained.curve[epoch]);
  write_rounding(run, data, trainers);
}

}  // namespace semicrf::lab
