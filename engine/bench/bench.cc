#include "engine/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/bench/probe.h"
#include "engine/command_line.h"
#include "engine/model/device.h"
#include "engine/scheduler/scheduler.h"

namespace assay::engine {
namespace {

using Clock = std::chrono::steady_clock;

// What a round took and read.
struct Round {
  double tokens = 0, seconds = 0, bytes = 0, multiply_adds = 0;
  double bandwidth = 0, peak = 0;  // probed just before
};

struct Measurement {
  std::string name;
  std::vector<Round> rounds;
  StepProfile profile;  // of all rounds
};

StepProfile Difference(const StepProfile& after, const StepProfile& before) {
  StepProfile profile = after;
  for (size_t op = 0; op < kOps; ++op) profile.seconds[op] -= before.seconds[op];
  profile.steps -= before.steps;
  profile.weight_bytes -= before.weight_bytes;
  profile.multiply_adds -= before.multiply_adds;
  return profile;
}

// Requests that start together; says when all had their first token and when the last one ended.
class Crowd {
 public:
  void Start(Scheduler& scheduler, int64_t streams, GenerationRequest request) {
    waiting_ = unfinished_ = streams;
    for (int64_t i = 0; i < streams; ++i) {
      // Streams differ, so that they do not all take the same experts.
      for (size_t t = 0; t < request.prompt.size(); ++t) {
        request.prompt[t] = static_cast<int32_t>(
            (static_cast<uint64_t>(request.prompt[t]) * 31 + 7 + static_cast<uint64_t>(i) * 13) % vocabulary);
      }
      scheduler.Submit(request, [this](const GeneratedToken& token) { Take(token); });
    }
  }
  // Blocks until the last token.
  void Wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return unfinished_ == 0; });
  }
  uint64_t vocabulary = 1;
  std::function<void()> at_first;  // when every stream has a token
  bool failed = false;

 private:
  void Take(const GeneratedToken& token) {
    if (token.output_tokens == 1 && --waiting_ == 0 && at_first) at_first();
    if (token.finish == FinishReason::kNone) return;
    const std::lock_guard lock(mutex_);
    failed |= token.finish == FinishReason::kError;
    if (--unfinished_ == 0) ended_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  int64_t waiting_ = 0;  // the scheduler's thread alone
  int64_t unfinished_ = 0;
};

class Bench {
 public:
  Bench(const BenchFlags& flags, Model& model, Scheduler& scheduler, Probe& probe)
      : flags_(flags), model_(model), scheduler_(scheduler), probe_(probe) {}

  Result<Measurement> Prefill() {
    return Repeat(fmt::format("prefill {}", flags_.prompt), [&](Round& round) -> Status {
      const auto start = Clock::now();
      const StepProfile before = model_.Profile();
      RETURN_IF_ERROR(Generate(1, flags_.prompt, 1, {}));
      Count(round, static_cast<double>(flags_.prompt), start, before);
      return {};
    });
  }

  // From the moment when all streams have their first token to the end.
  Result<Measurement> Decode(int64_t streams) {
    return Repeat(fmt::format("decode, {} stream{}", streams, streams == 1 ? "" : "s"),
                  [&](Round& round) -> Status {
                    Clock::time_point start;
                    StepProfile before;
                    RETURN_IF_ERROR(Generate(streams, flags_.context, flags_.generate + 1, [&] {
                      start = Clock::now();
                      before = model_.Profile();
                    }));
                    Count(round, static_cast<double>(streams * flags_.generate), start, before);
                    return {};
                  });
  }

 private:
  template <typename Once>
  Result<Measurement> Repeat(const std::string& name, const Once& once) {
    Measurement measurement{name, {}, {}};
    Round warm_up;
    RETURN_IF_ERROR(once(warm_up));
    const StepProfile before = model_.Profile();
    for (int64_t i = 0; i < flags_.rounds; ++i) {
      Round round;
      round.bandwidth = probe_.ReadBandwidth();
      round.peak = probe_.Peaks().front().operations_per_s;
      RETURN_IF_ERROR(once(round));
      measurement.rounds.push_back(round);
    }
    measurement.profile = Difference(model_.Profile(), before);
    return measurement;
  }

  Status Generate(int64_t streams, int64_t prompt, int64_t tokens, std::function<void()> at_first) {
    GenerationRequest request;
    for (int64_t i = 0; i < prompt; ++i) request.prompt.push_back(static_cast<int32_t>(i));
    request.max_tokens = tokens;
    request.use_prefix_cache = false;
    Crowd crowd;
    crowd.vocabulary = static_cast<uint64_t>(model_.Config().vocab_size);
    crowd.at_first = std::move(at_first);
    crowd.Start(scheduler_, streams, request);
    crowd.Wait();
    if (crowd.failed)
      return Fail(ErrorKind::kInfrastructure, "the model computed logits that are not numbers");
    return {};
  }

  void Count(Round& round, double tokens, Clock::time_point start, const StepProfile& before) {
    round.tokens = tokens;
    round.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const StepProfile used = Difference(model_.Profile(), before);
    round.bytes = static_cast<double>(used.weight_bytes);
    round.multiply_adds = static_cast<double>(used.multiply_adds);
  }

  const BenchFlags& flags_;
  Model& model_;
  Scheduler& scheduler_;
  Probe& probe_;
};

