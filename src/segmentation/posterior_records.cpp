#include "segmentation/posterior_records.h"

#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "io/json/json_document.h"

namespace semicrf {

PosteriorRecords::PosteriorRecords(const std::string& path, const Places& places, OrderError order_error)
    : path_(path), places_(places), order_error_(std::move(order_error)), reader_(path) {
  next();
}

void PosteriorRecords::next() {
  has_record_ = reader_.next(record_);
  if (!has_record_) return;
  if (!(record_.value >= 0 && record_.value <= 1))
    throw InputError({path_, place_of(record_), formatted("%g", record_.value) + " is not a probability",
                      "give label posteriors"});
  if (record_.chromosome == chromosome_) return;
  chromosome_ = record_.chromosome;
  const auto found = places_.find(chromosome_);
  place_.reset();
  if (found == places_.end()) return;
  place_ = found->second;
  if (*place_ < last_place_)
    throw InputError(
        {path_, place_of(record_), order_error_.problem(chromosome_, last_place_), order_error_.advice});
  last_place_ = *place_;
}

void PosteriorRecords::advance(std::size_t place, std::int64_t begin) {
  while (has_record_ && (!place_ || *place_ < place || (*place_ == place && record_.end <= begin))) next();
}

void PosteriorRecords::finish() {
  while (has_record_) next();
}

}  // namespace semicrf
