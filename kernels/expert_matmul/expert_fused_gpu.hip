#include <algorithm>

#include "kernels/expert_matmul/expert_few-inl.h"
#include "kernels/expert_matmul/expert_few_gpu.h"
#include "kernels/expert_matmul/expert_fused_gpu.h"
#include "kernels/gpu/signal.h"
#include "kernels/routing/metadata.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kMostTiles = 384;  // 256 experts with 8 gates each in the mean have 368
#if defined(ASSAY_GPU_HIP)
constexpr int kBlocksOfMultiprocessor = 2;  // as many as its shared memory holds
#else
constexpr int kBlocksOfMultiprocessor = 3;
#endif
// kFewColumns of a tile that a block takes in one piece: more save it from fetching rows again, as long as
// there are still a few pieces for each block.
constexpr int kMostRepeats = 4, kLeastPieces = 2;

// In device memory, zeros before and after a launch. Each is put back by whoever can tell that nobody needs
// it any more, which is before the last block ends.
struct Counters {
  uint32_t* all;
  __device__ uint32_t* Drawn() const { return all; }         // numbers of items
  __device__ uint32_t* Combined() const { return all + 1; }  // pieces of columns whose slots are added up
  // Pieces of a tile's first product that are done.
  __device__ uint32_t* GateUp(int tile) const { return all + 2 + tile; }
  // Tiles whose second product is done in a piece of columns, all but the last.
  __device__ uint32_t* Down(int piece) const { return all + 2 + kMostTiles + piece; }
};

struct Work {
  ExpertLayer layer;
  ExpertBatch batch;
  const Bf16* x;
  bool fp8;
  Bf16* a;
  float *out, *y;
  Counters counters;
  int most_tiles;
};

// How the columns of each tile are cut for one of the products.
struct Pieces {
  int columns, count;
};
__device__ Pieces Cut(int64_t columns, int tiles) {
  const int groups = (static_cast<int>(columns) + kFewColumns - 1) / kFewColumns;
  const int repeats = groups * tiles / (kLeastPieces * static_cast<int>(gridDim.x));
  const int fitting = min(max(repeats, 1), kMostRepeats);
  return {fitting * kFewColumns, (groups + fitting - 1) / fitting};
}

// The items of a launch in the order in which blocks draw them: all pieces of the first product, then all of
// the second, tile by tile. Each block draws two at the start and one with each item that it does, so that
// two are known ahead, and ends with two that are not there; so the number that is drawn last is known too.
//
// No block waits for one that does not run. A block does what it has drawn in that order, and waits only for
// items of lower numbers: those have been drawn, so by blocks that run. Of all items that are not done the
// lowest therefore waits for nothing. This needs nothing of the device, neither that all blocks of the grid
// run at once nor that the next kernel, which may start before this one ends, leaves them room.
struct Deal {
  int tiles;
  Pieces gate_up, down;
  __device__ uint32_t Items() const { return static_cast<uint32_t>(tiles * (gate_up.count + down.count)); }
  __device__ uint32_t LastDrawn() const { return Items() + 2 * gridDim.x - 1; }
};

// A piece of one of the products: columns [columns.first, end) of a tile.
struct Item {
  bool there, down;
  int tile, piece, end;
  FewColumns columns;  // none where there is no item
};

__device__ Item ItemOf(const ExpertLayer& layer, const Deal& deal, const int32_t* schedule, uint32_t number) {
  if (number >= deal.Items()) return {};
  const auto gate_ups = static_cast<uint32_t>(deal.tiles * deal.gate_up.count);
  const bool down = number >= gate_ups;
  const Pieces pieces = down ? deal.down : deal.gate_up;
  const int at = static_cast<int>(down ? number - gate_ups : number);
  const int tile = at / pieces.count, piece = at - tile * pieces.count;
  const int expert = schedule[tile] & 0xFFFF;
  const Mxfp4Weights weights =
      down ? Mxfp4Of::Weights(layer.down, expert) : Mxfp4Of::Weights(layer.gate_up, expert);
  const int first = piece * pieces.columns;
  return {true, down, tile, piece, min(first + pieces.columns, weights.columns), {weights, first}};
}

