#include "kernels/gpu/device.h"
#include "kernels/gpu/signal.h"
#include "kernels/sample/fast_exp.h"
#include "kernels/sample/sample_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 512, kGroups = kThreads / kLanes;
constexpr int kOwn = 16;                // logits of a thread
constexpr int kPart = kThreads * kOwn;  // logits of a block of threads
constexpr int kMostParts = 64;          // of a row
constexpr int kBinBits = 10, kBins = 1 << kBinBits, kOwnBins = kBins / kThreads;
constexpr float kUnit = 0x1p44f;  // the largest weight; kMostParts * kPart of them are below 2^63
// Bins of the first look, for e^-1 of weight: what weighs at least a unit is within 30.5 of the largest.
constexpr float kBinsPerNat = kBins / 31.0f;

// Candidates by their weight and number.
struct Tally {
  uint64_t weight;
  uint32_t count;
  __device__ Tally operator+(const Tally& other) const {
    return {weight + other.weight, count + other.count};
  }
  __device__ Tally operator-(const Tally& other) const {
    return {weight - other.weight, count - other.count};
  }
};
enum class By { kWeight, kCount };
__device__ uint64_t Measure(By by, const Tally& tally) {
  return by == By::kWeight ? tally.weight : tally.count;
}

// What the blocks of a row share; zeros at first.
struct RowState {
  struct Bins {
    unsigned long long weight[kBins];
    uint32_t count[kBins];
  };
  Bins bins[3];  // one is added to while another is read and the third becomes zeros
  uint64_t part_weight[kMostParts];
  uint32_t arrived, unused;
};
static_assert(sizeof(RowState) == kSampleRowBytes);

// What the threads of a block share.
struct Shared {
  float logit[kPart];
  uint32_t low[kBins], high[kBins], count[kBins];  // tallies of its logits
  Tally group[kGroups];
  uint64_t weight[kOwn * kGroups];
  struct {
    int bin;
    Tally before, in;
  } found;
  uint32_t ticket;
};

// What another block wrote, not what a cache has of it.
template <class T>
__device__ T Fresh(const T& from) {
  return *static_cast<const volatile T*>(&from);
}

// The order of numbers as integers.
__device__ uint32_t Order(float logit) {
  const uint32_t bits = __float_as_uint(logit == 0 ? 0.0f : logit);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ uint64_t SumLanes(uint64_t value) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2)
    value += ShuffleXor(static_cast<unsigned long long>(value), mask);
  return value;
}
// Of this lane and those before it.
__device__ uint64_t RunningSum(uint64_t value) {
  for (int by = 1; by < kLanes; by *= 2) {
    const uint64_t other = ShuffleUp(static_cast<unsigned long long>(value), by);
    if (Lane() >= by) value += other;
  }
  return value;
}

// [0, 1) in units of 2^-64, and that share of a sum, rounded down: exact, as a double has 53 bits.
__device__ uint64_t Fraction(double x) {
  return static_cast<uint64_t>(x * 0x1p64);
}
__device__ uint64_t Share(uint64_t fraction, uint64_t sum) {
  return __umul64hi(fraction, sum);
}
__device__ uint64_t ShareRoundedUp(uint64_t fraction, uint64_t sum) {
  return Share(fraction, sum) + (fraction * sum != 0 ? 1 : 0);
}

// Where a running sum over candidates, best first, reaches a threshold: among `in.count` equal ones, or at
// one; `before` them is less. They are those of `bin` whose distance from `top` begins with `prefix`.
struct Crossing {
  int bin;
  uint32_t top, prefix;
  int shift;  // bits of a distance that have not been looked at
  Tally before, in;
};

// One row, by one of its blocks. All blocks take the same decisions from the same numbers, so they meet
// equally often.
struct Drawing {
  RowState& state;
  Shared& shared;
  int part, parts;
  float peak, inverse;  // largest logit; 1 / temperature
  uint32_t met = 0;
  int pass = 0;

