#pragma once

#include <future>
#include <memory>

#include "engine/model/checkpoint.h"
#include "engine/model/model.h"
#include "kernels/rotary/rotary.h"

namespace assay::engine {

// One function a row of MoeBackend; Model::Load chooses. Options have been checked.
Result<std::unique_ptr<Model>> MakeReferenceModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                                  std::future<Result<std::string>> weights_hash);
Result<std::unique_ptr<Model>> MakeGroupedModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                                std::future<Result<std::string>> weights_hash);

// On a GPU, whatever the MoeBackend.
Result<std::unique_ptr<Model>> MakeDeviceModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                               std::future<Result<std::string>> weights_hash);

kernels::RotaryTable RotaryTableOf(const ModelConfig& config, const ModelOptions& options);

}  // namespace assay::engine
