#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/run_record.h"
#include "runner/config/config.h"
#include "runner/launch/server.h"

namespace assay::runner {

struct Machine;
struct Probe;
struct Surroundings;

// One thing to run: a config cut down to a suite. The key is stable across machines and days: [a-z0-9_.-], at
// most 64 characters.
struct Cell {
  std::string key;    // "cpu.tiny-moe.smoke"
  std::string suite;  // "" when none was asked for
  Config config;      // the suite already applied; paths resolved where they exist
  std::string config_hash;
  LaunchPlan launch;  // log_file is filled in by who runs it
};

// Reads the configs (files, folders or list files) and the suite. Needs no model and no data. Errors are
// kUsage.
// `hardware` is that of configs that name none; "" is what this machine has.
Result<std::vector<Cell>> MakePlan(const std::vector<Path>& configs, const std::optional<std::string>& suite,
                                   const std::string& hardware = "");
Result<std::vector<Cell>> MakePlan(const std::vector<Path>& configs, const std::optional<std::string>& suite,
                                   const Surroundings& here);

// The same of configs that are read already, perhaps changed since.
Result<std::vector<Cell>> PlanConfigs(std::vector<Config> configs, const std::optional<std::string>& suite,
                                      const std::string& hardware);
Result<std::vector<Cell>> PlanConfigs(std::vector<Config> configs, const std::optional<std::string>& suite,
                                      const Surroundings& here);

// What --dry-run prints: each cell with its resolved config and its final command line.
std::string DescribePlan(const std::vector<Cell>& cells);

// Looks at this machine before anything is launched, and names everything that is missing with where it
// looked and what to do: hardware (kInvalid), model, tokenizer and data (kUsage), the server's program
// (kInfrastructure), or what that was built for (kUsage). With mistakes of several kinds the first of these
// decides.
Status Preflight(const Cell& cell);
Status Preflight(const Cell& cell, const Machine& machine, const Surroundings& here, const Probe& probe);
// Of a cell whose program is yet to be built: all but that.
Status PreflightBeforeBuild(const Cell& cell);
// Of a cell whose server runs already: the data of its evals alone.
Status PreflightOfEvals(const Cell& cell);

// The machine's part of the fingerprint; engine, flags and hashes are added by who runs the cell.
record::Fingerprint DetectFingerprint(const std::string& hardware);

}  // namespace assay::runner
