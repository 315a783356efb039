#pragma once

#include <string>
#include <string_view>

#include "testing/scripted_server.h"

// The default answers of a scripted server. Their JSON is written from the protocol and not through wire/, so
// that a mistake there cannot cancel itself out in a test.
namespace assay::testing {

// GET /v1/models
std::string ModelListBody(const ScriptedOptions& options);

// POST /v1/chat/completions, /v1/completions and /v1/responses, streamed or not as the request asks.
ScriptedAnswer DefaultAnswer(std::string_view target, const std::string& request_body,
                             const ScriptedOptions& options);

// {"error": ...} with this status.
ScriptedAnswer ErrorAnswer(int status, const std::string& message);

}  // namespace assay::testing
