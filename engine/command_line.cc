#include "engine/command_line.h"

#include <algorithm>

#include "base/text.h"

namespace assay::engine {
namespace {

// "-tp" and "--tensor_parallel_size=2" to the one spelling that is declared.
std::string Normalized(const std::string& argument) {
  if (argument == "-tp") return "--tensor-parallel-size";
  if (StartsWith(argument, "-tp=")) return "--tensor-parallel-size" + argument.substr(3);
  if (!StartsWith(argument, "--")) return argument;
  const size_t end = std::min(argument.find('='), argument.size());
  std::string name = argument.substr(0, end);
  std::replace(name.begin(), name.end(), '_', '-');
  return name + argument.substr(end);
}

Status RefuseUnknown(const CLI::App& app, const std::string& command) {
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty()) return {};
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = unknown.front().substr(0, unknown.front().find('='));
  const auto nearest = NearestWord(name, known);
  if (nearest) return BadFlag("{}: unknown; did you mean {}?", name, *nearest);
  return BadFlag("{}: unknown; assay-engine {} --help lists the flags", name, command);
}

}  // namespace

Status ParseArguments(CLI::App& app, std::vector<std::string> arguments, const std::string& command) {
  app.allow_extras();
  std::transform(arguments.begin(), arguments.end(), arguments.begin(), Normalized);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Error& error) {
    return BadFlag("{}", error.what());
  }
  return RefuseUnknown(app, command);
}

Status CheckRanges(std::initializer_list<FlagRange> ranges) {
  for (const FlagRange& range : ranges) {
    if (range.value < range.least || range.value > range.most) {
      return BadFlag("{} {}: must be {} to {}", range.name, range.value, range.least, range.most);
    }
  }
  return {};
}

Status CheckWord(const char* name, const std::string& value, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) return {};
  return BadFlag("{} {}: must be one of {}", name, ShellQuote(value), Join(words, ", "));
}

}  // namespace assay::engine
