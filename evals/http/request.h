#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace assay::evals {

// "http://127.0.0.1:8000/" + "/v1/models", with one slash between.
std::string JoinUrl(std::string_view base_url, std::string_view path);

// A timeout as configs write it, at least 1 ms (libcurl takes 0 for "none").
std::chrono::milliseconds Timeout(double seconds);

// How long to wait before attempt `retry` (1 is the first one after a failure): 0.25 s doubling up to 8 s.
std::chrono::milliseconds RetryDelay(int retry);

}  // namespace assay::evals
