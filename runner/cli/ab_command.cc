#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "base/text.h"
#include "runner/ab/ab.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"

namespace assay::runner {

const std::string_view kAbHelp =
    R"(usage: assay ab CONFIG --base REF [--head REF] [flags]
       assay ab CONFIG --base-binary FILE --head-binary FILE [flags]
       assay ab CONFIG --base-url URL --head-url URL [flags]
       assay ab --base-config FILE --head-config FILE [flags]

Measures two arms in turn on this machine (base head, head base, ...), each run on a server started anew,
and judges the difference pair by pair. Ends as soon as the verdict is clear. Writes the same files as
`assay run`, each run's record under runs/, and exits with the same codes.

  CONFIG                   what both arms are asked, and how they are judged (its gate section)
  --base REF, --head REF   branches, tags or commits, each built in a git worktree under the run's folder that
                           is removed afterwards (default of --head: HEAD)
  --build CMD              how, at the top of the worktree (default: make build)
  --binary PATH            the server that the build makes, from there (default: the config's engine.binary or
                           argv[0], else build/release/bin/assay-engine)
  --repository DIR         where the refs are (default: here)
  --base-binary, --head-binary   two servers that are built already
  --base-config, --head-config   two configs; that they differ in flags and model is taken as meant
  --base-url, --head-url   two servers that run already; CONFIG says what is asked of them
  --suite NAME             which evals to run, as for `assay run`
  --pairs MIN..MAX         look after MIN pairs and after each further one (default: 4..8); speed needs 4
  --budget TIME            begin no pair that would end later: 90s, 30m, 2h (default: none)
  --seed N                 of the order (default: by chance; the report says it)
  --accuracy-margin X      loss in score that must not pass, as a fraction (default: the config's)
  --performance-margin X   relative change that must not pass (default: the config's)
  --out DIR                where to write (default: out/<run id>)
  --hardware NAME          hardware of files that name none (default: what this machine has)
  --strict                 INCONCLUSIVE exits 3
  --dry-run                print arms, order, resolved configs and command lines; build and launch nothing

example
  assay ab configs/cpu/tiny-moe.yaml --suite smoke --base main --head my-change
)";

namespace {

std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool good = error == std::errc() && end == text.data() + text.size() && count >= 1 && count <= 1000;
  return good ? std::optional(count) : std::nullopt;
}

// "4..8", or "6" for one look.
Status ParsePairs(const std::string& text, AbOptions& options) {
  const size_t dots = text.find("..");
  const auto first = ParseCount(text.substr(0, dots));
  const auto most = dots == std::string::npos ? first : ParseCount(text.substr(dots + 2));
  if (!first || !most || *first > *most)
    return Fail(ErrorKind::kUsage, "--pairs: must be MIN..MAX of 1 to 1000, such as 4..8, got {}", text);
  options.first_look = *first;
  options.most = *most;
  return {};
}

// "90s", "30m", "1.5h"
Status ParseBudget(const std::string& text, AbOptions& options) {
  if (text.empty()) return {};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || seconds == 0 || !(number > 0) || number > 1e6)
    return Fail(ErrorKind::kUsage, "--budget: must be a time such as 90s, 30m or 2h, got {}", text);
  options.budget_s = number * seconds;
  return {};
}

Result<int> ParseAndRun(AbOptions options, const std::string& pairs, const std::string& budget) {
  RETURN_IF_ERROR(ParsePairs(pairs, options));
  RETURN_IF_ERROR(ParseBudget(budget, options));
  if (!options.base.ref.empty() && options.head.ref.empty()) options.head.ref = "HEAD";
  return RunAb(options);
}

}  // namespace

int AbCommand(int argc, char** argv) {
  AbOptions options;
  options.command.assign(argv, argv + argc);
  options.command.insert(options.command.begin(), "assay");
  std::string suite, pairs = "4..8", budget;
  CLI::App app;
  app.set_help_flag();
  app.add_option("config", options.config);
  app.add_option("--base", options.base.ref);
  app.add_option("--head", options.head.ref);
  app.add_option("--base-binary", options.base.program);
  app.add_option("--head-binary", options.head.program);
  app.add_option("--base-config", options.base.config);
  app.add_option("--head-config", options.head.config);
  app.add_option("--base-url", options.base.url);
  app.add_option("--head-url", options.head.url);
  app.add_option("--build", options.build);
  app.add_option("--binary", options.program);
  app.add_option("--repository", options.repository);
  app.add_option("--suite", suite);
  app.add_option("--pairs", pairs);
  app.add_option("--budget", budget);
  app.add_option("--seed", options.seed)->check(CLI::NonNegativeNumber);
  app.add_option("--accuracy-margin", options.accuracy_margin)->check(NumberWithin(0, 1));
  app.add_option("--performance-margin", options.performance_margin)->check(NumberWithin(0, 10));
  app.add_option("--out", options.out);
  app.add_option("--hardware", options.hardware);
  app.add_flag("--strict", options.strict);
  app.add_flag("--dry-run", options.dry_run);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  if (!suite.empty()) options.suite = suite;
  const Result<int> exit_code = ParseAndRun(std::move(options), pairs, budget);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay ab: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
