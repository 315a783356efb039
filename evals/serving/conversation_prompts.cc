#include "evals/serving/conversation_prompts.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
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

// The usable prompts of a file, dealt out in its (shuffled) order: no entry twice.
class Deck {
 public:
  Deck(const ServingOptions& options, std::vector<Conversation> conversations, const Encoder& encode)
      : options_(options),
        conversations_(std::move(conversations)),
        encode_(encode),
        end_(conversations_.size()) {}

  // `count` prompts, fewer when the entries are used up.
  Result<std::vector<PlannedPrompt>> FromStart(int64_t count) {
    return Deal(count, [this] { return start_++; });
  }
  Result<std::vector<PlannedPrompt>> FromEnd(int64_t count) {
    return Deal(count, [this] { return --end_; });
  }

 private:
  template <typename Next>
  Result<std::vector<PlannedPrompt>> Deal(int64_t count, Next next) {
    std::vector<PlannedPrompt> prompts;
    while (std::ssize(prompts) < count && start_ < end_) {
      Conversation conversation = std::move(conversations_[next()]);
      if (options_.dataset != "sharegpt") {
        prompts.push_back(FromCustom(options_, std::move(conversation)));
        continue;
      }
      ASSIGN_OR_RETURN(auto prompt, FromShareGpt(options_, std::move(conversation), encode_));
      if (prompt) prompts.push_back(std::move(*prompt));
    }
    return prompts;
  }

  const ServingOptions& options_;
  std::vector<Conversation> conversations_;
  const Encoder& encode_;
  size_t start_ = 0, end_;
};

void RepeatUpTo(int64_t count, std::vector<PlannedPrompt>& prompts) {
  for (size_t i = 0; std::ssize(prompts) < count; ++i) {
    PlannedPrompt again = prompts[i];
    prompts.push_back(std::move(again));
  }
}

// What the measurement does not take; all that there is where it takes everything.
Result<PlannedPrompts> WarmUpPrompts(const ServingOptions& options, Deck& deck, int64_t count) {
  ASSIGN_OR_RETURN(auto measured, deck.FromStart(options.num_prompts));
  PlannedPrompts planned;
  ASSIGN_OR_RETURN(planned.prompts, deck.FromEnd(count));
  const int64_t others = std::ssize(planned.prompts);
  if (others == 0) {
    std::reverse(measured.begin(), measured.end());
    measured.resize(std::min(measured.size(), static_cast<size_t>(count)));
    planned.prompts = std::move(measured);
    planned.note = "warm-up of measured prompts, as the file has no others";
  } else if (others < count) {
    planned.note = fmt::format("{} of {} warm-up prompts repeated", count - others, count);
  }
  if (!planned.prompts.empty()) RepeatUpTo(count, planned.prompts);
  return planned;
}

}  // namespace

Result<PlannedPrompts> ConversationPrompts(const ServingOptions& options, std::string_view phase,
                                           int64_t count, const Encoder& encode) {
  const bool sharegpt = options.dataset == "sharegpt";
  ASSIGN_OR_RETURN(auto conversations,
                   sharegpt ? LoadShareGpt(options.dataset_path) : LoadCustom(options.dataset_path));
  const uint64_t repetition = options.fresh_prompts ? options.repetition : 0;
  if (options.shuffle) Shuffle(conversations, {options.seed, NameKey(options.name), repetition});
  Deck deck(options, std::move(conversations), encode);
  if (phase == "warm_up") return WarmUpPrompts(options, deck, count);

  PlannedPrompts planned;
  ASSIGN_OR_RETURN(planned.prompts, deck.FromStart(count));
  ASSIGN_OR_RETURN(const std::string hash, Sha256File(options.dataset_path));
  planned.note = fmt::format("{} {}", options.dataset_path.filename().string(), hash.substr(0, 12));

  const auto found = static_cast<int64_t>(planned.prompts.size());
  if (found == count) return planned;
  if (found == 0 || !options.oversample) {
    return Fail(ErrorKind::kUsage, "{}: {} usable prompts, {} are needed", options.dataset_path.string(),
                found, count);
  }
  RepeatUpTo(count, planned.prompts);
  planned.note += fmt::format(", {} of {} prompts repeated", count - found, count);
  return planned;
}

}  // namespace assay::evals
