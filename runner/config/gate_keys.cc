#include "evals/serving/serving.h"
#include "runner/config/config_file.h"

namespace assay::runner {
namespace {

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  for (const record::Metric& metric : evals::SummariseServing({}, 0)) names.push_back(metric.name);
  names.emplace_back("server_memory_mb");
  return names;
}

void CheckBaseline(const YamlNode& node, const std::string& path, const gate::BaselinePolicy& baseline,
                   Reading& reading) {
  if (baseline.kind == gate::BaselinePolicyKind::kPinned && baseline.pinned_file.empty()) {
    reading.mistakes.Add(node.mark, path,
                         "policy pinned needs pinned_file: the record of the run to compare with");
  }
}

const Section<gate::AccuracyPolicy>& AccuracySection() {
  using A = gate::AccuracyPolicy;
  static const Section<A> section = {
      "gate.accuracy",
      "How the accuracy eval is compared with its baseline.",
      {
          {"paired", &A::paired, TrueOrFalse(), "Compare question by question.", "true"},
          {"same_answers", &A::same_answers, TrueOrFalse(),
           "An answer whose text is not the baseline's fails: for engines that promise equal text whatever "
           "runs "
           "beside, and changes that promise equal arithmetic.",
           "true"},
          {"margin", &A::margin, Fraction(), "Loss in score that must not pass.", "0.03"},
          {"min_effect", &A::min_effect, Fraction(), "A shown loss in score smaller than this never fails.",
           "0.01"},
          {"max_failed_share", &A::max_failed_share, Fraction(),
           "Share of samples whose request may fail; above it the eval is INVALID.", "0.02"},
      },
      nullptr,
  };
  return section;
}

const Section<gate::PerformancePolicy>& PerformanceSection() {
  using P = gate::PerformancePolicy;
  static const Section<P> section = {
      "gate.performance",
      "How serving benchmarks are compared with their baseline.",
      {
          {"primary", &P::primary,
           ListOf(OneOf(MetricNames(), "a metric of a serving benchmark"), "a list of metrics"),
           "Metrics that decide, of every shape; all others are observations.",
           "[output_throughput_tok_s, ttft_p50_ms, tpot_p50_ms]"},
          {"margin", &P::margin, Fraction(), "Relative loss that must not pass.", "0.03"},
          {"min_change", &P::min_change, NumberMap(MetricNames()),
           "By metric, in its unit: a change below this never fails.", "{ttft_p50_ms: 2}"},
          {"min_baseline_runs", &P::min_baseline_runs, Integer<int>(1, 1000),
           "With fewer stored runs nothing is decided: INCONCLUSIVE.", "3"},
          {"noise_floor_days", &P::noise_floor_days, Integer<int>(1, 100000),
           "Runs of equal code that are older no longer measure the noise floor.", "90"},
      },
      nullptr,
  };
  return section;
}

const Section<gate::BaselinePolicy>& BaselineSection() {
  using B = gate::BaselinePolicy;
  static const Section<B> section = {
      "gate.baseline",
      "What a run is compared with.",
      {
          {"policy", &B::kind,
           OneOfEnum<gate::BaselinePolicyKind>(
               {{"rolling", gate::BaselinePolicyKind::kRolling},
                {"merge_base", gate::BaselinePolicyKind::kMergeBase},
                {"merge_base_rerun", gate::BaselinePolicyKind::kMergeBaseRerun},
                {"pinned", gate::BaselinePolicyKind::kPinned},
                {"none", gate::BaselinePolicyKind::kNone}}),
           "`rolling`: the latest passing runs of `branch` in the store; `merge_base`: the stored runs of "
           "the "
           "commit where the change left `branch`; `merge_base_rerun`: that commit built and measured beside "
           "the "
           "change, which `assay ab` does; `pinned`: the record in `pinned_file`; `none`: thresholds only. "
           "See "
           "[baselines.md](baselines.md).",
           "rolling"},
          {"branch", &B::branch, Text(),
           "Branch whose stored runs are the baseline; only its runs become one.", "main"},
          {"runs", &B::runs, Integer<int>(1, 1000), "How many of them, newest first.", "10"},
          {"pinned_file", &B::pinned_file, Text(),
           "A record (see *Paths*); with `rolling` the accuracy baseline of a machine whose store has none.",
           "ci/baselines/cpu-tiny-moe.json"},
          {"first_run", &B::first_run,
           OneOfEnum<gate::FirstRun>({{"fail", gate::FirstRun::kFail}, {"record", gate::FirstRun::kRecord}}),
           "Where nothing can be compared and this machine has no earlier run: `fail` (exit 4), or `record` "
           "this run as the first.",
           "record"},
      },
      CheckBaseline,
  };
  return section;
}

}  // namespace

const Section<GateFile>& GateSection() {
  using G = GateFile;
  static const Section<G> section = {
      "gate",
      "How results are judged. No part of the config's hash.",
      {
          {"accuracy", &G::accuracy, Sub(AccuracySection()), "Accuracy against the baseline.",
           "{paired: true, margin: 0.03}"},
          {"performance", &G::performance, Sub(PerformanceSection()), "Speed against the baseline.",
           "{margin: 0.03}"},
          {"baseline", &G::baseline, Sub(BaselineSection()), "Which runs are the baseline.",
           "{policy: rolling, branch: main, runs: 10}"},
          {"declared_differences", &G::declared_differences,
           ListOf(OneOf(record::BreakingFields(), "a field of the fingerprint"),
                  "a list of fields of the fingerprint"),
           "What this change means to change: a difference in these fields hinders no comparison.",
           "[engine_flags]"},
      },
      nullptr,
  };
  return section;
}

}  // namespace assay::runner
