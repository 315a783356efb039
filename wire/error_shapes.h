#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "wire/chat.h"

namespace assay::wire {

// The error that a response object or stream event reports, in any of the shapes servers use:
//   {"error": {"message", "type", "code"}}    OpenAI, vLLM, llama.cpp
//   {"error": "text"}                         proxies, SGLang
//   {"object": "error", "message", ...}       older vLLM
//   {"detail": "text" | [{"loc", "msg"}]}     FastAPI
std::optional<ErrorBody> FindError(const nlohmann::json& object);

}  // namespace assay::wire
