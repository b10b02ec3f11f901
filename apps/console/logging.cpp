#include "apps/console/logging.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <memory>

#include "core/error.h"

namespace semicrf {
namespace {

// The logger's file sink; null without a log file.
std::shared_ptr<spdlog::sinks::sink>& file_sink() {
  static std::shared_ptr<spdlog::sinks::sink> sink;
  return sink;
}

spdlog::level::level_enum terminal_level(Verbosity verbosity) {
  switch (verbosity) {
    case Verbosity::kQuiet:
      return spdlog::level::err;
    case Verbosity::kVerbose:
      return spdlog::level::debug;
    default:
      return spdlog::level::info;
  }
}

}  // namespace

void set_up_logging(Verbosity verbosity, const std::string& log_file) {
  auto terminal = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  terminal->set_level(terminal_level(verbosity));
  terminal->set_pattern("semicrf: %l: %v");
  std::vector<spdlog::sink_ptr> sinks = {terminal};
  if (!log_file.empty()) {
    if (!std::ofstream(log_file, std::ios::app))
      throw WriteError(
          {log_file, "", "cannot be opened as a log file", "check the folder and its permissions"});
    file_sink() = std::make_shared<spdlog::sinks::basic_file_sink_mt>(log_file);
    file_sink()->set_level(verbosity == Verbosity::kVerbose ? spdlog::level::debug : spdlog::level::info);
    file_sink()->set_pattern("%Y-%m-%d %H:%M:%S %l: %v");
    sinks.push_back(file_sink());
  }
  auto logger = std::make_shared<spdlog::logger>("semicrf", sinks.begin(), sinks.end());
  logger->set_level(spdlog::level::debug);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(logger);
}

void log_fatal(const std::string& line) {
  if (!file_sink()) return;
  file_sink()->log(spdlog::details::log_msg("semicrf", spdlog::level::err, line));
  file_sink()->flush();
}

}  // namespace semicrf
