#include "model/parameters.h"

#include <stdexcept>
#include <utility>

namespace semicrf {

void set_duration_table(Parameters& parameters, std::vector<double> bias, std::vector<double> tail) {
  const std::size_t labels = parameters.labels.size();
  if (labels == 0 || bias.empty() || bias.size() % labels != 0 || (!tail.empty() && tail.size() != labels)) {
    throw std::logic_error("a duration table has the wrong shape");
  }
  parameters.duration = DurationSpec{};
  parameters.duration.tail = std::move(tail);
  parameters.chain.max_duration = static_cast<int>(bias.size() / labels);
  parameters.chain.duration_bias = std::move(bias);
  parameters.chain.log_tail = tail_scores(parameters.duration);
}

}  // namespace semicrf
