#include "engine/model/checkpoint.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/hash.h"

namespace assay::engine {
namespace {

// Where a tensor goes, what it is called and how long its sides are.
struct Bf16Row {
  Bf16Span& to;
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

// The matrix `which` of layer prefix `at`, [experts, columns, k].
struct ExpertShape {
  std::string at, which;
  int64_t experts, columns, k;
};

Status AddBytes(const TensorFiles& files, const std::string& name, const std::vector<int64_t>& shape,
                std::vector<std::span<const uint8_t>>& to) {
  ASSIGN_OR_RETURN(const TensorView view, files.Get(name, TensorType::kU8, shape));
  to.push_back(view.As<uint8_t>());
  return {};
}

Status ReadMxfp4(const TensorFiles& files, const ExpertShape& s, ExpertMatrix& to) {
  const std::string name = s.at + s.which;
  RETURN_IF_ERROR(AddBytes(files, name + "_blocks", {s.experts, s.columns, s.k / 32, 16}, to.blocks));
  RETURN_IF_ERROR(AddBytes(files, name + "_scales", {s.experts, s.columns, s.k / 32}, to.scales));
  ASSIGN_OR_RETURN(const TensorView bias,
                   files.Get(name + "_bias", TensorType::kBf16, {s.experts, s.columns}));
  to.biases.push_back(bias);
  return {};
}

Status ReadBf16Experts(const TensorFiles& files, const ExpertShape& s, ExpertMatrix& to) {
  const std::string name = s.at + s.which;
  if (!files.Has(name) && files.Has(name + "_blocks")) {
    return Fail(ErrorKind::kUsage,
                "{}: the experts are MXFP4, and config.json has no quantization_config that says so",
                files.Folder().string());
  }
  ASSIGN_OR_RETURN(const TensorView weight, files.Get(name, TensorType::kBf16, {s.experts, s.k, s.columns}));
  to.weight = weight.As<kernels::Bf16>();
  ASSIGN_OR_RETURN(const TensorView bias,
                   files.Get(name + "_bias", TensorType::kBf16, {s.experts, s.columns}));
  to.biases.push_back(bias);
  return {};
}

// A float32 of one element, stored as [1] or as a scalar.
Result<float> ReadScale(const TensorFiles& files, const std::string& name) {
  ASSIGN_OR_RETURN(const TensorView view, files.GetAnyOf(name, {TensorType::kF32}, {{1}, {}}));
  const float scale = view.As<float>()[0];
  if (!(scale > 0 && scale < std::numeric_limits<float>::infinity())) {
    return Fail(ErrorKind::kUsage, "{}: tensor {} must be a scale above 0, found {}", files.Folder().string(),
                name, scale);
  }
  return scale;
}

Status ReadQuark(const TensorFiles& files, const ExpertShape& s, bool input_scales, ExpertMatrix& to) {
  for (int64_t expert = 0; expert < s.experts; ++expert) {
    const std::string name = fmt::format("{}{}.{}.", s.at, expert, s.which);
    RETURN_IF_ERROR(AddBytes(files, name + "weight", {s.columns, s.k / 2}, to.blocks));
    RETURN_IF_ERROR(AddBytes(files, name + "weight_scale", {s.columns, s.k / 32}, to.scales));
    ASSIGN_OR_RETURN(const TensorView bias,
                     files.GetAnyOf(name + "bias", {TensorType::kBf16, TensorType::kF32}, {{s.columns}}));
    to.biases.push_back(bias);
    if (!input_scales) continue;
    ASSIGN_OR_RETURN(const float scale, ReadScale(files, name + "input_scale"));
    to.input_scales.push_back(scale);
  }
  return {};
}

Status ReadExperts(const TensorFiles& files, const Quantization& quantization, const ExpertShape& shape,
                   ExpertMatrix& to) {
  switch (quantization.experts) {
    case ExpertFormat::kMxfp4:
      return ReadMxfp4(files, shape, to);
    case ExpertFormat::kBf16:
      return ReadBf16Experts(files, shape, to);
    case ExpertFormat::kQuarkMxfp4:
      return ReadQuark(files, shape, quantization.fp8_activations, to);
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
                                   {layer.router.bias, at + "mlp.router.bias", {e}}}));
  RETURN_IF_ERROR(ReadExperts(files, c.quantization, {experts, "gate_up_proj", e, 2 * i, h}, layer.gate_up));
  RETURN_IF_ERROR(ReadExperts(files, c.quantization, {experts, "down_proj", e, h, i}, layer.down));
  if (c.quantization.fp8_kv_cache) {
    ASSIGN_OR_RETURN(layer.key_scale, ReadScale(files, attention + "k_proj.output_scale"));
    ASSIGN_OR_RETURN(layer.value_scale, ReadScale(files, attention + "v_proj.output_scale"));
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

std::vector<float> Widen(const TensorView& view) {
  if (view.type == TensorType::kBf16) return Widen(view.As<kernels::Bf16>());
  CHECK(view.type == TensorType::kF32);
  const auto values = view.As<float>();
  return {values.begin(), values.end()};
}

std::vector<float> Widen(Bf16Span values) {
  std::vector<float> wide(values.size());
  std::transform(values.begin(), values.end(), wide.begin(), kernels::FromBf16);
  return wide;
}

}  // namespace assay::engine
