#include <algorithm>

#include "engine/model/device_scratch.h"
#include "kernels/argmax/argmax_gpu.h"
#include "kernels/routing/metadata.h"

namespace assay::engine {

DeviceScratch::DeviceScratch(const ModelConfig& c, const Shard& shard, int64_t rows, int64_t logit_rows,
                             int64_t partials) {
  constexpr const char* kWhat = "memory for activations";
  const int64_t gates = rows * c.num_experts_per_tok, experts = c.num_local_experts;
  const int64_t heads = c.num_attention_heads * c.head_dim, kv = c.num_key_value_heads * c.head_dim;
  x = {rows * shard.Part(c.hidden_size), kWhat};
  normed = {rows * c.hidden_size, kWhat};
  input = {rows * c.hidden_size, kWhat};
  qkv = {rows * shard.Part(heads + 2 * kv), kWhat};
  attended = {rows * shard.Part(heads), kWhat};
  partial = {partials, kWhat};
  router = {rows * experts, kWhat};
  gate_weights = {gates, kWhat};
  ids = {gates, kWhat};
  bits = {rows * ((experts + 31) / 32), kWhat};
  col_sum = {experts, kWhat};
  offsets = {experts + 1, kWhat};
  col_sorted = {gates, kWhat};
  row_sorted = {gates, kWhat};
  schedule = {kernels::MaxTiles(gates, experts, 1), kWhat};
  gated = {gates * shard.Part(c.intermediate_size), kWhat};
  expert_out = {gates * shard.Part(c.hidden_size), kWhat};
  logits = {logit_rows * shard.Part(c.vocab_size), kWhat};
  keys = {logit_rows * kernels::gpu::kArgmaxParts, kWhat};
  if (shard.ranks == 1) return;
  const auto most =
      static_cast<int64_t>(std::max({x.bytes(), attended.bytes(), gated.bytes(), logits.bytes()}));
  gathered = {most * shard.ranks, kWhat};
  joined = {most * shard.ranks, kWhat};
}

void DeviceScratch::Fill(const kernels::gpu::Stream& stream, int numbers, int indices) const {
  for (const auto* buffer : {&x, &normed, &partial, &router, &gate_weights, &expert_out, &logits})
    stream.Fill(buffer->data(), numbers, buffer->bytes());
  for (const auto* buffer : {&input, &qkv, &attended, &gated})
    stream.Fill(buffer->data(), numbers, buffer->bytes());
  for (const auto* buffer : {&ids, &col_sum, &offsets, &col_sorted, &row_sorted, &schedule})
    stream.Fill(buffer->data(), indices, buffer->bytes());
  for (const auto* buffer : {&gathered, &joined}) stream.Fill(buffer->data(), numbers, buffer->bytes());
  stream.Fill(bits.data(), indices, bits.bytes());
  stream.Fill(keys.data(), indices, keys.bytes());
}

}  // namespace assay::engine
