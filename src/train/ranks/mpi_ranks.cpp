// Ranks over MPI: the only file that knows it.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "train/ranks/ranks.h"

namespace semicrf {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // bytes of a message: MPI counts in int

// Calls visit(pointer, count) for the parts of `bytes` that are messages.
template <class Visit>
void for_each_message(std::string& bytes, Visit visit) {
  for (std::size_t at = 0; at < bytes.size(); at += kMostBytes)
    visit(bytes.data() + at, static_cast<int>(std::min(kMostBytes, bytes.size() - at)));
}

class MpiRanks : public Ranks {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void broadcast(std::string& bytes) override {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bytes.resize(size);
    for_each_message(bytes,
                     [](char* data, int count) { MPI_Bcast(data, count, MPI_BYTE, 0, MPI_COMM_WORLD); });
  }

 protected:
  std::vector<std::string> collect(std::string bytes) override {
    const std::uint64_t size = bytes.size();
    std::vector<std::uint64_t> sizes(size_);
    MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank_ > 0) {
      for_each_message(bytes,
                       [](char* data, int count) { MPI_Send(data, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD); });
      return {};
    }
    std::vector<std::string> all(sizes.size());
    all.front() = std::move(bytes);
    for (int other = 1; other < size_; ++other) {
      std::string& part = all[other];
      part.resize(sizes[other]);
      for_each_message(part, [other](char* data, int count) {
        MPI_Recv(data, count, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      });
    }
    return all;
  }
  void leave() override { MPI_Finalize(); }
  void abort(int exit_code) override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  int rank_ = 0, size_ = 1;
};

std::unique_ptr<Ranks> made_ranks;

// The number that a launcher (Open MPI, one that speaks PMIx, or PMI) gave this process; null without one.
const char* launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in the program changes the environment
    if (const char* text = std::getenv(name)) return text;
  return nullptr;
}

}  // namespace

Ranks& all_ranks() {
  if (made_ranks == nullptr && launched_rank() != nullptr) made_ranks = std::make_unique<MpiRanks>();
  if (made_ranks == nullptr) made_ranks = std::make_unique<Ranks>();
  return *made_ranks;
}

void finish_ranks(int exit_code) {
  if (made_ranks != nullptr) made_ranks->finish(exit_code);
}

bool is_other_rank() { return launched_rank() != nullptr && std::atoi(launched_rank()) > 0; }

}  // namespace semicrf
