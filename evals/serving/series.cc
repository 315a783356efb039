#include "evals/serving/series.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::evals {
namespace {

using record::RequestTiming;

void Add(const RequestTiming& request, ServingSeries& series) {
  const double ttft = (request.first_chunk_s - request.sent_s) * 1000;
  const double e2el = (request.last_chunk_s - request.sent_s) * 1000;
  const double waited = (request.sent_s - request.planned_s) * 1000;
  series.prompt_tokens += request.prompt_tokens;
  series.output_tokens += request.output_tokens;
  series.in_flight_s += e2el / 1000;
  series.ttft.push_back(ttft);
  series.e2el.push_back(e2el);
  series.queue.push_back(waited);
  series.ttft_from_planned.push_back(waited + ttft);
  series.e2el_from_planned.push_back(waited + e2el);
  series.itl.insert(series.itl.end(), request.chunk_gaps_ms.begin(), request.chunk_gaps_ms.end());
  if (!request.chunk_gaps_ms.empty())
    series.second_chunk.push_back(static_cast<double>(request.chunk_gaps_ms.front()));
  if (request.output_tokens > 1) {
    const double tpot = (e2el - ttft) / static_cast<double>(request.output_tokens - 1);
    series.tpot.push_back(tpot);
    if (tpot > 0) series.tokens_per_s.push_back(1000 / tpot);
  }
  if (request.output_tokens > 0)
    series.guidellm_tpot.push_back(e2el / static_cast<double>(request.output_tokens));
  if (request.first_reasoning_s)
    series.first_reasoning.push_back((*request.first_reasoning_s - request.sent_s) * 1000);
  if (request.first_content_s)
    series.first_content.push_back((*request.first_content_s - request.sent_s) * 1000);
  const std::vector<double> by_token = GapsByToken(request);
  series.itl_by_token.insert(series.itl_by_token.end(), by_token.begin(), by_token.end());
  if (request.cached_tokens) {
    series.cached_tokens += *request.cached_tokens;
    series.prompt_tokens_with_cache_count += request.prompt_tokens;
  }
}

}  // namespace

ServingSeries SeriesOf(const std::vector<RequestTiming>& requests) {
  ServingSeries series;
  bool first = true;
  for (const RequestTiming& request : requests) {
    if (!request.error.empty()) {
      ++series.failed;
      continue;
    }
    ++series.completed;
    Add(request, series);
    series.first_sent_s = first ? request.sent_s : std::min(series.first_sent_s, request.sent_s);
    series.last_chunk_s = std::max(series.last_chunk_s, request.last_chunk_s);
    first = false;
  }
  return series;
}

std::vector<double> GapsByToken(const RequestTiming& request) {
  std::vector<double> gaps;
  if (request.chunk_tokens.size() != request.chunk_gaps_ms.size() + 1) return gaps;
  double open = 0;
  for (size_t i = 0; i < request.chunk_gaps_ms.size(); ++i) {
    open += static_cast<double>(request.chunk_gaps_ms[i]);
    const int32_t tokens = request.chunk_tokens[i + 1];
    if (tokens <= 0) continue;
    gaps.insert(gaps.end(), static_cast<size_t>(tokens), open / tokens);
    open = 0;
  }
  return gaps;
}

PeakRate PeakOutput(const std::vector<RequestTiming>& requests) {
  std::map<int64_t, PeakRate> seconds;
  double start = 0;
  if (!requests.empty()) start = requests.front().sent_s;
  for (const RequestTiming& request : requests) start = std::min(start, request.sent_s);
  for (const RequestTiming& request : requests) {
    if (!request.error.empty()) continue;
    const size_t chunks = request.chunk_gaps_ms.size() + 1;
    const bool counted = request.chunk_tokens.size() == chunks;
    double at = request.first_chunk_s - start;
    for (size_t i = 0; i < chunks; ++i) {
      if (i > 0) at += static_cast<double>(request.chunk_gaps_ms[i - 1]) / 1000;
      PeakRate& second = seconds[static_cast<int64_t>(std::floor(at))];
      ++second.chunks;
      second.tokens += counted ? request.chunk_tokens[i]
                               : static_cast<double>(request.output_tokens) / static_cast<double>(chunks);
    }
  }
  PeakRate peak;
  for (const auto& [second, rate] : seconds) {
    peak.chunks = std::max(peak.chunks, rate.chunks);
    peak.tokens = std::max(peak.tokens, rate.tokens);
  }
  return peak;
}

int64_t PeakInFlight(const std::vector<RequestTiming>& requests) {
  std::vector<std::pair<double, int>> changes;
  for (const RequestTiming& request : requests) {
    if (!request.error.empty()) continue;
    changes.emplace_back(request.sent_s, 1);
    changes.emplace_back(request.last_chunk_s, -1);
  }
  std::sort(changes.begin(), changes.end());  // at one moment, departures first
  int64_t alive = 0, peak = 0;
  for (const auto& [at, change] : changes) peak = std::max(peak, alive += change);
  return peak;
}

}  // namespace assay::evals
