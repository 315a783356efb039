#include "runner/ab/build_ref.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "runner/ab/shell_command.h"
#include "runner/launch/exit_status.h"
#include "runner/plan/resolve.h"

namespace assay::runner {
namespace {

constexpr size_t kTailLines = 60;

std::optional<BuildFailure> WhatIsWrong(const BuildPlan& plan, int status, const Path& program) {
  if (status != 0) {
    return BuildFailure{fmt::format("{}: {}", plan.command, DescribeExit(status)),
                        TailLines(plan.log_file, kTailLines)};
  }
  if (::access(program.c_str(), X_OK) != 0) {
    return BuildFailure{fmt::format("{} left no program {} to start; --binary names what it makes",
                                    plan.command, plan.program),
                        TailLines(plan.log_file, kTailLines)};
  }
  return std::nullopt;
}

}  // namespace

Result<Build> BuildRef(const BuildPlan& plan, const std::atomic<bool>& interrupted) {
  Build build;
  ASSIGN_OR_RETURN(const Path checkout, CheckoutOf(plan.repository));
  ASSIGN_OR_RETURN(build.commit, ResolveCommit(checkout, plan.ref));
  RETURN_IF_ERROR(MakeFolders(std::filesystem::absolute(plan.log_file).parent_path()));
  ASSIGN_OR_RETURN(build.worktree,
                   Worktree::Add(checkout, build.commit, plan.folder, plan.log_file, interrupted));
  build.program = build.worktree->Folder() / plan.program;
  spdlog::info("{} ({}): {}; its log is {}", plan.ref, build.commit.substr(0, 12), plan.command,
               plan.log_file.string());
  const TimePoint start = RealClock().Now();
  ASSIGN_OR_RETURN(const int status,
                   RunShellCommand(plan.command, build.worktree->Folder(), plan.log_file, interrupted));
  build.seconds = Seconds(RealClock().Now() - start);
  build.failure = WhatIsWrong(plan, status, build.program);
  return build;
}

Result<std::string> ProgramWithinCheckout(const Config& config, const Path& checkout) {
  const bool bundled = config.engine.kind == EngineKind::kBundled;
  const std::string text = bundled ? config.engine.binary : config.engine.argv.front();
  if (text.empty()) return kDefaultProgram;
  const char* key = bundled ? "engine.binary" : "engine.argv[0]";
  if (!bundled && text.find('/') == std::string::npos) {
    return Fail(ErrorKind::kUsage,
                "{}: {}: {} is looked up in PATH, so that both refs would start the same program; name the "
                "one that the build makes with --binary",
                config.file.string(), key, text);
  }
  // "build/engine" is meant from the top of the checkout, "../build/engine" from the config's folder.
  const Path path = text;
  if (!path.is_absolute() && !IsExplicitPath(text)) return path.lexically_normal().string();
  const Path folder = std::filesystem::weakly_canonical(std::filesystem::absolute(config.file)).parent_path();
  const Path full = path.is_absolute() ? path : folder / path;
  const std::string within = full.lexically_normal().lexically_relative(checkout).string();
  if (!within.empty() && !StartsWith(within, "..")) return within;
  return Fail(
      ErrorKind::kUsage,
      "{}: {}: {} lies outside of {}, so that both refs would start the same program; name the one that "
      "the build makes with --binary",
      config.file.string(), key, text, checkout.string());
}

Config WithProgram(Config config, const Path& program) {
  std::string& own =
      config.engine.kind == EngineKind::kBundled ? config.engine.binary : config.engine.argv.front();
  own = program.string();
  return config;
}

}  // namespace assay::runner
