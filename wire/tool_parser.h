#pragma once

#include <string_view>
#include <vector>

#include "wire/chat.h"
#include "wire/json_fields.h"

// Functions offered in requests, and calls of them in the messages so far. Mistakes are left in `fields`.
namespace assay::wire {

// Where the endpoint has the name: {"type": "function", "function": {"name"}}, or beside the type.
enum class ToolShape { kChat, kResponses };

// `tools` and `tool_choice`; no tools when the choice is "none". `body` is the text the fields were read
// from: the order of a schema's properties is part of the prompt.
void ParseTools(JsonFields* fields, std::string_view body, ToolShape shape, std::vector<FunctionTool>* out);

// `tool_calls` of an assistant message.
void ParseToolCalls(JsonFields* message, ChatMessage* out);

// The function that a tool message answers for, from the call it names among `earlier` messages.
void NameCalledTool(JsonFields* message, const std::vector<ChatMessage>& earlier, ChatMessage* out);

// The name of the call `id` in the messages, or "".
std::string CalledName(const std::vector<ChatMessage>& messages, std::string_view id);

}  // namespace assay::wire
