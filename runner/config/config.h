#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "evals/gpqa/gpqa.h"
#include "evals/reproducibility/reproducibility.h"
#include "evals/serving/serving.h"
#include "gate/policy.h"

// A config file as plain structs; docs/configs.md is the reference and configs/schema.json the
// machine-readable one.
namespace assay::runner {

enum class EngineKind { kBundled, kCommand };

struct EngineConfig {
  EngineKind kind = EngineKind::kBundled;
  std::string
      model;  // bundled: a folder, relative to the config file or the working folder; command: for the record
  std::string tokenizer;  // override; same path rule
  std::string model_id;   // what /v1/models must list; default: bundled: the model folder's name
  int tensor_parallel_size = 1;
  std::optional<int> gpus;        // that the server takes; default: one a tensor-parallel rank
  std::string moe_backend;        // bundled: reference | grouped | fused; "" is the engine's default
  std::vector<std::string> argv;  // command: the program and its arguments; {port} {host} {model} {tokenizer}
                                  // {tp} {moe_backend} are filled in
  std::vector<std::string> extra_args;     // appended; placeholders as in argv for a command
  std::string binary;                      // bundled: path of assay-engine; "" is the one beside assay
  std::map<std::string, std::string> env;  // source text of each scalar: "1", "true"
  std::string ready_path = "/health";
  double ready_timeout_s = 600;
  double stop_timeout_s = 15;
  double hang_timeout_s = 120;  // requests in flight and no token anywhere for so long is a hang
};

struct EvalsConfig {
  std::optional<evals::GpqaOptions> gpqa;
  std::string gpqa_variant;  // diamond | main | extended: in the data folder; "" when `dataset` was named
  std::vector<evals::ServingOptions> serving;
  std::optional<evals::ReproducibilityOptions> reproducibility;
};

struct Config {
  std::string name;
  std::string hardware;  // cpu | h200 | gfx942 | gfx950 | gfx1250; "" in files of others: what is here
  std::string description;
  EngineConfig engine;
  EvalsConfig evals;
  gate::Policy gate;
  Path file;                       // where it was read
  std::vector<std::string> notes;  // what a file of others asks for and is not done
};

// A suite selects and overrides the evals of a config, so that "smoke" and "full" share one hardware file.
struct Suite {
  std::string name;
  std::optional<int64_t> gpqa_subset;
  std::optional<int> gpqa_repeats;
  bool gpqa = true;
  bool serving_enabled = true;
  std::optional<int64_t> serving_first;  // only the first so many of the config's list
  std::vector<std::string> serving;      // names to run; empty means all
  Path file;
};

// Errors read "configs/a.yaml:14:3: engine.tokeniser: unknown key; did you mean tokenizer?". All mistakes of
// a file are reported at once, one a line.
Result<Config> LoadConfig(const Path& file);
// A name under configs_folder/suites, or a file.
Result<Suite> LoadSuite(const std::string& name_or_file, const Path& configs_folder);
// The paths in a list file: one a line, relative to its folder, # starts a comment. A line that names no file
// is an error with its number.
Result<std::vector<Path>> LoadList(const Path& file);
Config Apply(Config config, const Suite& suite);

// The resolved config as YAML, defaults filled in: what --dry-run shows and what the hash is taken of.
std::string ToYaml(const Config& config);
// SHA-256 over what decides the measurement (engine and evals; not the gate, not paths of this machine).
std::string ConfigHash(const Config& config);

}  // namespace assay::runner
