#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

enum class Direction { kHigherIsBetter, kLowerIsBetter };

// One number that a gate may judge. `value` is absent when nothing was measured: a percentile of nothing is
// not zero.
struct Metric {
  std::string name;  // key with its unit: output_throughput_tok_s, ttft_p50_ms, gpqa_score
  std::string unit;  // "tok/s", "ms", ""
  Direction direction = Direction::kHigherIsBetter;
  std::optional<double> value;
  int64_t samples = 0;  // how many observations stand behind the value
};

const Metric* Find(const std::vector<Metric>& metrics, std::string_view name);

}  // namespace assay::record
