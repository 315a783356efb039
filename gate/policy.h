#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

// What a config says about judging. Plain data; runner/config fills it from YAML.
namespace assay::gate {

enum class ToleranceKind { kAbsolute, kRelative };
enum class ThresholdProof {
  kTolerance,  // score >= threshold - tolerance, as vLLM's evals decide
  kProveBad,   // FAIL only if the interval's upper end is below the limit
  kProveGood,  // PASS only if the interval's lower end reaches the limit
};

struct ThresholdPolicy {
  double threshold = 0;  // 0..1
  ToleranceKind kind =
      ToleranceKind::kAbsolute;  // mandatory in YAML: the two readings of 0.05 differ by two points
  double tolerance = 0;
  ThresholdProof proof = ThresholdProof::kTolerance;
  double broken_below = 0.35;  // a model that guesses; no statistics needed
};

struct AccuracyPolicy {
  bool paired = true;
  bool same_answers = false;       // an answer that is not word for word the baseline's fails
  double margin = 0.03;            // loss in score that must not pass
  double min_effect = 0.01;        // a proven loss smaller than this never fails
  double max_failed_share = 0.02;  // of samples; above it the eval is INVALID
};

struct PerformancePolicy {
  // Metric names as in ServingRecord::metrics; the rest are observations.
  std::vector<std::string> primary = {"output_throughput_tok_s", "ttft_p50_ms", "tpot_p50_ms"};
  double margin = 0.03;                      // relative
  std::map<std::string, double> min_change;  // absolute, in the metric's unit; a change below it never fails
  int min_baseline_runs = 3;                 // fewer cannot decide
  int noise_floor_days = 90;                 // older pairs of equal runs no longer say how runs differ here
};

enum class BaselinePolicyKind {
  kRolling,         // the latest passing runs of the branch
  kMergeBase,       // the stored runs of the commit where the change left the branch
  kMergeBaseRerun,  // that commit built and measured beside the change: assay ab
  kPinned,
  kNone,
};
enum class FirstRun { kFail, kRecord };

struct BaselinePolicy {
  BaselinePolicyKind kind = BaselinePolicyKind::kRolling;
  std::string branch = "main";
  int runs = 10;
  std::string pinned_file;  // a record; for accuracy also the fallback of rolling when the store has none
  FirstRun first_run = FirstRun::kFail;  // what a missing baseline means on a machine without history
};

// A loss that somebody accepts for some time: a FAIL of this metric decides nothing until it expires.
struct Acknowledgement {
  std::string id;
  std::string cell, metric;  // "cpu.tiny-moe.smoke", "gpqa_score" or "128x32.ttft_p50_ms"
  std::string owner, reason;
  std::string created;  // UTC
  std::string expires;  // the last day on which it holds, "2026-12-31"
};

// Something that is there only until its condition is met: "aiter>=0.1.20".
struct Workaround {
  std::string id;
  std::string until;
};

struct Policy {
  std::optional<ThresholdPolicy> threshold;
  AccuracyPolicy accuracy;
  PerformancePolicy performance;
  BaselinePolicy baseline;
  // Fingerprint fields that this change means to change ("engine_flags", "model_hash"): the two sides are
  // compared all the same.
  std::vector<std::string> declared_differences;
  std::vector<Workaround> workarounds;
  std::vector<Acknowledgement> acknowledgements;
  std::string today;  // "2026-12-01": what acknowledgements are held against; the gate reads no clock
  bool allow_missing_baseline = false;
  bool strict = false;  // INCONCLUSIVE exits 3
};

}  // namespace assay::gate
