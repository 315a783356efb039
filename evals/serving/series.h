#pragma once

#include <cstdint>
#include <vector>

#include "record/run_record.h"

namespace assay::evals {

// What the successful requests say, in milliseconds and tokens, by vLLM's definitions.
struct ServingSeries {
  int64_t completed = 0, failed = 0;
  int64_t prompt_tokens = 0, output_tokens = 0;
  double in_flight_s = 0;
  std::vector<double> ttft, tpot, itl, e2el, ttft_from_planned, e2el_from_planned;
  std::vector<double> queue;  // sent minus planned
  std::vector<double> first_reasoning, first_content;
  std::vector<double> second_chunk;   // second minus first chunk
  std::vector<double> guidellm_tpot;  // e2el / output tokens
  std::vector<double> itl_by_token;   // one entry a token, where the server counts tokens in each chunk
  std::vector<double> tokens_per_s;   // one user's: 1000 / tpot
  int64_t cached_tokens = 0, prompt_tokens_with_cache_count = 0;
  double first_sent_s = 0, last_chunk_s = 0;
};
ServingSeries SeriesOf(const std::vector<record::RequestTiming>& requests);

// A gap belongs to the tokens of the chunk that ends it, in equal parts; the gap before a chunk without
// tokens is added to the next one's.
std::vector<double> GapsByToken(const record::RequestTiming& request);

// The most in one of the seconds [0, 1), [1, 2), ... from the first send.
struct PeakRate {
  double chunks = 0;  // vLLM's "peak output token throughput" counts these
  double tokens = 0;  // of each chunk where the server counts them, else the request's tokens in equal parts
};
PeakRate PeakOutput(const std::vector<record::RequestTiming>& requests);

// The most requests alive at one moment; one that ends as another starts makes room for it.
int64_t PeakInFlight(const std::vector<record::RequestTiming>& requests);

}  // namespace assay::evals
