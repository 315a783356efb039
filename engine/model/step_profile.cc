#include "engine/model/step_profile.h"

namespace assay::engine {

const char* OpName(Op op) {
  constexpr std::array<const char*, kOps> kNames = {"embed",       "norm",   "qkv",     "rotary", "attention",
                                                    "attn output", "router", "gate_up", "down",   "logits"};
  return kNames[static_cast<size_t>(op)];
}

}  // namespace assay::engine
