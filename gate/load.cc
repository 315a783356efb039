#include "gate/load.h"

#include <algorithm>

namespace assay::gate {

using record::RequestTiming;
using record::ServingRecord;

bool IsOpenLoop(const ServingRecord& serving) {
  return (serving.request_rate > 0 || !serving.arrivals.empty()) && !serving.max_concurrency;
}

bool IsClosedLoop(const ServingRecord& serving) {
  return serving.request_rate <= 0 && serving.arrivals.empty() && serving.max_concurrency.has_value();
}

int64_t Completed(const ServingRecord& serving) {
  if (serving.stated) return serving.stated->completed;
  return std::count_if(serving.requests.begin(), serving.requests.end(),
                       [](const RequestTiming& request) { return request.error.empty(); });
}

double MeanOutputTokens(const ServingRecord& serving) {
  if (serving.stated) return serving.stated->mean_output_tokens;
  int64_t tokens = 0;
  for (const RequestTiming& request : serving.requests) {
    if (request.error.empty()) tokens += request.output_tokens;
  }
  const int64_t completed = Completed(serving);
  return completed == 0 ? 0 : static_cast<double>(tokens) / static_cast<double>(completed);
}

InFlightTrend TrendOfInFlight(const ServingRecord& serving) {
  std::vector<double> sent, ended;
  for (const RequestTiming& request : serving.requests) {
    if (!request.error.empty()) continue;
    sent.push_back(request.sent_s);
    ended.push_back(request.last_chunk_s);
  }
  std::sort(sent.begin(), sent.end());
  std::sort(ended.begin(), ended.end());
  const auto mean_over = [&](size_t from, size_t to) {
    double sum = 0;
    for (size_t i = from; i < to; ++i) {
      const auto done = std::upper_bound(ended.begin(), ended.end(), sent[i]) - ended.begin();
      sum += static_cast<double>(i + 1) - static_cast<double>(done);
    }
    return to == from ? 0 : sum / static_cast<double>(to - from);
  };
  const size_t n = sent.size();
  return {mean_over(n / 4, n / 2), mean_over(n - n / 4, n)};
}

}  // namespace assay::gate
