#pragma once

#include <optional>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace assay::evals {

struct TraceEntry {
  double at_s = 0;                               // from the start
  std::optional<int64_t> input_len, output_len;  // in place of the benchmark's own
};

// One request a line: seconds as a plain number, or Mooncake's JSON, {"timestamp": ms, "input_length": n,
// "output_length": m} with both lengths optional. Times must not go back. Errors name file and line.
Result<std::vector<TraceEntry>> LoadTrace(const Path& file);

}  // namespace assay::evals
