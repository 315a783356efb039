#include "engine/scheduler/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/scheduler/philox.h"
#include "kernels/sample/fast_exp.h"

namespace assay::engine {
namespace {

using kernels::FastExp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kLanes = 16;  // independent chains, so that loops over the vocabulary are not latency bound

struct Candidate {
  float logit = 0;
  int32_t id = 0;
};

// Strict order of preference: larger logit, then lower id.
bool Better(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}
bool Worse(const Candidate& a, const Candidate& b) {
  return Better(b, a);
}

// The largest logit and its lowest id, unless the row is unusable.
std::optional<Candidate> Peak(std::span<const float> logits) {
  std::array<float, kLanes> best;
  std::array<int32_t, kLanes> bad{};
  best.fill(-kInfinity);
  const auto look = [&](size_t lane, float value) {
    best[lane] = value > best[lane] ? value : best[lane];
    bad[lane] |= static_cast<int32_t>(!(value < kInfinity));
  };
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) look(lane, logits[i + lane]);
  }
  for (; i < logits.size(); ++i) look(0, logits[i]);

  if (std::any_of(bad.begin(), bad.end(), [](int32_t b) { return b != 0; })) return std::nullopt;
  const float peak = *std::max_element(best.begin(), best.end());
  if (peak == -kInfinity) return std::nullopt;
  const auto at = std::find(logits.begin(), logits.end(), peak);
  return Candidate{peak, static_cast<int32_t>(at - logits.begin())};
}

// weights[i] = e^((logit - peak) / temperature). Summed lane by lane: one fixed order.
double Weigh(std::span<const float> logits, float peak, float inverse_temperature,
             std::vector<float>& weights) {
  weights.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) weights[i] = FastExp((logits[i] - peak) * inverse_temperature);
  std::array<double, kLanes> sums{};
  size_t i = 0;
  for (; i + kLanes <= weights.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<double>(weights[i + lane]);
  }
  for (; i < weights.size(); ++i) sums[0] += static_cast<double>(weights[i]);
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

// The first token at which the running sum passes u * sum.
int32_t DrawFromAll(const std::vector<float>& weights, double sum, double u, int32_t peak_id) {
  double left = u * sum;
  int32_t last = peak_id;  // where rounding carries the walk past the end
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = static_cast<int32_t>(i);
    left -= static_cast<double>(weights[i]);
    if (left < 0) break;
  }
  return last;
}

// The best candidates, best first: at most `top_k` (0: no limit), and no more than it takes to reach `top_p`
// of the sum over those that top_k leaves. A heap, because mostly few are wanted of many.
std::vector<Candidate> Best(std::vector<Candidate> heap, const std::vector<float>& weights, int64_t top_k,
                            double top_p) {
  const auto weight = [&](const Candidate& c) {
    return static_cast<double>(weights[static_cast<size_t>(c.id)]);
  };
  double total = 0;
  for (const Candidate& candidate : heap) total += weight(candidate);
  const bool limited = top_k > 0 && top_k < static_cast<int64_t>(heap.size());
  const size_t count = limited ? static_cast<size_t>(top_k) : heap.size();

  std::make_heap(heap.begin(), heap.end(), Worse);
  std::vector<Candidate> best;
  const auto pop_until = [&](double reached) {
    for (double sum = 0; best.size() < count && sum < reached;) {
      std::pop_heap(heap.begin(), heap.end(), Worse);
      best.push_back(heap.back());
      heap.pop_back();
      sum += weight(best.back());
    }
  };
  if (!limited) {
    pop_until(top_p * total);
    return best;
  }
  pop_until(std::numeric_limits<double>::infinity());
  total = 0;
  for (const Candidate& candidate : best) total += weight(candidate);
  double sum = 0;
  size_t kept = 0;
  while (kept < best.size() && (kept == 0 || sum < top_p * total)) sum += weight(best[kept++]);
  best.resize(kept);
  return best;
}

int32_t DrawFromBest(const std::vector<Candidate>& best, const std::vector<float>& weights, double u) {
  double sum = 0;
  for (const Candidate& c : best) sum += static_cast<double>(weights[static_cast<size_t>(c.id)]);
  double left = u * sum;
  for (const Candidate& c : best) {
    left -= static_cast<double>(weights[static_cast<size_t>(c.id)]);
    if (left < 0) return c.id;
  }
  return best.front().id;
}

