#include <fmt/format.h>

#include <cstdio>

#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/plan/doctor.h"

namespace assay::runner {

const std::string_view kDoctorHelp =
    R"(usage: assay doctor [CONFIG...]

Says what this machine is, what state its clocks are in, which programs are here, and for each config what
it lacks to run: hardware, model, tokenizer, data, server. Launches no server.

  CONFIG   files, folders or lists, as assay run takes them (default: configs)

exit code: 0 when a config can run, 4 when none can, 2 when they cannot be read

example
  assay doctor configs/cpu configs/vllm
)";

int DoctorCommand(int argc, char** argv) {
  std::vector<Path> configs;
  CLI::App app;
  app.set_help_flag();
  app.add_option("config", configs);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  if (configs.empty()) configs.emplace_back("configs");

  const auto diagnosis = Diagnose(configs, Probe::OfThisMachine(), Surroundings::OfThisProcess());
  if (!diagnosis) {
    fmt::print(stderr, "assay doctor: {}\n", diagnosis.error().message);
    return ExitCodeOf(diagnosis.error().kind);
  }
  fmt::print("{}", DiagnosisText(*diagnosis));
  return diagnosis->AnyRuns() ? kExitPass : kExitInvalid;
}

}  // namespace assay::runner
