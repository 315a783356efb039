#include "evals/serving/prompts.h"

#include <algorithm>

#include "evals/serving/random.h"
#include "wire/chat.h"

namespace assay::evals {
namespace {

std::vector<int32_t> AllowedIds(const ServingOptions& options) {
  std::vector<bool> special(static_cast<size_t>(std::max(options.vocab_size, 0)), false);
  for (const int32_t id : options.special_ids) {
    if (id >= 0 && id < options.vocab_size) special[static_cast<size_t>(id)] = true;
  }
  std::vector<int32_t> allowed;
  for (int32_t id = 0; id < options.vocab_size; ++id) {
    if (!special[static_cast<size_t>(id)]) allowed.push_back(id);
  }
  return allowed;
}

}  // namespace

Result<std::vector<std::string>> CompletionBodies(const ServingOptions& options, std::string_view phase,
                                                  int64_t count) {
  const std::vector<int32_t> allowed = AllowedIds(options);
  if (allowed.empty()) {
    return Fail(
        ErrorKind::kUsage,
        "random prompts need a vocabulary: vocab_size is {} with {} special ids; is the model's tokenizer "
        "known?",
        options.vocab_size, options.special_ids.size());
  }

  wire::CompletionRequest request;
  request.model = options.model;
  request.sampling.temperature = options.temperature;
  request.sampling.max_tokens = options.output_len;
  request.sampling.ignore_eos = options.ignore_eos;
  request.stream = true;
  request.stream_options.include_usage = true;
  std::vector<int32_t>& prompt = request.prompts.emplace_back().ids;
  prompt.resize(static_cast<size_t>(options.input_len));

  std::vector<std::string> bodies;
  for (int64_t index = 0; index < count; ++index) {
    SplitMix64 random{options.seed, NameKey(options.name), options.repetition, NameKey(phase),
                      static_cast<uint64_t>(index)};
    for (int32_t& id : prompt) id = allowed[random.Below(allowed.size())];
    bodies.push_back(wire::ToJson(request).dump());
  }
  return bodies;
}

}  // namespace assay::evals
