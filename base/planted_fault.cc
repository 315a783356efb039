#include "base/planted_fault.h"

#include <algorithm>

namespace assay {
namespace {

constexpr FaultInfo kFaults[] = {
    {Fault::kRoutingBit31, "routing-bit-31",
     "C's -1 / 32 == 0 sets bit 31 of every row of the routing bitmatrix: expert 31 everywhere, sums too "
     "large"},
    {Fault::kUncheckedBit31, "unchecked-bit-31",
     "routing-bit-31, and nobody holds the sums against the pairs that there are"},
    {Fault::kPaddingNan, "padding-nan",
     "padding rows of infinities and NaNs are routed: they elect experts that do not exist and take places "
     "of "
     "real rows"},
    {Fault::kSwappedMxScales, "swapped-mx-scales", "the scales of neighbouring MXFP4 blocks change places"},
    {Fault::kDroppedSinks, "dropped-sinks", "attention without its sinks"},
    {Fault::kWindowOffByOne, "window-off-by-one", "the sliding window is one position short"},
    {Fault::kRopeTruncation, "rope-truncation",
     "YaRN's ramp is rounded to whole dimensions, against the config"},
    {Fault::kMissingExpertBias, "missing-expert-bias", "experts without their biases"},
    {Fault::kTop3, "top-3", "three experts a token in place of four"},
    {Fault::kNoSwigluLimit, "no-swiglu-limit", "SwiGLU is not clamped"},
    {Fault::kPrefixCollision, "prefix-collision",
     "the prefix cache knows a block by the first N of its tokens", 4},
    {Fault::kKvReuse, "kv-reuse", "every Nth KV block is given out while another request still has it", 16},
    {Fault::kStopIgnored, "stop-ignored", "the end token does not end an answer"},
    {Fault::kSeedIgnored, "seed-ignored", "sampling takes a random seed in place of the request's"},
    {Fault::kSlowStep, "slow-step", "every step takes N % longer", 5},
    {Fault::kSlowTtft, "slow-ttft", "every step with prompt tokens takes N % longer", 20},
    {Fault::kStall, "stall", "one request in N stops the engine for a second", 200},
    {Fault::kLeak, "leak", "every request leaves N KiB behind", 64},
    {Fault::kCrash, "crash", "request N ends the process with SIGSEGV", 40},
    {Fault::kHang, "hang", "at request N steps cease", 40},
    {Fault::kTruncation, "truncation", "every Nth answer ends after 16 tokens and says that it is whole", 10},
    {Fault::kStreamError, "stream-error", "every Nth answer breaks off with an error in its stream", 20},
    {Fault::kWrongModel, "wrong-model", "another model is served than the one asked for"},
};

}  // namespace

std::span<const FaultInfo> FaultTable() {
  return kFaults;
}

const FaultInfo* FindFault(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFaults), std::end(kFaults),
                                   [&](const FaultInfo& fault) { return fault.name == name; });
  return found == std::end(kFaults) ? nullptr : found;
}

}  // namespace assay
