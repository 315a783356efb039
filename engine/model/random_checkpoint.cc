#include "engine/model/random_checkpoint.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "kernels/bf16/bf16.h"

namespace assay::engine {
namespace {

using Json = nlohmann::ordered_json;

// Splitmix64: whole-number arithmetic only, so that every machine draws the same weights.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Mean 0, deviation 1: the sum of eight bytes is close to normal.
  float Normal() {
    const uint64_t bytes = Next();
    int sum = 0;
    for (int i = 0; i < 64; i += 8) sum += static_cast<int>(bytes >> i & 255);
    return static_cast<float>(sum - 1020) * (1.0f / 209.0f);
  }

 private:
  uint64_t state_;
};

enum class Fill { kNormal, kNearOne, kBlocks, kScales };

struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  Fill fill;
  float deviation = 0;  // kNormal, kNearOne
  int exponent = 0;     // kScales: bytes are 127 + exponent or one less

  bool IsBytes() const { return fill == Fill::kBlocks || fill == Fill::kScales; }
  int64_t Elements() const {
    int64_t elements = 1;
    for (const int64_t side : shape) elements *= side;
    return elements;
  }
  int64_t Bytes() const { return Elements() * (IsBytes() ? 1 : 2); }
};

// 1 / sqrt(k) by Newton steps, whose rounding is the same everywhere.
float InverseRoot(int64_t k) {
  float root = 1;
  for (int i = 0; i < 40; ++i) root = 0.5f * (root + static_cast<float>(k) / root);
  return 1 / root;
}

void AddLayer(const CheckpointShape& c, int64_t index, std::vector<Tensor>& tensors) {
  const std::string at = fmt::format("model.layers.{}.", index);
  const std::string attention = at + "self_attn.", mlp = at + "mlp.";
  const int64_t q = c.num_attention_heads * c.head_dim, kv = c.num_key_value_heads * c.head_dim;
  const int64_t h = c.hidden_size, i = c.intermediate_size, e = c.num_local_experts;
  const auto linear = [&](const std::string& name, int64_t columns, int64_t k) {
    tensors.push_back({name + ".weight", {columns, k}, Fill::kNormal, InverseRoot(k)});
    tensors.push_back({name + ".bias", {columns}, Fill::kNormal, 0.1f});
  };
  // Random E2M1 values have a deviation near 3; the power of two next to 1 / (3 sqrt(k)) keeps sums near 1.
  const auto experts = [&](const std::string& name, int64_t columns, int64_t k) {
    int exponent = 0;
    for (float size = InverseRoot(k) / 3; size < 1; size *= 2) --exponent;
    tensors.push_back({name + "_blocks", {e, columns, k / 32, 16}, Fill::kBlocks});
    tensors.push_back({name + "_scales", {e, columns, k / 32}, Fill::kScales, 0, exponent + 1});
    tensors.push_back({name + "_bias", {e, columns}, Fill::kNormal, 0.1f});
  };
  tensors.push_back({at + "input_layernorm.weight", {h}, Fill::kNearOne, 0.1f});
  linear(attention + "q_proj", q, h);
  linear(attention + "k_proj", kv, h);
  linear(attention + "v_proj", kv, h);
  linear(attention + "o_proj", h, q);
  tensors.push_back({attention + "sinks", {c.num_attention_heads}, Fill::kNormal, 1});
  tensors.push_back({at + "post_attention_layernorm.weight", {h}, Fill::kNearOne, 0.1f});
  linear(mlp + "router", e, h);
  experts(mlp + "experts.gate_up_proj", 2 * i, h);
  experts(mlp + "experts.down_proj", h, i);
}

std::vector<Tensor> ListTensors(const CheckpointShape& c) {
  std::vector<Tensor> tensors;
  tensors.push_back({"model.embed_tokens.weight", {c.vocab_size, c.hidden_size}, Fill::kNormal, 1});
  for (int64_t layer = 0; layer < c.num_hidden_layers; ++layer) AddLayer(c, layer, tensors);
  tensors.push_back({"model.norm.weight", {c.hidden_size}, Fill::kNearOne, 0.1f});
  tensors.push_back(
      {"lm_head.weight", {c.vocab_size, c.hidden_size}, Fill::kNormal, 3 * InverseRoot(c.hidden_size)});
  return tensors;
}

