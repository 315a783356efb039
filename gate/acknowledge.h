#pragma once

#include <string>
#include <vector>

#include "gate/policy.h"
#include "record/verdict.h"

namespace assay::gate {

// What V10 and V11 of all benchmarks of a cell are called here: whether the machine itself is as fast as it
// was.
inline constexpr char kMachinePace[] = "machine_pace";

// What a check is called in acknowledgements, regressions and trends: "gpqa_score", "128x32.ttft_p50_ms"; ""
// for one that compares nothing.
std::string MetricOf(const record::Check& check);

// The one of this metric that holds longest, over or not; null when there is none.
const Acknowledgement* FindAcknowledgement(const std::vector<Acknowledgement>& all, const std::string& cell,
                                           const std::string& metric);
bool HoldsOn(const Acknowledgement& acknowledgement, const std::string& today);
bool IsAccepted(const std::vector<Acknowledgement>& all, const std::string& cell, const std::string& metric,
                const std::string& today);
// "kim until 2026-12-31: new sampler"
std::string Words(const Acknowledgement& acknowledgement);

// Takes the right to decide from each FAIL that somebody has accepted and adds a note that says who. A broken
// server, a broken measurement and answers near chance cannot be accepted; that the machine has another pace
// (V10, V11) can.
void Acknowledge(const std::vector<Acknowledgement>& acknowledgements, const std::string& today,
                 std::vector<record::Check>& checks, std::vector<record::VerdictNote>& notes);

}  // namespace assay::gate
