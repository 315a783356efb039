#include "gate/validity_serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "gate/check.h"
#include "gate/load.h"
#include "record/distributions.h"
#include "record/prediction.h"
#include "record/statistics.h"

namespace assay::gate {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;
using record::RequestTiming;
using record::ServingRecord;

Check Named(const CellRecord& cell, const ServingRecord& serving, std::string_view name) {
  return MakeCheck(cell, "validity", fmt::format("{}.{}", name, serving.name), "validity");
}

bool Holds(const Check& check) {
  return check.outcome == Outcome::kPass;
}

Check Because(Check check, std::string reason) {
  check.reason = std::move(reason);
  return check;
}

std::optional<double> ValueOf(const ServingRecord& serving, std::string_view metric) {
  const record::Metric* found = Find(serving.metrics, metric);
  return found ? found->value : std::nullopt;
}

// An imported result that does not let its requests in flight be known.
bool LoadIsOpen(const ServingRecord& serving) {
  return !serving.source.empty() && serving.mean_in_flight <= 0;
}

std::string Plans(const ServingRecord& serving) {
  return serving.source + " results hold no planned send times";
}

std::string Lists(const ServingRecord& serving) {
  return serving.source + " results list no requests";
}

Check V6Completed(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V6_completed");
  if (serving.stated && serving.stated->completed + serving.stated->failed == 0) {
    return NotPossible(std::move(check), "the source does not say how many requests completed");
  }
  const int64_t completed = Completed(serving);
  const auto planned = static_cast<double>(serving.num_prompts);
  check = Within(std::move(check), static_cast<double>(completed), planned, planned);
  check.reference = planned;
  check.samples = static_cast<int64_t>(serving.requests.size());
  std::map<std::string, int> errors;
  for (const RequestTiming& request : serving.requests) {
    if (!request.error.empty()) ++errors[request.error];
  }
  for (const auto& [error, count] : errors) {
    if (check.details.size() < 3) check.details.push_back(fmt::format("{} x {}", count, error));
  }
  if (!serving.complete || completed == 0) check.outcome = Outcome::kInvalid;
  const bool holds = Holds(check);
  return Because(
      std::move(check),
      holds ? fmt::format("all {} requests completed", completed)
            : fmt::format("{} of {} planned requests completed; speed is only stated for all of them",
                          completed, serving.num_prompts));
}

Check V1Arithmetic(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V1_throughput_arithmetic");
  if (serving.stated && serving.stated->derived) {
    return NotPossible(std::move(check), "the source states no token counts to hold the throughput against");
  }
  const record::Metric* tokens = Find(serving.metrics, "output_throughput_tok_s");
  const record::Metric* requests = Find(serving.metrics, "request_throughput_req_s");
  if (!tokens || !requests || !tokens->value || !requests->value || *tokens->value <= 0) {
    return NotPossible(std::move(check), "the record has not both token and request throughput");
  }
  const double expected = *requests->value * MeanOutputTokens(serving);
  const double error = std::abs(*tokens->value - expected) / *tokens->value;
  check.reference = 0.002;
  return Because(
      Within(std::move(check), error, std::nullopt, 0.002),
      fmt::format("{:.2f} tok/s against {:.2f} req/s x {:.1f} tokens = {:.2f}: {:.2f} % apart "
                  "(limit 0.2 %)",
                  *tokens->value, *requests->value, MeanOutputTokens(serving), expected, error * 100));
}

// Tokens asked for, on average over completed requests. An imported result has one length for all; nullopt
// where a record does not say what each request asked.
std::optional<double> MeanAskedTokens(const ServingRecord& serving) {
  if (!serving.source.empty()) return static_cast<double>(serving.output_len);
  double asked = 0;
  for (const RequestTiming& request : serving.requests) {
    if (!request.error.empty()) continue;
    if (request.asked_tokens <= 0) return std::nullopt;
    asked += static_cast<double>(request.asked_tokens);
  }
  return asked / static_cast<double>(Completed(serving));
}

Check V2PinnedLength(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V2_output_length");
  if (!serving.ignore_eos || serving.output_len <= 0) {
    return NotPossible(std::move(check), "output length is not pinned (ignore_eos is off)");
  }
  const std::optional<double> asked = MeanAskedTokens(serving);
  if (!asked) return NotPossible(std::move(check), "the record does not say what each request asked for");
  const double ratio = MeanOutputTokens(serving) / *asked;
  check.reference = 1;
  return Because(Within(std::move(check), ratio, 0.99, 1.01),
                 fmt::format("answers had {:.1f} tokens on average, {:.6g} were asked for (limit 1 %){}",
                             MeanOutputTokens(serving), *asked,
                             ratio < 0.99 ? "; does the server honour ignore_eos?" : ""));
}

Check V4InFlight(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V4_in_flight");
  if (LoadIsOpen(serving))
    return NotPossible(std::move(check), "the source does not say how long requests took");
  const int64_t wanted = std::min(*serving.max_concurrency, serving.num_prompts);
  const double ratio = serving.mean_in_flight / static_cast<double>(wanted);
  check.reference = 1;
  return Because(
      Within(std::move(check), ratio, 0.85, 1.02),
      fmt::format("{:.1f} requests in flight on average for a concurrency of {} (limits 85 % to 102 %){}",
                  serving.mean_in_flight, wanted,
                  ratio < 0.85 ? "; use more prompts, so that the tail weighs less" : ""));
}

Check V5SentOnTime(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V5_send_rate");
  if (!serving.source.empty()) return NotPossible(std::move(check), Plans(serving));
  double planned = 0, sent = 0;
  for (const RequestTiming& request : serving.requests) {
    planned = std::max(planned, request.planned_s);
    sent = std::max(sent, request.sent_s);
  }
  if (sent <= 0 || planned <= 0) return NotPossible(std::move(check), "the record has no send times");
  check.reference = 0.98;
  return Because(
      Within(std::move(check), planned / sent, 0.98, std::nullopt),
      fmt::format("the last request was due at {:.2f} s and sent at {:.2f} s (achieved {:.1f} % of the rate, "
                  "limit 98 %)",
                  planned, sent, 100 * planned / sent));
}

// Seconds between planned requests; a ramp or a trace has no one rate.
double MeanGap(const ServingRecord& serving) {
  if (serving.request_rate > 0) return 1 / serving.request_rate;
  double last = 0;
  for (const RequestTiming& request : serving.requests) last = std::max(last, request.planned_s);
  return serving.requests.empty() ? 0 : last / static_cast<double>(serving.requests.size());
}

// Later than a whole gap, requests no longer arrive as planned but as the client gets around to them.
Check V5SendLag(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V5_send_lag");
  if (!serving.source.empty()) return NotPossible(std::move(check), Plans(serving));
  const double limit = std::max(20.0, 1000 * MeanGap(serving));
  check.unit = "ms";
  check.reference = limit;
  return Because(
      Within(std::move(check), serving.send_lag_p99_ms, std::nullopt, limit),
      fmt::format(
          "p99 of actual minus planned send time {:.1f} ms (limit {:.0f} ms); client used {:.0f} % of "
          "a core",
          serving.send_lag_p99_ms, limit, serving.client_cpu_share * 100));
}

// A burst that never settles still compares like with like, so this decides nothing; it says what the latency
// figures describe.
Check V5Queue(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V5_steady_queue");
  check.primary = false;
  if (serving.requests.size() < 40)
    return NotPossible(std::move(check), "fewer than 40 requests show no trend");
  const InFlightTrend trend = TrendOfInFlight(serving);
  check = Within(std::move(check), trend.early > 0 ? trend.late / trend.early : 1, std::nullopt, 2);
  check.reference = 2;
  const bool steady = Holds(check);
  check.outcome = steady ? Outcome::kPass : Outcome::kInconclusive;
  check.reason =
      fmt::format("requests in flight went from {:.1f} to {:.1f} while sending{}", trend.early, trend.late,
                  steady ? ""
                         : "; the load never settled, so latency describes this burst and not a steady rate "
                           "(lower rate or more prompts)");
  return check;
}

Check V7TokenCounts(const CellRecord& cell, const ServingRecord& serving) {
  Check check = Named(cell, serving, "V7_token_counts");
  if (serving.stated) return NotPossible(std::move(check), Lists(serving));
  int64_t without_usage = 0, too_many_chunks = 0, silent = 0;
  for (const RequestTiming& request : serving.requests) {
    if (!request.error.empty()) continue;
    without_usage += !request.output_tokens_from_usage;
    // One chunk may open the stream with a role and one may close it; each other carries a token or more.
    too_many_chunks += request.chunks > request.output_tokens + 2;
    silent += request.chunks < 1;
  }
  if (without_usage > 0) {
    return NotPossible(std::move(check),
                       fmt::format("{} answers came without the server's own token count", without_usage));
  }
  check.reference = 0;
  return Because(
      Within(std::move(check), static_cast<double>(too_many_chunks + silent), 0, 0),
      too_many_chunks + silent == 0
          ? "the server's token counts agree with what it streamed"
          : fmt::format(
                "{} answers streamed more chunks than the server says it made tokens, {} streamed none",
                too_many_chunks, silent));
}

std::vector<double> Of(const std::vector<const ServingRecord*>& runs, double (*value)(const ServingRecord&)) {
  std::vector<double> values;
  for (const ServingRecord* run : runs) values.push_back(value(*run));
  return values;
}

// Pinned lengths are equal but for a request or two. Where answers end by themselves and only figures are
// left, equal engines differ by as much as their loads may.
double LengthLimit(const ServingRecord& serving) {
  return serving.stated && !serving.ignore_eos ? 0.05 : 0.01;
}

void Add(ServingValidity& validity, Check check, bool throughput_only = false) {
  if (check.outcome == Outcome::kInvalid) {
    validity.throughput = false;
    if (!throughput_only) validity.usable = false;
  }
  validity.checks.push_back(std::move(check));
}

}  // namespace

