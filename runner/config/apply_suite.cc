#include <algorithm>

#include "runner/config/config.h"

namespace assay::runner {

Config Apply(Config config, const Suite& suite) {
  auto& serving = config.evals.serving;
  if (!suite.gpqa) config.evals.gpqa.reset();
  if (!suite.serving_enabled) serving.clear();
  if (!suite.serving.empty()) {
    std::erase_if(serving, [&](const evals::ServingOptions& shape) {
      return std::find(suite.serving.begin(), suite.serving.end(), shape.name) == suite.serving.end();
    });
  }
  if (suite.serving_first && serving.size() > static_cast<size_t>(*suite.serving_first)) {
    serving.resize(static_cast<size_t>(*suite.serving_first));
  }
  if (auto& gpqa = config.evals.gpqa) {
    if (suite.gpqa_subset) gpqa->subset = suite.gpqa_subset;
    if (suite.gpqa_repeats) gpqa->repeats = *suite.gpqa_repeats;
  }
  return config;
}

}  // namespace assay::runner
