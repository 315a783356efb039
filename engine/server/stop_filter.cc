#include "engine/server/stop_filter.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace assay::engine {

StopFilter::StopFilter(std::vector<std::string> stops, bool keep_stop)
    : stops_(std::move(stops)), keep_stop_(keep_stop) {}

std::string StopFilter::Add(std::string_view text) {
  if (stopped_) return "";
  if (stops_.empty()) return std::string(text);
  held_ += text;

  size_t end = std::string::npos, start = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    const size_t stop_end = at + stop.size();
    if (stop_end < end || (stop_end == end && at < start)) {
      end = stop_end;
      start = at;
      stopped_by_ = stop;
    }
  }
  if (end != std::string::npos) {
    stopped_ = true;
    held_.resize(keep_stop_ ? end : start);
    return std::exchange(held_, "");
  }
  const size_t certain = PossibleStart();
  std::string out = held_.substr(0, certain);
  held_.erase(0, certain);
  return out;
}

// Where the longest end of `held_` that begins a stop string begins.
size_t StopFilter::PossibleStart() const {
  size_t start = held_.size();
  for (const std::string& stop : stops_) {
    const size_t longest = std::min(stop.size() - 1, held_.size());
    for (size_t length = longest; length > held_.size() - start; --length) {
      if (StartsWith(stop, std::string_view(held_).substr(held_.size() - length))) {
        start = held_.size() - length;
        break;
      }
    }
  }
  return start;
}

std::string StopFilter::Finish() {
  return std::exchange(held_, "");
}

}  // namespace assay::engine
