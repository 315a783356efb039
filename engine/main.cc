#include <assay_version.h>
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/log.h"
#include "engine/make_model.h"
#include "engine/serve.h"

namespace assay::engine {
namespace {

constexpr const char* kHelp = R"(assay-engine: the bundled engine for models of the gpt-oss architecture.

  assay-engine serve --model FOLDER [flags]   answer the OpenAI API; serve --help lists the flags
  assay-engine make-model [flags] OUT         write a checkpoint with random weights
  assay-engine --version
)";

int RunServe(const std::vector<std::string>& arguments) {
  const auto flags = ParseServeFlags(arguments);
  if (!flags) {
    fmt::print(stderr, "{}\n", flags.error().message);
    return ExitCodeOf(flags.error());
  }
  if (flags->help) {
    fmt::print("{}", kServeHelp);
    return kExitOk;
  }
  StartLogging(flags->verbose);
  const Status served = Serve(*flags);
  if (served) return kExitOk;
  fmt::print(stderr, "{}\n", served.error().message);
  return ExitCodeOf(served.error());
}

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

int RunMakeModel(const std::vector<std::string>& arguments) {
  const auto flags = ParseMakeModelFlags(arguments);
  if (!flags) {
    fmt::print(stderr, "{}\n", flags.error().message);
    return ExitCodeOf(flags.error());
  }
  if (flags->help) {
    fmt::print("{}", kMakeModelHelp);
    return kExitOk;
  }
  StartLogging(false);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, [](int) { interrupted = true; });
  const auto made = MakeModel(*flags, interrupted);
  if (made) {
    fmt::print("{}\n", *made);
    return kExitOk;
  }
  fmt::print(stderr, "{}\n", made.error().message);
  return ExitCodeOf(made.error());
}

int Run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  if (command == "serve") return RunServe({arguments.begin() + 1, arguments.end()});
  if (command == "make-model") return RunMakeModel({arguments.begin() + 1, arguments.end()});
  if (command == "--version") {
    fmt::print("assay-engine {} ({})\n", ASSAY_VERSION, ASSAY_COMMIT);
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
    return assay::engine::Run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "out of memory: the machine did not give what was asked for; lower --kv-cache-memory-mb\n");
    return assay::engine::kExitSystem;
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}\n", error.what());
    return assay::engine::kExitInternal;
  }
}
