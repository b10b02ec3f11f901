#include "report/data/bin_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/text/text.h"
#include "core/text/units.h"
#include "draw/scale.h"
#include "io/text/bedgraph.h"

namespace semicrf {
namespace {

class Reading {
 public:
  Reading(const std::string& path, const ReportBasis& basis)
      : path_(path), basis_(basis), values_(basis.parts.size()) {}

  BinValues read() {
    BedGraphReader reader(path_);
    BedGraphRecord record;
    std::map<std::string, std::vector<std::size_t>> parts_of;
    for (std::size_t i = 0; i < basis_.parts.size(); ++i) parts_of[basis_.parts[i].chromosome].push_back(i);
    std::vector<std::size_t> parts;  // parts of the chromosome
    while (reader.next(record)) {
      if (chromosomes_.empty()) check_header(reader);
      if (chromosomes_.empty() || chromosomes_.back() != record.chromosome) {
        chromosomes_.push_back(record.chromosome);
        parts = parts_of[record.chromosome];
      }
      if (!(record.value >= 0 && record.value <= 1))
        throw InputError(
            {path_, place_of(record),
             "the value " + short_number(record.value) + " is not a probability: it must be between 0 and 1",
             "give posteriors that semicrf posterior or decode --posterior wrote"});
      for (const std::size_t part : parts) add(record, part);
    }
    if (std::ranges::all_of(values_, [](const std::vector<float>& part) { return part.empty(); }))
      refuse_nothing();
    return std::move(values_);
  }

 private:
  void check_header(const BedGraphReader& reader) const {
    if (reader.options().contains("min-posterior"))
      throw InputError({path_, "",
                        "was written with --min-posterior, so that small probabilities are missing",
                        "write it again without this option"});
    const std::optional<std::int64_t> bin_size = reader.bin_size();
    if (bin_size && *bin_size != basis_.bin_size())
      throw InputError({path_, "",
                        "its header says bins of " + amount(*bin_size) + ", and the model has bins of " +
                            amount(basis_.bin_size()),
                        "give files of one run"});
  }

  void add(const BedGraphRecord& record, std::size_t index) {
    const Part& part = basis_.parts[index];
    const std::int64_t begin = std::max(record.begin, part.origin) - part.origin;
    const std::int64_t end = std::min(record.end, part.origin + part.length) - part.origin;
    if (begin >= end) return;
    if (begin % basis_.bin_size() != 0 || (end % basis_.bin_size() != 0 && end != part.length))
      throw InputError({path_, place_of(record),
                        "begins or ends inside of a bin of " + amount(basis_.bin_size()),
                        "give posteriors of this model"});
    std::vector<float>& values = values_[index];
    if (values.empty()) values.assign(part.bins, std::numeric_limits<float>::quiet_NaN());
    std::fill(values.begin() + begin / basis_.bin_size(), values.begin() + count_bins(end, basis_.bin_size()),
              static_cast<float>(record.value));
  }

  [[noreturn]] void refuse_nothing() const {
    throw InputError({path_, "",
                      "no chromosome in common with the segments: it has " +
                          (chromosomes_.empty() ? "no line" : few_names(chromosomes_)) +
                          ", the segments have " + few_names(names_of(basis_.segmentation.chromosomes)),
                      "give posteriors of the same genome; chromosome names must match exactly"});
  }

  const std::string& path_;
  const ReportBasis& basis_;
  BinValues values_;
  std::vector<std::string> chromosomes_;  // chromosomes of the file
};

}  // namespace

BinValues read_bin_values(const std::string& path, const ReportBasis& basis) {
  return Reading(path, basis).read();
}

}  // namespace semicrf
