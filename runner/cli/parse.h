#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::runner {

// Parses with CLI11; on a mistake prints it with the way to the help page and returns the exit code.
std::optional<int> ParseArguments(CLI::App& app, int argc, char** argv);

// With --resume everything else is as it was. Names the first other thing that `app` was given; `besides` may
// be given.
Status CheckResumeIsAlone(const CLI::App& app, const std::vector<std::string>& besides);

// CLI11's own range takes "nan" for a number within it.
CLI::Validator NumberWithin(double low, double high);

}  // namespace assay::runner
