#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evals/serving/definitions.h"
#include "evals/serving/rate_search.h"
#include "evals/serving/serving.h"

// `assay bench serve`: the serving benchmark against any server, with the flags, table and files of
// `vllm bench serve`.
namespace assay::runner {

struct BenchOptions {
  std::string backend = "openai";  // as vLLM names it; decides api and endpoint
  std::string base_url;
  evals::ServingOptions serving;       // request_rate 0 is "inf"
  std::string model_id, tokenizer_id;  // for the JSON and the file name; model_id "" is serving.model
  double ready_timeout_s = 0;          // 0: no check

  evals::Definitions definitions = evals::Definitions::kVllm;
  std::vector<std::string> percentile_metrics = {"ttft", "tpot", "itl"};
  std::vector<double> percentiles = {99};

  std::map<std::string, double> limits;  // rate search: ttft, tpot, itl, e2el in ms
  double limit_percentile = 99;
  double probe_s = 10;  // a probe sends so many seconds of its rate: a queue must have time to grow
  evals::RateSearch search;

  bool save_result = false, save_detailed = false, append_result = false;
  Path result_dir;
  std::string result_filename;
  std::string label;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::string> command;  // what reproduces it
};

// What one run of the benchmark gave.
struct BenchRun {
  record::ServingRecord serving;
  std::vector<std::string> texts;  // of each request
  std::string date;                // local time, 20261201-005549, as vLLM writes it
  std::string server_version;      // what /version says; "" when it says nothing
};

// The exit code: 0, 1 when requests failed, 130 when interrupted.
Result<int> Bench(BenchOptions options);

// Byte for byte as vLLM prints it.
std::string VllmTable(const BenchOptions& options, const BenchRun& run);
// Ours, below it: every figure with its formula, and what the client itself was like.
std::string FormulaTable(const BenchOptions& options, const BenchRun& run);

std::string VllmJson(const BenchOptions& options, const BenchRun& run);
std::string VllmFileName(const BenchOptions& options, const std::string& date);

// As Python prints a float: 10.0, 0.25, inf.
std::string PythonFloat(double value);
// "99", "99.9"
std::string PercentileWord(double percentile);

}  // namespace assay::runner
