#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/metric.h"

// What one run produced, as data: never only a mean. docs/run_record.md describes the JSON, which has these
// field names.
namespace assay::record {

inline constexpr char kRecordSchema[] = "assay/record/1";

// ---- accuracy

struct QuestionSample {
  std::string id;  // Record ID
  int repeat = 0;
  std::string domain;         // High-level domain
  std::string band;           // Writer's difficulty estimate
  std::string permutation;    // "3102": shown[i] = base[permutation[i]]
  std::string expected;       // A..D, as shown
  std::string strict;         // letter by the strict grader, "" when unparsed
  std::string compat;         // letter by the gpt-oss compatible grader
  bool correct = false;       // by the grader that judges (see AccuracyRecord::grader)
  std::string finish_reason;  // stop | length | "" when failed
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
  double latency_ms = 0;
  std::string error;  // not empty: the request failed after its retries; counts as a failed sample
  // First 16 hex digits of the SHA-256 of reasoning and answer: whether two runs said the same, without the
  // text.
  // "" when failed, and in records of assay before 2026-12.
  std::string answer_hash = {};
  std::string prompt, answer;  // only where text was asked for: no other text of a question is ever kept
};

// How asking in random order was to end as soon as the verdict of all samples was clear (gate/foresight.h).
struct Sequential {
  double error = 0;            // how often that verdict may differ, each way
  std::vector<int64_t> looks;  // after so many samples it was looked
  bool stopped = false;        // it ended early: the samples are the first of the random order
  int64_t sent = 0;            // questions sent, those in flight at the end included
};

// A score that somebody else's result states without its samples.
struct StatedScore {
  std::string score;  // as printed, "0.5739": its digits say which k/n it can be
  int64_t samples = 0;
};

struct AccuracyRecord {
  std::string eval = "gpqa";
  std::string source = {};  // of an imported result: "lm-eval" ...; "" when measured by assay
  std::optional<StatedScore> stated = {};
  std::string dataset;       // file name
  std::string dataset_hash;  // SHA-256 of the file
  std::string grader;        // strict | compat
  std::string prompt_template;
  std::string api;  // chat | responses
  std::string reasoning_effort;
  int repeats = 1;
  int64_t questions = 0;
  double temperature = 0;
  int64_t max_tokens = 0;
  int concurrency = 0;
  double duration_s = 0;
  bool complete = false;  // every planned sample was asked
  bool has_text = false;  // prompts and answers are in the samples
  int64_t kept = 0;       // samples that an earlier attempt at this run had asked
  std::optional<Sequential> sequential;
  std::vector<QuestionSample> samples;
};

struct AccuracyCounts {
  int64_t samples = 0, correct = 0, unparsed = 0, truncated = 0, failed = 0;
};
AccuracyCounts Count(const AccuracyRecord& accuracy);

// ---- serving

struct RequestTiming {
  int64_t index = 0;
  double planned_s = 0;  // send times from the start of the benchmark
  double sent_s = 0;
  double first_chunk_s = 0;  // first chunk with choices; 0 when none came
  double last_chunk_s = 0;
  std::optional<double> first_reasoning_s, first_content_s;  // first chunk with such text
  std::vector<float> chunk_gaps_ms;
  std::vector<int32_t> chunk_tokens;  // of each chunk; empty unless the server said (continuous usage)
  int64_t prompt_tokens = 0;
  int64_t asked_tokens = 0;  // max_tokens of the request; 0: not known
  int64_t output_tokens = 0;
  bool output_tokens_from_usage = false;
  int64_t chunks = 0;
  std::optional<int64_t> cached_tokens;  // of the prompt, where the server says
  std::string finish_reason;
  std::string error;  // not empty: failed
};

// What somebody else's result states about its requests without listing them.
struct StatedRequests {
  int64_t completed = 0, failed = 0;  // 0 and 0: not stated
  double mean_output_tokens = 0;      // of completed requests; 0: not stated
  bool derived = false;               // the mean follows from the throughputs, so it cannot check them
};

struct ServingRecord {
  std::string name;         // "1k1k"
  std::string source = {};  // of an imported result: "vllm-bench" ...; "" when measured by assay
  std::optional<StatedRequests> stated = {};
  std::string dataset;   // random | prefix_repetition | sharegpt | custom
  std::string prompts;   // what else decides them: lengths, prefixes, file and hash; "" for plain random ids
  std::string arrivals;  // ramp-up or trace; "" for those of request_rate and burstiness
  int64_t input_len = 0, output_len = 0, num_prompts = 0;
  double request_rate = 0;                 // requests/s; 0 is "inf"
  std::optional<int64_t> max_concurrency;  // closed loop
  double burstiness = 1;
  int64_t warmups = 0;
  int64_t seed = 0;
  bool ignore_eos = true;
  double duration_s = 0;
  double client_cpu_share = 0;  // CPU seconds of our process / duration
  double send_lag_p99_ms = 0;   // actual minus planned send time
  double mean_in_flight = 0;
  bool complete = false;
  std::vector<Metric> metrics;  // computed once, when measured
  std::vector<RequestTiming> requests;
};

// ---- reproducibility

// Seeded requests, each asked alone and then all of them at once: a server that promises the same answer
// whatever runs beside it and whatever it has cached gives the same text twice.
struct ReproducibilityRecord {
  int64_t requests = 0;  // asked twice
  int64_t input_len = 0, output_len = 0;
  double temperature = 0;
  int64_t seed = 0;
  double duration_s = 0;
  bool complete = false;
  int64_t failed = 0;                    // requests that failed either time
  std::vector<std::string> differences;  // "request 3: from character 17 on"; one for each that differs
};

// ---- where it ran

// Compared field by field: a difference in a hardware field makes performance incomparable, any difference is
// a suspect.
struct Fingerprint {
  std::string hardware;  // what the machine reports: cpu | h200 | gfx942 | gfx950 | gfx1250
  std::string device;    // "AMD EPYC 9B45" or "NVIDIA H200"
  int devices = 0;       // cores for cpu, GPUs else
  int64_t memory_mb = 0;
  std::string driver;
  std::string os;
  std::string kernel;
  std::string host;           // hash of the machine id: same machine or not, without naming it
  std::string engine;         // "assay-engine 0.1.0 (commit)"
  std::string engine_flags;   // argv without program, port and paths; then the env of the config
  std::string engine_binary;  // SHA-256 of the program file
  std::string model_hash;
  std::string tokenizer_hash;
  std::string clocks = {};  // limits of clock and power: "sm max 1980 MHz, power 700 W"
  std::string ecc = {};     // enabled | disabled, of the memory
  // Of runtimes, libraries, compilers and firmware, by name: {"cuda": "12.8.1", "aiter": "0.1.19"}.
  std::map<std::string, std::string> versions = {};
  bool operator==(const Fingerprint&) const = default;
};

struct FingerprintDifference {
  std::string field, ours, theirs;
  bool breaks_performance = false;  // the two may not be compared for speed
  bool breaks_accuracy = false;     // the two may not be compared question by question
};
std::vector<FingerprintDifference> Differences(const Fingerprint& ours, const Fingerprint& theirs);
std::vector<std::string> BreakingFields();  // those whose difference can hinder a comparison

// ---- what the server did

// How a server's life ended, in words a reviewer acts on. The table that decides is
// runner/launch/death_table.cc.
struct ServerFailure {
  std::string kind;   // died_before_ready | never_ready | foreign_server | wrong_model | crashed | hang |
                      // killed | out_of_memory | memory_access_fault | device_lost | port_taken | bad_flag |
                      // missing_weights | unusable_tokenizer | not_started
  std::string stage;  // starting | gpqa | serving:<name>
  std::string message;
  std::string exit;             // "exit code 3", "signal 11 (Segmentation fault)", "" while running
  bool infrastructure = false;  // true: worth a retry (75); false: the engine is wrong (FAIL)
  std::vector<std::string> log_tail;
};

struct ServerRecord {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // only what the config set
  std::string base_url;
  std::string model_id;
  int tensor_parallel_size = 1;
  std::string tokenizer;    // "" is the model's own
  std::string moe_backend;  // "" is the server's choice
  double ready_s = 0;
  std::string log_file;  // relative to the run's folder
  std::optional<ServerFailure> failure;
};

// ---- two arms beside each other (assay ab)

struct Arm {
  std::string name;    // base | head
  std::string what;    // "git main", "program /opt/a/engine", "config a.yaml", "server http://127.0.0.1:8000"
  std::string commit;  // of a git ref
};

// One run of one arm, on a server of its own.
struct ArmRun {
  int64_t pair = 0;  // from 1
  std::string arm;   // base | head
};

struct AbRecord {
  Arm base, head;
  bool fresh_servers = true;   // false: both servers ran already, so their processes are not measured anew
  int64_t seed = 0;            // of the order
  double error = 0;            // how often, over all looks, an interval may miss the truth
  std::vector<int64_t> looks;  // after so many pairs it was to be looked; the last is the most there can be
  double budget_s = 0;         // 0: none
  std::string ended;           // decided | pairs | budget | build | "" while it runs or was interrupted
  std::vector<ArmRun> runs;    // of the cells, in their order: that of running
};

// ---- the run

struct CellRecord {
  std::string key;     // stable; [a-z0-9_.-]
  std::string config;  // name of the config
  std::string config_file;
  std::string suite;
  std::string config_hash;  // of what decides the measurement: engine and evals, resolved
  Fingerprint fingerprint;
  ServerRecord server;
  std::optional<AccuracyRecord> accuracy;
  std::vector<ServingRecord> serving;
  std::optional<ReproducibilityRecord> reproducibility;
};

struct RunRecord {
  std::string schema = kRecordSchema;
  std::string id;
  std::string created;  // UTC
  std::string assay_version;
  std::string assay_commit;
  std::string repository, branch, commit;  // the change under test; "" when unknown
  std::vector<std::string> command;        // what reproduces it
  std::string status = "complete";         // complete | interrupted | failed
  std::vector<CellRecord> cells;
  std::optional<AbRecord> ab;  // the cells are runs of two arms
};

nlohmann::json ToJson(const QuestionSample& sample);
nlohmann::json ToJson(const RequestTiming& request);
Result<QuestionSample> ParseQuestionSample(const nlohmann::json& json);
nlohmann::json ToJson(const RunRecord& record);
Result<RunRecord> ParseRunRecord(std::string_view text,
                                 std::string_view source);  // source names it in errors
Result<RunRecord> LoadRunRecord(const Path& path);
Status SaveRunRecord(const RunRecord& record, const Path& path);

// All metrics of a cell in one flat list: gpqa_score first, then "<serving name>.<metric>".
std::vector<Metric> AllMetrics(const CellRecord& cell);

}  // namespace assay::record
