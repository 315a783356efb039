// The matrix products of one gpt-oss-20b layer beside what the machine can do at best: operations against a
// multiply-add peak, bytes of weights against a read probe, both measured just before. Weights are random.
//   matmul_bench [threads] [rows, ...]
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "kernels/dense_matmul/dense_matmul.h"
#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/roofline/roofline.h"

namespace assay::kernels {
namespace {

constexpr int64_t kHidden = 2880, kIntermediate = 2880, kExperts = 32, kTopK = 4, kQ = 4096, kQkv = 5120;
constexpr int64_t kDenseCopies = 6;  // layers, so that their weights do not stay in the last-level cache
constexpr double kStretchSeconds = 0.08;
constexpr int kStretches = 8;

std::mt19937 g_random(1);

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Calls work(thread) on `threads` threads at once and waits.
void Parallel(int64_t threads, const std::function<void(int64_t)>& work) {
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) others.emplace_back([&, t] { work(t); });
  work(0);
  for (std::thread& other : others) other.join();
}

// Seconds of a call of step(thread, round): the best of several stretches, as the peaks are, because on a
// shared machine the others are measurements of the neighbours.
double Time(int64_t threads, const std::function<void(int64_t, int64_t)>& step) {
  int64_t rounds = 1;
  double best = 1e9;
  for (int stretch = 0; stretch < kStretches;) {
    const double start = Seconds();
    Parallel(threads, [&](int64_t t) {
      for (int64_t round = 0; round < rounds; ++round) step(t, round);
    });
    const double seconds = Seconds() - start;
    if (seconds < kStretchSeconds / 2) {
      rounds = std::max(rounds + 1, static_cast<int64_t>(static_cast<double>(rounds) * kStretchSeconds /
                                                         std::max(seconds, 1e-5)));
      continue;
    }
    best = std::min(best, seconds / static_cast<double>(rounds));
    ++stretch;
  }
  return best;
}

struct Peaks {
  double bytes = 0;   // a second, all threads
  double floats = 0;  // operations a second of float32
  double ints = 0;    // of int8; what float32 does where there is none
  std::string ints_name = "float32";
};
Peaks MeasurePeaks(int64_t threads, const Aligned<uint8_t>& memory) {
  Peaks peaks;
  const int64_t part = memory.size() / threads;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double start = Seconds();
    Parallel(threads, [&](int64_t t) {
      const volatile uint64_t sum = ReadAll({memory.data() + t * part, static_cast<size_t>(part)});
      (void)sum;
    });
    best = std::min(best, Seconds() - start);
  }
  peaks.bytes = static_cast<double>(part * threads) / best;
  for (const PeakLoop& loop : PeakLoops()) {
    constexpr int64_t kRounds = 2'000'000;
    double fastest = 0;
    for (int i = 0; i < 3; ++i) {
      const double start = Seconds();
      Parallel(threads, [&](int64_t) { loop.run(kRounds); });
      fastest = std::max(
          fastest, static_cast<double>(kRounds * loop.operations_a_round * threads) / (Seconds() - start));
    }
    if (loop.name.starts_with("float32")) peaks.floats = peaks.ints = fastest;
    if (loop.name.starts_with("int8")) peaks.ints = fastest, peaks.ints_name = loop.name;
  }
  return peaks;
}

void Report(const char* what, const char* kind, int64_t rows, double seconds, double macs, double bytes,
            bool int8, const Peaks& peaks) {
  const double operations = 2 * macs / seconds, rate = bytes / seconds;
  fmt::print(
      "{:<12} {:<9} {:>4} rows {:>9.3f} ms {:>7.1f} GOP/s {:>5.1f} % of {:<22} {:>6.1f} GB/s {:>5.1f} % of "
      "read\n",
      what, kind, rows, seconds * 1e3, operations / 1e9,
      100 * operations / (int8 ? peaks.ints : peaks.floats),
      fmt::format("{} {:.0f}", int8 ? peaks.ints_name : "float32", (int8 ? peaks.ints : peaks.floats) / 1e9),
      rate / 1e9, 100 * rate / peaks.bytes);
  std::fflush(stdout);
}

