#include "runner/selftest/selftest.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "gate/judge.h"
#include "runner/cli/exit_code.h"
#include "runner/run/interrupt.h"
#include "runner/run/measure.h"
#include "runner/selftest/bench_cell.h"
#include "runner/selftest/smallest_loss.h"
#include "runner/selftest/table.h"

namespace assay::runner {
namespace {

using record::CellRecord;
using record::RunRecord;

constexpr int kSpeedRuns = 6;
constexpr int kMostRepeats = 10;  // of a run that fell into a slow or fast moment of the machine

// An entry of the corpus as it was asked for.
struct Asked {
  const CorpusEntry* entry;
  const FaultInfo* info;
  std::string plant;  // NAME or NAME:N
};

std::string PlantText(const FaultInfo& info) {
  return info.number == 0 ? std::string(info.name) : fmt::format("{}:{}", info.name, info.number);
}

Result<std::vector<Asked>> ChooseFaults(const std::vector<std::string>& names) {
  std::vector<Asked> asked;
  std::vector<std::string> known;
  for (const CorpusEntry& entry : Corpus()) {
    const auto info = std::find_if(FaultTable().begin(), FaultTable().end(),
                                   [&](const FaultInfo& fault) { return fault.fault == entry.fault; });
    known.emplace_back(info->name);
    if (names.empty()) asked.push_back({&entry, &*info, PlantText(*info)});
    for (const std::string& name : names) {
      if (name.substr(0, name.find(':')) != info->name) continue;
      const bool numbered = name.find(':') != std::string::npos;
      asked.push_back({&entry, &*info, numbered ? name : PlantText(*info)});
    }
  }
  for (const std::string& name : names) {
    const std::string bare = name.substr(0, name.find(':'));
    if (std::find(known.begin(), known.end(), bare) != known.end()) continue;
    const auto nearest = NearestWord(bare, known);
    return Fail(ErrorKind::kUsage, "--faults: {}: no such fault; {}", bare,
                nearest ? "did you mean " + *nearest + "?" : "there are " + Join(known, ", "));
  }
  return asked;
}

Cell Only(Cell cell, MeetsFault meets) {
  if (meets == MeetsFault::kAnswers) cell.config.evals.serving.clear();
  if (meets == MeetsFault::kSpeed) {
    cell.config.evals.gpqa.reset();
    cell.config.evals.reproducibility.reset();
  }
  return cell;
}

int64_t SamplesOf(const CellRecord& cell) {
  int64_t samples = cell.accuracy ? static_cast<int64_t>(cell.accuracy->samples.size()) : 0;
  for (const record::ServingRecord& serving : cell.serving)
    samples += static_cast<int64_t>(serving.requests.size());
  if (cell.reproducibility) samples += 2 * cell.reproducibility->requests;
  return samples;
}

class Bench {
 public:
  Bench(Cell cell, SelftestOptions options, Path folder)
      : cell_(std::move(cell)), options_(std::move(options)), folder_(std::move(folder)) {
    policy_.cell_key = cell_.key;
    policy_.policy = cell_.config.gate;
    policy_.policy.declared_differences.emplace_back("engine_flags");  // the planted fault is one
    policy_.policy.allow_missing_baseline = true;
    policy_.baseline.source = "clean runs of this selftest";
  }

  // What faults are compared with: the engine without any, on this machine, now.
  Status MeasureClean(const std::vector<Asked>& faults) {
    const auto wants = [&](MeetsFault meets) {
      return std::any_of(faults.begin(), faults.end(),
                         [&](const Asked& a) { return a.entry->meets == meets; });
    };
    if (wants(MeetsFault::kAnswers)) {
      RETURN_IF_ERROR(AddClean("clean-answers", MeetsFault::kAnswers));
      if (last_.cells.front().accuracy) score_mde_ = SmallestLossNoticed(last_, policy_);
    }
    for (int i = 1; wants(MeetsFault::kSpeed) && i <= kSpeedRuns; ++i) {
      RETURN_IF_ERROR(AddClean(fmt::format("clean-speed-{}", i), MeetsFault::kSpeed));
      ++clean_speed_runs_;
    }
    return {};
  }

