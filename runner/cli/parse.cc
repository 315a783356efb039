#include "runner/cli/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "runner/cli/exit_code.h"

namespace assay::runner {
namespace {

// "--suit": the flag of `app` that was most likely meant.
std::optional<std::string> NearestFlag(const CLI::App& app, const std::string& message) {
  const size_t at = message.find("--");
  if (at == std::string::npos) return std::nullopt;
  const std::string given = message.substr(at, message.find_first_of(" =", at) - at);
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return NearestWord(given, flags);
}

}  // namespace

Status CheckResumeIsAlone(const CLI::App& app, const std::vector<std::string>& besides) {
  if (app.count("--resume") == 0) return {};
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->check_name("--resume")) continue;
    const auto is = [&](const std::string& name) { return option->check_name(name); };
    if (std::any_of(besides.begin(), besides.end(), is)) continue;
    return Fail(ErrorKind::kUsage,
                "--resume goes on with everything as it was; leave {} away, or begin anew with another --out",
                option->get_positional()
                    ? fmt::format("{} ({})", option->results().front(), option->get_name())
                    : option->get_name());
  }
  return {};
}

CLI::Validator NumberWithin(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) -> std::string {
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        const bool good = end != text.c_str() && *end == '\0' && number >= low && number <= high;
        return good ? "" : fmt::format("{} is no number from {} to {}", text, low, high);
      },
      "NUMBER");
}

std::optional<int> ParseArguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const std::string message = error.what();
    fmt::print(stderr, "assay {}: {}\n", argv[0], message);
    if (const auto nearest = NearestFlag(app, message)) fmt::print(stderr, "did you mean {}?\n", *nearest);
    fmt::print(stderr, "assay {} --help shows every flag\n", argv[0]);
    return kExitUsage;
  }
}

}  // namespace assay::runner
