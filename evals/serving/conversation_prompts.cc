#include "evals/serving/conversation_prompts.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "evals/serving/conversations.h"
#include "evals/serving/random.h"

namespace assay::evals {
namespace {

// What other tools keep of ShareGPT.
constexpr int64_t kShortest = 4, kLongestPrompt = 1024, kLongestSum = 2048;

void Shuffle(std::vector<Conversation>& conversations, SplitMix64 random) {
  for (size_t i = conversations.size(); i > 1; --i)
    std::swap(conversations[i - 1], conversations[random.Below(i)]);
}

Result<int64_t> CountTokens(const std::string& text, const Encoder& encode) {
  ASSIGN_OR_RETURN(const auto ids, encode(text));
  return static_cast<int64_t>(ids.size());
}

// nullopt: too short or too long.
Result<std::optional<PlannedPrompt>> FromShareGpt(const ServingOptions& options, Conversation conversation,
                                                  const Encoder& encode) {
  PlannedPrompt prompt;
  ASSIGN_OR_RETURN(prompt.prompt_tokens, CountTokens(conversation.prompt, encode));
  if (options.override_output_len) {
    prompt.output_len = options.output_len;
  } else {
    ASSIGN_OR_RETURN(prompt.output_len, CountTokens(conversation.answer, encode));
    if (prompt.output_len < kShortest) return std::nullopt;
  }
  if (prompt.prompt_tokens < kShortest || prompt.prompt_tokens > kLongestPrompt ||
      prompt.prompt_tokens + prompt.output_len > kLongestSum)
    return std::nullopt;
  prompt.text = std::move(conversation.prompt);
  return prompt;
}

// The server's usage will count the prompt.
PlannedPrompt FromCustom(const ServingOptions& options, Conversation conversation) {
  PlannedPrompt prompt;
  prompt.text = std::move(conversation.prompt);
  prompt.output_len = options.override_output_len ? options.output_len
                                                  : conversation.output_tokens.value_or(options.output_len);
  return prompt;
}

}  // namespace

Result<PlannedPrompts> ConversationPrompts(const ServingOptions& options, std::string_view phase,
                                           int64_t count, const Encoder& encode) {
  const bool sharegpt = options.dataset == "sharegpt";
  ASSIGN_OR_RETURN(auto conversations,
                   sharegpt ? LoadShareGpt(options.dataset_path) : LoadCustom(options.dataset_path));
  const uint64_t repetition = options.fresh_prompts ? options.repetition : 0;
  if (options.shuffle) Shuffle(conversations, {options.seed, NameKey(options.name), repetition});
  if (StartsWith(phase, "warm_up")) std::reverse(conversations.begin(), conversations.end());

  PlannedPrompts planned;
  for (Conversation& conversation : conversations) {
    if (static_cast<int64_t>(planned.prompts.size()) == count) break;
    if (!sharegpt) {
      planned.prompts.push_back(FromCustom(options, std::move(conversation)));
      continue;
    }
    ASSIGN_OR_RETURN(auto prompt, FromShareGpt(options, std::move(conversation), encode));
    if (prompt) planned.prompts.push_back(std::move(*prompt));
  }
  ASSIGN_OR_RETURN(const std::string hash, Sha256File(options.dataset_path));
  planned.note = fmt::format("{} {}", options.dataset_path.filename().string(), hash.substr(0, 12));

  const auto found = static_cast<int64_t>(planned.prompts.size());
  if (found == count) return planned;
  if (found == 0 || !options.oversample) {
    return Fail(ErrorKind::kUsage, "{}: {} usable prompts, {} are needed", options.dataset_path.string(),
                found, count);
  }
  for (int64_t i = found; i < count; ++i) {
    PlannedPrompt again = planned.prompts[static_cast<size_t>(i % found)];
    planned.prompts.push_back(std::move(again));
  }
  planned.note += fmt::format(", {} of {} prompts repeated", count - found, count);
  return planned;
}

}  // namespace assay::evals
