#include "train/objective/piece_sums.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "core/counts.h"
#include "train/ranks/ranks.h"

namespace semicrf {

namespace {

enum class Question : char { kValue, kGradient, kPaths };

// Calls visit(list) for every list of numbers that acts on scores.
template <class AnyParameters, class Visit>
void for_each_score_list(AnyParameters& parameters, Visit visit) {
  visit(parameters.chain.transition);
  visit(parameters.chain.duration_bias);
  visit(parameters.chain.log_tail);
  visit(parameters.chain.start_scores);
  visit(parameters.chain.end_scores);
  if (parameters.emission) {
    visit(parameters.emission->weights);
    visit(parameters.emission->bias);
  }
  if (parameters.boundary) {
    visit(parameters.boundary->start_weights);
    visit(parameters.boundary->start_bias);
    visit(parameters.boundary->end_weights);
    visit(parameters.boundary->end_bias);
  }
}

// The numbers of densities, which act on scores too: four each, in the order of the tracks.
constexpr std::array kDensityNumbers{&Density::mean, &Density::scale, &Density::degrees, &Density::size};

std::vector<double> density_numbers(const Parameters& parameters) {
  std::vector<double> numbers;
  for (const Track& track : parameters.tracks)
    for (const auto number : kDensityNumbers)
      if (track.is_density()) numbers.push_back(track.density.*number);
  return numbers;
}

void set_density_numbers(const std::vector<double>& numbers, Parameters& parameters) {
  std::size_t next = 0;
  for (Track& track : parameters.tracks)
    for (const auto number : kDensityNumbers)
      if (track.is_density()) track.density.*number = numbers[next++];
}

std::string request_of(Question question, const Parameters& parameters) {
  std::string request;
  put(request, question);
  put(request, density_numbers(parameters));
  for_each_score_list(parameters, [&](const std::vector<double>& list) { put(request, list); });
  return request;
}

}  // namespace

double PieceSums::nll(Of of, std::span<const std::size_t> pieces, const Parameters& parameters,
                      ObjectiveOptions options, ParameterGradient* gradient) const {
  options.ranks = ranks_;
  const std::vector<std::size_t> all = pieces.empty() ? data(of).all_pieces() : std::vector<std::size_t>();
  const bool shared = ranks_ != nullptr && ranks_->size() > 1;
  if (shared) {
    std::string request =
        request_of(gradient != nullptr ? Question::kGradient : Question::kValue, parameters);
    put(request, of);
    put(request, options.margin);
    put(request, std::array{options.emissions, options.boundary, options.project});
    put(request, std::vector<std::size_t>(pieces.begin(), pieces.end()));
    ranks_->ask(std::move(request));
  }
  const double sum = negative_log_likelihood(data(of), pieces.empty() ? all : pieces, parameters, engine_,
                                             options, gradient);
  if (shared) ranks_->answered();
  return sum;
}

double PieceSums::mean_nll(Of of, const Parameters& parameters) const {
  return ratio(nll(of, {}, parameters, {}, nullptr), data(of).positions());
}

std::vector<std::vector<Segment>> PieceSums::paths(const Parameters& parameters) const {
  const bool shared = ranks_ != nullptr && ranks_->size() > 1;
  if (shared) ranks_->ask(request_of(Question::kPaths, parameters));
  std::vector<std::vector<Segment>> found = best_segmentations(training_, parameters, engine_, ranks_);
  if (shared) ranks_->answered();
  return found;
}

void PieceSums::serve(const Parameters& first) const {
  ranks_->serve([&](const std::string& request) {
    ByteReader reader(request);
    const auto question = reader.take<Question>();
    Parameters parameters = first;
    set_density_numbers(reader.take_list<double>(), parameters);
    for_each_score_list(parameters, [&](std::vector<double>& list) { list = reader.take_list<double>(); });
    if (question == Question::kPaths) {
      best_segmentations(training_, parameters, engine_, ranks_);
      return;
    }
    const auto of = reader.take<Of>();
    ObjectiveOptions options;
    options.ranks = ranks_;
    options.margin = reader.take<double>();
    const auto flags = reader.take<std::array<bool, 3>>();
    options.emissions = flags[0];
    options.boundary = flags[1];
    options.project = flags[2];
    std::vector<std::size_t> pieces = reader.take_list<std::size_t>();
    if (pieces.empty()) pieces = data(of).all_pieces();
    ParameterGradient gradient(parameters);
    negative_log_likelihood(data(of), pieces, parameters, engine_, options,
                            question == Question::kGradient ? &gradient : nullptr);
  });
}

std::vector<int> share_out(std::span<const std::int64_t> positions, int ranks) {
  std::vector<std::int64_t> load(ranks);
  std::vector<int> owners;
  for (const std::int64_t count : positions) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += count;
    owners.push_back(static_cast<int>(least - load.begin()));
  }
  return owners;
}

std::string bytes_of_rank(int rank, std::span<const int> owners, std::span<const ShardSums> sums) {
  std::string bytes;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (owners[i] != rank) continue;
    put(bytes, sums[i].value);
    put(bytes, sums[i].gradient.has_value());
    if (!sums[i].gradient) continue;
    for (const auto list : ParameterGradient::lists()) put(bytes, (*sums[i].gradient).*list);
  }
  return bytes;
}

void take_bytes(int rank, std::span<const int> owners, std::string_view bytes, std::span<ShardSums> sums) {
  ByteReader reader(bytes);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (owners[i] != rank) continue;
    sums[i].value = reader.take<double>();
    if (!reader.take<bool>()) continue;
    sums[i].gradient.emplace();
    for (const auto list : ParameterGradient::lists()) (*sums[i].gradient).*list = reader.take_list<double>();
  }
}

}  // namespace semicrf
