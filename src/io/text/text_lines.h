// Lines of a text file, plain or compressed by gzip or bgzip (told from the content).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace semicrf {

// ReadError: cannot be opened or read. InputError: damaged or truncated compressed data.
class TextLines {
 public:
  explicit TextLines(std::string path);  // "-": standard input
  TextLines(TextLines&&) noexcept;
  ~TextLines();

  // The next line without its end (\n or \r\n); false at the end of the file.
  bool next(std::string& line);
  std::int64_t line_number() const { return line_number_; }  // of the line returned last, from 1
  const std::string& path() const { return path_; }

 private:
  struct File;
  std::string path_;
  std::unique_ptr<File> file_;
  std::int64_t line_number_ = 0;
};

}  // namespace semicrf
