#include "evals/http/request.h"

#include <algorithm>

namespace assay::evals {

std::string JoinUrl(std::string_view base_url, std::string_view path) {
  while (!base_url.empty() && base_url.back() == '/') base_url.remove_suffix(1);
  return std::string(base_url) + std::string(path);
}

std::chrono::milliseconds Timeout(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(std::clamp(seconds * 1000, 1.0, 1e12)));
}

std::chrono::milliseconds RetryDelay(int retry) {
  return std::chrono::milliseconds(250) * (1 << std::clamp(retry - 1, 0, 5));
}

}  // namespace assay::evals
