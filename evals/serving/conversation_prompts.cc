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

// The usable prompts of a file in its (shuffled) order. Finding out costs tokenizing, so only as far as
// asked.
class Deck {
 public:
  Deck(const ServingOptions& options, std::vector<Conversation> conversations, const Encoder& encode)
      : options_(options),
        conversations_(std::move(conversations)),
        encode_(encode),
        end_(conversations_.size()) {}

  // Whether there are so many; looks at no more than that takes.
  Result<bool> Has(size_t count) {
    while (usable_.size() < count && next_ < end_) {
      ASSIGN_OR_RETURN(auto prompt, Usable(conversations_[next_++]));
      if (prompt) usable_.push_back(std::move(*prompt));
    }
    return usable_.size() >= count;
  }

  // The prompts from `first` on, and from the start again behind the last; no more than there are.
  Result<std::vector<PlannedPrompt>> From(size_t first, size_t count) {
    ASSIGN_OR_RETURN(const bool enough, Has(first + count));
    if (!enough) count = std::min(count, usable_.size());
    std::vector<PlannedPrompt> prompts;
    for (size_t i = 0; i < count; ++i) prompts.push_back(usable_[(first + i) % usable_.size()]);
    return prompts;
  }

  // Those that `From` has not looked at, from the end.
  Result<std::vector<PlannedPrompt>> FromEnd(size_t count) {
    std::vector<PlannedPrompt> prompts;
    while (prompts.size() < count && next_ < end_) {
      ASSIGN_OR_RETURN(auto prompt, Usable(conversations_[--end_]));
      if (prompt) prompts.push_back(std::move(*prompt));
    }
    return prompts;
  }

  size_t Size() const { return usable_.size(); }  // so far

 private:
  Result<std::optional<PlannedPrompt>> Usable(Conversation& conversation) {
    if (options_.dataset == "sharegpt") return FromShareGpt(options_, std::move(conversation), encode_);
    return FromCustom(options_, std::move(conversation));
  }

  const ServingOptions& options_;
  std::vector<Conversation> conversations_;
  const Encoder& encode_;
  std::vector<PlannedPrompt> usable_;
  size_t next_ = 0, end_;
};

void RepeatUpTo(size_t count, std::vector<PlannedPrompt>& prompts) {
  for (size_t i = 0; prompts.size() < count; ++i) {
    PlannedPrompt again = prompts[i];
    prompts.push_back(std::move(again));
  }
}

// What the measurement does not take; all that there is where it takes everything.
Result<PlannedPrompts> WarmUpPrompts(Deck& deck, size_t first, size_t measured, size_t count) {
  ASSIGN_OR_RETURN(auto taken, deck.From(first, measured));
  PlannedPrompts planned;
  ASSIGN_OR_RETURN(planned.prompts, deck.FromEnd(count));
  const size_t others = planned.prompts.size();
  if (others == 0) {
    std::reverse(taken.begin(), taken.end());
    taken.resize(std::min(taken.size(), count));
    planned.prompts = std::move(taken);
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
  if (options.shuffle) Shuffle(conversations, {options.seed});
  Deck deck(options, std::move(conversations), encode);
  const auto first = static_cast<size_t>(options.fresh_prompts ? options.skip_prompts : 0);
  const auto wanted = static_cast<size_t>(count);
  if (phase == "warm_up") return WarmUpPrompts(deck, first, static_cast<size_t>(options.num_prompts), wanted);

  PlannedPrompts planned;
  ASSIGN_OR_RETURN(planned.prompts, deck.From(first, wanted));
  ASSIGN_OR_RETURN(const std::string hash, Sha256File(options.dataset_path));
  planned.note = fmt::format("{} {}", options.dataset_path.filename().string(), hash.substr(0, 12));

  const size_t found = planned.prompts.size();
  if (found < wanted && (found == 0 || !options.oversample)) {
    return Fail(ErrorKind::kUsage, "{}: {} usable prompts, {} are needed", options.dataset_path.string(),
                found, count);
  }
  if (found < wanted) {
    RepeatUpTo(wanted, planned.prompts);
    planned.note += fmt::format(", {} of {} prompts repeated", wanted - found, count);
  } else if (first > 0) {
    // Used up: those of earlier benchmarks come again.
    ASSIGN_OR_RETURN(const bool enough, deck.Has(first + wanted));
    const size_t fresh = deck.Size() > first ? deck.Size() - first : 0;
    if (!enough) planned.note += fmt::format(", {} of {} prompts seen before", wanted - fresh, count);
  }
  return planned;
}

}  // namespace assay::evals
