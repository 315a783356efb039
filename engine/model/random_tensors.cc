#include "engine/model/random_tensors.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "engine/model/random_values.h"
#include "kernels/mxfp4/mxfp4.h"

namespace assay::engine {
namespace {

using kernels::Bf16;
using kernels::kMxBlock;
using kernels::kMxBlockBytes;
using Source = RandomTensor::Source;

constexpr int64_t kPieceBytes = int64_t{1} << 20;

float InverseRoot(int64_t k) {
  return 1.0f / std::sqrt(static_cast<float>(k));
}

bool IsFused(WeightLayout layout) {
  return layout == WeightLayout::kMxfp4 || layout == WeightLayout::kBf16;
}

class Lister {
 public:
  explicit Lister(const RandomCheckpoint& checkpoint) : c_(checkpoint.shape), layout_(checkpoint.layout) {}

  std::vector<RandomTensor> All() {
    const int64_t h = c_.hidden_size;
    Dense("model.embed_tokens.weight", {c_.vocab_size, h}, 1);
    for (int64_t layer = 0; layer < c_.num_hidden_layers; ++layer) AddLayer(layer);
    Norm("model.norm.weight");
    Dense("lm_head.weight", {c_.vocab_size, h}, 3 * InverseRoot(h));
    return std::move(tensors_);
  }

 private:
  void Dense(const std::string& name, std::vector<int64_t> shape, float deviation) {
    tensors_.push_back({name, TensorType::kBf16, std::move(shape), Source::kNormal, name, deviation});
  }
  void Norm(const std::string& name) {
    tensors_.push_back({name, TensorType::kBf16, {c_.hidden_size}, Source::kNearOne, name, 0.1f});
  }
  void Linear(const std::string& name, int64_t columns, int64_t k) {
    Dense(name + ".weight", {columns, k}, InverseRoot(k));
    Dense(name + ".bias", {columns}, 0.1f);
  }
  void Scale(const std::string& name, float value) {
    tensors_.push_back({name, TensorType::kF32, {1}, Source::kConstant, name, value});
  }

  void AddLayer(int64_t index) {
    const std::string at = fmt::format("model.layers.{}.", index), attention = at + "self_attn.";
    const int64_t q = c_.num_attention_heads * c_.head_dim, kv = c_.num_key_value_heads * c_.head_dim;
    const int64_t h = c_.hidden_size;
    Norm(at + "input_layernorm.weight");
    Linear(attention + "q_proj", q, h);
    Linear(attention + "k_proj", kv, h);
    Linear(attention + "v_proj", kv, h);
    Linear(attention + "o_proj", h, q);
    Dense(attention + "sinks", {c_.num_attention_heads}, 1);
    Norm(at + "post_attention_layernorm.weight");
    Linear(at + "mlp.router", c_.num_local_experts, h);
    // FP8 scales cover what usually comes, and differ by layer so that no layer can take another's.
    const float wider = 1 + 0.25f * static_cast<float>(index % 4);
    Experts(at + "mlp.experts.", "gate_up_proj", 2 * c_.intermediate_size, h, wider * (6.0f / 448));
    Experts(at + "mlp.experts.", "down_proj", h, c_.intermediate_size, wider * (24.0f / 448));
    if (layout_ == WeightLayout::kQuarkFp8Kv) {
      Scale(attention + "k_proj.output_scale", wider * (8.0f / 448));
      Scale(attention + "v_proj.output_scale", wider * (5.0f / 448));
    }
  }

