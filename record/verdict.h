#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/run_record.h"

namespace assay::record {

inline constexpr char kVerdictSchema[] = "assay/verdict/1";

enum class Outcome { kPass, kInconclusive, kFail, kInvalid, kInfrastructure };
const char* Name(Outcome outcome);  // "PASS" "INCONCLUSIVE" "FAIL" "INVALID" "INFRASTRUCTURE"

// One judged statement: what was compared with what, and why the outcome follows.
struct Check {
  std::string cell;
  std::string group;   // server | validity | accuracy | serving:<name>
  std::string metric;  // gpqa_score, ttft_p50_ms, V6_completed ...
  // threshold | broken_line | paired | unpaired | same_answers | performance | not_judged | baseline |
  // validity | reproducibility | server
  std::string rule;
  Outcome outcome = Outcome::kPass;
  std::string reason;  // one line a reviewer can act on
  std::string unit;
  Direction direction = Direction::kHigherIsBetter;
  std::optional<double> value;
  std::optional<double> reference;  // threshold or baseline
  std::optional<double> change;  // relative for performance, absolute points for accuracy; sign as measured
  std::optional<double> ci_low, ci_high;  // of the change, 95 %
  std::optional<double> margin;
  std::optional<double> limit_low, limit_high;  // validity: what `value` must lie between
  std::optional<double> noise_floor;            // what runs of equal code differ by, relative; measured
  std::optional<double> mde;
  // Evidence of a loss: for performance, of one above the margin and the noise floor; one-sided.
  std::optional<double> p_value;
  std::optional<double> p_adjusted;  // for all that were tested with it
  int64_t samples = 0;
  int64_t baseline_samples = 0;
  bool primary = true;               // observations (false) never decide
  bool improved = false;             // a note on PASS
  std::vector<std::string> details;  // further lines: which questions flipped, what else moved
  // Not empty: a FAIL that somebody has accepted for now, so that it decides nothing: who, until when, why.
  std::string acknowledged = {};
};

// Whether it compares answers with those of a baseline, question by question or score against score.
bool ComparesAnswers(const Check& check);

struct VerdictNote {
  std::string cell;
  // baseline | environment | first_run | noise_floor | acknowledged | regression
  // | workaround (it can go: turns a green report yellow) | workaround_stays
  std::string kind;
  std::string text;
};

struct Verdict {
  std::string schema = kVerdictSchema;
  Outcome outcome = Outcome::kPass;
  int exit_code = 0;
  bool missing_baseline = false;
  std::string headline;  // "PASS: 5 checks pass, 2 inconclusive"
  std::vector<Check> checks;
  std::vector<VerdictNote> notes;
  std::vector<FingerprintDifference> environment;
};

// Nothing is wrong, and yet somebody has something to do: shown in yellow.
bool NeedsAttention(const Verdict& verdict);

nlohmann::json ToJson(const Verdict& verdict);
Result<Verdict> ParseVerdict(std::string_view text, std::string_view source);

}  // namespace assay::record
