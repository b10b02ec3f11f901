// Single cells: which group (cluster, cell type) the cell of a barcode belongs to.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/names.h"

namespace semicrf {

class CellGroups {
 public:
  struct Cell {
    std::size_t number = 0, group = 0;  // among all cells; place in names()
  };

  // Reads a table of barcodes and groups, plain or compressed: two columns, separated by tabs or commas, or
  // those that a header line with "barcode" names ("group" or "cluster"). A barcode that begins with the name
  // of one of `samples` and #, _ or : is of that sample alone. InputError with the line: fewer columns, an
  // empty field, a barcode in two groups; or no barcode at all.
  CellGroups(const std::string& path, const std::vector<std::string>& samples);

  const std::vector<std::string>& names() const { return names_; }  // in natural order
  std::size_t cells() const { return group_of_.size(); }
  const std::string& path() const { return path_; }
  // Any barcode of the table, for messages.
  const std::string& example() const { return example_; }
  // Nothing where the table lacks it.
  std::optional<Cell> find(const std::string& sample, std::string_view barcode) const;

 private:
  std::string path_, example_;
  std::vector<std::string> names_;
  bool by_sample_ = false;  // some barcodes are those of one sample alone: keys are SAMPLE, LF, barcode
  NameIndex cells_;         // numbers of the cells by barcode
  std::vector<std::size_t> group_of_;  // by number of the cell
};

// What was found of them; thread-safe.
class CellTally {
 public:
  explicit CellTally(std::size_t cells) : found_(cells) {}

  void add_cell(std::size_t number) {
    if (found_[number].load(std::memory_order_relaxed) == 0)
      found_[number].store(1, std::memory_order_relaxed);
  }
  // A read of a cell that the table lacks; without a barcode where that is empty.
  void add_other(std::string_view barcode);

  std::int64_t cells_found() const;
  std::int64_t without_barcode() const { return without_; }
  std::int64_t of_other_cells() const { return others_; }
  const std::string& example() const { return example_; }  // barcode of one of those

 private:
  std::vector<std::atomic<char>> found_;  // by number of the cell
  std::atomic<std::int64_t> without_ = 0, others_ = 0;
  std::mutex mutex_;
  std::string example_;  // the smallest, so that threads change nothing
};

}  // namespace semicrf
