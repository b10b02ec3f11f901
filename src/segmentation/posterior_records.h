// The posterior of one label, record by record, beside an order of chromosomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "io/text/bedgraph.h"

namespace semicrf {

// Holds one line of the file at a time. Chromosomes stand in the file in the given order; others are passed
// over.
class PosteriorRecords {
 public:
  using Places = std::unordered_map<std::string, std::size_t>;
  // What is wrong where a chromosome comes behind the one at place `last`, and what to do about it.
  struct OrderError {
    std::function<std::string(const std::string& chromosome, std::size_t last)> problem;
    std::string advice;
  };

  // bedGraph or bigWig, whose first record is read. `places`: by name of a chromosome; stays valid as long as
  // this. ReadError; InputError, from all that read on: a value outside 0..1, another order of the
  // chromosomes.
  PosteriorRecords(const std::string& path, const Places& places, OrderError order_error);

  const BedGraphReader& reader() const { return reader_; }
  const BedGraphRecord& record() const { return record_; }
  // The record that comes next on the chromosome, or null.
  const BedGraphRecord* on(std::size_t place) const {
    return has_record_ && place_ == place ? &record_ : nullptr;
  }
  void next();
  // Passes over what ends at or before `begin` on the chromosome, and all chromosomes before it.
  void advance(std::size_t place, std::int64_t begin);
  // Reads what is left, so that all of the file is checked.
  void finish();

 private:
  std::string path_;
  const Places& places_;
  OrderError order_error_;
  BedGraphReader reader_;
  BedGraphRecord record_;
  std::string chromosome_;            // name of the record's chromosome
  std::optional<std::size_t> place_;  // its place; nothing where it has none
  std::size_t last_place_ = 0;        // the largest place so far
  bool has_record_ = true;
};

}  // namespace semicrf
