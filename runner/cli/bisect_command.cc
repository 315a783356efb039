#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "runner/bisect/bisect.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"

namespace assay::runner {

const std::string_view kBisectHelp =
    R"(usage: assay bisect --good REF --bad REF CONFIG [flags]

Finds the commit that made an engine wrong or slow. Every step builds one commit and measures it beside the good
one in turn on this machine (assay ab). PASS exonerates it and those before it; FAIL accuses it or one before
it; INCONCLUSIVE is measured again with twice the pairs and never exonerates. A commit that does not build is
passed over. Only what fails on the bad commit is looked at.

  --good REF, --bad REF  branches, tags or commits; good comes before bad
  --suite NAME           which evals to run, as for `assay run`
  --build CMD            how a commit is built, at the top of its checkout (default: make build)
  --binary PATH          the server that the build makes, from there (default: what CONFIG starts)
  --repository DIR       where the commits are (default: here)
  --pairs N              runs of each side at first (default: 4); at most twice as many
  --widenings N          how often an undecided commit is measured again (default: 2)
  --out DIR              where builds' logs and each step's report go (default: out/bisect-<run id>)

exit codes
  0 one commit found   3 several are left   4 the bad commit is not worse   2, 75, 130 as everywhere

example
  assay bisect --good v1.2 --bad main configs/cpu/tiny-moe.yaml --suite smoke
)";

int BisectCommand(int argc, char** argv) {
  BisectOptions options;
  std::string suite;
  CLI::App app;
  app.set_help_flag();
  app.add_option("config", options.config)->required();
  app.add_option("--good", options.good)->required();
  app.add_option("--bad", options.bad)->required();
  app.add_option("--suite", suite);
  app.add_option("--build", options.build);
  app.add_option("--binary", options.program);
  app.add_option("--repository", options.repository);
  app.add_option("--pairs", options.pairs)->check(CLI::Range(1, 100));
  app.add_option("--widenings", options.widenings)->check(CLI::Range(0, 5));
  app.add_option("--out", options.out);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  if (!suite.empty()) options.suite = suite;
  const Result<int> exit_code = Bisect(options);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay bisect: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
