#include "lab/tables/table.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "core/error.h"

namespace semicrf::lab {

Table::Table(const Run& run, const std::string& name, const std::vector<std::string>& columns)
    : path_(run.out / name), temporary_(path_.string() + ".part"), columns_(columns.size()) {
  file_.open(temporary_);
  if (!file_) throw WriteError({temporary_.string(), "", "cannot be created", "does the folder exist?"});
  std::string line;
  for (const std::string& column : columns) line += column + '\t';
  write(line);
}

// NOLINTNEXTLINE(bugprone-exception-escape): so that no table can be forgotten
Table::~Table() noexcept(false) {
  if (std::uncaught_exceptions() > 0) return;
  file_.close();
  if (!file_) throw WriteError({temporary_.string(), "", "could not be written", "is the disk full?"});
  std::filesystem::rename(temporary_, path_);
}

std::string Table::real(double value) const {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.*g", digits_, value);
  return digits;
}

void Table::write(std::string line) {
  if (static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) != columns_)
    throw std::logic_error(path_.filename().string() + ": a row of another number of columns");
  line.back() = '\n';
  file_ << line << std::flush;
}

}  // namespace semicrf::lab
