#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/planted_fault.h"

namespace assay::runner {

// Which evals of the selftest's config meet a fault.
enum class MeetsFault { kAnswers, kSpeed };

// One planted fault: how it is measured, what its effect is the change of, and what should notice it.
struct CorpusEntry {
  Fault fault;
  MeetsFault meets;
  // The check whose change is the size of the effect: gpqa_score, tpot_p50_ms ... "" for a failure, which has
  // no size that it may hide behind.
  std::string_view metric;
  // Checks, by their metric without the benchmark's name; any of them is the right reason for a red verdict.
  std::vector<std::string_view> right;
};

// Every fault but kNone, in the order of base/planted_fault.h.
std::span<const CorpusEntry> Corpus();

}  // namespace assay::runner
