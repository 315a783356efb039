#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::runner {

// How a program ended that did end by itself, and what it wrote.
struct ProgramEnd {
  int exit_code = 0;
  std::string output;
};

enum class Errors { kDropped, kWithOutput };  // what becomes of standard error

// Runs a program found in PATH to its end. One that is missing, dies of a signal, writes without end or takes
// longer than the limit (then it and its group are killed) is an error that says which.
Result<ProgramEnd> RunProgram(const std::vector<std::string>& argv, std::chrono::milliseconds limit,
                              Errors errors);

// Standard output of a small program found in PATH. One that is missing, fails, writes without end or takes
// longer than the limit (then it is killed) is an error that says which.
Result<std::string> ProgramOutput(const std::vector<std::string>& argv, std::chrono::milliseconds limit);

}  // namespace assay::runner
