#include <utility>

#include "engine/server/errors.h"
#include "engine/server/jobs.h"
#include "tokenizer/utf8.h"

namespace assay::engine {
namespace {

// The prompt as the answer repeats it.
std::string EchoText(const Backstage& backstage, const wire::Prompt& prompt, bool skip_specials) {
  if (prompt.ids.empty()) return prompt.text;
  return tokenizer::RepairUtf8(backstage.tokenizer.Decode(prompt.ids, skip_specials));
}

}  // namespace

void Completions(Backstage& backstage, const HttpRequest& request, const Reply& reply) {
  auto completion = wire::ParseCompletionRequest(request.body);
  if (!completion) return reply->Respond(ErrorResponse(400, completion.error().message));
  if (!KnowsModel(backstage, completion->model, reply)) return;

  const wire::Sampling& sampling = completion->sampling;
  JobWish wish;
  std::vector<std::string> echoes;
  for (const wire::Prompt& prompt : completion->prompts) {
    const Status fits = CheckTextLength(prompt.text.size(), backstage.rules);
    if (!fits) return reply->Respond(ErrorResponse(400, fits.error().message));
    using Specials = tokenizer::Tokenizer::Specials;
    wish.prompts.push_back(prompt.ids.empty() ? backstage.tokenizer.Encode(prompt.text, Specials::kParse)
                                              : prompt.ids);
    if (completion->echo) echoes.push_back(EchoText(backstage, prompt, sampling.skip_special_tokens));
  }
  const auto each = static_cast<size_t>(sampling.n);
  const NewRequest number = Register(backstage, "cmpl-");
  wish.sampling = std::move(completion->sampling);
  wish.client = std::move(completion->user);
  wish.chat = false;
  auto job = MakeJob(backstage, number, std::move(wish));
  if (!job) return reply->Respond(ErrorResponse(400, job.error().message));
  for (size_t i = 0; i < job->tasks.size() && completion->echo; ++i) {
    job->tasks[i].text.BeginWith(echoes[i / each]);
  }
  job->answer = Answer::Make(reply, {Endpoint::kCompletion, completion->stream, completion->stream_options,
                                     number.head, job->tasks.size()});
  backstage.generations.Start(std::move(*job), reply);
}

}  // namespace assay::engine
