#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "runner/ab/worktree.h"
#include "runner/config/config.h"

namespace assay::runner {

inline constexpr char kDefaultBuild[] = "make build";
inline constexpr char kDefaultProgram[] = "build/release/bin/assay-engine";

struct BuildPlan {
  Path repository;                        // any folder of it
  std::string ref;                        // branch, tag or commit
  Path folder;                            // where it is checked out; must not exist
  std::string command = kDefaultBuild;    // for the shell, run at the top of the checkout
  std::string program = kDefaultProgram;  // what it makes, relative to there
  Path log_file;                          // of git and of the command
};

// Why a commit gave no program: a result, since it is the commit's own doing.
struct BuildFailure {
  std::string message;  // "make build: exit code 2"
  std::vector<std::string> log_tail;
};

// A commit checked out and built; the folder goes when `worktree` does.
struct Build {
  std::unique_ptr<Worktree> worktree;
  std::string commit;
  Path program;  // absolute
  double seconds = 0;
  std::optional<BuildFailure> failure;
};

// An Error where nothing can be said of the commit: no such ref, no disk, Ctrl-C.
Result<Build> BuildRef(const BuildPlan& plan, const std::atomic<bool>& interrupted);

// The path within a checkout of the program that this config starts, for a checkout elsewhere: what
// engine.binary or argv[0] says, else the default. kUsage for a program that is looked up in PATH or lies
// outside: both commits would start the same one.
Result<std::string> ProgramWithinCheckout(const Config& config, const Path& checkout);

// The config with the built program in place of its own.
Config WithProgram(Config config, const Path& program);

}  // namespace assay::runner
