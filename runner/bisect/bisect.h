#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/verdict.h"
#include "runner/bisect/bisection.h"

namespace assay::runner {

struct BisectOptions {
  Path config;
  std::optional<std::string> suite;
  std::string good, bad;  // branches, tags or commits; good is an ancestor of bad
  std::string build;      // at the top of a checkout
  std::string program;    // what it makes; "" is what the config starts
  Path repository = ".";
  int pairs = 4, widenings = 2;
  Path out;  // "" makes out/bisect-<run id>
};

// The commits after `good` up to and with `bad`, oldest first, along first parents.
Result<std::vector<std::string>> CommitsBetween(const Path& repository, const std::string& good,
                                                const std::string& bad);

// What a verdict between the good commit and another says of the loss that is looked for: of the metrics that
// failed on the bad commit, or, where its server broke, of whether this one's does. `accused` is empty before
// that is known and is filled then.
StepAnswer AnswerOf(const record::Verdict& verdict, std::vector<std::string>& accused);

// Builds and measures; prints each step and what was found. The exit code is 0 when one commit was found, 3
// when several are left or nothing could be told, 4 when the bad commit is not worse than the good one.
Result<int> Bisect(const BisectOptions& options);

}  // namespace assay::runner
