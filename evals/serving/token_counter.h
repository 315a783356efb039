#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evals/serving/serving.h"

namespace assay::evals {

// Token ids of a text, without special tokens: by the tokenizer of a folder, or by the server itself.
using Encoder = std::function<Result<std::vector<int32_t>>(std::string_view text)>;

// The tokenizer that the options name; without one, POST {base_url}/tokenize as vLLM, SGLang, llama.cpp and
// assay-engine serve it. A server without it is an error of the first call.
Result<Encoder> FindEncoder(const std::string& base_url, const ServingOptions& options);

}  // namespace assay::evals
