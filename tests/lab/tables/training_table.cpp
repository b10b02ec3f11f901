// Table 5 (d): 100 epochs from the same seed by the product's engines and by the paper's algorithms.
#include <algorithm>
#include <cmath>
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
  Evaluate evaluate;
  std::vector<double> curve{};
  double seconds = 0;
};

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

}  // namespace

void write_training(const Run& run) {
  const Index B = 4, T = run.pick<Index>(100, 500), C = run.pick<Index>(8, 32), K = run.pick<Index>(20, 50);
  const int epochs = run.pick(30, 100);
  std::vector<Trainer> trainers;
  for (const std::string& name : product_engines())
    trainers.push_back({name, [name](const Problem& problem) { return by_engine(name, problem); }});
  trainers.push_back({"lab streaming", by_backend<StreamingBackend>});
  if (!run.full)  // at the paper's sizes it alone takes as long as all the others
    trainers.push_back({"lab vectorised-scan", by_backend<LinearScanBackend<true>>});
  const TrainingData data = training_data(B, T, C, K, 16, 7);
  Table table(run, "training.tsv",
              {"engine", "B", "T", "C", "K", "epochs", "first_nll", "final_nll", "relative_difference",
               "curve_cosine", "seconds"});
  for (Trainer& trainer : trainers) {
    const double begin = seconds_for(trainer.name);
    trainer.curve = train(data, epochs, trainer.evaluate);
    trainer.seconds = seconds_for(trainer.name) - begin;
    const std::vector<double>& truth = trainers.front().curve;
    table.row(trainer.name, B, T, C, K, epochs, trainer.curve.front(), trainer.curve.back(),
              std::fabs(trainer.curve.back() - truth.back()) / std::fabs(truth.back()),
              cosine(trainer.curve, truth), trainer.seconds);
  }
  Table curves(run, "training_curves.tsv", {"engine", "epoch", "nll"});
  for (const Trainer& trainer : trainers)
    for (std::size_t epoch = 0; epoch < trainer.curve.size(); ++epoch)
      curves.row(trainer.name, epoch, trainer.curve[epoch]);
}

}  // namespace semicrf::lab
