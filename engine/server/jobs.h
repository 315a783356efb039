#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/server/endpoints.h"

// What the endpoints that generate have in common: from a parsed request to a job under way.
namespace assay::engine {

// Refuses a model that is not ours with 404. No name means ours.
bool KnowsModel(const Backstage& backstage, const std::string& model, const Reply& reply);

// A conversation as prompt tokens, or an error for the client.
Result<std::vector<int32_t>> RenderChat(const Backstage& backstage,
                                        const std::vector<wire::ChatMessage>& messages,
                                        const std::vector<wire::FunctionTool>& tools,
                                        const std::string& reasoning_effort);

// One generating request on its way: its number gives its id and, unless the client did, its seed.
struct NewRequest {
  uint64_t number = 0;
  wire::ResponseHead head;  // id "{prefix}{16 hex digits}"
};
NewRequest Register(Backstage& backstage, std::string_view id_prefix);

struct JobWish {
  std::vector<std::vector<int32_t>> prompts;
  wire::Sampling sampling;
  std::string client;
  bool chat = true;
  bool keep_reasoning = true;
  bool functions_offered = false;
};
// The tasks of all choices; `answer` is left to the caller. The error is for the client.
Result<Job> MakeJob(const Backstage& backstage, const NewRequest& request, JobWish wish);

void RespondJson(Exchange& reply, const nlohmann::json& body);

}  // namespace assay::engine
