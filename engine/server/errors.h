#pragma once

#include <string>

#include "engine/server/http_message.h"
#include "wire/chat.h"

namespace assay::engine {

// An error in OpenAI's shape; the type is the one vLLM gives that status.
wire::ErrorBody MakeError(int status, std::string message);
HttpResponse ErrorResponse(const wire::ErrorBody& error);
HttpResponse ErrorResponse(int status, std::string message);

}  // namespace assay::engine
