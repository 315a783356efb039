#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/config/config.h"
#include "runner/config/values.h"

// Flags of `vllm serve` as vLLM's evals and perf-eval write them: one text, split as a shell would.
namespace assay::runner {

struct ServerArgs {
  std::vector<std::string> words;  // with {tp}, {tokenizer} and {moe_backend} in place of their values
  int tensor_parallel_size = 1;
  int gpus = 1;  // tensor x pipeline x data parallel
  std::string tokenizer;
  std::string moe_backend;
  std::string model_id;  // --served-model-name
};

// "--tensor_parallel_size=2" is "--tensor-parallel-size": vLLM reads both, and takes a value after = or after
// a blank.
std::string FlagName(std::string_view argument);

// Refuses --port and --seed, which assay decides, and a --host that it could not reach.
Value<ServerArgs> ServerArgsValue();

// `vllm serve`: the model, these arguments, `always` where they are not among them, and what assay decides.
EngineConfig VllmEngine(const std::string& model, const ServerArgs& args,
                        const std::vector<std::string>& always);

}  // namespace assay::runner
