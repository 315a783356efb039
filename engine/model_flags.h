#pragma once

#include <string>

#include "engine/command_line.h"
#include "engine/model/model.h"

namespace assay::engine {

// How a model is run: the flags that every command which loads one has.
struct ModelFlags {
  std::string model;  // folder
  std::string device = "cpu";
  std::string moe_backend = "grouped";
  std::string activations = "bf16-pair";
  std::string dense_dtype = "bf16";
  int tensor_parallel_size = 1;
  int threads = 0;
  bool batch_invariant = false;
};

void DeclareModelFlags(CLI::App& app, ModelFlags& flags);
Status CheckModelFlags(const ModelFlags& flags);
// What the flags say; the sizes of batches and cache are the caller's.
ModelOptions ToModelOptions(const ModelFlags& flags);

}  // namespace assay::engine
