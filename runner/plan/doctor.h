#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "runner/plan/machine.h"
#include "runner/plan/resolve.h"

namespace assay::runner {

// What `assay doctor` found out. Nothing is launched but small programs that name their version.
struct Diagnosis {
  struct Program {
    std::string name;
    std::string version;  // "" where only its place in PATH was looked at
    bool found = false;
  };
  // Configs that lack the same things.
  struct Group {
    std::vector<std::string> missing;  // empty: they can run
    std::vector<Path> configs;
  };

  Machine machine;
  std::vector<std::string> state;  // clocks, temperature, load: what makes timings what they are
  std::vector<Program> programs;
  std::vector<Group> groups;  // those that can run first

  bool AnyRuns() const { return !groups.empty() && groups.front().missing.empty(); }
};

// `configs` as `assay run` takes them. An error only where they cannot be read.
Result<Diagnosis> Diagnose(const std::vector<Path>& configs, const Probe& probe, const Surroundings& here);

// One screen.
std::string DiagnosisText(const Diagnosis& diagnosis);

}  // namespace assay::runner
