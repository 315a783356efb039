#include "runner/run/run_cell.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/secrets.h"
#include "base/text.h"
#include "runner/launch/watchdog.h"
#include "runner/plan/machine.h"
#include "runner/run/gpqa_hooks.h"
#include "runner/run/gpu_clocks.h"
#include "runner/run/gpu_memory.h"
#include "runner/run/machine_pace.h"
#include "runner/run/model_identity.h"
#include "runner/run/progress_line.h"
#include "runner/run/python_packages.h"

namespace assay::runner {
namespace {

using record::CellRecord;

// Flags that decide behaviour: the command line without the program, the port and where files lie on this
// machine.
std::string BehaviourFlags(const LaunchPlan& launch, const EngineConfig& engine) {
  std::vector<std::string> flags;
  for (size_t i = 1; i < launch.argv.size(); ++i) {
    std::string flag = launch.argv[i];
    if (flag == "--port" && i + 1 < launch.argv.size()) {
      ++i;
      continue;
    }
    if (!engine.model.empty() && flag == engine.model) flag = "{model}";
    if (!engine.tokenizer.empty() && flag == engine.tokenizer) flag = "{tokenizer}";
    flags.push_back(std::move(flag));
  }
  for (const auto& [name, value] : launch.env) flags.push_back(name + "=" + value);
  return ShellJoin(HideSecrets(std::move(flags)));
}

// What the engine says of itself in its ready line; empty strings for servers that have none.
void AddEngine(const nlohmann::json& announcement, const LaunchPlan& launch, const EngineConfig& engine,
               record::Fingerprint& fingerprint) {
  const auto text = [&](const char* key) {
    const auto field = announcement.find(key);
    return field != announcement.end() && field->is_string() ? field->get<std::string>() : "";
  };
  fingerprint.model_hash = text("model_hash");
  fingerprint.tokenizer_hash = text("tokenizer_hash");
  if (!text("version").empty())
    fingerprint.engine = fmt::format("assay-engine {} ({})", text("version"), text("commit"));
  if (fingerprint.model_hash.empty()) fingerprint.model_hash = ModelIdentity(engine.model);
  if (fingerprint.tokenizer_hash.empty()) {
    fingerprint.tokenizer_hash = ModelIdentity(engine.tokenizer.empty() ? engine.model : engine.tokenizer);
  }
  const auto versions = announcement.find("versions");
  if (versions != announcement.end() && versions->is_object()) {
    for (const auto& [name, version] : versions->items()) {
      if (version.is_string()) fingerprint.versions[name] = version.get<std::string>();
    }
  }
  fingerprint.versions.merge(PythonPackages(launch.argv.front()));
  fingerprint.engine_flags = BehaviourFlags(launch, engine);
  if (launch.argv.front().find('/') != std::string::npos) {
    fingerprint.engine_binary = Sha256File(launch.argv.front()).value_or("");
  }
}

// After a benchmark, of all processes of the server: one that keeps something of every request grows.
record::Metric MemoryOf(Server& server) {
  const std::optional<double> memory_mb = server.MemoryMb();
  return {"server_memory_mb", "MB", record::Direction::kLowerIsBetter, memory_mb, memory_mb ? 1 : 0};
}

// Only where server and client share this machine: what another machine does is not known here.
std::optional<PaceWatch> WatchPaceOf(Server& server) {
  if (!server.MemoryMb()) return std::nullopt;
  return PaceWatch();
}

record::Metric PaceMetric(const PaceWatch& watch) {
  return {"machine_pace", "passes/s", record::Direction::kHigherIsBetter, watch.PassesPerSecond(), 1};
}

// The GPUs that the server takes, as nvidia-smi -i names them: those it may see, else the first ones.
std::string GpusOf(const Config& config) {
  const auto named = config.engine.env.find("CUDA_VISIBLE_DEVICES");
  if (named != config.engine.env.end()) return named->second;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) return visible;
  std::vector<std::string> first;
  for (int i = 0; i < config.engine.gpus.value_or(config.engine.tensor_parallel_size); ++i)
    first.push_back(std::to_string(i));
  return Join(first, ",");
}

std::optional<GpuClockWatch> WatchClocksOf(const Cell& cell, Server& server) {
  if (cell.config.hardware == "cpu" || !server.MemoryMb()) return std::nullopt;
  return GpuClockWatch(Probe::OfThisMachine(), GpusOf(cell.config));
}

constexpr std::chrono::seconds kMemoryFreedLimit{60};

std::optional<GpuMemoryWatch> WatchMemoryOf(const Cell& cell) {
  if (cell.config.hardware == "cpu") return std::nullopt;
  return GpuMemoryWatch(Probe::OfThisMachine(), GpusOf(cell.config));
}

// So that the next server finds what this one found.
void AwaitFreedMemory(const Cell& cell, const std::optional<GpuMemoryWatch>& watch,
                      const std::atomic<bool>& interrupted) {
  const std::string held = watch ? watch->AwaitFreed(kMemoryFreedLimit, interrupted) : "";
  if (!held.empty()) spdlog::warn("{}: {}", cell.key, held);
}

void AddHeldBackShare(const std::optional<GpuClockWatch>& watch, std::vector<record::Metric>& metrics) {
  const std::optional<double> share = watch ? watch->HeldBackShare() : std::nullopt;
  if (share) metrics.push_back({"gpu_held_back_share", "", record::Direction::kLowerIsBetter, share, 1});
}

// The evals of one cell against its running server.
class CellRun {
 public:
  CellRun(const Cell& cell, const gate::CellPolicy& policy, Server& server, Journal& journal,
          const std::atomic<bool>& interrupted, CellRecord& record)
      : cell_(cell),
        policy_(policy),
        server_(server),
        journal_(journal),
        interrupted_(interrupted),
        record_(record) {}

