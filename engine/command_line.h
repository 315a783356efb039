#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"

// What the command lines of assay-engine's commands have in common.
namespace assay::engine {

template <typename... Args>
tl::unexpected<Error> BadFlag(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorKind::kUsage, "bad flag: {}", fmt::format(format, std::forward<Args>(args)...));
}

// Reads `arguments` into what `app` declares. --some_flag is read as --some-flag, and -tp as
// --tensor-parallel-size. An unknown flag is an error with the nearest known one; `command` says whose help
// lists them.
Status ParseArguments(CLI::App& app, std::vector<std::string> arguments, const std::string& command);

struct FlagRange {
  const char* name;
  int64_t value, least, most;
};
Status CheckRanges(std::initializer_list<FlagRange> ranges);

Status CheckWord(const char* name, const std::string& value, const std::vector<std::string>& words);

}  // namespace assay::engine
