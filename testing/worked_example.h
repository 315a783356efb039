#pragma once

#include "record/run_record.h"

namespace assay::testing {

// One streamed request as every tool's formulas are shown on it: start 0, chunks with choices at 0.50, 0.60
// and 0.80 s, five tokens by the server's usage.
inline record::RequestTiming WorkedExample() {
  record::RequestTiming timing;
  timing.first_chunk_s = 0.50;
  timing.last_chunk_s = 0.80;
  timing.chunk_gaps_ms = {100, 200};
  timing.prompt_tokens = 7;
  timing.output_tokens = 5;
  timing.output_tokens_from_usage = true;
  timing.chunks = 3;
  return timing;
}

}  // namespace assay::testing
