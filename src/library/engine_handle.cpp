#include "library/engine_handle.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyses/analyse.h"
#include "library/status.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

EngineOptions::Backend backend_of(const char* name) {
  using Backend = EngineOptions::Backend;
  const std::string_view text = name == nullptr ? "cpu" : name;
  if (text == "cpu") return Backend::kCpu;
  if (text == "reference") return Backend::kReference;
  if (text == "cuda") return Backend::kCuda;
  if (text == "auto") return Backend::kAuto;
  throw UsageError("backend is \"" + std::string(text) + "\"",
                   R"(it is "cpu", "reference", "cuda" or "auto")");
}

}  // namespace

EngineOptions engine_options(const semicrf_options& given) {
  if (given.threads < 0) throw UsageError("threads must not be negative", "");
  if (given.device < 0) throw UsageError("device must not be negative", "");
  if (given.max_memory < 0) throw UsageError("max_memory must not be negative", "");
  EngineOptions options;
  options.backend = backend_of(given.backend);
  options.precision = given.double_precision != 0 ? Precision::kDouble : Precision::kFloat;
  options.threads = std::max(1, given.threads);
  if (options.is_cuda()) options.devices = {given.device};
  return options;
}

LibraryEngine::LibraryEngine(std::shared_ptr<const LibraryModel> model, const EngineOptions& options,
                             std::optional<std::int64_t> max_memory)
    : model_(std::move(model)),
      options_(options),
      max_memory_(max_memory),
      available_(max_memory ? std::nullopt : available_memory()),  // which reads many files
      process_(getpid()) {
  idle_.push_back(std::make_unique<EnginePool>(options_, model_->parameters.chain));
  const Engine& first = idle_.front()->first();
  description_ = first.description();
  options_.precision = first.precision();
}

LibraryEngine::~LibraryEngine() { forget_after_fork(); }

void LibraryEngine::forget_after_fork() {
  if (process_ == getpid()) return;
  for (std::unique_ptr<EnginePool>& pool : idle_) static_cast<void>(pool.release());
  idle_.clear();
  process_ = getpid();
}

std::unique_ptr<EnginePool> LibraryEngine::take() {
  {
    const std::lock_guard lock(mutex_);
    forget_after_fork();
    if (!idle_.empty()) {
      std::unique_ptr<EnginePool> pool = std::move(idle_.back());
      idle_.pop_back();
      return pool;
    }
  }
  return std::make_unique<EnginePool>(options_, model_->parameters.chain);
}

void LibraryEngine::give_back(std::unique_ptr<EnginePool> pool) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    idle_.push_back(std::move(pool));
  } catch (...) {
    // Without memory for the list the pool is freed.
  }
}

std::size_t LibraryEngine::window_budget(const Engine& engine, const ScoreSource& source,
                                         const AnalysisList& analyses) const {
  WindowWish wish = window_wish(engine, source, {}, analyses);
  if (engine.own_memory() != nullptr) wish.modest = kDefaultDeviceWindowMemory;
  return max_memory_ ? static_cast<std::size_t>(*max_memory_) : window_memory({}, 0, wish, available_);
}

}  // namespace semicrf

using namespace semicrf;

semicrf_status semicrf_engine_make(const semicrf_model* model, const semicrf_options* options,
                                   semicrf_engine** engine, semicrf_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    require(engine, "engine");
    const semicrf_options given = options != nullptr ? *options : semicrf_options{};
    std::optional<std::int64_t> max_memory;
    if (given.max_memory > 0) max_memory = given.max_memory;
    *engine = new semicrf_engine{{model->model, engine_options(given), max_memory}};
  });
}

const char* semicrf_engine_description(const semicrf_engine* engine) {
  return engine != nullptr ? engine->engine.description().c_str() : "";
}

void semicrf_engine_free(semicrf_engine* engine) { delete engine; }
