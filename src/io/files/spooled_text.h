// A long text, written once from its begin to its end and read once, that moves to disk when it grows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/temp_spool.h"

namespace semicrf {

// Keeps a MiB in memory and the rest in an unnamed temporary file. Errors are those of TempSpool.
class SpooledText {
 public:
  void append(std::string_view text) {
    open_ += text;
    if (open_.size() < kBlock) return;
    if (!blocks_) blocks_ = std::make_unique<TempSpool>(kInMemory, "");
    blocks_->append(std::as_bytes(std::span(open_)));
    open_.clear();
  }
  bool empty() const { return !blocks_ && open_.empty(); }

  // Calls visit(std::string_view) for the parts of the text, one after the other.
  template <class Visit>
  void visit(Visit visit) const {
    std::string block;
    for (std::size_t i = 0; blocks_ && i < blocks_->size(); ++i) {
      block.resize(blocks_->blob_size(i));
      blocks_->read(i, std::as_writable_bytes(std::span(block)));
      visit(std::string_view(block));
    }
    visit(std::string_view(open_));
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{64} << 10, kInMemory = std::size_t{1} << 20;  // bytes
  std::unique_ptr<TempSpool> blocks_;
  std::string open_;  // behind the blocks
};

}  // namespace semicrf
