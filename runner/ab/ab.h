#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "runner/ab/build_ref.h"

namespace assay::runner {

// One side as the command line names it: one of these, and the same one on both sides.
struct ArmSource {
  std::string ref;      // git: branch, tag or commit
  std::string program;  // of a server, already built
  std::string config;   // a config file of its own
  std::string url;      // of a server that runs already
};

struct AbOptions {
  Path config;  // of both arms; "" where each has its own
  std::optional<std::string> suite;
  ArmSource base, head;
  std::string build = kDefaultBuild;  // of git refs
  std::string program;                // what it makes; "" is what the config starts, else kDefaultProgram
  Path repository = ".";
  int64_t first_look = 4, most = 8;                           // pairs
  double budget_s = 0;                                        // 0: none
  std::optional<int64_t> seed;                                // of the order; none: by chance
  std::optional<double> accuracy_margin, performance_margin;  // in place of the config's
  Path out;
  std::string hardware;
  bool strict = false;
  bool dry_run = false;
  std::vector<std::string> command;  // how assay was called, for the record
};

// Measures two arms in turn on this machine and judges the difference. Returns the exit code; an Error means
// that nothing was judged.
Result<int> RunAb(const AbOptions& options);

}  // namespace assay::runner
