// An engine of the C interface: engines for as many callers as there are at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "engine/options.h"
#include "library/model_handle.h"
#include "runs/engine_pool.h"

namespace semicrf {

// UsageError: an option that is none.
EngineOptions engine_options(const semicrf_options& given);

// Engines are for one caller at a time: a call takes a pool that is idle, or one that is made for it.
class LibraryEngine {
 public:
  LibraryEngine(std::shared_ptr<const LibraryModel> model, const EngineOptions& options,
                std::optional<std::int64_t> max_memory);
  // In a process that was forked, the threads of the pools are not there: they are left as they are.
  ~LibraryEngine();
  LibraryEngine(const LibraryEngine&) = delete;
  LibraryEngine& operator=(const LibraryEngine&) = delete;

  const LibraryModel& model() const { return *model_; }
  std::shared_ptr<const LibraryModel> shared_model() const { return model_; }
  const EngineOptions& options() const { return options_; }
  const std::string& description() const { return description_; }
  // Bytes for the windows of a sequence.
  std::size_t window_budget(const Engine& engine, const ScoreSource& source,
                            const AnalysisList& analyses) const;

  // A pool, while this object lives.
  class Lease {
   public:
    explicit Lease(LibraryEngine& engine) : engine_(engine), pool_(engine.take()) {}
    ~Lease() { engine_.give_back(std::move(pool_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    EnginePool& pool() const { return *pool_; }

   private:
    LibraryEngine& engine_;
    std::unique_ptr<EnginePool> pool_;
  };

 private:
  std::unique_ptr<EnginePool> take();
  void give_back(std::unique_ptr<EnginePool> pool) noexcept;
  void forget_after_fork();

  std::shared_ptr<const LibraryModel> model_;
  EngineOptions options_;
  std::optional<std::int64_t> max_memory_;
  std::optional<std::size_t> available_;  // memory of the machine, when this was made
  std::string description_;
  std::mutex mutex_;  // guards the next two
  pid_t process_;
  std::vector<std::unique_ptr<EnginePool>> idle_;
};

}  // namespace semicrf

struct semicrf_engine {
  semicrf::LibraryEngine engine;
};