  Result<FaultResult> Try(const Asked& asked) {
    Cell cell = Only(cell_, asked.entry->meets);
    cell.launch.argv.insert(cell.launch.argv.end(), {"--plant", asked.plant});
    const TimePoint start = RealClock().Now();
    const Path folder = folder_ / ReplaceAll(asked.plant, ":", "-");
    ASSIGN_OR_RETURN(RunRecord run, Measure(cell, policy_, folder, options_.command, CatchInterrupts()));
    ASSIGN_OR_RETURN(record::Verdict verdict, JudgeAndReport(run, policy_, folder));
    for (int again = 1; again <= kMostRepeats && SaysOnlyThatThePaceDiffers(verdict); ++again) {
      spdlog::info("{}: the machine was not as fast as in the clean runs; once more", asked.plant);
      const Path another = folder.string() + fmt::format("-again-{}", again);
      ASSIGN_OR_RETURN(run, Measure(cell, policy_, another, options_.command, CatchInterrupts()));
      ASSIGN_OR_RETURN(verdict, JudgeAndReport(run, policy_, another));
    }
    FaultResult result = ReadVerdict(verdict, *asked.entry, score_mde_);
    result.name = asked.plant;
    result.what = asked.info->what;
    result.samples = SamplesOf(run.cells.front());
    result.seconds = Seconds(RealClock().Now() - start);
    return result;
  }

  SelftestHead Head() const {
    SelftestHead head;
    head.command = ShellJoin(options_.command);
    head.seed = std::to_string(options_.seed);
    const record::Fingerprint& here = last_.cells.front().fingerprint;
    head.machine = fmt::format("{} x {}", here.devices, here.device);
    head.engine = here.engine;
    head.created = last_.created;
    head.clean_runs = clean_speed_runs_;
    return head;
  }

 private:
  Status AddClean(const std::string& name, MeetsFault meets) {
    spdlog::info("{}: the engine without a fault", name);
    ASSIGN_OR_RETURN(
        last_, Measure(Only(cell_, meets), policy_, folder_ / name, options_.command, CatchInterrupts()));
    // Alone: whether it is faster or slower than the one before is no question here.
    gate::CellPolicy alone = policy_;
    alone.baseline.cells.clear();
    ASSIGN_OR_RETURN(const record::Verdict verdict, JudgeAndReport(last_, alone, folder_ / name));
    if (last_.status == "interrupted") return Fail(ErrorKind::kInterrupted, "interrupted");
    if (verdict.exit_code != kExitPass) {
      return Fail(ErrorKind::kInvalid,
                  "{}: the engine without a fault does not pass, so nothing can be said of faults: {}", name,
                  verdict.headline);
    }
    auto& cells = policy_.baseline.cells;
    cells.insert(cells.begin(), last_.cells.front());  // newest first
    return {};
  }

  const Cell cell_;
  const SelftestOptions options_;
  const Path folder_;
  gate::CellPolicy policy_;
  RunRecord last_;
  std::optional<double> score_mde_;
  int clean_speed_runs_ = 0;
};

}  // namespace

Result<int> Selftest(const SelftestOptions& options) {
  CatchInterrupts();
  ASSIGN_OR_RETURN(const std::vector<Asked> faults, ChooseFaults(options.faults));
  ASSIGN_OR_RETURN(Cell cell, BenchCell(options, "assay-engine-faulty", "configs/selftest/tiny-moe.yaml"));
  const TimePoint start = RealClock().Now();
  const Path folder = options.out.empty() ? Path("out") / ("selftest-" + NewRunId()) : options.out;
  Bench bench(std::move(cell), options, folder);
  RETURN_IF_ERROR(bench.MeasureClean(faults));

  std::vector<FaultResult> results;
  for (const Asked& asked : faults) {
    spdlog::info("fault {} of {}: {}", results.size() + 1, faults.size(), asked.plant);
    ASSIGN_OR_RETURN(FaultResult result, bench.Try(asked));
    if (CatchInterrupts()) return kExitInterrupted;
    spdlog::info("{}: {}; {}; {:.0f} s", asked.plant, Name(StandingOf(result)), result.effect,
                 result.seconds);
    results.push_back(std::move(result));
  }
  SelftestHead head = bench.Head();
  head.seconds = Seconds(RealClock().Now() - start);
  const std::string markdown = SelftestMarkdown(head, results);
  RETURN_IF_ERROR(WriteFileAtomic(folder / "selftest.md", markdown));
  fmt::print("{}", options.format == "markdown" ? markdown : SelftestTerminal(head, results));
  return SelftestExitCode(results);
}

}  // namespace assay::runner
