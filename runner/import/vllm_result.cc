// The result JSON of `vllm bench serve`: one object of summary figures, with --save-detailed also arrays with
// an element a request. Times of the arrays are seconds, those of the summary milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "runner/import/import.h"
#include "runner/import/json_value.h"

namespace assay::runner {
namespace {

using nlohmann::json;
using record::Direction;
using record::Metric;
using record::RequestTiming;
using record::ServingRecord;

struct Rate {
  const char* theirs;
  const char* ours;
  const char* unit;
};
constexpr Rate kRates[] = {{"request_throughput", "request_throughput_req_s", "req/s"},
                           {"request_goodput", "request_goodput_req_s", "req/s"},
                           {"output_throughput", "output_throughput_tok_s", "tok/s"},
                           {"total_token_throughput", "total_token_throughput_tok_s", "tok/s"}};

// mean_ttft_ms -> ttft_mean_ms, median_ttft_ms -> ttft_p50_ms, p99.9_ttft_ms -> ttft_p99.9_ms.
std::optional<std::string> LatencyName(const std::string& key) {
  static const std::regex pattern(R"((mean|median|p[0-9.]+)_(ttft|tpot|itl|e2el)_ms)");
  std::smatch match;
  if (!std::regex_match(key, match, pattern)) return std::nullopt;
  const std::string statistic = match[1] == "median" ? "p50" : match[1].str();
  return fmt::format("{}_{}_ms", match[2].str(), statistic);
}

Status ReadMetrics(const ImportSource& source, int64_t completed, ServingRecord& serving) {
  for (const Rate& rate : kRates) {
    ASSIGN_OR_RETURN(const auto value, NumberAt(source.json, rate.theirs, source.name));
    if (value)
      serving.metrics.push_back({rate.ours, rate.unit, Direction::kHigherIsBetter, value, completed});
  }
  for (const auto& [key, ignored] : source.json.items()) {
    const auto name = LatencyName(key);
    if (!name || record::Find(serving.metrics, *name)) continue;
    ASSIGN_OR_RETURN(const auto value, NumberAt(source.json, key, source.name));
    if (value) serving.metrics.push_back({*name, "ms", Direction::kLowerIsBetter, value, completed});
  }
  return {};
}

// Requests of a detailed file. Empty when it has none, an error when the arrays do not belong together.
Result<std::vector<RequestTiming>> ReadRequests(const ImportSource& source) {
  const json& file = source.json;
  std::vector<RequestTiming> requests;
  const auto ttfts = NumbersAt(file, "ttfts"), outputs = NumbersAt(file, "output_lens"),
             inputs = NumbersAt(file, "input_lens"), starts = NumbersAt(file, "start_times");
  if (ttfts.empty() || outputs.empty() || !file.contains("itls") || !file["itls"].is_array()) return requests;
  const json& itls = file["itls"];
  const json errors = file.value("errors", json::array());
  for (const size_t size : {outputs.size(), itls.size()}) {
    if (size != ttfts.size()) {
      return Fail(ErrorKind::kUsage, "{}: ttfts has {} requests and another array {}", source.name,
                  ttfts.size(), size);
    }
  }
  double first_start = 0;
  if (starts.size() == ttfts.size()) {
    first_start = 1e300;
    for (const auto& start : starts) first_start = std::min(first_start, start.value_or(1e300));
  }
  for (size_t i = 0; i < ttfts.size(); ++i) {
    RequestTiming request;
    request.index = static_cast<int64_t>(i);
    if (starts.size() == ttfts.size()) request.sent_s = starts[i].value_or(first_start) - first_start;
    request.planned_s = request.sent_s;
    request.output_tokens = static_cast<int64_t>(outputs[i].value_or(0));
    if (inputs.size() == ttfts.size()) request.prompt_tokens = static_cast<int64_t>(inputs[i].value_or(0));
    request.first_chunk_s = request.sent_s + ttfts[i].value_or(0);
    request.last_chunk_s = request.first_chunk_s;
    if (itls[i].is_array()) {
      for (const json& gap : itls[i]) {
        if (!gap.is_number()) continue;
        request.chunk_gaps_ms.push_back(static_cast<float>(gap.get<double>() * 1e3));
        request.last_chunk_s += gap.get<double>();
      }
    }
    request.chunks = static_cast<int64_t>(request.chunk_gaps_ms.size()) + 1;
    if (errors.is_array() && i < errors.size() && errors[i].is_string()) {
      request.error = errors[i].get<std::string>().substr(0, 500);
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace

bool IsVllmBench(const ImportSource& source) {
  return source.json.is_object() && source.json.contains("completed") &&
         source.json.contains("output_throughput") && source.json.contains("request_throughput");
}

Result<std::vector<record::CellRecord>> ReadVllmBench(const ImportSource& source,
                                                      const ImportOptions& options) {
  if (!source.json.is_object()) return Fail(ErrorKind::kUsage, "{}: not a JSON object", source.name);
  const json& file = source.json;
  ServingRecord serving;
  serving.name = options.serving;
  serving.source = "vllm-bench";
  serving.ignore_eos = false;  // the file does not say
  ASSIGN_OR_RETURN(const double completed, RequiredNumberAt(file, "completed", source.name));
  ASSIGN_OR_RETURN(const auto failed, NumberAt(file, "failed", source.name));
  ASSIGN_OR_RETURN(const auto planned, NumberAt(file, "num_prompts", source.name));
  ASSIGN_OR_RETURN(serving.duration_s, RequiredNumberAt(file, "duration", source.name));
  ASSIGN_OR_RETURN(const auto output_tokens, NumberAt(file, "total_output_tokens", source.name));
  ASSIGN_OR_RETURN(const auto concurrency, NumberAt(file, "max_concurrency", source.name));
  ASSIGN_OR_RETURN(const auto burstiness, NumberAt(file, "burstiness", source.name));
  serving.num_prompts = static_cast<int64_t>(planned.value_or(completed + failed.value_or(0)));
  serving.burstiness = burstiness.value_or(1);
  if (concurrency) serving.max_concurrency = static_cast<int64_t>(*concurrency);
  if (StringAt(file, "request_rate") != "inf") {
    ASSIGN_OR_RETURN(const auto rate, NumberAt(file, "request_rate", source.name));
    serving.request_rate = rate.value_or(0);
  }
  serving.complete = true;
  RETURN_IF_ERROR(ReadMetrics(source, static_cast<int64_t>(completed), serving));
  ASSIGN_OR_RETURN(serving.requests, ReadRequests(source));
  if (serving.requests.empty()) {
    serving.stated =
        record::StatedRequests{static_cast<int64_t>(completed), static_cast<int64_t>(failed.value_or(0)),
                               completed > 0 ? output_tokens.value_or(0) / completed : 0, false};
  }
  serving.mean_in_flight = StatedInFlight(serving);
  record::CellRecord cell;
  cell.key = options.cell;
  cell.server.model_id = StringAt(file, "model_id");
  cell.serving.push_back(std::move(serving));
  return std::vector<record::CellRecord>{std::move(cell)};
}

}  // namespace assay::runner
