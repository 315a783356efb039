#include <utility>

#include "engine/server/errors.h"
#include "engine/server/jobs.h"

namespace assay::engine {

void ChatCompletions(Backstage& backstage, const HttpRequest& request, const Reply& reply) {
  auto chat = wire::ParseChatRequest(request.body);
  if (!chat) return reply->Respond(ErrorResponse(400, chat.error().message));
  if (!KnowsModel(backstage, chat->model, reply)) return;
  auto prompt = RenderChat(backstage, chat->messages, chat->tools, chat->reasoning_effort);
  if (!prompt) return reply->Respond(ErrorResponse(400, prompt.error().message));

  const NewRequest number = Register(backstage, "chatcmpl-");
  JobWish wish;
  wish.prompts.push_back(std::move(*prompt));
  wish.sampling = std::move(chat->sampling);
  wish.client = std::move(chat->user);
  wish.keep_reasoning = chat->include_reasoning;
  wish.functions_offered = !chat->tools.empty();
  auto job = MakeJob(backstage, number, std::move(wish));
  if (!job) return reply->Respond(ErrorResponse(400, job.error().message));
  job->answer = Answer::Make(
      reply, {Endpoint::kChat, chat->stream, chat->stream_options, number.head, job->tasks.size()});
  backstage.generations.Start(std::move(*job), reply);
}

}  // namespace assay::engine
