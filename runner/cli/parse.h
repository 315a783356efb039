#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace assay::runner {

// Parses with CLI11; on a mistake prints it with the way to the help page and returns the exit code.
std::optional<int> ParseArguments(CLI::App& app, int argc, char** argv);

// CLI11's own range takes "nan" for a number within it.
CLI::Validator NumberWithin(double low, double high);

}  // namespace assay::runner
