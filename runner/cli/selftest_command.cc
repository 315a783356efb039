#include <fmt/format.h>

#include <cstdio>

#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/selftest/selftest.h"

namespace assay::runner {

const std::string_view kSelftestHelp =
    R"(usage: assay selftest [--faults A,B] [flags]
       assay selftest --aa N [flags]

Plants known faults into the bundled engine, one after the other, runs the gate on each, and prints which were
noticed and why, missed ones first. docs/selftest.md has the corpus and a table.

  --faults A,B        only these; NAME, or NAME:N (crash:10 crashes at request 10). Default: all
  --aa N              no fault: N decisions of the whole gate on runs that differ in nothing, each compared with the
                      runs before it. What is called FAIL is a false alarm; more than one in 200 exits 1
  --seed S            of questions, prompts and sampling (default: 0)
  --config FILE       what is measured and how it is judged (default: configs/selftest/tiny-moe.yaml, and
                      equal-arms.yaml beside it for --aa)
  --engine PATH       engine with faults (default: assay-engine-faulty beside assay; for --aa assay-engine). It is
                      built with the tests: ninja -C build/release assay-engine-faulty
  --out DIR           a folder for each fault with record, report and log (default: out/selftest-<run id>)
  --format NAME       terminal, or markdown: the table as docs/selftest.md has it (default: terminal)

exit codes
  0 every fault larger than the printed smallest effect was noticed for the right reason   1 one was not
  2 usage   4 the engine without a fault did not pass   75 infrastructure   130 interrupted

example
  assay selftest --faults routing-bit-31,crash:10,wrong-model
)";

int SelftestCommand(int argc, char** argv) {
  SelftestOptions options;
  options.command.assign(argv, argv + argc);
  options.command.insert(options.command.begin(), "assay");
  CLI::App app;
  app.set_help_flag();
  auto* faults = app.add_option("--faults", options.faults)->delimiter(',');
  auto* equal_arms = app.add_option("--aa", options.equal_arms)->check(CLI::Range(1, 100'000));
  equal_arms->excludes(faults);
  app.add_option("--seed", options.seed)->check(CLI::Range(0, 1'000'000'000));
  app.add_option("--config", options.config);
  app.add_option("--engine", options.engine);
  app.add_option("--out", options.out);
  app.add_option("--format", options.format)->check(CLI::IsMember({"terminal", "markdown"}));
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const Result<int> exit_code = options.equal_arms > 0 ? EqualArms(options) : Selftest(options);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay selftest: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