ServingValidity JudgeServingValidity(const CellRecord& cell, const ServingRecord& serving) {
  ServingValidity validity;
  Add(validity, V6Completed(cell, serving));
  if (!validity.usable) return validity;  // what follows describes completed benchmarks
  Add(validity, V1Arithmetic(cell, serving));
  Add(validity, V2PinnedLength(cell, serving), /*throughput_only=*/true);
  if (IsClosedLoop(serving)) Add(validity, V4InFlight(cell, serving));
  if (IsOpenLoop(serving)) {
    Add(validity, V5SentOnTime(cell, serving));
    Add(validity, V5SendLag(cell, serving));
    Add(validity, V5Queue(cell, serving));
  }
  Add(validity, V7TokenCounts(cell, serving));
  return validity;
}

ServingValidity JudgeSameLoad(const CellRecord& cell, const ServingRecord& serving,
                              const std::vector<const ServingRecord*>& baseline) {
  ServingValidity validity;
  const double length_limit = LengthLimit(serving);
  const double our_length = MeanOutputTokens(serving);
  const double their_length = record::Median(Of(baseline, MeanOutputTokens));
  Check length = Named(cell, serving, "V3_same_output_length");
  if (their_length > 0) {
    length.reference = length_limit;
    Add(validity,
        Because(Within(std::move(length), our_length / their_length - 1, -length_limit, length_limit),
                fmt::format("answers had {:.1f} tokens here and {:.1f} in the baseline (limit {:.0f} %)",
                            our_length, their_length, length_limit * 100)),
        /*throughput_only=*/true);
  }
  const double their_load =
      record::Median(Of(baseline, [](const ServingRecord& run) { return run.mean_in_flight; }));
  // In an open loop the number in flight is a result (rate x latency), elsewhere it is the load.
  if (LoadIsOpen(serving)) {
    Add(validity, NotPossible(Named(cell, serving, "V4_same_in_flight"),
                              "the source does not say how long requests took"));
  } else if (!IsOpenLoop(serving) && their_load > 0) {
    const double difference = serving.mean_in_flight / their_load - 1;
    Check load = Named(cell, serving, "V4_same_in_flight");
    load.reference = 0.05;
    Add(validity,
        Because(Within(std::move(load), difference, -0.05, 0.05),
                fmt::format("{:.1f} requests in flight here and {:.1f} in the baseline (limit 5 %){}",
                            serving.mean_in_flight, their_load,
                            std::abs(difference) <= 0.05
                                ? ""
                                : ": another load is another point of the latency-throughput curve")));
  }
  return validity;
}

