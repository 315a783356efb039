#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/model/batch_rows.h"
#include "engine/model/device_scratch.h"
#include "engine/model/device_step.h"
#include "engine/model/device_weights.h"
#include "kernels/collective/communicator.h"
#include "kernels/dense_matmul/dense_matmul_gpu.h"
#include "kernels/routing/routing_gpu.h"

namespace assay::engine {

// One rank's part of the forward pass: kernels in one stream, weights and KV cache in the memory of its
// device. A batch of requests that decode can be a graph, recorded once for each padded size and replayed.
//
// The residual stream, products and experts are cut by columns, attention by heads, and ranks gather what
// they have before each op that needs whole rows; norms, router and routing each computes for itself, alike.
// Everything, the end too, happens in the rank's own thread, which uses its device.
class DeviceRank {
 public:
  // `communicator` is nullptr for a rank alone. Returns when weights are there.
  DeviceRank(const Checkpoint& checkpoint, const ModelOptions& options, const Shard& shard,
             kernels::gpu::Communicator* communicator);

  // Queues the step; Stream().Wait() returns when it is done.
  void Compute(const BatchRows& rows);

  const kernels::gpu::Stream& Stream() const { return stream_; }
  int64_t LogitRows() const { return logit_rows_; }
  // Rank 0's, of the last step, in device memory: [wanted rows, vocabulary]; then whether routing counted
  // more gates than there are, and for each wanted row the id of its largest logit, from `results`[1] on.
  const float* Logits() const { return logits_; }
  int32_t* Results() const { return results_.data(); }

  int64_t DenseBytes() const;  // of weights that every step reads, but for the head's
  int64_t HeadBytes() const { return static_cast<int64_t>(lm_head_.weight.bytes()); }
  int64_t ExpertBytesRead() const;  // by all steps so far
  OpClock& Clock() { return clock_; }

 private:
  // What the launches of a step depend on, beside what lies in device memory.
  struct Shape {
    int64_t rows, wanted, longest;
    std::span<const kernels::gpu::RowTile> tiles;  // in device memory; empty: attention row by row
  };

  void Upload(const Checkpoint& checkpoint);
  void PrepareFused();
  void MakeCache();
  kernels::gpu::PagedCache Cache(size_t layer) const;
  int64_t MostPartials() const;
  bool IsDecode(const BatchRows& rows) const;
  void ComputeByGraph(const Shape& shape);
  void Compute(const Shape& shape);
  void Attend(size_t layer, const Shape& shape);
  void AddExperts(const DeviceLayer& layer, const Shape& shape);
  kernels::gpu::ExpertBatch Route(const DeviceLayer& layer, const Shape& shape);
  void RouteByWrongBits(const kernels::gpu::Routing& routing);
  void FindLogits(const Shape& shape);
  void Mark(Op op);

  // [ranks][rows][slice] of what each rank has [rows, slice] of; whole rows of that. For a rank alone both
  // are what it has. Valid until the next call of either.
  template <class T>
  const T* Gather(const T* slice, int64_t rows, int64_t whole);
  template <class T>
  const T* GatherRows(const T* slice, int64_t rows, int64_t whole);
  // Where GatherRows puts its rows.
  template <class T>
  const T* RowsOf(const T* slice, int64_t rows) const;

  ModelConfig config_;
  ModelOptions options_;
  Shard shard_;
  kernels::gpu::Communicator* communicator_;
  int64_t multiprocessors_, logit_rows_, heads_, kv_heads_, hidden_slice_;  // heads of this rank
  kernels::gpu::Stream stream_;
  std::unique_ptr<kernels::gpu::DenseBackend> dense_;

  DeviceBuffer<kernels::Bf16> embedding_;  // [vocabulary, slice of hidden]
  DeviceBuffer<float> norm_, cos_, sin_;
  DeviceLinear lm_head_;
  std::vector<DeviceLayer> layers_;
  DeviceBuffer<uint8_t> cache_[2];     // full, sliding: [layer of the group][block]
  std::vector<int64_t> layer_memory_;  // [layers] where a layer's begins, in bytes

  DeviceScratch scratch_;
  // None but of MoeBackend::kFused; of all layers, one after the other.
  DeviceBuffer<uint32_t> fused_counters_;
  const float* logits_ = nullptr;
  DeviceBuffer<int32_t> results_;        // whether routing counted too much, then [logit rows] ids
  DeviceBuffer<int64_t> experts_taken_;  // by all layers of all steps
  DeviceStep step_;
  std::map<std::pair<int64_t, int64_t>, kernels::gpu::Graph> graphs_;  // by padded rows and longest context
  OpClock clock_;
};

}  // namespace assay::engine