void FillRows(ActivationRows& rows) {
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(rows.K()));
  for (int64_t r = 0; r < rows.Count(); ++r) {
    for (float& value : x) value = normal(g_random);
    rows.Set(r, x.data());
  }
}

void FillBytes(Aligned<uint8_t>& to) {
  std::mt19937_64 random(7);
  auto* words = reinterpret_cast<uint64_t*>(to.data());
  for (int64_t i = 0; i < to.size() / 8; ++i) words[i] = random();
}

ExpertWeights RandomExperts() {
  ExpertWeights weights;
  weights.experts = kExperts;
  weights.hidden = kHidden;
  weights.intermediate = kIntermediate;
  weights.swiglu_limit = 7;
  weights.gate_up = Aligned<uint8_t>(kExperts * weights.GateUpPanels() * 2 * Mxfp4PanelBytes(kHidden));
  weights.down = Aligned<uint8_t>(kExperts * weights.DownPanels() * Mxfp4PanelBytes(kIntermediate));
  weights.gate_up_bias = Aligned<float>(kExperts * 2 * kIntermediate);
  weights.down_bias = Aligned<float>(kExperts * kHidden);
  for (Aligned<uint8_t>* matrix : {&weights.gate_up, &weights.down}) {
    FillBytes(*matrix);
    auto* blocks = reinterpret_cast<Mxfp4PanelBlock*>(matrix->data());
    for (int64_t b = 0; b < matrix->size() / static_cast<int64_t>(sizeof(Mxfp4PanelBlock)); ++b) {
      for (uint8_t& scale : blocks[b].scales) scale = static_cast<uint8_t>(118 + scale % 4);
    }
  }
  return weights;
}

// Which experts the rows of a step take, and how many different ones.
struct Routing {
  RoutingMetadata metadata;
  int64_t distinct = 0;
};
Routing RandomRouting(int64_t rows) {
  std::vector<int32_t> ids, all(kExperts);
  std::iota(all.begin(), all.end(), 0);
  for (int64_t r = 0; r < rows; ++r) {
    std::shuffle(all.begin(), all.end(), g_random);
    std::sort(all.begin(), all.begin() + kTopK);
    ids.insert(ids.end(), all.begin(), all.begin() + kTopK);
  }
  Routing routing;
  GroupByExpert(ids, kExperts, routing.metadata);
  for (size_t e = 0; e < kExperts; ++e) {
    routing.distinct += routing.metadata.expert_offsets[e + 1] > routing.metadata.expert_offsets[e];
  }
  return routing;
}

std::pair<int64_t, int64_t> Share(int64_t items, int64_t thread, int64_t threads) {
  return {items * thread / threads, items * (thread + 1) / threads};
}

void MeasureExperts(const ExpertWeights& weights, Activations kind, const char* name, int64_t rows,
                    int64_t threads, const Peaks& peaks) {
  ActivationRows x(kind, rows, kHidden), a(kind, rows * kTopK, kIntermediate);
  FillRows(x);
  Aligned<float> y(rows * kHidden);
  std::vector<Routing> routings;
  double distinct = 0;
  for (int i = 0; i < 8; ++i) {
    routings.push_back(RandomRouting(rows));
    distinct += static_cast<double>(routings.back().distinct) / 8;
  }
  const std::vector<float> gate_weights(static_cast<size_t>(rows * kTopK), 0.25f);
  std::barrier barrier(threads);
  const double seconds = Time(threads, [&](int64_t t, int64_t round) {
    const ExpertBatch batch{routings[static_cast<size_t>(round % 8)].metadata, kTopK};
    const auto [first, last] = Share(weights.GateUpPanels(), t, threads);
    ExpertGateUp(weights, batch, x, first, last, a);
    barrier.arrive_and_wait();
    const auto [from, to] = Share(weights.DownPanels(), t, threads);
    ExpertDown(weights, batch, a, gate_weights.data(), from, to, y.data());
    barrier.arrive_and_wait();
  });
  const double parameters = 3.0 * kHidden * kIntermediate;
  Report("experts", name, rows, seconds, static_cast<double>(rows * kTopK) * parameters,
         distinct * parameters * 17 / 32, kind == Activations::kInt8, peaks);
}