std::optional<Check> JudgeSamePace(const CellRecord& cell, const ServingRecord& serving,
                                   const std::vector<const ServingRecord*>& baseline, double margin,
                                   int least) {
  constexpr double kTail = 0.005;       // one run in a hundred of a steady machine is taken for another pace
  constexpr double kStandstill = 1e-6;  // passes/s: a pace that has a logarithm
  const std::optional<double> ours = ValueOf(serving, "machine_pace");
  std::vector<double> theirs;
  for (const ServingRecord* run : baseline) {
    if (const auto value = ValueOf(*run, "machine_pace")) theirs.push_back(std::max(*value, kStandstill));
  }
  if (!ours || std::ssize(theirs) < std::max(least, 2)) return std::nullopt;
  const record::RunChange change =
      record::ChangeAgainstRuns(std::max(*ours, kStandstill), theirs, /*higher_is_better=*/true);
  const double varies = record::StudentQuantile(1 - kTail, change.degrees_of_freedom) * change.standard_error;
  const double limit = std::max(std::log1p(margin), varies);
  Check check = Named(cell, serving, "V10_machine_pace");
  check.baseline_samples = std::ssize(theirs);
  check.reference = margin;
  check = Within(std::move(check), change.mean, -limit, limit);
  const double ratio = std::exp(-change.mean);  // ours over theirs
  const std::string measured = fmt::format("the machine itself ran {:.1f} % {} than in the baseline runs",
                                           std::abs(ratio - 1) * 100, ratio > 1 ? "faster" : "slower");
  return Because(
      std::move(check),
      Holds(check)
          ? fmt::format("{} (limit {:.0f} % and what it varies by)", measured, margin * 100)
          : fmt::format(
                "{}, more than {:.0f} % and than it varies by, so speeds say nothing of the change: run "
                "again, or, if it is so for good, assay baseline ack {} machine_pace",
                measured, margin * 100, cell.key));
}