  // One of the two matrices of a layer's experts.
  void Experts(const std::string& at, const std::string& which, int64_t columns, int64_t k,
               float input_scale) {
    // Random E2M1 values have a deviation near 3; the power of two next to 1 / (3 sqrt(k)) keeps sums near 1.
    int exponent = 1;
    for (float size = InverseRoot(k) / 3; size < 1; size *= 2) --exponent;
    const int64_t e = c_.num_local_experts, blocks = k / kMxBlock;
    const std::string all = at + which, stream = all;
    const auto mxfp4 = [&](const std::string& name, TensorType type, Source source,
                           std::vector<int64_t> shape, int64_t first) {
      tensors_.push_back({name, type, std::move(shape), source, stream, 0, exponent, k, first});
    };
    if (layout_ == WeightLayout::kMxfp4) {
      mxfp4(all + "_blocks", TensorType::kU8, Source::kBlocks, {e, columns, blocks, kMxBlockBytes}, 0);
      mxfp4(all + "_scales", TensorType::kU8, Source::kScales, {e, columns, blocks}, 0);
    } else if (layout_ == WeightLayout::kBf16) {
      mxfp4(all, TensorType::kBf16, Source::kTransposed, {e, k, columns}, 0);
    }
    if (IsFused(layout_)) {
      Dense(all + "_bias", {e, columns}, 0.1f);
      return;
    }
    for (int64_t expert = 0; expert < e; ++expert) {
      const std::string own = fmt::format("{}{}.{}.", at, expert, which);
      const int64_t first = expert * columns * blocks;
      mxfp4(own + "weight", TensorType::kU8, Source::kBlocks, {columns, k / 2}, first);
      mxfp4(own + "weight_scale", TensorType::kU8, Source::kScales, {columns, blocks}, first);
      Dense(own + "bias", {columns}, 0.1f);
      tensors_.back().stream = all + "_bias";
      tensors_.back().first = expert * columns;
      if (layout_ != WeightLayout::kQuark) Scale(own + "input_scale", input_scale);
    }
  }

  const CheckpointShape& c_;
  WeightLayout layout_;
  std::vector<RandomTensor> tensors_;
};

// [experts, k, columns]: a piece is 32 of k.
int64_t TransposedPiece(const RandomTensor& tensor) {
  return kMxBlock * tensor.shape[2] * 2;
}

}  // namespace

int64_t RandomTensor::Elements() const {
  int64_t elements = 1;
  for (const int64_t side : shape) elements *= side;
  return elements;
}

int64_t RandomTensor::PieceBytes() const {
  return source == Source::kTransposed ? TransposedPiece(*this) : kPieceBytes;
}

std::vector<RandomTensor> ListRandomTensors(const RandomCheckpoint& checkpoint) {
  return Lister(checkpoint).All();
}

void FillPiece(const RandomTensor& tensor, uint64_t seed, int64_t begin, int64_t end, std::byte* out) {
  const RandomStream stream(seed, tensor.stream);
  const auto mxfp4 = [&] {
    return RandomMxfp4{stream, RandomStream(seed, tensor.stream + "_scales"), tensor.k, tensor.exponent};
  };
  auto* bytes = reinterpret_cast<uint8_t*>(out);
  auto* numbers = reinterpret_cast<Bf16*>(out);
  switch (tensor.source) {
    case Source::kNormal:
      return FillNormal(stream, tensor.value, tensor.first + begin / 2, (end - begin) / 2, numbers);
    case Source::kNearOne:
      return FillNearOne(stream, tensor.value, tensor.first + begin / 2, (end - begin) / 2, numbers);
    case Source::kBlocks:
      return mxfp4().Blocks(tensor.first + begin / kMxBlockBytes, (end - begin) / kMxBlockBytes, bytes);
    case Source::kScales:
      return mxfp4().Scales(tensor.first + begin, end - begin, bytes);
    case Source::kTransposed: {
      const int64_t piece = begin / TransposedPiece(tensor), blocks = tensor.k / kMxBlock;
      const int64_t columns = tensor.shape[2];
      return mxfp4().Transposed(piece / blocks * columns, columns, piece % blocks, numbers);
    }
    case Source::kConstant:
      CHECK_EQ(end - begin, 4);
      std::memcpy(out, &tensor.value, 4);
      return;
  }
}

}  // namespace assay::engine