  Status Gpqa(evals::GpqaOptions options, std::vector<record::QuestionSample> kept) {
    options.model = cell_.launch.model_id;
    Status status;
    Watch("gpqa", [&](evals::Progress& progress) {
      auto accuracy =
          evals::RunGpqa(server_.BaseUrl(), options, progress,
                         MakeGpqaHooks(
                             options, record_, policy_,
                             [&](const record::QuestionSample& sample) { journal_.Add(record_.key, sample); },
                             std::move(kept)));
      if (accuracy) {
        record_.accuracy = std::move(*accuracy);
      } else {
        status = FailWithin("gpqa", std::move(accuracy).error());
      }
    });
    return status;
  }

  Status Serving(evals::ServingOptions options) {
    options.model = cell_.launch.model_id;
    Status status;
    const std::optional<PaceWatch> pace = WatchPaceOf(server_);
    const std::optional<GpuClockWatch> clocks = WatchClocksOf(cell_, server_);
    Watch("serving:" + options.name, [&](evals::Progress& progress) {
      auto serving = evals::RunServing(
          server_.BaseUrl(), options, progress,
          [&](const record::RequestTiming& request) { journal_.Add(record_.key, options.name, request); });
      if (serving) {
        serving->metrics.push_back(MemoryOf(server_));
        if (pace) serving->metrics.push_back(PaceMetric(*pace));
        AddHeldBackShare(clocks, serving->metrics);
        record_.serving.push_back(std::move(*serving));
      } else {
        status = FailWithin("serving " + options.name, std::move(serving).error());
      }
    });
    return status;
  }

  Status Reproducibility(evals::ReproducibilityOptions options) {
    options.model = cell_.launch.model_id;
    Status status;
    Watch("reproducibility", [&](evals::Progress& progress) {
      auto reproducibility = evals::RunReproducibility(server_.BaseUrl(), options, progress);
      if (reproducibility) {
        record_.reproducibility = std::move(*reproducibility);
      } else {
        status = FailWithin("reproducibility", std::move(reproducibility).error());
      }
    });
    return status;
  }

  bool MayGoOn() const { return !record_.server.failure && !interrupted_; }

 private:
  void Watch(const std::string& stage, const std::function<void(evals::Progress&)>& eval) {
    evals::Progress progress;
    const ProgressLine line(stage, progress);
    record_.server.failure = RunWatched(server_, progress, stage, cell_.config.engine.hang_timeout_s,
                                        interrupted_, RealClock(), [&] { eval(progress); });
    if (record_.server.failure && cell_.config.evals.gpqa) LeaveOutQuestions(*record_.server.failure);
  }

  // Servers log what they are asked; its data set was readable a moment ago.
  void LeaveOutQuestions(record::ServerFailure& failure) const {
    std::vector<std::string> lines = std::move(failure.log_tail);
    lines.push_back(std::move(failure.message));
    if (!evals::LeaveOutQuestions(*cell_.config.evals.gpqa, lines)) {
      lines.assign(1, "(the log is left out: the data set that questions would be found by is gone)");
    }
    failure.message = std::move(lines.back());
    lines.pop_back();
    failure.log_tail = std::move(lines);
  }

