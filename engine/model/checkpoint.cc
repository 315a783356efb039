#include "engine/model/checkpoint.h"

#include <algorithm>

#include "base/hash.h"

namespace assay::engine {
namespace {

// Where a tensor goes, what it is called and how long its sides are.
struct Bf16Row {
  Bf16Span& to;
  std::string name;
  std::vector<int64_t> shape;
};
struct BytesRow {
  std::span<const uint8_t>& to;
  std::string name;
  std::vector<int64_t> shape;
};

Status ReadBf16(const TensorFiles& files, const std::vector<Bf16Row>& rows) {
  for (const Bf16Row& row : rows) {
    ASSIGN_OR_RETURN(const TensorView view, files.Get(row.name, TensorType::kBf16, row.shape));
    row.to = view.As<kernels::Bf16>();
  }
  return {};
}

Status ReadLayer(const TensorFiles& files, const ModelConfig& c, int64_t index, LayerTensors& layer) {
  const std::string at = fmt::format("model.layers.{}.", index);
  const std::string attention = at + "self_attn.", experts = at + "mlp.experts.";
  const int64_t q = c.num_attention_heads * c.head_dim, kv = c.num_key_value_heads * c.head_dim;
  const int64_t h = c.hidden_size, i = c.intermediate_size, e = c.num_local_experts;
  RETURN_IF_ERROR(ReadBf16(files, {{layer.input_norm, at + "input_layernorm.weight", {h}},
                                   {layer.post_attention_norm, at + "post_attention_layernorm.weight", {h}},
                                   {layer.q.weight, attention + "q_proj.weight", {q, h}},
                                   {layer.q.bias, attention + "q_proj.bias", {q}},
                                   {layer.k.weight, attention + "k_proj.weight", {kv, h}},
                                   {layer.k.bias, attention + "k_proj.bias", {kv}},
                                   {layer.v.weight, attention + "v_proj.weight", {kv, h}},
                                   {layer.v.bias, attention + "v_proj.bias", {kv}},
                                   {layer.o.weight, attention + "o_proj.weight", {h, q}},
                                   {layer.o.bias, attention + "o_proj.bias", {h}},
                                   {layer.sinks, attention + "sinks", {c.num_attention_heads}},
                                   {layer.router.weight, at + "mlp.router.weight", {e, h}},
                                   {layer.router.bias, at + "mlp.router.bias", {e}},
                                   {layer.gate_up_bias, experts + "gate_up_proj_bias", {e, 2 * i}},
                                   {layer.down_bias, experts + "down_proj_bias", {e, h}}}));
  const std::vector<BytesRow> rows = {
      {layer.gate_up_blocks, experts + "gate_up_proj_blocks", {e, 2 * i, h / 32, 16}},
      {layer.gate_up_scales, experts + "gate_up_proj_scales", {e, 2 * i, h / 32}},
      {layer.down_blocks, experts + "down_proj_blocks", {e, h, i / 32, 16}},
      {layer.down_scales, experts + "down_proj_scales", {e, h, i / 32}}};
  for (const BytesRow& row : rows) {
    ASSIGN_OR_RETURN(const TensorView view, files.Get(row.name, TensorType::kU8, row.shape));
    row.to = view.As<uint8_t>();
  }
  return {};
}

}  // namespace

Result<Checkpoint> OpenCheckpoint(const Path& folder) {
  Checkpoint checkpoint;
  ASSIGN_OR_RETURN(checkpoint.config, LoadModelConfig(folder));
  ASSIGN_OR_RETURN(checkpoint.files, TensorFiles::Open(folder));
  const ModelConfig& c = checkpoint.config;
  RETURN_IF_ERROR(ReadBf16(
      checkpoint.files, {{checkpoint.embedding, "model.embed_tokens.weight", {c.vocab_size, c.hidden_size}},
                         {checkpoint.norm, "model.norm.weight", {c.hidden_size}},
                         {checkpoint.lm_head, "lm_head.weight", {c.vocab_size, c.hidden_size}}}));
  for (int64_t layer = 0; layer < c.num_hidden_layers; ++layer) {
    RETURN_IF_ERROR(ReadLayer(checkpoint.files, c, layer, checkpoint.layers.emplace_back()));
  }
  return checkpoint;
}

Result<std::string> CheckpointHash(const Path& folder, const TensorFiles& files) {
  std::vector<Path> paths = files.Paths();
  paths.push_back(folder / "config.json");
  std::sort(paths.begin(), paths.end());
  std::string list;
  for (const Path& path : paths) {
    ASSIGN_OR_RETURN(const std::string digest, Sha256File(path));
    list += digest + "  " + path.filename().string() + "\n";
  }
  return Sha256(list);
}

std::vector<float> Widen(Bf16Span values) {
  std::vector<float> wide(values.size());
  std::transform(values.begin(), values.end(), wide.begin(), kernels::FromBf16);
  return wide;
}

}  // namespace assay::engine