template <typename Value>
double Median(const std::vector<Round>& rounds, const Value& value) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(value(round));
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void PrintRow(const Measurement& m) {
  const auto speed = [](const Round& r) { return r.tokens / r.seconds; };
  const auto [least, most] = std::minmax_element(
      m.rounds.begin(), m.rounds.end(), [&](const Round& a, const Round& b) { return speed(a) < speed(b); });
  const double rate = Median(m.rounds, [](const Round& r) { return r.bytes / r.seconds; });
  const double share = Median(m.rounds, [](const Round& r) { return r.bytes / r.seconds / r.bandwidth; });
  const double operations = Median(m.rounds, [](const Round& r) { return 2 * r.multiply_adds / r.seconds; });
  fmt::print("{:<20} {:>9.1f} {:>9.1f} to {:<9.1f} {:>9.2f} {:>7.1f} {:>5.0f} % {:>9.1f} {:>5.0f} %\n",
             m.name, Median(m.rounds, speed), speed(*least), speed(*most),
             Median(m.rounds, [](const Round& r) { return r.bytes / r.tokens / 1e6; }), rate / 1e9,
             100 * share, operations / 1e9,
             Median(m.rounds, [](const Round& r) { return 200 * r.multiply_adds / r.seconds / r.peak; }));
}

void PrintProfile(const Measurement& m) {
  double all = 0;
  for (const double seconds : m.profile.seconds) all += seconds;
  const auto steps = static_cast<double>(std::max<int64_t>(1, m.profile.steps));
  fmt::print("\n{}: {} steps of {:.3f} ms\n", m.name, m.profile.steps, all / steps * 1e3);
  for (size_t op = 0; op < kOps; ++op) {
    const double seconds = m.profile.seconds[op];
    fmt::print("  {:<14} {:>9.3f} ms {:>5.1f} %\n", OpName(static_cast<Op>(op)), seconds / steps * 1e3,
               100 * seconds / all);
  }
}

// Blocks for the largest measurement.
int64_t BlocksNeeded(const BenchFlags& flags, int64_t block_size) {
  const int64_t streams = *std::max_element(flags.streams.begin(), flags.streams.end());
  const int64_t a_stream = (flags.context + flags.generate + 1) / block_size + 1;
  return std::max(streams * a_stream, flags.prompt / block_size + 2);
}

}  // namespace

Status RunBench(const BenchFlags& flags) {
  const int64_t threads =
      flags.threads > 0 ? flags.threads : std::max(1u, std::thread::hardware_concurrency());
  ModelOptions options = ToModelOptions(flags);
  options.max_requests = *std::max_element(flags.streams.begin(), flags.streams.end());
  options.max_batch_tokens = std::max<int64_t>({512, flags.prompt, options.max_requests});
  options.num_blocks = BlocksNeeded(flags, options.block_size);
  options.profile = flags.profile;
  options.graph_replay = flags.graphs;
  ASSIGN_OR_RETURN(const auto model, Model::Load(flags.model, options));
  const ModelConfig& config = model->Config();
  const int64_t longest = std::max(flags.prompt, flags.context + flags.generate + 1);
  if (longest >= config.max_position_embeddings) {
    return BadFlag("--prompt or --context and --generate: {} positions, and the model reaches {}", longest,
                   config.max_position_embeddings);
  }

  SchedulerOptions scheduling;
  scheduling.max_num_seqs = options.max_requests;
  scheduling.max_num_batched_tokens = options.max_batch_tokens;
  scheduling.num_blocks = options.num_blocks;
  scheduling.block_size = options.block_size;
  scheduling.enforce_eager = !flags.graphs;
  const auto scheduler = Scheduler::Start(*model, scheduling);

  const int devices = RanksShareADevice() ? 1 : options.tensor_parallel_size;
  const std::unique_ptr<Probe> probe =
      options.device == Device::kGpu ? MakeDeviceProbe(devices) : std::make_unique<MachineProbe>(threads);
  const auto peaks = probe->Peaks();
  fmt::print("{}: {} layers, hidden {}, {} experts, top-{}, vocabulary {}\n", flags.model,
             config.num_hidden_layers, config.hidden_size, config.num_local_experts,
             config.num_experts_per_tok, config.vocab_size);
  const std::string where = options.device == Device::kGpu
                                ? fmt::format("{} GPU{}", devices, devices == 1 ? "" : "s")
                                : fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  fmt::print("{}: read bandwidth {:.1f} GB/s", where, probe->ReadBandwidth() / 1e9);
  for (const auto& peak : peaks) fmt::print(", {} {:.0f} G/s", peak.name, peak.operations_per_s / 1e9);
  fmt::print("\n\n{:<20} {:>9} {:>9}    {:<9} {:>9} {:>7} {:>7} {:>9} {:>7}\n", "", "tok/s", "least", "most",
             "MB/token", "GB/s", "of read", "GFLOP/s", "of peak");

  Bench bench(flags, *model, *scheduler, *probe);
  std::vector<Measurement> measurements;
  if (flags.prompt > 0) {
    ASSIGN_OR_RETURN(measurements.emplace_back(), bench.Prefill());
    PrintRow(measurements.back());
  }
  for (const int64_t streams : flags.streams) {
    ASSIGN_OR_RETURN(measurements.emplace_back(), bench.Decode(streams));
    PrintRow(measurements.back());
  }
  if (flags.profile) {
    for (const Measurement& measurement : measurements) PrintProfile(measurement);
  }
  return {};
}

}  // namespace assay::engine
