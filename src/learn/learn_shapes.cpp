#include "learn/learn_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/sizes.h"
#include "io/text/palette.h"
#include "train/data/label_file.h"
#include "train/objective/objective.h"
#include "train/start/initial_parameters.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

constexpr std::size_t kModestMemory = std::size_t{2} << 30;  // that fits side by side may take unasked

}  // namespace

Parameters LearnShapes::shaped(int labels) const {
  if (data_.init) return *data_.init;
  Parameters parameters;
  parameters.labels = named_labels(labels);
  parameters.bin_size = data_.bin_size;
  parameters.bin_size_given = true;
  parameters.centering = Centering::kNone;
  parameters.tracks = data_.tracks;
  parameters.chain = SegmentLaw(law_of(options_, parameters.labels), labels).first(2);
  if (data_.emissions.family == EmissionFamily::kDensities) {
    add_density_tracks(data_.emissions.densities, parameters);
    return parameters;
  }
  const std::size_t weights = labels * data_.tracks.size();
  parameters.emission = EmissionHead{std::vector<double>(weights), std::vector<double>(labels)};
  return parameters;
}

std::vector<Label> LearnShapes::named_labels(int count) const {
  std::vector<Label> labels = data_.known;
  for (int number = 1; labels.size() < wide(count); ++number) {
    const std::string name = fmt::to_string(number);
    if (std::ranges::none_of(data_.known, [&](const Label& label) { return label.name == name; }))
      labels.push_back({name, std::nullopt});
  }
  for (std::size_t c = 0; c < labels.size(); ++c)
    if (!labels[c].color) labels[c].color = palette_color(c);
  // The commonest label will be the first one.
  if (data_.known.empty() && count > 2) labels.front().color = kBackgroundColor;
  return labels;
}

LawOptions law_of(const LearnOptions& options, const std::vector<Label>& labels) {
  LawOptions law = options.law;
  if (options.min_durations.empty()) return law;
  std::vector<std::string> texts{fmt::to_string(law.min_duration)};
  texts.insert(texts.end(), options.min_durations.begin(), options.min_durations.end());
  law.shortest = shortest_durations(texts, labels);
  return law;
}

LawOptions LearnShapes::law_options(int labels) const {
  if (!data_.init) return law_of(options_, named_labels(labels));
  LawOptions law = law_of(options_, data_.init->labels);
  // The shape is that of the file.
  law.max_duration = data_.init->chain.max_duration;
  law.tail = data_.init->chain.has_tail();
  if (law.durations.value_or(LawKind::kTable) == LawKind::kTable) {  // the table has them
    law.min_duration = 1;
    law.shortest.clear();
  }
  for (int c = 0; c < data_.init->num_labels(); ++c)
    law.self_transitions = law.self_transitions || data_.init->chain.transition_at(c, c) > kNegativeInfinity;
  return law;
}

std::size_t LearnShapes::needed_memory(int fits) const {
  std::size_t bytes = fixed_memory(data_.inputs.kept_bytes);
  for (const TrainingData* data : {&data_.inputs.training, &data_.inputs.validation})
    bytes += data->positions() * (data->num_tracks * sizeof(float) + sizeof(std::uint16_t));
  EngineOptions engine = options_.engine;
  engine.threads = std::max(1, engine.threads / fits);
  std::size_t most = 0;
  for (const int labels : data_.labels)
    most = std::max(most, objective_bytes(data_.inputs.training, shaped(labels), engine));
  std::size_t of_bin = sizeof(int);  // cluster
  if (data_.emissions.family == EmissionFamily::kDensities) {
    // Posteriors; values with weights of a track, in a label or two; what clusters see.
    const std::size_t observed = data_.emissions.densities.observed.size();
    of_bin += std::ranges::max(data_.labels) * sizeof(float) + 2 * sizeof(WeightedValue) +
              observed * (sizeof(float) + sizeof(std::uint32_t));
  }
  return bytes + fits * (most + data_.inputs.training.positions() * of_bin);
}

std::vector<LearnJob> LearnShapes::jobs() const {
  std::vector<LearnJob> jobs;
  for (const int labels : data_.labels)
    for (int restart = 0; restart < (data_.init ? 1 : options_.restarts); ++restart)
      jobs.push_back({labels, restart});
  return jobs;
}

int LearnShapes::fits_at_once() const {
  const bool on_host = !options_.engine.is_cuda();
  const std::size_t most = std::min(jobs().size(), wide(on_host ? options_.engine.threads : 1));
  const std::size_t unasked = std::min(kModestMemory, available_memory().value_or(2 * kModestMemory) / 2);
  const std::size_t limit = options_.max_memory ? static_cast<std::size_t>(*options_.max_memory)
                                                : std::max(needed_memory(1), unasked);
  std::size_t fits = 1;
  while (fits < most && needed_memory(static_cast<int>(fits) + 1) <= limit) ++fits;
  return static_cast<int>(fits);
}

}  // namespace semicrf