  // The i-th of this thread, id part * kPart + i * kThreads + thread; -infinity is no candidate.
  __device__ float& Logit(int i) const { return shared.logit[i * kThreads + threadIdx.x]; }
  __device__ bool IsCandidate(int i) const { return !isinf(Logit(i)); }
  __device__ float Exponential(float logit) const { return FastExp((logit - peak) * inverse); }
  __device__ uint64_t Weight(int i) const { return static_cast<uint64_t>(Exponential(Logit(i)) * kUnit); }
  __device__ void Load(const float* logits, int64_t vocabulary, double min_p) {
    const float none = __uint_as_float(0xFF800000u);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int64_t id = int64_t{part} * kPart + i * kThreads + threadIdx.x;
      Logit(i) = id < vocabulary ? logits[id] : none;
    }
#pragma unroll 4
    for (int i = 0; i < kOwn; ++i) {
      const float e = Exponential(Logit(i));
      if (e * kUnit < 1 || static_cast<double>(e) < min_p) Logit(i) = none;
    }
  }
  __device__ int FirstBin(int i) const {
    return min(kBins - 1, static_cast<int>((peak - Logit(i)) * inverse * kBinsPerNat));
  }
  __device__ bool Among(int i, const Crossing& at) const {
    return IsCandidate(i) && FirstBin(i) == at.bin &&
           static_cast<uint64_t>(at.top - Order(Logit(i))) >> at.shift == at.prefix;
  }

  // Returns when all blocks of the row have come here; each sees what the others wrote before.
  __device__ void Meet() {
    FenceEachThread();
    __syncthreads();
    met += static_cast<uint32_t>(parts);
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&state.arrived, 1u);
      while (Fresh(state.arrived) < met) {
      }
      __threadfence();
    }
    __syncthreads();
    FenceEachThread();
  }

  // Tallies of the row's logits by bin_of(i), which is negative where one does not belong; a thread gets
  // those of kOwnBins bins that follow each other.
  template <class BinOf>
  __device__ void CountBins(const BinOf& bin_of, Tally (&own)[kOwnBins]) {
    for (int b = threadIdx.x; b < kBins; b += kThreads) shared.low[b] = shared.high[b] = shared.count[b] = 0;
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < kOwn; ++i) {
      const int b = IsCandidate(i) ? bin_of(i) : -1;
      if (b < 0) continue;
      const uint64_t value = Weight(i);
      const auto low = static_cast<uint32_t>(value);
      const uint32_t earlier = atomicAdd(&shared.low[b], low);
      atomicAdd(&shared.high[b], static_cast<uint32_t>(value >> 32) + (earlier + low < low ? 1u : 0u));
      atomicAdd(&shared.count[b], 1u);
    }
    __syncthreads();
    RowState::Bins& all = state.bins[pass % 3];
    for (int b = threadIdx.x; b < kBins; b += kThreads) {
      if (shared.count[b] == 0) continue;
      atomicAdd(&all.weight[b], static_cast<unsigned long long>(shared.high[b]) << 32 | shared.low[b]);
      atomicAdd(&all.count[b], shared.count[b]);
    }
    Meet();
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) {
      const int b = static_cast<int>(threadIdx.x) * kOwnBins + i;
      own[i] = {Fresh(all.weight[b]), Fresh(all.count[b])};
    }
    // Nobody reads those of the pass before any more, and they are added to in the pass after the next.
    RowState::Bins& used = state.bins[(pass + 2) % 3];
    for (int b = part * kThreads + static_cast<int>(threadIdx.x); b < kBins; b += parts * kThreads) {
      used.weight[b] = 0;
      used.count[b] = 0;
    }
    ++pass;
  }

  // Of all bins; what precedes this thread's goes to `before`.
  __device__ Tally Total(const Tally (&own)[kOwnBins], Tally& before) {
    Tally sum{0, 0};
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) sum = sum + own[i];
    const Tally running{RunningSum(sum.weight), static_cast<uint32_t>(RunningSum(sum.count))};
    if (Lane() == kLanes - 1) shared.group[GroupOfLanes()] = running;
    __syncthreads();
    before = running - sum;
    Tally total{0, 0};
