#include "runner/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/secrets.h"
#include "record/statistics.h"
#include "runner/bench/server_questions.h"
#include "runner/bench/statistics.h"
#include "runner/cli/exit_code.h"
#include "runner/run/interrupt.h"
#include "runner/run/progress_line.h"
#include "tokenizer/tokenizer.h"

namespace assay::runner {
namespace {

// The ids that random prompts draw from, when the tokenizer is a folder of this machine.
Status FillVocabulary(evals::ServingOptions& serving) {
  if (serving.tokenizer.empty() || serving.vocab_size > 0) return {};
  ASSIGN_OR_RETURN(const auto tokenizer, tokenizer::Tokenizer::Load(serving.tokenizer));
  serving.vocab_size = tokenizer.Size();
  for (int32_t id = 0; id < serving.vocab_size; ++id) {
    if (tokenizer.IsSpecial(id)) serving.special_ids.push_back(id);
  }
  return {};
}

std::string LocalDate() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return text;
}

Result<BenchRun> Measure(const BenchOptions& options, const evals::ServingOptions& serving,
                         const std::atomic<bool>& interrupted) {
  evals::Progress progress;
  std::atomic<bool> over{false};
  std::thread watcher([&] {
    while (!over) {
      if (interrupted) progress.stop = true;
      RealClock().SleepUntil(RealClock().Now() + std::chrono::milliseconds(20));
    }
  });
  BenchRun run;
  run.date = LocalDate();
  const auto measured = [&] {
    const ProgressLine line("serving", progress);
    return evals::RunServing(options.base_url, serving, progress, {},
                             options.save_detailed ? &run.texts : nullptr);
  }();
  over = true;
  watcher.join();
  if (!measured) return tl::unexpected<Error>(measured.error());
  run.serving = *measured;
  return run;
}

Status Save(const BenchOptions& options, const BenchRun& run) {
  if (!options.save_result && !options.append_result) return {};
  const Path folder = options.result_dir.empty() ? Path(".") : options.result_dir;
  RETURN_IF_ERROR(MakeFolders(folder));
  const Path file =
      folder / (options.result_filename.empty() ? VllmFileName(options, run.date) : options.result_filename);
  if (options.append_result) {
    std::ofstream out(file, std::ios::binary | std::ios::app);
    if (out.tellp() > 0) out << "\n";
    out << VllmJson(options, run);
    if (!out.flush()) return Fail(ErrorKind::kInfrastructure, "{}: cannot be written", file.string());
  } else {
    RETURN_IF_ERROR(WriteFileAtomic(file, VllmJson(options, run)));
  }
  spdlog::info("result written to {}", file.string());
  return {};
}

void Print(const BenchOptions& options, const BenchRun& run) {
  if (options.definitions == evals::Definitions::kVllm) fmt::print("{}", VllmTable(options, run));
  fmt::print("{}", FormulaTable(options, run));
  std::fflush(stdout);
}

int ExitCodeOf(const BenchRun& run, bool interrupted) {
  if (interrupted) return kExitInterrupted;
  return record::Find(run.serving.metrics, "failed")->value > 0 ? kExitFail : kExitPass;
}

// Whether a run kept the limits, in words.
evals::RateProbe Judge(const BenchOptions& options, double rate, const BenchRun& run) {
  const evals::ServingSeries series = evals::SeriesOf(run.serving.requests);
  evals::RateProbe probe{rate, true, "",
                         series.failed == 0 && evals::PeakInFlight(run.serving.requests) <= 1};
  if (series.failed > 0) {
    probe.met = false;
    probe.why = fmt::format("{} requests failed; ", series.failed);
  }
  for (const VllmMetric& metric : VllmMetrics()) {
    const auto limit = options.limits.find(std::string(metric.key));
    if (limit == options.limits.end()) continue;
    const std::vector<double>& values = series.*metric.values;
    const std::string name = fmt::format("p{} {}", PercentileWord(options.limit_percentile), metric.word);
    if (values.empty()) {
      probe.met = false;
      probe.why += name + " not measured; ";
      continue;
    }
    const double value = record::Percentile(values, options.limit_percentile);
    if (value > limit->second) probe.met = false;
    probe.why += fmt::format("{} {:.2f} ms of {:g}; ", name, value, limit->second);
  }
  if (!probe.why.empty()) probe.why.resize(probe.why.size() - 2);
  return probe;
}

// A server that answers nothing has no rate to find.
Status CheckItAnswers(const BenchOptions& options, double rate, const BenchRun& run) {
  const std::vector<record::RequestTiming>& requests = run.serving.requests;
  if (requests.empty() || evals::SeriesOf(requests).completed > 0) return {};
  return Fail(ErrorKind::kInfrastructure,
              "--find-rate: at {:g} requests/s {} failed all {} requests; the first: {}", rate,
              HideUserInfo(options.base_url), requests.size(), requests.front().error);
}

Result<int> FindRate(BenchOptions options, const std::string& server_version,
                     const std::atomic<bool>& interrupted) {
  std::optional<BenchRun> best;
  double best_rate = 0;
  uint64_t repetition = options.serving.repetition;
  int64_t skipped = options.serving.skip_prompts;
  const auto found = evals::FindHighestRate(options.search, [&](double rate) -> Result<evals::RateProbe> {
    evals::ServingOptions serving = options.serving;
    serving.request_rate = rate;
    serving.num_prompts = evals::ProbePrompts(rate, options.probe_s);
    // No prompt twice, or a prefix cache would lift the later probes.
    serving.repetition = repetition++;
    serving.skip_prompts = skipped;
    skipped += serving.num_prompts;
    ASSIGN_OR_RETURN(BenchRun run, Measure(options, serving, interrupted));
    if (interrupted) return Fail(ErrorKind::kInterrupted, "interrupted during the rate search");
    RETURN_IF_ERROR(CheckItAnswers(options, rate, run));
    const evals::RateProbe probe = Judge(options, rate, run);
    fmt::print("{:>10.3f} req/s  {}  {}\n", rate, probe.met ? "met   " : "missed", probe.why);
    std::fflush(stdout);
    if (probe.met && rate > best_rate) {
      best_rate = rate;
      best = std::move(run);
    }
    return probe;
  });
  if (!found) return tl::unexpected<Error>(found.error());
  if (!best) {
    fmt::print("no rate met the limits{}\n",
               found->probes.back().alone ? ": requests miss them even alone" : "");
    return kExitFail;
  }
  fmt::print("highest rate that met the limits: {:.3f} req/s{}\n", best_rate,
             found->limited ? "" : " (no higher one was tried; raise --max-rate)");
  best->server_version = server_version;
  options.serving.request_rate = best_rate;
  Print(options, *best);
  RETURN_IF_ERROR(Save(options, *best));
  return kExitPass;
}

}  // namespace

Result<int> Bench(BenchOptions options) {
  const std::atomic<bool>& interrupted = CatchInterrupts();
  RETURN_IF_ERROR(evals::CheckOptions(options.serving));
  RETURN_IF_ERROR(evals::CheckFiles(options.serving));
  RETURN_IF_ERROR(FillVocabulary(options.serving));
  if (options.serving.model.empty()) {
    ASSIGN_OR_RETURN(options.serving.model, FirstModel(options));
  }
  if (options.ready_timeout_s > 0) RETURN_IF_ERROR(WaitUntilReady(options, interrupted));
  const std::string server_version = ServerVersion(options);
  if (!options.limits.empty()) return FindRate(std::move(options), server_version, interrupted);

  ASSIGN_OR_RETURN(BenchRun run, Measure(options, options.serving, interrupted));
  run.server_version = server_version;
  Print(options, run);
  RETURN_IF_ERROR(Save(options, run));
  return ExitCodeOf(run, interrupted);
}

}  // namespace assay::runner
