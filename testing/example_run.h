#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "record/run_record.h"

// A run that every check likes, for tests of what judges and prints: tests break one thing in it.
namespace assay::testing {

inline record::AccuracyRecord ExampleAccuracy(int64_t questions, int64_t correct, int repeats = 1) {
  record::AccuracyRecord accuracy;
  accuracy.dataset = "questions.csv";
  accuracy.dataset_hash = std::string(64, 'd');
  accuracy.grader = "strict";
  accuracy.prompt_template = "gpt-oss";
  accuracy.reasoning_effort = "low";
  accuracy.repeats = repeats;
  accuracy.questions = questions;
  accuracy.max_tokens = 4096;
  accuracy.concurrency = 32;
  accuracy.duration_s = 20;
  accuracy.complete = true;
  const char* domains[] = {"Physics", "Chemistry", "Biology"};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int64_t i = 0; i < questions; ++i) {
      record::QuestionSample sample;
      sample.id = fmt::format("rec{:04}", i);
      sample.repeat = repeat;
      sample.domain = domains[i % 3];
      sample.expected = "A";
      sample.correct = i < correct;
      sample.strict = sample.compat = sample.correct ? "A" : "B";
      sample.finish_reason = "stop";
      sample.output_tokens = 40;
      sample.latency_ms = 120;
      accuracy.samples.push_back(sample);
    }
  }
  return accuracy;
}

// A closed loop of 4 in flight: each answer takes `tpot_ms` for each of its 32 tokens after the first.
inline record::ServingRecord ExampleServing(double ttft_ms, double tpot_ms, int64_t requests = 64) {
  constexpr int64_t kTokens = 32, kConcurrency = 4;
  record::ServingRecord serving;
  serving.name = "128x32";
  serving.dataset = "random";
  serving.input_len = 128;
  serving.output_len = kTokens;
  serving.num_prompts = requests;
  serving.max_concurrency = kConcurrency;
  serving.warmups = 4;
  serving.complete = true;
  serving.mean_in_flight = kConcurrency;
  serving.client_cpu_share = 0.05;
  const double latency_s = (ttft_ms + tpot_ms * (kTokens - 1)) / 1000;
  for (int64_t i = 0; i < requests; ++i) {
    record::RequestTiming request;
    request.index = i;
    request.planned_s = request.sent_s = static_cast<double>(i / kConcurrency) * latency_s;
    request.first_chunk_s = request.sent_s + ttft_ms / 1000;
    request.last_chunk_s = request.sent_s + latency_s;
    request.prompt_tokens = 128;
    request.asked_tokens = request.output_tokens = request.chunks = kTokens;
    request.output_tokens_from_usage = true;
    request.finish_reason = "length";
    serving.requests.push_back(request);
    serving.duration_s = std::max(serving.duration_s, request.last_chunk_s);
  }
  const auto n = static_cast<double>(requests);
  using enum record::Direction;
  serving.metrics = {
      {"request_throughput_req_s", "req/s", kHigherIsBetter, n / serving.duration_s, requests},
      {"output_throughput_tok_s", "tok/s", kHigherIsBetter, n * kTokens / serving.duration_s, requests},
      {"ttft_p50_ms", "ms", kLowerIsBetter, ttft_ms, requests},
      {"ttft_p99_ms", "ms", kLowerIsBetter, ttft_ms * 1.5, requests},
      {"tpot_p50_ms", "ms", kLowerIsBetter, tpot_ms, requests},
  };
  return serving;
}

inline record::CellRecord ExampleCell() {
  record::CellRecord cell;
  cell.key = "tiny-moe.cpu.smoke";
  cell.config = "tiny-moe";
  cell.config_file = "configs/cpu/tiny-moe.yaml";
  cell.suite = "smoke";
  cell.config_hash = "c0ffee";
  cell.fingerprint = {.hardware = "cpu",
                      .device = "AMD EPYC 9B45",
                      .devices = 2,
                      .memory_mb = 16000,
                      .driver = "",
                      .os = "Debian GNU/Linux 12",
                      .kernel = "6.1.0",
                      .host = "5ca1ab1e",
                      .engine = "assay-engine 0.1.0 (312ad07)",
                      .engine_flags = "--tensor-parallel-size 2",
                      .engine_binary = std::string(64, 'e'),
                      .model_hash = std::string(64, 'a'),
                      .tokenizer_hash = std::string(64, 'b')};
  cell.server.argv = {"build/bin/assay-engine", "serve", "--model", "models/tiny-moe"};
  cell.server.model_id = "tiny-moe";
  cell.server.ready_s = 1.5;
  cell.server.log_file = "tiny-moe.cpu.smoke.server.log";
  cell.accuracy = ExampleAccuracy(448, 420);
  cell.serving = {ExampleServing(20, 5)};
  return cell;
}

inline record::RunRecord ExampleRun() {
  record::RunRecord run;
  run.id = "20261130-155448-1a2b";
  run.created = "2026-11-30T15:54:48Z";
  run.assay_version = "0.1.0";
  run.assay_commit = "312ad07";
  run.branch = "fix-routing";
  run.commit = "0123456789abcdef0123456789abcdef01234567";
  run.command = {"assay", "run", "configs/cpu/tiny-moe.yaml", "--suite", "smoke"};
  run.cells = {ExampleCell()};
  return run;
}

// Earlier cells whose speed differs by these factors of time, newest first.
inline std::vector<record::CellRecord> ExampleBaseline(const std::vector<double>& slowness) {
  std::vector<record::CellRecord> cells;
  for (double factor : slowness) {
    cells.push_back(ExampleCell());
    cells.back().fingerprint.engine_binary = std::string(64, 'f');
    cells.back().serving = {ExampleServing(20 * factor, 5 * factor)};
  }
  return cells;
}

// The first `count` questions that were right are now wrong.
inline void Break(record::AccuracyRecord& accuracy, int64_t count) {
  for (record::QuestionSample& sample : accuracy.samples) {
    if (count == 0) break;
    if (!sample.correct) continue;
    sample.correct = false;
    sample.strict = sample.compat = "C";
    --count;
  }
}

}  // namespace assay::testing
