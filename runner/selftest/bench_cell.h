#pragma once

#include "base/result.h"
#include "runner/plan/plan.h"
#include "runner/selftest/selftest.h"

namespace assay::runner {

// The one cell of the selftest's config, ready to be run with the engine and the seed of the options.
// `engine` and `config` are the names that options which name none mean.
Result<Cell> BenchCell(const SelftestOptions& options, const char* engine, const char* config);

}  // namespace assay::runner
