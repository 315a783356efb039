#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "runner/fleet/pipeline.h"

namespace assay::runner {

// What `assay ci emit` was asked for.
struct FleetRequest {
  std::string target;  // --to
  std::vector<Path> configs;
  std::optional<std::string> suite;
  std::string hardware;                  // of configs that name none
  std::vector<std::string> run_flags;    // passed on to `assay run`
  std::vector<std::string> merge_flags;  // passed on to `assay merge`
  std::vector<std::string> emit_words;   // the command line itself, without --out
  std::string program = "assay";         // how jobs call it
  std::vector<std::string> runners;      // HARDWARE=WORD,WORD
  Pipeline pipeline;                     // name, setup, timeout and what single engines take
};

// Null with kUsage and those there are for a name that is none.
Result<const CiTarget*> FindCiTarget(const std::string& name);

// The cells that `assay run` would make of these configs, as a pipeline. Needs neither model nor hardware,
// and gives the same on every machine. Errors are kUsage: a bad config, a config without hardware where none
// was named, and whatever could not be written into the engine's file as it is.
Result<Pipeline> MakePipeline(const FleetRequest& request);

}  // namespace assay::runner