// The schedule, [kMostTiles] of shared memory, and how many tiles it has.
__device__ int LoadSchedule(const ExpertBatch& batch, int most_tiles, int32_t* schedule) {
  int tiles = 0;
  for (int first = 0; first < most_tiles; first += kFewThreads) {
    const int tile = first + static_cast<int>(threadIdx.x);
    const int32_t scheduled = tile < most_tiles ? batch.schedule[tile] : -1;
    if (tile < most_tiles) schedule[tile] = scheduled;
    tiles += __syncthreads_count(scheduled >= 0);
  }
  return tiles;
}

__device__ void PrefetchBiases(const ExpertLayer& layer, const Item& item, const int32_t* schedule) {
  constexpr int kLine = 32;
  const int at = item.columns.first + static_cast<int>(threadIdx.x) * kLine;
  if (!item.there || at >= item.end) return;
  const int64_t expert = schedule[item.tile] & 0xFFFF;
  Prefetch((item.down ? layer.down.bias : layer.gate_up.bias) + expert * item.columns.weights.columns + at);
}

// What LoadFirst will ask for, and the rest of the k of those columns.
__device__ void PrefetchWeights(const FewColumns& columns) {
  constexpr int kLine = 128, kBytes = static_cast<int>(kMxBlockBytes);
  const Mxfp4Weights& weights = columns.weights;
  const int blocks = weights.k / 32, begin = columns.first * blocks;
  const int count = min(kFewColumns, weights.columns - columns.first) * blocks;
  for (int i = static_cast<int>(threadIdx.x) * kLine; i < count * kBytes; i += kFewThreads * kLine)
    Prefetch(weights.blocks + static_cast<uint32_t>(begin) * static_cast<uint32_t>(kBytes) + i);
  for (int i = static_cast<int>(threadIdx.x) * kLine; i < count; i += kFewThreads * kLine)
    Prefetch(weights.scales + begin + i);
}

// Whose rows lie in shared memory: those of a tile's second product, or first. One token is in all tiles of
// it; routing whose counts are wrong may say otherwise, and then no answer is right.
constexpr int kNobody = -1;
__device__ int RowsOf(const Item& item, int64_t tokens) {
  return item.down ? kMostTiles + item.tile : tokens == 1 ? 0 : item.tile;
}

__device__ void Multiply(const Work& in, const Item& item, const GateTile& tile, HeldBlocks (&held)[kAhead],
                         Bf16* staged, bool are_staged, const Item& next) {
  const Mxfp4Weights& weights = item.columns.weights;
  MultiplyRows(
      weights, {item.columns.first, kFewColumns, item.end}, held,
      [&](int row) {
        return item.down ? GatedRowsOf(in.layer.down, tile, in.a)(row)
                         : TokenRowsOf(in.layer.gate_up, in.batch, tile, in.x)(row);
      },
      tile.end - tile.first, staged, are_staged,
      [&](int column) {
        return column + kFewColumns < item.end ? FewColumns{weights, column + kFewColumns} : next.columns;
      },
      [&](int row, int column, float first, float second) {
        if (item.down) {
          DownOutput{in.layer.down, tile, in.out}(row, column, first, second);
        } else {
          GatedOutput{in.layer, tile, in.a, in.fp8}(row, column, first, second);
        }
      });
}

// Adds the slots' columns of a piece to y, once the second product is done there for all tiles.
__device__ void CombinePiece(const Work& in, const Deal& deal, const Item& item) {
  AwaitSignals(in.counters.Down(item.piece), static_cast<uint32_t>(deal.tiles - 1));
  uint32_t before = 0;
  if (threadIdx.x == 0) {
    *in.counters.Down(item.piece) = 0;
    before = atomicAdd(in.counters.Combined(), 1u);
  }
  const int first = item.columns.first, columns = item.end - first;
  for (int i = static_cast<int>(threadIdx.x); i < in.batch.tokens * columns; i += kFewThreads)
    CombineSlots(in.batch, in.out, in.layer.down.columns, i / columns, first + i % columns, in.y);
  if (threadIdx.x != 0 || before + 1 != static_cast<uint32_t>(deal.down.count)) return;
  // Every piece of the second product is done, so nobody waits for a first one any more.
  FenceDevice();
  *in.counters.Combined() = 0;
  for (int tile = 0; tile < deal.tiles; ++tile) *in.counters.GateUp(tile) = 0;
}