std::optional<Check> JudgeGpuClocks(const CellRecord& cell, const ServingRecord& serving,
                                    const std::vector<const ServingRecord*>& baseline) {
  constexpr char kMetric[] = "gpu_held_back_share";
  constexpr double kMore = 0.05;
  const std::optional<double> ours = ValueOf(serving, kMetric);
  std::vector<double> theirs;
  for (const ServingRecord* run : baseline) {
    if (const auto value = ValueOf(*run, kMetric)) theirs.push_back(*value);
  }
  if (!ours || theirs.empty()) return std::nullopt;
  const double median = record::Median(theirs);
  Check check = Named(cell, serving, "V11_gpu_clocks");
  check.baseline_samples = std::ssize(theirs);
  check.reference = median;
  check = Within(std::move(check), *ours, 0, median + kMore);
  const std::string measured = fmt::format(
      "heat or a power brake held GPU clocks back for {:.0f} % of the benchmark, and for {:.0f} % in the "
      "median of the baseline runs",
      *ours * 100, median * 100);
  return Because(std::move(check),
                 Holds(check)
                     ? measured
                     : fmt::format("{}, so speeds say nothing of the change: cool the machine and run "
                                   "again, or, if it is so for good, assay baseline ack {} machine_pace",
                                   measured, cell.key));
}

}  // namespace assay::gate
