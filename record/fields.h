#pragma once

#include <tuple>

#include "record/run_record.h"
#include "record/verdict.h"

// The JSON of every struct as one table of its fields: the writer and the reader (record/struct_json.h) walk
// the same list, so they cannot drift apart. A required field is one whose absence would change a verdict.
namespace assay::record {

inline constexpr int kFullPrecision = -1;

template <typename Struct, typename Member>
struct Field {
  const char* name;
  Member Struct::*member;
  bool required;
  int decimals = kFullPrecision;  // times are kept to the microsecond, which halves a record
};

template <typename Struct, typename Member>
constexpr Field<Struct, Member> Required(const char* name, Member Struct::*member,
                                         int decimals = kFullPrecision) {
  return {name, member, true, decimals};
}
template <typename Struct, typename Member>
constexpr Field<Struct, Member> Optional(const char* name, Member Struct::*member,
                                         int decimals = kFullPrecision) {
  return {name, member, false, decimals};
}

template <typename Struct>
inline constexpr std::tuple<> kFields{};

inline constexpr int kSeconds = 6, kMilliseconds = 3;
// Of verdicts: finer than anyone reads, coarse enough not to depend on the compiler.
inline constexpr int kQuantity = 6, kShare = 9;

template <>
inline constexpr auto kFields<Metric> = std::tuple{
    Required("name", &Metric::name),           Optional("unit", &Metric::unit),
    Required("direction", &Metric::direction), Optional("value", &Metric::value),
    Optional("samples", &Metric::samples),
};

template <>
inline constexpr auto kFields<QuestionSample> = std::tuple{
    Required("id", &QuestionSample::id),
    Required("repeat", &QuestionSample::repeat),
    Optional("domain", &QuestionSample::domain),
    Optional("band", &QuestionSample::band),
    Optional("permutation", &QuestionSample::permutation),
    Optional("expected", &QuestionSample::expected),
    Optional("strict", &QuestionSample::strict),
    Optional("compat", &QuestionSample::compat),
    Required("correct", &QuestionSample::correct),
    Optional("finish_reason", &QuestionSample::finish_reason),
    Optional("prompt_tokens", &QuestionSample::prompt_tokens),
    Optional("output_tokens", &QuestionSample::output_tokens),
    Optional("latency_ms", &QuestionSample::latency_ms, kMilliseconds),
    Optional("answer_hash", &QuestionSample::answer_hash),
    Optional("error", &QuestionSample::error),
    Optional("prompt", &QuestionSample::prompt),
    Optional("answer", &QuestionSample::answer),
};

template <>
inline constexpr auto kFields<Sequential> = std::tuple{
    Required("error", &Sequential::error),
    Required("looks", &Sequential::looks),
    Required("stopped", &Sequential::stopped),
    Required("sent", &Sequential::sent),
};

template <>
inline constexpr auto kFields<StatedScore> = std::tuple{
    Required("score", &StatedScore::score),
    Required("samples", &StatedScore::samples),
};

template <>
inline constexpr auto kFields<StatedRequests> = std::tuple{
    Optional("completed", &StatedRequests::completed),
    Optional("failed", &StatedRequests::failed),
    Optional("mean_output_tokens", &StatedRequests::mean_output_tokens, kSeconds),
    Optional("derived", &StatedRequests::derived),
};

template <>
inline constexpr auto kFields<AccuracyRecord> = std::tuple{
    Required("eval", &AccuracyRecord::eval),
    Optional("source", &AccuracyRecord::source),
    Optional("stated", &AccuracyRecord::stated),
    Optional("dataset", &AccuracyRecord::dataset),
    Required("dataset_hash", &AccuracyRecord::dataset_hash),
    Required("grader", &AccuracyRecord::grader),
    Optional("prompt_template", &AccuracyRecord::prompt_template),
    Optional("api", &AccuracyRecord::api),
    Optional("reasoning_effort", &AccuracyRecord::reasoning_effort),
    Required("repeats", &AccuracyRecord::repeats),
    Required("questions", &AccuracyRecord::questions),
    Optional("temperature", &AccuracyRecord::temperature),
    Optional("max_tokens", &AccuracyRecord::max_tokens),
    Optional("concurrency", &AccuracyRecord::concurrency),
    Optional("duration_s", &AccuracyRecord::duration_s, kSeconds),
    Required("complete", &AccuracyRecord::complete),
    Optional("has_text", &AccuracyRecord::has_text),
    Optional("kept", &AccuracyRecord::kept),
    Optional("sequential", &AccuracyRecord::sequential),
    Required("samples", &AccuracyRecord::samples),
};

template <>
inline constexpr auto kFields<RequestTiming> = std::tuple{
    Required("index", &RequestTiming::index),
    Required("planned_s", &RequestTiming::planned_s, kSeconds),
    Required("sent_s", &RequestTiming::sent_s, kSeconds),
    Required("first_chunk_s", &RequestTiming::first_chunk_s, kSeconds),
    Required("last_chunk_s", &RequestTiming::last_chunk_s, kSeconds),
    Optional("first_reasoning_s", &RequestTiming::first_reasoning_s, kSeconds),
    Optional("first_content_s", &RequestTiming::first_content_s, kSeconds),
    Optional("chunk_gaps_ms", &RequestTiming::chunk_gaps_ms, kMilliseconds),
    Optional("chunk_tokens", &RequestTiming::chunk_tokens),
    Optional("prompt_tokens", &RequestTiming::prompt_tokens),
    Optional("asked_tokens", &RequestTiming::asked_tokens),
    Required("output_tokens", &RequestTiming::output_tokens),
    Optional("output_tokens_from_usage", &RequestTiming::output_tokens_from_usage),
    Optional("chunks", &RequestTiming::chunks),
    Optional("cached_tokens", &RequestTiming::cached_tokens),
    Optional("finish_reason", &RequestTiming::finish_reason),
    Optional("error", &RequestTiming::error),
};

template <>
inline constexpr auto kFields<ServingRecord> = std::tuple{
    Required("name", &ServingRecord::name),
    Optional("source", &ServingRecord::source),
    Optional("stated", &ServingRecord::stated),
    Optional("dataset", &ServingRecord::dataset),
    Optional("prompts", &ServingRecord::prompts),
    Optional("arrivals", &ServingRecord::arrivals),
    Required("input_len", &ServingRecord::input_len),
    Required("output_len", &ServingRecord::output_len),
    Required("num_prompts", &ServingRecord::num_prompts),
    Required("request_rate", &ServingRecord::request_rate),
    Optional("max_concurrency", &ServingRecord::max_concurrency),
    Optional("burstiness", &ServingRecord::burstiness),
    Optional("warmups", &ServingRecord::warmups),
    Optional("seed", &ServingRecord::seed),
    Required("ignore_eos", &ServingRecord::ignore_eos),
    Required("duration_s", &ServingRecord::duration_s, kSeconds),
    Optional("client_cpu_share", &ServingRecord::client_cpu_share, kSeconds),
    Optional("send_lag_p99_ms", &ServingRecord::send_lag_p99_ms, kMilliseconds),
    Optional("mean_in_flight", &ServingRecord::mean_in_flight, kSeconds),
    Required("complete", &ServingRecord::complete),
    Required("metrics", &ServingRecord::metrics),
    Required("requests", &ServingRecord::requests),
};

template <>
inline constexpr auto kFields<ReproducibilityRecord> = std::tuple{
    Required("requests", &ReproducibilityRecord::requests),
    Optional("input_len", &ReproducibilityRecord::input_len),
    Optional("output_len", &ReproducibilityRecord::output_len),
    Optional("temperature", &ReproducibilityRecord::temperature),
    Optional("seed", &ReproducibilityRecord::seed),
    Optional("duration_s", &ReproducibilityRecord::duration_s, kSeconds),
    Required("complete", &ReproducibilityRecord::complete),
    Required("failed", &ReproducibilityRecord::failed),
    Required("differences", &ReproducibilityRecord::differences),
};

template <>
inline constexpr auto kFields<Fingerprint> = std::tuple{
    Required("hardware", &Fingerprint::hardware),
    Optional("device", &Fingerprint::device),
    Optional("devices", &Fingerprint::devices),
    Optional("memory_mb", &Fingerprint::memory_mb),
    Optional("driver", &Fingerprint::driver),
    Optional("os", &Fingerprint::os),
    Optional("kernel", &Fingerprint::kernel),
    Optional("host", &Fingerprint::host),
    Optional("engine", &Fingerprint::engine),
    Optional("engine_flags", &Fingerprint::engine_flags),
    Optional("engine_binary", &Fingerprint::engine_binary),
    Optional("model_hash", &Fingerprint::model_hash),
    Optional("tokenizer_hash", &Fingerprint::tokenizer_hash),
    Optional("clocks", &Fingerprint::clocks),
    Optional("ecc", &Fingerprint::ecc),
    Optional("versions", &Fingerprint::versions),
};

template <>
inline constexpr auto kFields<FingerprintDifference> = std::tuple{
    Required("field", &FingerprintDifference::field),
    Optional("ours", &FingerprintDifference::ours),
    Optional("theirs", &FingerprintDifference::theirs),
    Required("breaks_performance", &FingerprintDifference::breaks_performance),
    Optional("breaks_accuracy", &FingerprintDifference::breaks_accuracy),
};

template <>
inline constexpr auto kFields<ServerFailure> = std::tuple{
    Required("kind", &ServerFailure::kind),
    Optional("stage", &ServerFailure::stage),
    Optional("message", &ServerFailure::message),
    Optional("exit", &ServerFailure::exit),
    Required("infrastructure", &ServerFailure::infrastructure),
    Optional("log_tail", &ServerFailure::log_tail),
};

template <>
inline constexpr auto kFields<ServerRecord> = std::tuple{
    Optional("argv", &ServerRecord::argv),
    Optional("env", &ServerRecord::env),
    Optional("base_url", &ServerRecord::base_url),
    Optional("model_id", &ServerRecord::model_id),
    Optional("tensor_parallel_size", &ServerRecord::tensor_parallel_size),
    Optional("tokenizer", &ServerRecord::tokenizer),
    Optional("moe_backend", &ServerRecord::moe_backend),
    Optional("ready_s", &ServerRecord::ready_s),
    Optional("log_file", &ServerRecord::log_file),
    Optional("failure", &ServerRecord::failure),
};

template <>
inline constexpr auto kFields<CellRecord> = std::tuple{
    Required("key", &CellRecord::key),
    Optional("config", &CellRecord::config),
    Optional("config_file", &CellRecord::config_file),
    Optional("suite", &CellRecord::suite),
    Required("config_hash", &CellRecord::config_hash),
    Required("fingerprint", &CellRecord::fingerprint),
    Required("server", &CellRecord::server),
    Optional("accuracy", &CellRecord::accuracy),
    Optional("serving", &CellRecord::serving),
    Optional("reproducibility", &CellRecord::reproducibility),
};

template <>
inline constexpr auto kFields<Arm> = std::tuple{
    Required("name", &Arm::name),
    Required("what", &Arm::what),
    Optional("commit", &Arm::commit),
};

template <>
inline constexpr auto kFields<ArmRun> = std::tuple{
    Required("pair", &ArmRun::pair),
    Required("arm", &ArmRun::arm),
};

template <>
inline constexpr auto kFields<AbRecord> = std::tuple{
    Required("base", &AbRecord::base),
    Required("head", &AbRecord::head),
    Required("fresh_servers", &AbRecord::fresh_servers),
    Optional("seed", &AbRecord::seed),
    Required("error", &AbRecord::error),
    Required("looks", &AbRecord::looks),
    Optional("budget_s", &AbRecord::budget_s, kSeconds),
    Optional("ended", &AbRecord::ended),
    Required("runs", &AbRecord::runs),
};

template <>
inline constexpr auto kFields<RunRecord> = std::tuple{
    Required("schema", &RunRecord::schema),
    Required("id", &RunRecord::id),
    Required("created", &RunRecord::created),
    Optional("assay_version", &RunRecord::assay_version),
    Optional("assay_commit", &RunRecord::assay_commit),
    Optional("repository", &RunRecord::repository),
    Optional("branch", &RunRecord::branch),
    Optional("commit", &RunRecord::commit),
    Optional("command", &RunRecord::command),
    Required("status", &RunRecord::status),
    Required("cells", &RunRecord::cells),
    Optional("ab", &RunRecord::ab),
};

template <>
inline constexpr auto kFields<Check> = std::tuple{
    Required("cell", &Check::cell),
    Required("group", &Check::group),
    Required("metric", &Check::metric),
    Required("rule", &Check::rule),
    Required("outcome", &Check::outcome),
    Required("reason", &Check::reason),
    Optional("unit", &Check::unit),
    Optional("direction", &Check::direction),
    Optional("value", &Check::value, kQuantity),
    Optional("reference", &Check::reference, kQuantity),
    Optional("change", &Check::change, kShare),
    Optional("ci_low", &Check::ci_low, kShare),
    Optional("ci_high", &Check::ci_high, kShare),
    Optional("margin", &Check::margin, kShare),
    Optional("limit_low", &Check::limit_low, kQuantity),
    Optional("limit_high", &Check::limit_high, kQuantity),
    Optional("noise_floor", &Check::noise_floor, kShare),
    Optional("mde", &Check::mde, kShare),
    Optional("p_value", &Check::p_value, kShare),
    Optional("p_adjusted", &Check::p_adjusted, kShare),
    Optional("samples", &Check::samples),
    Optional("baseline_samples", &Check::baseline_samples),
    Required("primary", &Check::primary),
    Optional("improved", &Check::improved),
    Optional("details", &Check::details),
    Optional("acknowledged", &Check::acknowledged),
};

template <>
inline constexpr auto kFields<VerdictNote> = std::tuple{
    Optional("cell", &VerdictNote::cell),
    Required("kind", &VerdictNote::kind),
    Required("text", &VerdictNote::text),
};

template <>
inline constexpr auto kFields<Verdict> = std::tuple{
    Required("schema", &Verdict::schema),       Required("outcome", &Verdict::outcome),
    Required("exit_code", &Verdict::exit_code), Required("missing_baseline", &Verdict::missing_baseline),
    Required("headline", &Verdict::headline),   Required("checks", &Verdict::checks),
    Optional("notes", &Verdict::notes),         Optional("environment", &Verdict::environment),
};

}  // namespace assay::record