  const Cell& cell_;
  const gate::CellPolicy& policy_;
  Server& server_;
  Journal& journal_;
  const std::atomic<bool>& interrupted_;
  CellRecord& record_;
};

void DescribeCell(const Cell& cell, CellRecord& record) {
  record.key = cell.key;
  record.config = cell.config.name;
  record.config_file = cell.config.file.string();
  record.suite = cell.suite;
  record.config_hash = cell.config_hash;
}

CellRecord NewRecord(const Cell& cell, const Path& log_file, const Path& folder) {
  CellRecord record;
  DescribeCell(cell, record);
  record.fingerprint = DetectFingerprint(cell.config.hardware);
  record.server.argv = HideSecrets(cell.launch.argv);
  for (const auto& [name, value] : cell.launch.env) record.server.env[name] = ShownValue(name, value);
  record.server.model_id = cell.launch.model_id;
  record.server.tensor_parallel_size = cell.config.engine.tensor_parallel_size;
  record.server.tokenizer = cell.config.engine.tokenizer;
  record.server.moe_backend = cell.config.engine.moe_backend;
  record.server.log_file = std::filesystem::relative(log_file, folder).string();
  return record;
}

const record::ServingRecord* WholeBenchmark(const EarlierCell& earlier, const std::string& name) {
  if (earlier.record == nullptr) return nullptr;
  for (const record::ServingRecord& serving : earlier.record->serving) {
    if (serving.name == name && serving.complete) return &serving;
  }
  return nullptr;
}

bool IsWhole(const Cell& cell, const EarlierCell& earlier) {
  if (earlier.record == nullptr || earlier.record->server.failure) return false;
  const auto& accuracy = earlier.record->accuracy;
  const bool answered =
      accuracy && (accuracy->complete || (accuracy->sequential && accuracy->sequential->stopped));
  if (cell.config.evals.gpqa && !answered) return false;
  for (const evals::ServingOptions& serving : cell.config.evals.serving) {
    if (WholeBenchmark(earlier, serving.name) == nullptr) return false;
  }
  if (cell.config.evals.reproducibility && !earlier.record->reproducibility) return false;
  return true;
}

Status RunEvals(CellRun& run, const Cell& cell, EarlierCell earlier, CellRecord& record,
                const std::function<void(const CellRecord&)>& on_stage) {
  if (cell.config.evals.gpqa && run.MayGoOn()) {
    RETURN_IF_ERROR(run.Gpqa(*cell.config.evals.gpqa, std::move(earlier.samples)));
    on_stage(record);
  }
  std::map<Path, int64_t> used;  // prompts of a file by the benchmarks so far
  for (evals::ServingOptions serving : cell.config.evals.serving) {
    if (!run.MayGoOn()) break;
    serving.skip_prompts = used[serving.dataset_path];
    used[serving.dataset_path] += serving.num_prompts;
    if (const record::ServingRecord* done = WholeBenchmark(earlier, serving.name)) {
      record.serving.push_back(*done);
      continue;
    }
    RETURN_IF_ERROR(run.Serving(std::move(serving)));
    on_stage(record);
  }
  if (!cell.config.evals.reproducibility || !run.MayGoOn()) return {};
  if (earlier.record != nullptr && earlier.record->reproducibility) {
    record.reproducibility = earlier.record->reproducibility;
    return {};
  }
  RETURN_IF_ERROR(run.Reproducibility(*cell.config.evals.reproducibility));
  on_stage(record);
  return {};
}

}  // namespace

Result<CellRecord> RunCell(Cell cell, const gate::CellPolicy& policy, EarlierCell earlier, const Path& folder,
                           Journal& journal, const std::atomic<bool>& interrupted,
                           const std::function<void(const CellRecord&)>& on_stage) {
  if (IsWhole(cell, earlier)) {
    spdlog::info("{}: was measured whole by the earlier attempt", cell.key);
    return *earlier.record;
  }
  cell.launch.log_file = folder / (cell.key + ".server.log");
  CellRecord record = NewRecord(cell, cell.launch.log_file, folder);

  const std::optional<GpuMemoryWatch> memory = WatchMemoryOf(cell);
  spdlog::info("{}: starting {}", cell.key, ShellJoin(HideSecrets(cell.launch.argv)));
  Result<Server::Started> start = Server::Start(cell.launch, interrupted);
  if (!start && start.error().kind == ErrorKind::kInterrupted) return record;
  if (!start) return tl::unexpected(std::move(start).error());
  Server::Started started = std::move(*start);
  record.server.failure = std::move(started.failure);
  if (!started.server) {
    AddEngine({}, cell.launch, cell.config.engine, record.fingerprint);
    AwaitFreedMemory(cell, memory, interrupted);
    return record;
  }
  Server& server = *started.server;
  record.server.ready_s = started.ready_s;
  record.server.argv = HideSecrets(server.Argv());
  record.server.base_url = server.BaseUrl();
  AddEngine(server.Announcement(), cell.launch, cell.config.engine, record.fingerprint);
  spdlog::info("{}: ready after {:.1f} s at {}", cell.key, started.ready_s, server.BaseUrl());

  CellRun run(cell, policy, server, journal, interrupted, record);
  RETURN_IF_ERROR(RunEvals(run, cell, std::move(earlier), record, on_stage));

  for (const std::string& left : server.Stop())
    spdlog::warn("{}: still there after stopping: {}", cell.key, left);
  AwaitFreedMemory(cell, memory, interrupted);
  return record;
}

Result<CellRecord> RunCellOn(Server& server, const Cell& cell, const gate::CellPolicy& policy,
                             Journal& journal, const std::atomic<bool>& interrupted,
                             const std::function<void(const CellRecord&)>& on_stage) {
  CellRecord record;
  DescribeCell(cell, record);
  record.fingerprint.hardware = "external";
  record.fingerprint.model_hash = record.fingerprint.tokenizer_hash = "id:" + cell.launch.model_id;
  record.server.base_url = HideUserInfo(server.BaseUrl());
  record.server.model_id = cell.launch.model_id;
  CellRun run(cell, policy, server, journal, interrupted, record);
  RETURN_IF_ERROR(RunEvals(run, cell, {}, record, on_stage));
  return record;
}

}  // namespace assay::runner