void WriteTensor(const Tensor& tensor, uint64_t seed, std::ofstream& out) {
  // A stream of its own for each name: a tensor's values do not depend on its neighbours.
  Random random(seed ^ std::stoull(Sha256(tensor.name).substr(0, 16), nullptr, 16));
  std::string buffer;
  const int64_t elements = tensor.Elements();
  for (int64_t i = 0; i < elements; ++i) {
    if (tensor.fill == Fill::kBlocks) {
      buffer.push_back(static_cast<char>(random.Next() >> 56));
    } else if (tensor.fill == Fill::kScales) {
      buffer.push_back(static_cast<char>(127 + tensor.exponent - static_cast<int>(random.Next() >> 63)));
    } else {
      const float value = random.Normal() * tensor.deviation + (tensor.fill == Fill::kNearOne ? 1.0f : 0.0f);
      const kernels::Bf16 bits = kernels::ToBf16(value);
      buffer.push_back(static_cast<char>(bits & 255));
      buffer.push_back(static_cast<char>(bits >> 8));
    }
    if (buffer.size() >= size_t{1} << 20 || i + 1 == elements) {
      out.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      buffer.clear();
    }
  }
}

Status WriteSafetensors(const Path& path, std::span<const Tensor> tensors, uint64_t seed) {
  Json header = {{"__metadata__", {{"format", "pt"}}}};
  int64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.IsBytes() ? "U8" : "BF16"},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.Bytes()}}};
    offset += tensor.Bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  for (int i = 0; i < 64; i += 8) out.put(static_cast<char>(static_cast<uint64_t>(text.size()) >> i & 255));
  out << text;
  for (const Tensor& tensor : tensors) WriteTensor(tensor, seed, out);
  out.close();
  if (!out) return Fail(ErrorKind::kInfrastructure, "{}: cannot be written", path.string());
  return {};
}

Json ConfigJson(const CheckpointShape& c) {
  std::vector<std::string> layers;
  for (int64_t i = 0; i < c.num_hidden_layers; ++i) {
    layers.push_back(i % 2 == 0 ? "sliding_attention" : "full_attention");
  }
  return {{"architectures", {"GptOssForCausalLM"}},
          {"model_type", "gpt_oss"},
          {"attention_bias", true},
          {"hidden_act", "silu"},
          {"tie_word_embeddings", false},
          {"vocab_size", c.vocab_size},
          {"hidden_size", c.hidden_size},
          {"intermediate_size", c.intermediate_size},
          {"num_hidden_layers", c.num_hidden_layers},
          {"num_attention_heads", c.num_attention_heads},
          {"num_key_value_heads", c.num_key_value_heads},
          {"head_dim", c.head_dim},
          {"num_local_experts", c.num_local_experts},
          {"num_experts_per_tok", c.num_experts_per_tok},
          {"sliding_window", c.sliding_window},
          {"max_position_embeddings", c.max_position_embeddings},
          {"layer_types", layers},
          {"rms_norm_eps", 1e-5},
          {"swiglu_limit", 7.0},
          {"rope_theta", 150000.0},
          {"rope_scaling",
           {{"rope_type", "yarn"},
            {"factor", 32.0},
            {"beta_fast", 32.0},
            {"beta_slow", 1.0},
            {"original_max_position_embeddings", 4096},
            {"truncate", false}}},
          {"quantization_config", {{"quant_method", "mxfp4"}}}};
}

}  // namespace

Status WriteRandomCheckpoint(const Path& folder, const CheckpointShape& shape, uint64_t seed,
                             int64_t shards) {
  RETURN_IF_ERROR(MakeFolders(folder));
  RETURN_IF_ERROR(WriteFileAtomic(folder / "config.json", ConfigJson(shape).dump(2) + "\n"));
  const Json generation = {{"eos_token_id", {shape.vocab_size - 1}}, {"do_sample", false}};
  RETURN_IF_ERROR(WriteFileAtomic(folder / "generation_config.json", generation.dump(2) + "\n"));
  const std::vector<Tensor> tensors = ListTensors(shape);
  if (shards == 1) return WriteSafetensors(folder / "model.safetensors", tensors, seed);
  Json index = {{"metadata", Json::object()}, {"weight_map", Json::object()}};
  const auto count = static_cast<int64_t>(tensors.size());
  for (int64_t shard = 0; shard < shards; ++shard) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
    const auto first = static_cast<size_t>(count * shard / shards),
               last = static_cast<size_t>(count * (shard + 1) / shards);
    const std::span<const Tensor> part = std::span(tensors).subspan(first, last - first);
    for (const Tensor& tensor : part) index["weight_map"][tensor.name] = name;
    RETURN_IF_ERROR(WriteSafetensors(folder / name, part, seed));
  }
  return WriteFileAtomic(folder / "model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace assay::engine
