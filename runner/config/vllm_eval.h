#pragma once

#include <map>
#include <string>

#include "runner/config/config.h"
#include "runner/config/keys.h"
#include "runner/config/server_args.h"

// A YAML of vLLM's own GPQA evals (tests/evals/gpt_oss/configs), read as it is.
namespace assay::runner {

struct VllmEvalFile {
  std::string model_name;
  double metric_threshold = 0;
  std::string reasoning_effort = "low";
  ServerArgs server_args;
  std::map<std::string, std::string> env;
  double startup_max_wait_seconds = 1800;
};

const Section<VllmEvalFile>& VllmEvalSection();

// What vLLM's evals measure with it, judged as they judge. `file` names the config; its hardware is left to
// the machine.
Config ToConfig(const VllmEvalFile& eval, const Path& file);

// A name for cells from a file's stem; a long one is cut and ends in a hash of the whole.
std::string NameFromStem(const std::string& stem, size_t max_length, bool dots);

}  // namespace assay::runner
