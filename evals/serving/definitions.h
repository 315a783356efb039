#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/run_record.h"

// The same requests in the words and by the formulas of other tools.
namespace assay::evals {

enum class Definitions { kVllm, kAiperf, kGuidellm };
std::optional<Definitions> FindDefinitions(std::string_view name);  // vllm | aiperf | guidellm

struct Figure {
  std::string name;             // "mean TTFT"
  std::string unit;             // "ms"
  std::optional<double> value;  // nothing: not measured
  int64_t samples = 0;
  std::string formula;
};

std::vector<Figure> FiguresBy(Definitions definitions, const std::vector<record::RequestTiming>& requests,
                              double duration_s, const std::vector<double>& percentiles);

// The smallest value with at least p per cent of the values at or below it; no interpolation.
double NearestRank(std::vector<double> values, double p);

}  // namespace assay::evals