#pragma unroll 1
    for (int group = 0; group < kGroups; ++group) {
      if (group == GroupOfLanes()) before = before + total;
      total = total + shared.group[group];
    }
    __syncthreads();  // before the next one writes
    return total;
  }

  // The bin at which the running sum reaches `threshold`, which is above that of `base` and within the bins.
  __device__ void Find(const Tally (&own)[kOwnBins], By by, uint64_t threshold, const Tally& base) {
    Tally before;
    Total(own, before);
    before = before + base;
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) {
      const Tally after = before + own[i];
      if (Measure(by, before) < threshold && threshold <= Measure(by, after))
        shared.found = {static_cast<int>(threadIdx.x) * kOwnBins + i, before, own[i]};
      before = after;
    }
    __syncthreads();
  }

  // `first`: the tallies by FirstBin. Within a bin numbers are told apart by their order, kBinBits at a time.
  __device__ Crossing Search(const Tally (&first)[kOwnBins], By by, uint64_t threshold) {
    Find(first, by, threshold, {0, 0});
    Crossing at{shared.found.bin, 0, 0, 0, shared.found.before, shared.found.in};
    // A bin's width and more on each side, for what was rounded.
    const float width = 1 / (inverse * kBinsPerNat);
    at.top = Order(peak - static_cast<float>(at.bin - 1) * width);
    at.shift = 32 - __clz(static_cast<int>(at.top - Order(peak - static_cast<float>(at.bin + 2) * width)));
    while (at.in.count > 1 && at.shift > 0) {
      const int shift = max(0, at.shift - kBinBits), bits = at.shift - shift;
      Tally own[kOwnBins];
      CountBins(
          [&](int i) {
            if (!Among(i, at)) return -1;
            return static_cast<int>(((at.top - Order(Logit(i))) >> shift) & ((1u << bits) - 1));
          },
          own);
      Find(own, by, threshold, at.before);
      at.before = shared.found.before;
      at.in = shared.found.in;
      at.prefix = at.prefix << bits | static_cast<uint32_t>(shared.found.bin);
      at.shift = shift;
    }
    return at;
  }

  // Writes the first id at which the running sum of weights, by id, passes left(their sum), below that sum.
  template <class WeightOf, class Left>
  __device__ void Walk(const WeightOf& weight_of, const Left& left_of, int32_t* id) {
#pragma unroll 4
    for (int i = 0; i < kOwn; ++i) {
      const uint64_t sum = SumLanes(weight_of(i));
      if (Lane() == 0) shared.weight[i * kGroups + GroupOfLanes()] = sum;
    }
    __syncthreads();
    // In the order of ids: the logits of a group of lanes lie together.
    Tally own[kOwnBins], ignored;
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) {
      const int at = static_cast<int>(threadIdx.x) * kOwnBins + i;
      own[i] = {at < kOwn * kGroups ? shared.weight[at] : 0, 0};
    }
    const uint64_t mine = Total(own, ignored).weight;
    if (threadIdx.x == 0) state.part_weight[part] = mine;
    Meet();
    uint64_t before = 0, sum = 0;
    for (int p = 0; p < parts; ++p) {
      if (p == part) before = sum;
      sum += Fresh(state.part_weight[p]);
    }
    const uint64_t left = left_of(sum);
    if (left < before || left >= before + mine) return;
    Find(own, By::kWeight, left + 1, {before, 0});
    if (shared.found.bin % kGroups != GroupOfLanes()) return;
    const int i_found = shared.found.bin / kGroups;
    const uint64_t value = weight_of(i_found);
    const uint64_t running = shared.found.before.weight + RunningSum(value);
    if (running > left && running - value <= left)
      *id = part * kPart + i_found * kThreads + static_cast<int>(threadIdx.x);
  }

  __device__ void FromAll(uint64_t u, int32_t* id) {
    Walk([&](int i) { return Weight(i); }, [&](uint64_t sum) { return Share(u, sum); }, id);
  }

  __device__ void FromBest(const SampledRow& in, uint64_t u, int32_t* id) {
    Tally first[kOwnBins], ignored;
    CountBins([&](int i) { return FirstBin(i); }, first);
    const Tally all = Total(first, ignored);
    if (all.weight == 0) return;  // a temperature beyond reason; the largest stays
    // The cut of top_k, that of top_p and the draw are one search each.
    enum Stage { kTopK, kTopP, kDraw };
    uint64_t kept = all.weight;
#pragma unroll 1
    for (int stage = kTopK; stage <= kDraw; ++stage) {
      if (stage == kTopK && (in.top_k <= 0 || static_cast<uint32_t>(in.top_k) >= all.count)) continue;
      if (stage == kTopP && in.top_p >= 1) continue;
      const By by = stage == kTopK ? By::kCount : By::kWeight;
      uint64_t threshold = static_cast<uint64_t>(in.top_k);
      if (stage == kTopP) threshold = ShareRoundedUp(Fraction(in.top_p), kept);
      if (stage == kDraw) threshold = Share(u, kept) + 1;
      threshold = threshold > 0 ? threshold : 1;
      const Crossing at = Search(first, by, threshold);
      const uint64_t each = at.in.weight / at.in.count, missing = threshold - Measure(by, at.before);
      if (stage == kDraw) {
        return Walk([&](int i) { return Among(i, at) ? Weight(i) : 0; },
                    [&](uint64_t) { return missing - 1; }, id);
      }
      kept = at.before.weight + (by == By::kCount ? missing : (missing + each - 1) / each) * each;
    }
  }
};

