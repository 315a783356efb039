#pragma once

#include <string>

#include "record/verdict.h"
#include "reports/say.h"

namespace assay::reports {

// "gpqa_score, threshold", "128x32 ttft_p50_ms", "server crashed": what a check is about, short.
std::string CheckName(const Say& say, const record::Check& check);

// The benchmark of a serving check; "" for others.
std::string Benchmark(const record::Check& check);

const char* Symbol(record::Outcome outcome);
const char* Symbol(const record::Verdict& verdict);

}  // namespace assay::reports
