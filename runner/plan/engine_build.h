#pragma once

#include <string>

#include "base/result.h"
#include "runner/plan/machine.h"

namespace assay::runner {

// Whether the bundled engine, the program at `path`, was built for this hardware, as its --version says:
// without a GPU backend it serves on the CPU only, and code for one AMD chip runs on no other. One that says
// nothing passes.
Status CheckEngineBuild(const std::string& path, const std::string& hardware, const Probe& probe);

}  // namespace assay::runner
