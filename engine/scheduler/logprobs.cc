#include "engine/scheduler/logprobs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "kernels/sample/fast_exp.h"

namespace assay::engine {
namespace {

using kernels::FastExp;

constexpr size_t kLanes = 16;

bool Likelier(const TokenLogprob& a, const TokenLogprob& b) {
  return a.logprob > b.logprob || (a.logprob == b.logprob && a.id < b.id);
}

double LogSumExp(std::span<const float> logits) {
  const float peak = *std::max_element(logits.begin(), logits.end());
  std::array<double, kLanes> sums{};
  for (size_t i = 0; i < logits.size(); ++i) {
    sums[i % kLanes] += static_cast<double>(FastExp(logits[i] - peak));
  }
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return static_cast<double>(peak) + std::log(sum);
}

// Best first. A heap with the least likely on top, because few are wanted of many.
std::vector<TokenLogprob> Likeliest(std::span<const float> logits, size_t count) {
  std::vector<TokenLogprob> heap;
  for (size_t i = 0; i < logits.size() && count > 0; ++i) {
    const TokenLogprob candidate{static_cast<int32_t>(i), logits[i]};
    if (heap.size() == count) {
      if (!Likelier(candidate, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), Likelier);
      heap.pop_back();
    }
    heap.push_back(candidate);
    std::push_heap(heap.begin(), heap.end(), Likelier);
  }
  std::sort_heap(heap.begin(), heap.end(), Likelier);
  return heap;
}

}  // namespace

void AddLogprobs(std::span<const float> logits, int64_t count, GeneratedToken& token) {
  CHECK(token.id >= 0 && token.id < static_cast<int64_t>(logits.size()));
  const double normaliser = LogSumExp(logits);
  const auto logprob = [&](float logit) {
    return static_cast<float>(static_cast<double>(logit) - normaliser);
  };
  token.logprob = logprob(logits[static_cast<size_t>(token.id)]);
  token.top_logprobs = Likeliest(logits, static_cast<size_t>(std::max<int64_t>(0, count)));
  for (TokenLogprob& top : token.top_logprobs) top.logprob = logprob(top.logprob);
}

}  // namespace assay::engine
