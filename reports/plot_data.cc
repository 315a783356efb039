#include "reports/plot_data.h"

#include <algorithm>
#include <cmath>

namespace assay::reports {
namespace {

using record::RequestTiming;
using record::ServingRecord;

template <typename Value>
std::vector<double> OfEach(const ServingRecord& serving, const Value& value) {
  std::vector<double> values;
  for (const RequestTiming& request : serving.requests) {
    if (!request.error.empty() || request.first_chunk_s <= 0) continue;
    if (const std::optional<double> ms = value(request)) values.push_back(*ms);
  }
  return values;
}

// When each chunk came, in seconds. Without the gaps between them chunks are spread evenly.
std::vector<double> ChunkTimes(const RequestTiming& request) {
  std::vector<double> times = {request.first_chunk_s};
  for (const float gap : request.chunk_gaps_ms) times.push_back(times.back() + gap / 1000);
  if (times.size() > 1 || request.chunks < 2) return times;
  const double step =
      (request.last_chunk_s - request.first_chunk_s) / static_cast<double>(request.chunks - 1);
  for (int64_t i = 1; i < request.chunks; ++i) times.push_back(times.back() + step);
  return times;
}

}  // namespace

std::vector<double> TtftMs(const ServingRecord& serving) {
  return OfEach(serving, [](const RequestTiming& r) -> std::optional<double> {
    return (r.first_chunk_s - r.sent_s) * 1000;
  });
}

std::vector<double> TpotMs(const ServingRecord& serving) {
  return OfEach(serving, [](const RequestTiming& r) -> std::optional<double> {
    if (r.output_tokens < 2) return std::nullopt;
    return (r.last_chunk_s - r.first_chunk_s) * 1000 / static_cast<double>(r.output_tokens - 1);
  });
}

std::vector<double> E2elMs(const ServingRecord& serving) {
  return OfEach(serving, [](const RequestTiming& r) -> std::optional<double> {
    return (r.last_chunk_s - r.sent_s) * 1000;
  });
}

std::vector<std::pair<double, double>> CumulativeShare(std::vector<double> values) {
  constexpr size_t kPoints = 200;
  std::sort(values.begin(), values.end());
  std::vector<std::pair<double, double>> points;
  const size_t n = values.size();
  const size_t step = std::max<size_t>(1, n / kPoints);
  if (n > 0) points.emplace_back(values.front(), 0);
  for (size_t i = step - 1; i < n; i += step)
    points.emplace_back(values[i], static_cast<double>(i + 1) / static_cast<double>(n));
  if (n > 0 && points.back().second < 1) points.emplace_back(values.back(), 1);
  return points;
}

std::vector<std::pair<double, double>> TokenRate(const ServingRecord& serving, double duration_s, int bins) {
  if (duration_s <= 0 || bins < 1) return {};
  std::vector<double> tokens(static_cast<size_t>(bins), 0);
  const double width = duration_s / bins;
  double last = 0;
  for (const RequestTiming& request : serving.requests) {
    if (!request.error.empty() || request.first_chunk_s <= 0) continue;
    const std::vector<double> times = ChunkTimes(request);
    const bool counted = request.chunk_tokens.size() == times.size();
    for (size_t i = 0; i < times.size(); ++i) {
      const auto bin = static_cast<size_t>(std::clamp(times[i] / width, 0.0, bins - 1.0));
      tokens[bin] += counted ? request.chunk_tokens[i]
                             : static_cast<double>(request.output_tokens) / static_cast<double>(times.size());
      last = std::max(last, times[i]);
    }
  }
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < bins && i * width < last; ++i) {
    const double covered = std::min(width, last - i * width);  // an arm that ended first ends within a bin
    if (covered < width / 2 && i > 0) break;
    points.emplace_back(i * width + covered / 2, tokens[static_cast<size_t>(i)] / covered);
  }
  return points;
}

}  // namespace assay::reports
