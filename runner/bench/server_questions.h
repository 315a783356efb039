#pragma once

#include <atomic>
#include <string>

#include "runner/bench/bench.h"

// What is asked of the server beside the benchmark.
namespace assay::runner {

// The first of /v1/models.
Result<std::string> FirstModel(const BenchOptions& options);
// What /version says; "" where the server does not say.
std::string ServerVersion(const BenchOptions& options);
// Until it answers one token, at most options.ready_timeout_s.
Status WaitUntilReady(const BenchOptions& options, const std::atomic<bool>& interrupted);

}  // namespace assay::runner