// Grid (parts, rows), but who is who is settled as blocks start: those that one waits for have started or
// start next.
__global__ void __launch_bounds__(kThreads, 1) SampleRows(SampleBatch in, RowState* states, int parts) {
  __shared__ Shared shared;
  AwaitEarlier();
  if (threadIdx.x == 0) shared.ticket = atomicAdd(reinterpret_cast<uint32_t*>(states + in.count), 1u);
  __syncthreads();
  const auto ticket = static_cast<int>(shared.ticket);
  const SampledRow row = in.rows[ticket / parts];
  int32_t* id = in.ids + row.row;
  const int32_t largest = *id;
  if (largest < 0) return;
  const float* logits = in.logits + row.row * in.vocabulary;
  Drawing drawing{states[ticket / parts],
                  shared,
                  ticket % parts,
                  parts,
                  logits[largest],
                  static_cast<float>(1 / row.temperature),
                  {},
                  {}};
  drawing.Load(logits, in.vocabulary, row.min_p);
  const uint64_t u = Fraction(row.u);
  if (row.top_k <= 0 && row.top_p >= 1 && row.min_p <= 0) return drawing.FromAll(u, id);
  drawing.FromBest(row, u, id);
}

}  // namespace

bool CanSample(int64_t vocabulary) {
  const int64_t parts = Blocks(vocabulary, kPart);
  return parts <= kMostParts && parts <= BlocksAtOnce(SampleRows, kThreads);
}

void Sample(void* stream, const SampleBatch& batch) {
  if (batch.count == 0) return;
  (void)hipMemsetAsync(batch.scratch, 0, static_cast<size_t>(SampleScratchBytes(batch.count)),
                       AsStream(stream));  // CheckLaunch asks
  const unsigned parts = Blocks(batch.vocabulary, kPart);
  ASSAY_LAUNCH("sample", SampleRows, dim3(parts, static_cast<unsigned>(batch.count)), kThreads, stream, batch,
               static_cast<RowState*>(batch.scratch), static_cast<int>(parts));
}

}  // namespace assay::kernels::gpu