void MeasureDense(DenseDtype dtype, Activations kind, const char* name, int64_t rows, int64_t threads,
                  const Peaks& peaks) {
  std::vector<DenseWeights> qkv, o;
  for (int64_t i = 0; i < kDenseCopies; ++i) {
    for (const auto& [to, columns, k] : {std::tuple{&qkv, kQkv, kHidden}, {&o, kHidden, kQ}}) {
      const PanelFormat format = dtype == DenseDtype::kInt8 ? PanelFormat::kInt8 : PanelFormat::kBf16;
      DenseWeights weights{format, columns, k, Aligned<uint8_t>(PanelCount(columns) * PanelBytes(format, k)),
                           Aligned<float>(columns)};
      // Bytes of 0x3C and neighbours are small numbers in both formats.
      for (int64_t b = 0; b < weights.panels.size(); ++b) {
        weights.panels[b] = static_cast<uint8_t>(0x38 + b * 7 % 6);
      }
      to->push_back(std::move(weights));
    }
  }
  ActivationRows x(kind, rows, kHidden), attended(kind, rows, kQ);
  FillRows(x);
  FillRows(attended);
  Aligned<float> y(rows * kQkv), residual(rows * kHidden);
  std::barrier barrier(threads);
  const double seconds = Time(threads, [&](int64_t t, int64_t round) {
    const auto copy = static_cast<size_t>(round % kDenseCopies);
    const auto [first, last] = Share(qkv[copy].Panels(), t, threads);
    DenseMatmul(qkv[copy], {x, rows}, first, last, Store::kSet, y.data(), kQkv);
    barrier.arrive_and_wait();
    const auto [from, to] = Share(o[copy].Panels(), t, threads);
    DenseMatmul(o[copy], {attended, rows}, from, to, Store::kAdd, residual.data(), kHidden);
    barrier.arrive_and_wait();
  });
  const double parameters = static_cast<double>(kQkv * kHidden + kHidden * kQ);
  Report("dense", name, rows, seconds, static_cast<double>(rows) * parameters,
         static_cast<double>(qkv[0].panels.size() + o[0].panels.size()), kind == Activations::kInt8, peaks);
}

}  // namespace

int Main(int argc, char** argv) {
  const int64_t threads = argc > 1 ? std::atoi(argv[1]) : 1;
  std::vector<int64_t> all_rows;
  for (int i = 2; i < argc; ++i) all_rows.push_back(std::atoi(argv[i]));
  if (all_rows.empty()) all_rows = {1, 2, 4, 8, 16, 512};
  const ExpertWeights experts = RandomExperts();
  Aligned<uint8_t> memory(256 << 20);
  FillBytes(memory);
  for (const int64_t rows : all_rows) {
    const Peaks peaks = MeasurePeaks(threads, memory);
    fmt::print("{} threads: read {:.1f} GB/s, float32 {:.0f} GFLOP/s, {} {:.0f} GOP/s\n", threads,
               peaks.bytes / 1e9, peaks.floats / 1e9, peaks.ints_name, peaks.ints / 1e9);
    MeasureExperts(experts, Activations::kInt8, "int8", rows, threads, MeasurePeaks(threads, memory));
    MeasureDense(DenseDtype::kInt8, Activations::kInt8, "int8", rows, threads, MeasurePeaks(threads, memory));
    MeasureExperts(experts, Activations::kBf16Pair, "bf16 pair", rows, threads,
                   MeasurePeaks(threads, memory));
    MeasureDense(DenseDtype::kBf16, Activations::kBf16Pair, "bf16 pair", rows, threads,
                 MeasurePeaks(threads, memory));
  }
  return 0;
}

}  // namespace assay::kernels

int main(int argc, char** argv) {
  return assay::kernels::Main(argc, argv);
}
