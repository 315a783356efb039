#pragma once

#include <string>

#include "record/verdict.h"

namespace assay::reports {

// "gpqa_score, threshold", "128x32 ttft_p50_ms", "server crashed": what a check is about, short.
std::string CheckName(const record::Check& check);

// The benchmark of a serving check; "" for others.
std::string Benchmark(const record::Check& check);

// What each verdict asks of its reader.
const char* Meaning(record::Outcome outcome);
const char* Symbol(record::Outcome outcome);

}  // namespace assay::reports
