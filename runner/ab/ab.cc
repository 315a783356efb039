#include "runner/ab/ab.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "base/clock.h"
#include "base/log.h"
#include "gate/ab/judge_ab.h"
#include "record/arms.h"
#include "runner/ab/interleave.h"
#include "runner/ab/plan_arms.h"
#include "runner/ab/running_server.h"
#include "runner/ab/worktree.h"
#include "runner/cli/exit_code.h"
#include "runner/run/interrupt.h"
#include "runner/run/journal.h"
#include "runner/run/report_input.h"
#include "runner/run/run_cell.h"
#include "runner/run/run_folder.h"
#include "runner/run/vocabulary.h"

namespace assay::runner {
namespace {

using record::CellRecord;
using record::RunRecord;

constexpr double kError = 0.05;  // an interval misses the truth so often, over all looks together

int64_t SeedByChance() {
  return static_cast<int64_t>(std::random_device{}() & 0x7fffffff);
}

bool HeadFirst(int64_t seed) {
  return (std::mt19937_64(static_cast<uint64_t>(seed))() & 1) != 0;
}

std::string ApiKey() {
  for (const char* name : {"ASSAY_API_KEY", "OPENAI_API_KEY"})
    if (const char* key = std::getenv(name); key != nullptr && *key != '\0') return key;
  return "";
}

// Of servers that run already: whoever asks them shows the key.
void AuthorizeEvals(const std::string& key, EvalsConfig& evals) {
  if (key.empty()) return;
  const std::string header = "Authorization: Bearer " + key;
  if (evals.gpqa) evals.gpqa->api_key = key;
  for (evals::ServingOptions& serving : evals.serving) serving.headers.push_back(header);
  if (evals.reproducibility) evals.reproducibility->headers.push_back(header);
}

record::AbRecord DesignOf(const AbOptions& options, const ArmPlans& plans, int64_t seed) {
  record::AbRecord design;
  design.base = plans.base.arm;
  design.head = plans.head.arm;
  design.fresh_servers = plans.base.url.empty();
  design.seed = seed;
  design.error = kError;
  for (int64_t n = options.first_look; n <= options.most; ++n) design.looks.push_back(n);
  design.budget_s = options.budget_s;
  return design;
}

// Everything that can be found missing before a build or a launch.
Status Prepare(ArmPlan& plan) {
  for (const std::string& note : plan.cell.config.notes) spdlog::warn("{}: {}", plan.cell.key, note);
  if (!plan.url.empty()) {
    RETURN_IF_ERROR(PreflightOfEvals(plan.cell));
    const std::string key = ApiKey();
    ASSIGN_OR_RETURN(const auto server, RunningServer::Connect(plan.url, plan.cell.launch.model_id, key));
    AuthorizeEvals(key, plan.cell.config.evals);
  } else if (plan.build) {
    RETURN_IF_ERROR(PreflightBeforeBuild(plan.cell));
  } else {
    RETURN_IF_ERROR(Preflight(plan.cell));
  }
  return FillVocabulary(plan.cell);
}

// A commit without a program is judged as a server that cannot start: a fault of the change, not of the day.
CellRecord NotBuilt(const ArmPlan& plan, const BuildFailure& failure) {
  CellRecord cell;
  cell.key = record::RunKey(plan.cell.key, 1, plan.arm.name);
  cell.config = plan.cell.config.name;
  cell.config_file = plan.cell.config.file.string();
  cell.suite = plan.cell.suite;
  cell.config_hash = plan.cell.config_hash;
  cell.fingerprint = DetectFingerprint(plan.cell.config.hardware);
  cell.server.log_file = (Path("work") / plan.build->log_file.filename()).string();
  cell.server.failure =
      record::ServerFailure{"not_built", "build", failure.message, "", false, failure.log_tail};
  return cell;
}

class Comparison {
 public:
  Comparison(const AbOptions& options, ArmPlans plans, Path folder, std::unique_ptr<Journal> journal,
             RunRecord record)
      : options_(options),
        plans_(std::move(plans)),
        folder_(std::move(folder)),
        journal_(std::move(journal)),
        record_(std::move(record)) {}

  // Builds, measures, judges and reports.
  Result<int> Run(TimePoint start) {
    RETURN_IF_ERROR(SaveRunRecord(record_, folder_ / kRecordFile));
    Status done = BuildAndMeasure(start);
    record_.status = interrupted_ ? "interrupted" : !done || AnyFailed() ? "failed" : "complete";
    RETURN_IF_ERROR(SaveRunRecord(record_, folder_ / kRecordFile));
    if (!done) return tl::unexpected(std::move(done).error());
    const record::Verdict verdict = Judge(record_);
    const RunRecord shown = record::AsTwoCells(record_);
    RETURN_IF_ERROR(Publish(MakeReportInput(shown, verdict, {}, folder_), folder_));
    return verdict.exit_code;
  }

 private:
  record::Verdict Judge(const RunRecord& record) const { return gate::JudgeAb(record, plans_.policy); }

  Status BuildAndMeasure(TimePoint start) {
    ASSIGN_OR_RETURN(const bool built, BuildArms());
    return built ? Measure(start) : Status{};
  }

  bool AnyFailed() const {
    for (const CellRecord& cell : record_.cells)
      if (cell.server.failure) return true;
    return false;
  }

