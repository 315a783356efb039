#include <assay_version.h>
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/planted_fault.h"
#include "engine/bench/bench.h"
#include "engine/make_model.h"
#include "engine/serve.h"

namespace assay::engine {
namespace {

using Arguments = std::vector<std::string>;

constexpr const char* kHelp = R"(assay-engine: the bundled engine for models of the gpt-oss architecture.

  assay-engine serve --model FOLDER [flags]   answer the OpenAI API
  assay-engine bench --model FOLDER [flags]   how fast the model runs on this machine
  assay-engine make-model [flags] OUT         write a checkpoint with random weights
  assay-engine --version

Each command has a --help of its own.
)";

int Refuse(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return ExitCodeOf(error);
}

// `arguments` parsed, then help or what the flags ask for.
template <typename Parse, typename Do>
int RunCommand(const Arguments& arguments, const Parse& parse, const char* help, const Do& run) {
  const auto flags = parse(arguments);
  if (!flags) return Refuse(flags.error());
  if (flags->help) {
    fmt::print("{}", help);
    return kExitOk;
  }
  const Status done = run(*flags);
  return done ? kExitOk : Refuse(done.error());
}

int RunServe(const Arguments& arguments) {
  return RunCommand(arguments, ParseServeFlags, kServeHelp, [](const ServeFlags& flags) {
    StartLogging(flags.verbose);
    return Serve(flags);
  });
}

int RunBenchmark(const Arguments& arguments) {
  return RunCommand(arguments, ParseBenchFlags, kBenchHelp, [](const BenchFlags& flags) {
    StartLogging(false);
    return RunBench(flags);
  });
}

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

int RunMakeModel(const Arguments& arguments) {
  return RunCommand(arguments, ParseMakeModelFlags, kMakeModelHelp,
                    [](const MakeModelFlags& flags) -> Status {
                      StartLogging(false);
                      for (const int signal : {SIGINT, SIGTERM, SIGHUP})
                        std::signal(signal, [](int) { interrupted = true; });
                      ASSIGN_OR_RETURN(const std::string made, MakeModel(flags, interrupted));
                      fmt::print("{}\n", made);
                      return {};
                    });
}

int Run(const Arguments& arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  const struct {
    const char* name;
    int (*run)(const Arguments&);
  } commands[] = {{"serve", RunServe}, {"bench", RunBenchmark}, {"make-model", RunMakeModel}};
  for (const auto& known : commands) {
    if (command == known.name) return known.run({arguments.begin() + 1, arguments.end()});
  }
  if (command == "--version") {
    fmt::print("assay-engine {}{} ({}), GPU backend: {}\n", ASSAY_VERSION, PlantedVersion(), ASSAY_COMMIT,
               ASSAY_GPU_BACKEND);
    return kExitOk;
  }
  if (command == "--help" || command == "-h") {
    fmt::print("{}", kHelp);
    return kExitOk;
  }
  fmt::print(stderr, "bad flag: {}: no such command\n{}", command.empty() ? "(nothing)" : command, kHelp);
  return kExitUsage;
}

}  // namespace
}  // namespace assay::engine

int main(int argc, char** argv) {
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (const assay::Status planted = assay::PlantFrom(arguments); !planted)
      return assay::engine::Refuse(planted.error());
    return assay::engine::Run(arguments);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "out of memory: the machine did not give what was asked for; lower --kv-cache-memory-mb\n");
    return assay::engine::kExitSystem;
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}\n", error.what());
    return assay::engine::kExitInternal;
  }
}
