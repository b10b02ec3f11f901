#include "pipeline/outputs/spooled_numbers.h"

#include <span>

#include "io/files/temp_spool.h"
#include "pipeline/windows/memory_budget.h"

namespace semicrf {
namespace {

constexpr std::size_t kBlock = 4096;

}  // namespace

SpooledNumbers::SpooledNumbers() : spool_(std::make_unique<TempSpool>(kSpoolMemory, "")) {}
SpooledNumbers::~SpooledNumbers() = default;
SpooledNumbers::SpooledNumbers(SpooledNumbers&&) noexcept = default;
SpooledNumbers& SpooledNumbers::operator=(SpooledNumbers&&) noexcept = default;

void SpooledNumbers::append(double number) {
  open_block_.push_back(number);
  ++count_;
  if (open_block_.size() < kBlock) return;
  spool_->append(std::as_bytes(std::span<const double>(open_block_)));
  open_block_.clear();
}

void SpooledNumbers::load_block(std::size_t index, std::vector<double>& block) const {
  if (index == spool_->size()) {
    block = open_block_;
    return;
  }
  block.resize(kBlock);
  spool_->read(index, std::as_writable_bytes(std::span<double>(block)));
}

bool SpooledNumbers::Reader::next(double& number) {
  if (index_ == list_->count_) return false;
  const auto at = static_cast<std::size_t>(index_++);
  if (at % kBlock == 0) list_->load_block(at / kBlock, block_);
  number = block_[at % kBlock];
  return true;
}

}  // namespace semicrf