// Calls `change` with the logit of each id that is in the vocabulary.
template <typename Ids, typename IdOf, typename Change>
void ForLogits(std::span<float> logits, const Ids& ids, const IdOf& id_of, const Change& change) {
  for (const auto& entry : ids) {
    const int32_t id = id_of(entry);
    if (id >= 0 && id < static_cast<int64_t>(logits.size())) change(entry, logits[static_cast<size_t>(id)]);
  }
}

void Penalise(std::span<float> logits, const GenerationRequest& request, const TokenHistory& history) {
  const auto repetition = static_cast<float>(request.repetition_penalty);
  const auto frequency = static_cast<float>(request.frequency_penalty);
  const auto presence = static_cast<float>(request.presence_penalty);
  ForLogits(
      logits, history.Entries(), [](const TokenHistory::Entry& entry) { return entry.id; },
      [&](const TokenHistory::Entry& entry, float& logit) {
        logit = logit > 0 ? logit / repetition : logit * repetition;
        if (entry.outputs == 0) return;
        logit -= frequency * static_cast<float>(entry.outputs);
        logit -= presence;
      });
}

// True when a logit may have changed.
bool Adjust(std::span<float> logits, const GenerationRequest& request, const TokenHistory& history,
            int64_t output_index) {
  const bool mask = output_index < request.min_tokens && !request.stop_ids.empty();
  if (mask) {
    ForLogits(
        logits, request.stop_ids, [](int32_t id) { return id; },
        [](int32_t, float& logit) { logit = -kInfinity; });
  }
  ForLogits(
      logits, request.logit_bias, [](const auto& bias) { return bias.first; },
      [](const auto& bias, float& logit) { logit += bias.second; });
  if (HasPenalty(request)) Penalise(logits, request, history);
  return mask || !request.logit_bias.empty() || HasPenalty(request);
}

Pick PlainPick(const GenerationRequest& request, int64_t output_index) {
  if (request.temperature <= 0) return {};
  return {request.temperature, UniformDraw(request.seed, static_cast<uint64_t>(output_index)), request.top_k,
          request.top_p, request.min_p};
}

int32_t Draw(std::span<const float> logits, const Candidate& peak, const Pick& pick) {
  const auto inverse_temperature = static_cast<float>(1 / pick.temperature);
  if (pick.temperature <= 0 || !std::isfinite(inverse_temperature)) return peak.id;  // all weight is there
  static thread_local std::vector<float> weights;                                    // [vocab_size]
  const double sum = Weigh(logits, peak.logit, inverse_temperature, weights);
  const bool unfiltered = pick.top_k <= 0 && pick.top_p >= 1 && pick.min_p <= 0;
  if (unfiltered) return DrawFromAll(weights, sum, pick.u, peak.id);

  std::vector<Candidate> candidates;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0 && static_cast<double>(weights[i]) >= pick.min_p) {
      candidates.push_back({logits[i], static_cast<int32_t>(i)});
    }
  }
  return DrawFromBest(Best(std::move(candidates), weights, pick.top_k, pick.top_p), weights, pick.u);
}

}  // namespace

bool HasPenalty(const GenerationRequest& request) {
  return request.repetition_penalty != 1 || request.frequency_penalty != 0 || request.presence_penalty != 0;
}

std::optional<Pick> PickOf(const GenerationRequest& request, int64_t output_index) {
  const bool plain = !request.logprobs && request.logit_bias.empty() && !HasPenalty(request) &&
                     output_index >= request.min_tokens;
  if (!plain) return std::nullopt;
  return PlainPick(request, output_index);
}

std::optional<int32_t> PickToken(std::span<const float> logits, const Pick& pick) {
  const std::optional<Candidate> peak = Peak(logits);
  if (!peak) return std::nullopt;
  return Draw(logits, *peak, pick);
}

std::optional<int32_t> SampleToken(std::span<float> logits, const GenerationRequest& request,
                                   const TokenHistory& history, int64_t output_index) {
  std::optional<Candidate> peak = Peak(logits);
  if (peak && Adjust(logits, request, history, output_index)) peak = Peak(logits);
  if (!peak) return std::nullopt;
  return Draw(logits, *peak, PlainPick(request, output_index));
}

}  // namespace assay::engine
