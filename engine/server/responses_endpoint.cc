#include <utility>

#include "engine/server/errors.h"
#include "engine/server/jobs.h"
#include "wire/responses.h"

namespace assay::engine {

void Responses(Backstage& backstage, const HttpRequest& request, const Reply& reply) {
  auto wanted = wire::ParseResponsesRequest(request.body);
  if (!wanted) return reply->Respond(ErrorResponse(400, wanted.error().message));
  if (!KnowsModel(backstage, wanted->model, reply)) return;
  auto prompt = RenderChat(backstage, wanted->messages, wanted->tools, wanted->reasoning_effort);
  if (!prompt) return reply->Respond(ErrorResponse(400, prompt.error().message));

  const NewRequest number = Register(backstage, "resp_");
  JobWish wish;
  wish.prompts.push_back(std::move(*prompt));
  wish.sampling = std::move(wanted->sampling);
  wish.client = std::move(wanted->user);
  wish.functions_offered = !wanted->tools.empty();
  auto job = MakeJob(backstage, number, std::move(wish));
  if (!job) return reply->Respond(ErrorResponse(400, job.error().message));
  wire::Response response;
  response.head = number.head;
  response.settings = std::move(wanted->settings);
  // What the client left open is answered with what was used.
  const GenerationRequest& used = job->tasks.front().request;
  for (const auto& [name, value] : {std::pair{"temperature", used.temperature}, {"top_p", used.top_p}}) {
    if (response.settings[name].is_null()) response.settings[name] = value;
  }
  job->answer = Answer::MakeResponse(reply, std::move(response), wanted->stream);
  backstage.generations.Start(std::move(*job), reply);
}

}  // namespace assay::engine