// Grid: as many blocks as run at once, or fewer.
__global__ void __launch_bounds__(kFewThreads, kBlocksOfMultiprocessor) Fused(Work work) {
  const Work& in = InSharedMemory(work);
  __shared__ __align__(16) Bf16 staged[kStagedRows * kStagedStride];
  __shared__ int32_t schedule[kMostTiles];
  __shared__ Deal deal;
  // Of this turn, the next, and the one after it. In shared memory, as a lane's registers are full of
  // weights.
  __shared__ Item items[3];
  AwaitEarlier();
  uint32_t number = threadIdx.x == 0 ? atomicAdd(in.counters.Drawn(), 2u) : 0;
  const auto take = [&](uint32_t drawn, Item& item) {
    item = ItemOf(in.layer, deal, schedule, drawn);
    if (drawn == deal.LastDrawn()) *in.counters.Drawn() = 0;
  };
  const int tiles = LoadSchedule(in.batch, in.most_tiles, schedule);
  if (threadIdx.x == 0) {
    deal = {tiles, Cut(in.layer.gate_up.columns, tiles), Cut(in.layer.down.columns, tiles)};
    take(number, items[0]);
  }
  __syncthreads();
  HeldBlocks held[kAhead];
  LoadFirst(items[0].columns, held);
  PrefetchBiases(in.layer, items[0], schedule);
  if (threadIdx.x == 0) take(number + 1, items[1]);
  __syncthreads();

  int rows_staged = kNobody;
  for (int turn = 0; items[turn].there;) {
    const Item& item = items[turn];
    turn = turn < 2 ? turn + 1 : 0;
    const Item& next = items[turn];
    if (threadIdx.x == 0) number = atomicAdd(in.counters.Drawn(), 1u);
    PrefetchBiases(in.layer, next, schedule);
    const GateTile tile(in.batch, kFewRows, item.tile);
    if (item.down) {
      PrefetchWeights(next.columns);
      AwaitSignals(in.counters.GateUp(item.tile), static_cast<uint32_t>(deal.gate_up.count));
    }
    const bool empty = tile.first >= tile.end;  // counts that disagree with the gates
    if (!empty) {
      const int rows = RowsOf(item, in.batch.tokens);
      Multiply(in, item, tile, held, staged, rows == rows_staged, next);
      if (Stages(tile.end - tile.first, item.columns.weights.k)) rows_staged = rows;
    }
    // The next item's k may be more than these, which had nothing for some teams.
    if (empty || TeamOfBlock() >= GroupsOf(item.columns.weights)) LoadFirst(next.columns, held);
    if (empty) __syncthreads();  // as Multiply does: the place of the item before is free
    if (threadIdx.x == 0) take(number, items[turn < 2 ? turn + 1 : 0]);
    if (!item.down) {
      Signal(in.counters.GateUp(item.tile));
    } else if (item.tile + 1 < deal.tiles) {
      Signal(in.counters.Down(item.piece));
    } else {
      CombinePiece(in, deal, item);
    }
  }
}

int64_t MostTiles(const ExpertBatch& batch) {
  return MaxTiles(batch.tokens * batch.k, batch.experts, batch.block);
}

}  // namespace

bool ExpertsFuse(const ExpertLayer& layer, const ExpertBatch& batch) {
  return batch.few_rows && FewRowsFit(layer, batch) && MostTiles(batch) <= kMostTiles;
}

int64_t FusedCounters(int64_t hidden) {
  return 2 + kMostTiles + Blocks(hidden, kFewColumns);
}

void ExpertsFused(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x, bool fp8,
                  Bf16* a, float* out, float* y, uint32_t* counters) {
  static const int64_t at_once = BlocksAtOnce(Fused, kFewThreads);
  const int64_t tiles = MostTiles(batch);
  const int64_t columns = std::max(layer.gate_up.columns, layer.down.columns);
  const auto grid = static_cast<unsigned>(std::min<int64_t>(at_once, tiles * Blocks(columns, kFewColumns)));
  const Work work{layer, batch, x, fp8, a, out, y, {counters}, static_cast<int>(tiles)};
  ASSAY_LAUNCH("experts, fused", Fused, dim3(grid), kFewThreads, stream, work);
}

}  // namespace assay::kernels::gpu
