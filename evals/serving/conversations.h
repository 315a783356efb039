#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace assay::evals {

// A prompt of a file, and what decides the length of its answer.
struct Conversation {
  std::string prompt;
  std::string answer;                    // sharegpt: the next turn
  std::optional<int64_t> output_tokens;  // custom, where the line says so
};

// ShareGPT: a JSON list of {"conversations": [{"from", "value"}, ...]}; entries of fewer than two turns are
// passed over, as all tools do.
Result<std::vector<Conversation>> LoadShareGpt(const Path& file);
// JSON lines: {"prompt": text, "output_tokens": n}, the latter optional.
Result<std::vector<Conversation>> LoadCustom(const Path& file);

}  // namespace assay::evals
