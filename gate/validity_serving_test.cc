#include "gate/validity_serving.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gate/load.h"
#include "testing/example_run.h"

namespace assay::gate {
namespace {

using record::Outcome;
using record::ServingRecord;

// A summary as published, turned into 1000 requests with that mean length.
ServingRecord Published(double tok_s, double req_s, double ttft_ms, double tpot_ms) {
  const double tokens = tok_s / req_s;
  ServingRecord serving;
  serving.name = "published";
  serving.num_prompts = 1000;
  serving.complete = true;
  serving.mean_in_flight = req_s * (ttft_ms + (tokens - 1) * tpot_ms) / 1000;
  for (int i = 0; i < 1000; ++i) {
    record::RequestTiming request;
    request.output_tokens = static_cast<int64_t>(std::floor(tokens * (i + 1)) - std::floor(tokens * i));
    request.asked_tokens = 1024;
    serving.requests.push_back(request);
  }
  return serving;
}

// Four published pairs, main and change, at request rate "inf". Only one of them carried the same load.
TEST(JudgeSameLoad, FindsTheOnePublishedPairThatIsComparable) {
  const struct {
    const char* name;
    ServingRecord main, change;
    bool usable;
  } cases[] = {
      {"1024 triton", Published(392.62, 6.86, 69.90, 109.03), Published(467.22, 8.15, 80.01, 123.46), false},
      {"1024 aiter", Published(540.17, 9.46, 38.70, 54.68), Published(527.19, 9.53, 37.85, 54.23), true},
      {"8192 triton", Published(309.76, 4.05, 628.07, 329.76), Published(252.00, 4.04, 699.16, 389.91), true},
      {"8192 aiter", Published(337.94, 4.63, 347.65, 162.47), Published(472.75, 7.26, 343.38, 164.78), false},
  };
  for (const auto& c : cases) {
    const ServingValidity validity = JudgeSameLoad({}, c.change, {&c.main});
    EXPECT_EQ(validity.usable, c.usable) << c.name;
  }
  // At 8192 triton the lengths differ by 18 %: latency may be compared, tok/s may not.
  EXPECT_FALSE(JudgeSameLoad({}, cases[2].change, {&cases[2].main}).throughput);
}

// What each check measures of the same figures, in tokens for each request, requests in flight and percent of
// main; numpy computed them from the published table.
TEST(JudgeSameLoad, MeasuresWhatItJudges) {
  const struct {
    const char* name;
    ServingRecord main, change;
    double tokens, length, in_flight, load;
  } cases[] = {
      {"1024 triton", Published(392.62, 6.86, 69.90, 109.03), Published(467.22, 8.15, 80.01, 123.46),
       57.327607, 0.165, 57.328864, 34.768},
      {"1024 aiter", Published(540.17, 9.46, 38.70, 54.68), Published(527.19, 9.53, 37.85, 54.23), 55.318993,
       -3.120, 28.433412, -3.240},
      {"8192 triton", Published(309.76, 4.05, 628.07, 329.76), Published(252.00, 4.04, 699.16, 389.91),
       62.376238, -18.445, 99.506690, -3.723},
      {"8192 aiter", Published(337.94, 4.63, 347.65, 162.47), Published(472.75, 7.26, 343.38, 164.78),
       65.117080, -10.785, 79.196381, 42.025},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(MeanOutputTokens(c.change), c.tokens, 1e-3) << c.name;
    EXPECT_NEAR(c.change.mean_in_flight, c.in_flight, 1e-6) << c.name;
    const ServingValidity validity = JudgeSameLoad({}, c.change, {&c.main});
    ASSERT_EQ(validity.checks.size(), 2u) << c.name;
    EXPECT_EQ(validity.checks[0].metric, "V3_same_output_length.published");
    EXPECT_NEAR(*validity.checks[0].value * 100, c.length, 2e-3) << c.name;
    EXPECT_EQ(validity.checks[0].limit_low, -0.01);
    EXPECT_EQ(validity.checks[0].limit_high, 0.01);
    EXPECT_EQ(validity.checks[1].metric, "V4_same_in_flight.published");
    EXPECT_NEAR(*validity.checks[1].value * 100, c.load, 1e-3) << c.name;
    EXPECT_EQ(validity.checks[1].limit_high, 0.05);
  }
}

TEST(JudgeServingValidity, PublishedAnswersAreFarFromThePinnedLength) {
  ServingRecord serving = Published(392.62, 6.86, 69.90, 109.03);
  serving.output_len = 1024;
  const ServingValidity validity = JudgeServingValidity({}, serving);
  EXPECT_FALSE(validity.throughput);
  EXPECT_TRUE(validity.usable);
  for (const record::Check& check : validity.checks) {
    if (check.metric != "V2_output_length.published") continue;
    EXPECT_NEAR(*check.value, 57.233236 / 1024, 1e-6);
    EXPECT_EQ(check.limit_low, 0.99);
    EXPECT_EQ(check.limit_high, 1.01);
  }
}

// Throughput that no request rate and length explain: 0.3 % is beyond rounding, 0.1 % is not.
TEST(JudgeServingValidity, HoldsThroughputAgainstRequestsAndTokens) {
  for (const auto& [excess, outcome] : {std::pair{1.001, Outcome::kPass}, {1.003, Outcome::kInvalid}}) {
    ServingRecord serving = testing::ExampleServing(20, 5);
    record::Metric& tokens = serving.metrics[1];
    ASSERT_EQ(tokens.name, "output_throughput_tok_s");
    tokens.value = *tokens.value * excess;
    for (const record::Check& check : JudgeServingValidity({}, serving).checks) {
      if (check.metric != "V1_throughput_arithmetic.128x32") continue;
      EXPECT_EQ(check.outcome, outcome) << check.reason;
      EXPECT_NEAR(*check.value, (excess - 1) / excess, 1e-9);
      EXPECT_EQ(check.limit_high, 0.002);
    }
  }
}

ServingRecord OpenLoop(int requests, double rate, double latency_s) {
  ServingRecord serving;
  serving.name = "open";
  serving.request_rate = rate;
  serving.num_prompts = requests;
  serving.output_len = 8;
  serving.complete = true;
  for (int i = 0; i < requests; ++i) {
    record::RequestTiming request;
    request.planned_s = request.sent_s = (i + 1) / rate;
    request.last_chunk_s = request.sent_s + latency_s;
    request.asked_tokens = request.output_tokens = request.chunks = 8;
    request.output_tokens_from_usage = true;
    serving.requests.push_back(request);
  }
  return serving;
}

record::Check Named(const ServingValidity& validity, const std::string& metric) {
  for (const record::Check& check : validity.checks) {
    if (check.metric == metric) return check;
  }
  ADD_FAILURE() << "no check " << metric;
  return {};
}

TEST(JudgeServingValidity, AcceptsAScheduleThatWasKept) {
  const ServingValidity validity = JudgeServingValidity({}, OpenLoop(100, 10, 0.5));
  EXPECT_TRUE(validity.usable);
  EXPECT_EQ(Named(validity, "V5_send_rate.open").outcome, Outcome::kPass);
  EXPECT_EQ(Named(validity, "V5_steady_queue.open").outcome, Outcome::kPass);
}

TEST(JudgeServingValidity, RefusesAScheduleThatTheClientMissed) {
  ServingRecord late = OpenLoop(100, 10, 0.5);
  for (auto& request : late.requests) request.sent_s *= 1.05;
  EXPECT_EQ(Named(JudgeServingValidity({}, late), "V5_send_rate.open").outcome, Outcome::kInvalid);
  ServingRecord jittery = OpenLoop(100, 10, 0.5);
  jittery.send_lag_p99_ms = 101;  // a gap is 100 ms
  EXPECT_EQ(Named(JudgeServingValidity({}, jittery), "V5_send_lag.open").outcome, Outcome::kInvalid);
}

TEST(JudgeServingValidity, SaysThatAGrowingQueueIsNoSteadyRate) {
  // Answers come at half the rate of requests.
  ServingRecord queue = OpenLoop(100, 10, 0);
  for (size_t i = 0; i < queue.requests.size(); ++i)
    queue.requests[i].last_chunk_s = static_cast<double>(i + 1) / 5;
  const record::Check check = Named(JudgeServingValidity({}, queue), "V5_steady_queue.open");
  EXPECT_EQ(check.outcome, Outcome::kInconclusive);
  EXPECT_FALSE(check.primary);
}

// A ramp and a trace have arrivals and no rate.
TEST(JudgeServingValidity, HoldsAnyPlannedArrivalsToTheirSchedule) {
  ServingRecord ramp = OpenLoop(100, 10, 0.5);
  ramp.request_rate = 0;
  ramp.arrivals = "linear ramp-up from 5 to 20 requests/s";
  EXPECT_EQ(Named(JudgeServingValidity({}, ramp), "V5_send_rate.open").outcome, Outcome::kPass);
  ramp.send_lag_p99_ms = 101;  // the mean gap is 100 ms
  EXPECT_EQ(Named(JudgeServingValidity({}, ramp), "V5_send_lag.open").outcome, Outcome::kInvalid);
  ramp.max_concurrency = 64;  // a limit that the plan rarely reaches is no load to be held
  for (const record::Check& check : JudgeServingValidity({}, ramp).checks) {
    EXPECT_NE(check.metric, "V4_in_flight.open");
  }
}

// Each request is held to its own length, whatever made them differ: ranges, rows of a file, a trace.
TEST(JudgeServingValidity, LengthsThatDifferByRequestAreHeldToTheirSum) {
  ServingRecord serving = OpenLoop(100, 10, 0.5);
  serving.output_len = 128;
  for (size_t i = 0; i < serving.requests.size(); ++i) {
    record::RequestTiming& request = serving.requests[i];
    request.asked_tokens = request.output_tokens = static_cast<int64_t>(64 + i);
    request.chunks = request.output_tokens;
  }
  EXPECT_EQ(Named(JudgeServingValidity({}, serving), "V2_output_length.open").outcome, Outcome::kPass);
  for (size_t i = 0; i < 3; ++i) serving.requests[i].output_tokens = serving.requests[i].chunks = 1;
  // 192 of the 11,350 tokens are missing: 1.7 %.
  const record::Check check = Named(JudgeServingValidity({}, serving), "V2_output_length.open");
  EXPECT_EQ(check.outcome, Outcome::kInvalid);
  EXPECT_NEAR(check.value.value(), 1 - (64 + 65 + 66 - 3) / 11350.0, 1e-12);
  EXPECT_EQ(check.reason,
            "answers had 111.6 tokens on average, 113.5 were asked for (limit 1 %); does the server honour "
            "ignore_eos?");
  serving.requests[0].asked_tokens = 0;
  EXPECT_EQ(Named(JudgeServingValidity({}, serving), "V2_output_length.open").reason,
            "not possible: the record does not say what each request asked for");
}

TEST(JudgeServingValidity, NeverPassesWhatTheRecordCannotShow) {
  ServingRecord serving = OpenLoop(100, 10, 0.5);
  for (auto& request : serving.requests) request.output_tokens_from_usage = false;
  const record::Check check = Named(JudgeServingValidity({}, serving), "V7_token_counts.open");
  EXPECT_EQ(check.outcome, Outcome::kInconclusive);
  EXPECT_EQ(check.reason, "not possible: 100 answers came without the server's own token count");
}

ServingRecord WithPace(double passes_per_second) {
  ServingRecord serving;
  serving.name = "s";
  serving.metrics.push_back(
      {"machine_pace", "passes/s", record::Direction::kHigherIsBetter, passes_per_second, 1});
  return serving;
}

// Log paces of -0.01, 0, +0.01 three times over have s = 0.00866; with n = 9 and t_{0.995, 8} = 3.355 a new
// one is expected within 3.355 * 0.00866 * sqrt(1 + 1/9) = 3.06 % of 1000.
TEST(JudgeSamePace, BreaksWhenTheMachineWasAnother) {
  std::vector<ServingRecord> runs;
  for (const double log_pace : {-0.01, 0.0, 0.01, -0.01, 0.0, 0.01, -0.01, 0.0, 0.01})
    runs.push_back(WithPace(1000 * std::exp(log_pace)));
  std::vector<const ServingRecord*> baseline;
  for (const ServingRecord& run : runs) baseline.push_back(&run);
  const auto outcome = [&](double pace) {
    return JudgeSamePace({}, WithPace(pace), baseline, 0.03, 5)->outcome;
  };
  EXPECT_EQ(outcome(1000), Outcome::kPass);
  EXPECT_EQ(outcome(975), Outcome::kPass);
  EXPECT_EQ(outcome(1025), Outcome::kPass);
  EXPECT_EQ(outcome(960), Outcome::kInvalid) << "slow";
  EXPECT_EQ(outcome(1040), Outcome::kInvalid) << "fast: it would hide a loss";
  EXPECT_EQ(JudgeSamePace({}, WithPace(600), baseline, 0.03, 5)->metric, "V10_machine_pace.s");
  EXPECT_FALSE(JudgeSamePace({}, WithPace(600), {baseline[0]}, 0.03, 5)) << "one run has no spread";
  EXPECT_EQ(outcome(0), Outcome::kInvalid) << "a machine that stood still is the slowest of all";
  EXPECT_FALSE(JudgeSamePace({}, ServingRecord{}, baseline, 0.03, 5)) << "not measured";
}

ServingRecord WithHeldBack(std::optional<double> share) {
  ServingRecord serving;
  serving.name = "s";
  serving.metrics.push_back({"gpu_held_back_share", "", record::Direction::kLowerIsBetter, share, 1});
  return serving;
}

TEST(JudgeGpuClocks, BreaksWhenAGpuIsHotterThanItWas) {
  const ServingRecord cool = WithHeldBack(0.0), warm = WithHeldBack(0.2),
                      unknown = WithHeldBack(std::nullopt);
  const auto outcome = [&](double share, const std::vector<const ServingRecord*>& baseline) {
    return JudgeGpuClocks({}, WithHeldBack(share), baseline)->outcome;
  };
  EXPECT_EQ(outcome(0, {&cool}), Outcome::kPass);
  EXPECT_EQ(outcome(0.04, {&cool}), Outcome::kPass);
  EXPECT_EQ(outcome(0.06, {&cool}), Outcome::kInvalid);
  EXPECT_EQ(outcome(0.06, {&cool, &warm, &cool}), Outcome::kInvalid) << "one hot run allows nothing";
  EXPECT_EQ(outcome(0.24, {&cool, &warm, &warm}), Outcome::kPass) << "it mostly was";
  EXPECT_EQ(outcome(0.26, {&cool, &warm, &warm}), Outcome::kInvalid);
  record::CellRecord cell;
  cell.key = "c";
  EXPECT_EQ(
      JudgeGpuClocks(cell, WithHeldBack(0.5), {&cool})->reason,
      "heat or a power brake held GPU clocks back for 50 % of the benchmark, and for 0 % in the median of "
      "the baseline runs, so speeds say nothing of the change: cool the machine and run again, or, if it is "
      "so for good, assay baseline ack c machine_pace");
  EXPECT_FALSE(JudgeGpuClocks({}, unknown, {&cool})) << "not measured";
  EXPECT_FALSE(JudgeGpuClocks({}, cool, {&unknown})) << "nothing to compare with";
  EXPECT_FALSE(JudgeGpuClocks({}, cool, {}));
}

// Where runs vary by more than the margin, only what is outside of their range breaks the comparison.
TEST(JudgeSamePace, AllowsWhatTheMachineDoesAnyway) {
  std::vector<ServingRecord> runs;
  for (const double pace : {800.0, 1000.0, 1250.0, 900.0, 1100.0}) runs.push_back(WithPace(pace));
  std::vector<const ServingRecord*> baseline;
  for (const ServingRecord& run : runs) baseline.push_back(&run);
  EXPECT_EQ(JudgeSamePace({}, WithPace(800), baseline, 0.03, 5)->outcome, Outcome::kPass);
  EXPECT_EQ(JudgeSamePace({}, WithPace(400), baseline, 0.03, 5)->outcome, Outcome::kInvalid);
}

}  // namespace
}  // namespace assay::gate
