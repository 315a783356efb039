#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/config.h"
#include "engine/model/step_profile.h"
#include "kernels/dense_matmul/dense_matmul.h"

namespace assay::engine {

// Where the model is computed.
enum class Device { kCpu, kGpu };

// kReference: the slow definition of every op, on a CPU. kFused: on a GPU, as kGrouped and with its bits, but
// a layer's MXFP4 experts are one kernel where a batch gives them few rows.
enum class MoeBackend { kReference, kGrouped, kFused };

using kernels::Activations;  // what the fast backend hands to a matrix product
using kernels::DenseDtype;   // what it keeps the weights of attention and head as

struct ModelOptions {
  Device device = Device::kCpu;
  int tensor_parallel_size = 1;
  int threads = 0;  // per process; 0: one for each core
  MoeBackend moe_backend = MoeBackend::kGrouped;
  // Dense products with int8 weights take int8 activations whatever this says; with bf16 weights they take
  // bf16 where it says int8, so that only experts meet int8.
  Activations activations = Activations::kBf16Pair;
  DenseDtype dense_dtype = DenseDtype::kBf16;
  int64_t max_batch_tokens = 512;  // rows of one Forward
  int64_t max_requests = 64;
  int64_t block_size = 16;         // tokens of one KV block
  int64_t num_blocks = 1024;       // of the layers that see everything
  int64_t num_sliding_blocks = 0;  // of those that see a window; 0: num_blocks
  int64_t max_positions = 0;       // longest sequence; 0: what the model and the blocks can hold
  bool poison_padding = false;     // for tests: padding rows start as infinities and NaNs
  bool profile = false;            // measure where the time goes
  // GPU only; a CPU is always invariant and has no graphs.
  bool batch_invariant = false;  // nothing of a result depends on the batch around it, at some cost
  bool graph_replay = false;     // batches of requests that decode are recorded once a size and replayed
};
// Answers kUsage, with the arithmetic, for a degree or size that the model cannot be run with.
Status CheckModelOptions(const ModelConfig& config, const ModelOptions& options);

// How a token is taken from its logits when nothing else than these numbers matters, as SampleToken
// (engine/scheduler/sampler.h) does it.
struct Pick {
  double temperature = 0;  // 0: the largest
  double u = 0;            // the draw, in [0, 1)
  int64_t top_k = 0;       // 0: no limit
  double top_p = 1, min_p = 0;
};

// One request's part of a batch: `tokens` at positions [start, start + tokens.size()). Position p of layers
// that see everything is in block_table[p / block_size], of sliding layers in sliding_block_table. All
// earlier positions that the tokens can see must already be there; entries of a sliding table before those
// are never read.
struct Sequence {
  std::span<const int32_t> tokens;
  int64_t start = 0;
  std::span<const int32_t> block_table;
  bool want_logits = false;                           // of the last token
  std::span<const int32_t> sliding_block_table = {};  // empty: the same ids as block_table
  uint64_t request = 0;           // whose it is, for the line that a GPU's fault ends with
  std::optional<Pick> pick = {};  // the model may pick the token itself and leave the logits out
};

// Weights, KV blocks and worker threads. Forward is called by one thread at a time.
//
// On a CPU, and on a GPU with batch_invariant, the result for a sequence does not depend on what else is in
// the batch, on how its tokens were cut into calls, on the number of threads or on the tensor-parallel
// degree: every output element is reduced in one fixed order.
class Model {
 public:
  static Result<std::unique_ptr<Model>> Load(const Path& folder, const ModelOptions& options);
  virtual ~Model() = default;

  virtual const ModelConfig& Config() const = 0;
  virtual const std::string& WeightsHash() const = 0;  // SHA-256 over config.json and the weight files

  // Of all Forward calls so far; seconds only with ModelOptions::profile.
  virtual StepProfile Profile() const { return {}; }

  // `padded_rows` >= sum of tokens: rows beyond the real ones are padding (as a captured graph has them);
  // their content is garbage and must never reach a real row. `logits` [number of want_logits sequences,
  // vocab_size], in order. At most max_batch_tokens rows.
  virtual void Forward(std::span<const Sequence> batch, int64_t padded_rows, std::vector<float>& logits) = 0;

  // Of the last Forward, an entry for each sequence that wants logits, or empty where a model never picks:
  // the token of one that has a `pick`, whose logits are then not filled in. kNothing is a row with NaN, +inf
  // or only -inf.
  static constexpr int32_t kNothing = -1, kNotPicked = -2;
  virtual std::span<const int32_t> Picked() const { return {}; }
};

}  // namespace assay::engine
