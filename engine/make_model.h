#pragma once

#include <atomic>

#include "engine/make_model_flags.h"

namespace assay::engine {

// Writes the checkpoint that the flags describe under a temporary name beside flags.out and renames it when
// it is whole. `stop` set makes it give up with kInterrupted and leave nothing. Returns the line to print.
Result<std::string> MakeModel(const MakeModelFlags& flags, const std::atomic<bool>& stop);

}  // namespace assay::engine