  // False when a commit did not build.
  Result<bool> BuildArms() {
    for (ArmPlan* plan : {&plans_.base, &plans_.head}) {
      if (!plan->build) continue;
      ASSIGN_OR_RETURN(Build build, BuildRef(*plan->build, interrupted_));
      builds_.push_back(std::move(build.worktree));
      if (!build.failure) {
        spdlog::info("{}: built in {:.0f} s", plan->arm.name, build.seconds);
        continue;
      }
      record_.cells.push_back(NotBuilt(*plan, *build.failure));
      record_.ab->runs.push_back({1, plan->arm.name});
      record_.ab->ended = "build";
      return false;
    }
    return true;
  }

  Status Measure(TimePoint start) {
    InterleavePlan plan{options_.first_look, options_.most, HeadFirst(record_.ab->seed), std::nullopt};
    if (options_.budget_s > 0)
      plan.deadline =
          start + std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(options_.budget_s));
    const InterleaveHooks hooks{
        [&](int64_t pair, bool head) { return MeasureRun(pair, head ? plans_.head : plans_.base); },
        [&](const RunRecord& record) { return Judge(record); },
        [&](const RunRecord& record) { return Keep(record); },
    };
    return Interleave(plan, hooks, RealClock(), interrupted_, record_);
  }

  Result<CellRecord> MeasureRun(int64_t pair, const ArmPlan& plan) {
    Cell cell = plan.cell;
    cell.key = record::RunKey(cell.key, pair, plan.arm.name);
    journal_->Begin(cell.key, cell.config_hash);
    const gate::CellPolicy policy{cell.key, plans_.policy, {}};
    const auto on_stage = [](const CellRecord&) {};
    if (plan.url.empty()) return RunCell(cell, policy, {}, folder_, *journal_, interrupted_, on_stage);
    ASSIGN_OR_RETURN(const auto server, RunningServer::Connect(plan.url, cell.launch.model_id, ApiKey()));
    return RunCellOn(*server, cell, policy, *journal_, interrupted_, on_stage);
  }

  // The run by itself, as `assay compare` reads it, and all runs so far.
  Status Keep(const RunRecord& record) const {
    RunRecord alone = record;
    alone.ab.reset();
    alone.cells = {record.cells.back()};
    alone.status = alone.cells.front().server.failure ? "failed" : interrupted_ ? "interrupted" : "complete";
    const Path runs = folder_ / "runs";
    RETURN_IF_ERROR(MakeFolders(runs));
    RETURN_IF_ERROR(SaveRunRecord(alone, runs / (alone.cells.front().key + ".json")));
    return SaveRunRecord(record, folder_ / kRecordFile);
  }

  const AbOptions& options_;
  ArmPlans plans_;
  const Path folder_;
  const std::unique_ptr<Journal> journal_;
  RunRecord record_;
  const std::atomic<bool>& interrupted_ = CatchInterrupts();
  std::vector<std::unique_ptr<Worktree>> builds_;  // removed with this
};

std::string DescribeArm(const ArmPlan& plan) {
  std::string text = fmt::format("{}  {}", plan.arm.name, plan.arm.what);
  if (plan.build) {
    text += fmt::format(" ({}), built by `{}`, starts {}", plan.arm.commit.substr(0, 12), plan.build->command,
                        plan.build->program);
  }
  return text + "\n";
}

std::string DescribeComparison(const AbOptions& options, const ArmPlans& plans, int64_t seed) {
  std::string text = DescribeArm(plans.base) + DescribeArm(plans.head);
  const InterleavePlan plan{options.first_look, options.most, HeadFirst(seed), std::nullopt};
  text += "order";
  for (int64_t pair = 1; pair <= options.most; ++pair)
    text += HeadRunsFirst(plan, pair) ? "  head base" : "  base head";
  text +=
      fmt::format("\nlooks after each pair from {} to {}, seed {}{}\n\n", options.first_look, options.most,
                  seed, options.budget_s > 0 ? fmt::format(", at most {:g} s", options.budget_s) : "");
  std::vector<Cell> cells = {plans.base.cell, plans.head.cell};
  for (Cell& cell : cells) cell.key += &cell == &cells.front() ? ".base" : ".head";
  return text + DescribePlan(cells);
}

}  // namespace

Result<int> RunAb(const AbOptions& options) {
  const TimePoint start = RealClock().Now();
  CatchInterrupts();
  RunRecord record = NewRunRecord(options.command, "");
  const Path folder = options.out.empty() ? Path("out") / record.id : options.out;
  ASSIGN_OR_RETURN(ArmPlans plans, PlanArms(options, folder / "work"));
  const int64_t seed = options.seed.value_or(SeedByChance());
  if (options.dry_run) {
    fmt::print("{}", DescribeComparison(options, plans, seed));
    return kExitPass;
  }
  if (!options.seed) record.command.insert(record.command.end(), {"--seed", std::to_string(seed)});
  for (ArmPlan* plan : {&plans.base, &plans.head}) RETURN_IF_ERROR(Prepare(*plan));
  if (plans.base.build)
    for (const Path& left : RemoveAbandonedWorktrees(options.repository))
      spdlog::warn("removed {}, which a killed assay had left", left.string());
  ASSIGN_OR_RETURN(const Path claimed, ClaimRunFolder(folder, record.id));
  ASSIGN_OR_RETURN(auto journal, Journal::Open(claimed / kJournalFile));
  record.ab = DesignOf(options, plans, seed);
  if (!record.ab->head.commit.empty()) record.commit = record.ab->head.commit;
  return Comparison(options, std::move(plans), claimed, std::move(journal), std::move(record)).Run(start);
}

}  // namespace assay::runner
