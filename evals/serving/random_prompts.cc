#include "evals/serving/random_prompts.h"

#include <algorithm>

#include "evals/serving/exact_text.h"
#include "evals/serving/lengths.h"

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

Result<std::vector<int32_t>> Vocabulary(const ServingOptions& options, const Encoder& encode) {
  std::vector<int32_t> allowed = AllowedIds(options);
  if (!allowed.empty()) return allowed;
  auto ids = OrdinaryIds(encode);
  if (ids) return ids;
  return Fail(
      ErrorKind::kUsage,
      "random prompts need a vocabulary: vocab_size is {} with {} special ids, and none is to be had: "
      "{}",
      options.vocab_size, options.special_ids.size(), ids.error().message);
}

// Draws pieces of prompts, each from a stream of its own.
class Drawer {
 public:
  Drawer(const ServingOptions& options, std::string_view phase, const Encoder& encode)
      : options_(options), phase_(NameKey(phase)), encode_(encode) {}

  Status Prepare() {
    if (Text()) return {};
    ASSIGN_OR_RETURN(allowed_, Vocabulary(options_, encode_));
    return {};
  }

  bool Text() const { return options_.text_prompts || options_.api == "chat"; }

  // Without a kind: the body of a prompt, whose stream is as old as the records that hold it.
  SplitMix64 Stream(uint64_t index, std::string_view kind = "") const {
    const uint64_t repetition = options_.fresh_prompts ? options_.repetition : 0;
    if (kind.empty()) return {options_.seed, NameKey(options_.name), repetition, phase_, index};
    return {options_.seed, NameKey(options_.name), repetition, phase_, index, NameKey(kind)};
  }

  Status Append(SplitMix64 random, int64_t tokens, PlannedPrompt& prompt) const {
    if (tokens == 0) return {};
    prompt.prompt_tokens += tokens;
    if (Text()) {
      ASSIGN_OR_RETURN(const std::string text, ExactText(random, tokens, encode_));
      prompt.text += text;
      return {};
    }
    for (int64_t i = 0; i < tokens; ++i) prompt.ids.push_back(allowed_[random.Below(allowed_.size())]);
    return {};
  }

 private:
  const ServingOptions& options_;
  uint64_t phase_;
  const Encoder& encode_;
  std::vector<int32_t> allowed_;
};

}  // namespace

Result<PlannedPrompts> RandomPrompts(const ServingOptions& options, std::string_view phase, int64_t count,
                                     const std::vector<TraceEntry>& trace, const Encoder& encode) {
  Drawer drawer(options, phase, encode);
  RETURN_IF_ERROR(drawer.Prepare());
  std::vector<PlannedPrompt> prefixes(static_cast<size_t>(std::max<int64_t>(1, options.num_prefixes)));
  for (size_t i = 0; i < prefixes.size(); ++i) {
    RETURN_IF_ERROR(drawer.Append(drawer.Stream(i, "prefix"), options.prefix_len, prefixes[i]));
  }
  const LengthRange inputs = SpreadLength(options.input_len, options.range_ratio, options.range_convention);
  const LengthRange outputs = SpreadLength(
      options.output_len, options.output_range_ratio.value_or(options.range_ratio), options.range_convention);
  PlannedPrompts planned;
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<size_t>(i);
    SplitMix64 lengths = drawer.Stream(index, "lengths");
    int64_t input_len = DrawLength(lengths, inputs);
    int64_t output_len = DrawLength(lengths, outputs);
    if (index < trace.size()) {
      input_len = trace[index].input_len.value_or(input_len);
      output_len = trace[index].output_len.value_or(output_len);
    }
    PlannedPrompt prompt = prefixes[index % prefixes.size()];
    prompt.output_len = output_len;
    RETURN_IF_ERROR(drawer.Append(drawer.Stream(index), input_len, prompt));
    planned.prompts.push_back(std::move(prompt));
  }
  return planned;
}

}  // namespace assay::evals
