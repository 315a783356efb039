#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "assay_version.h"
#include "base/log.h"
#include "base/text.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"

namespace assay::runner {
namespace {

void PrintHelp() {
  fmt::print(
      "assay: tells whether a change made an LLM serving engine wrong or slow\n"
      "\n"
      "usage: assay COMMAND [ARGUMENTS]      assay COMMAND --help      assay --version\n"
      "\n"
      "commands\n");
  for (const Command& command : CommandTable()) fmt::print("  {:<10} {}\n", command.name, command.summary);
  fmt::print(
      "\n"
      "example\n"
      "  assay run configs/cpu/tiny-moe.yaml --suite smoke\n"
      "\n"
      "exit codes\n"
      "  0 pass   1 fail   2 usage or config error   3 inconclusive under --strict\n"
      "  4 invalid measurement or no baseline   75 infrastructure, worth one retry   130 interrupted\n");
}

int UnknownCommand(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : CommandTable()) names.emplace_back(command.name);
  const auto nearest = NearestWord(name, names);
  fmt::print(stderr, "assay: unknown command {}{}\n", name,
             nearest ? fmt::format("; did you mean {}?", *nearest) : "");
  fmt::print(stderr, "assay: the commands are {}\n", Join(names, ", "));
  return kExitUsage;
}

}  // namespace

const std::vector<Command>& CommandTable() {
  static const std::vector<Command> table = {
      {"run", "launch servers, measure, judge, write reports", kRunHelp, RunCommand},
      {"ab", "measure two arms in turn on this machine, judge the difference", kAbHelp, AbCommand},
      {"validate", "check configs on any machine, nothing is launched", kValidateHelp, ValidateCommand},
      {"bench", "benchmark any server: assay bench serve", kBenchHelp, BenchCommand},
      {"compare", "judge one record against others, no server", kCompareHelp, CompareCommand},
      {"selftest", "plant known faults and see which the gate notices", kSelftestHelp, SelftestCommand},
      {"ci", "write the cells as jobs of an engine that schedules: assay ci emit", kCiHelp, CiCommand},
      {"merge", "one verdict of the cells that many runs measured", kMergeHelp, MergeCommand},
      {"import", "make a record of another tool's results", kImportHelp, ImportCommand},
      {"report", "render a record again", kReportHelp, ReportCommand},
      {"baseline", "list, show, accept and exchange stored runs", kBaselineHelp, BaselineCommand},
      {"history", "trends of stored runs and where they changed", kHistoryHelp, HistoryCommand},
      {"bisect", "find the commit that brought a loss in", kBisectHelp, BisectCommand},
      {"eval", "ask GPQA of a server that runs already", kEvalHelp, EvalCommand},
      {"grade", "read the letter out of answers, by both graders", kGradeHelp, GradeCommand},
      {"doctor", "what this machine is, and what each config lacks to run here", kDoctorHelp, DoctorCommand},
      {"data", "check and store GPQA's question sets", kDataHelp, DataCommand},
  };
  return table;
}

int Main(int argc, char** argv) {
  StartLogging(false);
  const std::string name = argc > 1 ? argv[1] : "--help";
  if (name == "--help" || name == "-h" || name == "help") {
    PrintHelp();
    return argc > 1 ? kExitPass : kExitUsage;
  }
  if (name == "--version") {
    fmt::print("assay {} ({})\n", ASSAY_VERSION, ASSAY_COMMIT);
    return kExitPass;
  }
  for (const Command& command : CommandTable()) {
    if (command.name != name) continue;
    const bool wants_help = std::any_of(argv + 2, argv + argc, [](std::string_view argument) {
      return argument == "--help" || argument == "-h";
    });
    if (wants_help) {
      fmt::print("{}", command.help);
      return kExitPass;
    }
    return command.run(argc - 1, argv + 1);
  }
  return UnknownCommand(name);
}

}  // namespace assay::runner
