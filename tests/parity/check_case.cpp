#include "parity/check_case.h"

#include <optional>

#include "parity/engine_parity.h"
#include "parity/gradient_case.h"
#include "reference/reference_engine.h"
#include "support/models/shrink.h"

namespace semicrf::testing {
namespace {

class Examination {
 public:
  Examination(const ModelCase& sample, Examined examined) : sample_(sample) {
    const auto reference = make_reference_engine(sample.model);
    if (examined.inference) expected_ = expected_case(*reference, sample);
    const bool feasible = !expected_ || expected_->posteriors.log_partition != kNegativeInfinity;
    if (examined.gradient && feasible) gradient_ = expected_gradient(*reference, sample);
  }

  std::vector<std::string> problems(Engine& engine) const {
    std::vector<std::string> problems;
    if (expected_)
      append(problems, compare_with(*expected_, engine, sample_, tolerances_of(engine.precision())));
    if (gradient_) append(problems, compare_gradient(*gradient_, engine, sample_));
    return problems;
  }

 private:
  const ModelCase& sample_;
  std::optional<ExpectedCase> expected_;
  std::optional<ExpectedGradient> gradient_;
};

std::vector<std::string> problems_of(const MakeOne& make, const ModelCase& sample, Examined examined) {
  return Examination(sample, examined).problems(*make(sample.model));
}

std::string smallest(const MakeOne& make, const ModelCase& sample, Examined examined) {
  const auto fails = [&](const ModelCase& candidate) {
    try {
      return !problems_of(make, candidate, examined).empty();
    } catch (const std::exception&) {
      return false;  // another failure than the one that is looked for
    }
  };
  const ModelCase small = shrink<ModelCase>(sample, fails, smaller_cases);
  return "the smallest such case: " + problems_of(make, small, examined).front() + "\n" + as_code(small);
}

}  // namespace

std::vector<std::string> check_engines(const std::vector<MakeOne>& engines, const ModelCase& sample,
                                       Examined examined) {
  const Examination examination(sample, examined);
  std::vector<std::string> problems;
  for (const MakeOne& make : engines) {
    std::vector<std::string> found = examination.problems(*make(sample.model));
    if (found.empty()) continue;
    found.push_back(smallest(make, sample, examined));
    append(problems, std::move(found));
  }
  return problems;
}

std::vector<std::string> check_case(const MakeEngine& make, const ModelCase& sample, Examined examined) {
  std::vector<MakeOne> engines;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble})
    engines.push_back([&make, precision](const ChainModel& model) { return make(model, precision); });
  return check_engines(engines, sample, examined);
}

}  // namespace semicrf::testing
