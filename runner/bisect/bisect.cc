#include "runner/bisect/bisect.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/acknowledge.h"
#include "runner/ab/build_ref.h"
#include "runner/ab/shell_command.h"
#include "runner/ab/worktree.h"
#include "runner/cli/exit_code.h"
#include "runner/config/config.h"
#include "runner/run/interrupt.h"
#include "runner/run/run_folder.h"
#include "runner/store/git.h"

namespace assay::runner {
namespace {

using record::Check;
using record::Outcome;

constexpr int kMostPairs = 1000;      // what assay ab takes
constexpr char kServer[] = "server";  // as a metric: that it lives

// The worst of what a verdict says of each metric.
std::map<std::string, Outcome> Outcomes(const record::Verdict& verdict) {
  std::map<std::string, Outcome> outcomes;
  for (const Check& check : verdict.checks) {
    if (!check.primary) continue;
    const std::string metric = check.rule == "server" ? kServer : gate::MetricOf(check);
    if (metric.empty()) continue;
    const auto [found, fresh] = outcomes.emplace(metric, check.outcome);
    if (!fresh && (check.outcome == Outcome::kFail || found->second == Outcome::kPass))
      found->second = check.outcome;
  }
  return outcomes;
}

StepAnswer AnswerOn(const std::string& metric, const std::map<std::string, Outcome>& outcomes) {
  const auto found = outcomes.find(metric);
  if (metric == kServer && found == outcomes.end()) return StepAnswer::kPass;  // it lived
  if (found == outcomes.end()) return StepAnswer::kInconclusive;
  if (found->second == Outcome::kFail) return StepAnswer::kFail;
  return found->second == Outcome::kPass ? StepAnswer::kPass : StepAnswer::kInconclusive;
}

class Bisector {
 public:
  Bisector(const BisectOptions& options, std::vector<std::string> commits, Path folder, std::string program)
      : options_(options),
        commits_(std::move(commits)),
        folder_(std::move(folder)),
        program_(std::move(program)) {}

  Result<int> Run(const std::string& good) {
    ASSIGN_OR_RETURN(Build base, BuildOne(good));
    if (base.failure)
      return Fail(ErrorKind::kUsage, "--good {}: does not build: {}", options_.good, base.failure->message);
    Bisection bisection(commits_.size(), options_.pairs, options_.widenings);
    while (const auto step = bisection.Next()) {
      ASSIGN_OR_RETURN(const StepAnswer answer, Ask(*step, base.program));
      Print(*step, answer);
      last_ = answer;
      bisection.Report(answer);
    }
    return Conclude(bisection);
  }

 private:
  Result<Build> BuildOne(const std::string& commit) {
    BuildPlan plan;
    plan.repository = options_.repository;
    plan.ref = commit;
    plan.folder = folder_ / ("build-" + commit.substr(0, 12));
    if (!options_.build.empty()) plan.command = options_.build;
    plan.program = program_;
    plan.log_file = folder_ / ("build-" + commit.substr(0, 12) + ".log");
    spdlog::info("building {}", commit.substr(0, 12));
    return BuildRef(plan, interrupted_);
  }

  Result<StepAnswer> Ask(const BisectStep& step, const Path& base) {
    ASSIGN_OR_RETURN(const Build build, BuildOne(commits_[step.commit]));
    if (build.failure) {
      spdlog::warn("{}: {}", commits_[step.commit].substr(0, 12), build.failure->message);
      return StepAnswer::kBroken;
    }
    ASSIGN_OR_RETURN(const StepAnswer answer, Measure(step, base, build.program));
    if (answer != StepAnswer::kBroken || interrupted_) return answer;
    spdlog::warn("{}: not measured, by no fault of the commit's code that is known; once more",
                 commits_[step.commit].substr(0, 12));
    return Measure(step, base, build.program);
  }

  Result<StepAnswer> Measure(const BisectStep& step, const Path& base, const Path& head) {
    const Path out = folder_ / fmt::format("step-{}", ++steps_);
    std::vector<std::string> argv = {
        std::filesystem::read_symlink("/proc/self/exe").string(),
        "ab",
        options_.config.string(),
        "--base-binary",
        base.string(),
        "--head-binary",
        head.string(),
        "--pairs",
        fmt::format("{}..{}", std::min(step.pairs, kMostPairs), std::min(2 * step.pairs, kMostPairs)),
        "--out",
        out.string()};
    if (options_.suite) argv.insert(argv.end(), {"--suite", *options_.suite});
    const Path log = out.string() + ".log";
    ASSIGN_OR_RETURN(const int status,
                     RunShellCommand(ShellJoin(argv), std::filesystem::current_path(), log, interrupted_));
    const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (exit_code == kExitInfrastructure) return StepAnswer::kBroken;
    const auto text = ReadFile(out / "verdict.json");
    if (!text || exit_code < 0 || exit_code == kExitUsage) {
      const std::vector<std::string> tail = TailLines(log, 3);
      return Fail(ErrorKind::kUsage, "assay ab gave no verdict (exit code {}): {}", exit_code,
                  Join(tail, "; "));
    }
    ASSIGN_OR_RETURN(const record::Verdict verdict,
                     record::ParseVerdict(*text, (out / "verdict.json").string()));
    return AnswerOf(verdict, accused_);
  }

  void Print(const BisectStep& step, StepAnswer answer) const {
    const char* const words[] = {"PASS: as good as the good commit", "FAIL: the loss is there",
                                 "INCONCLUSIVE: cannot tell", "skipped: does not build or start"};
    fmt::print("{:>4} of {}  {}  {:>2} pairs  {}\n", step.commit + 1, commits_.size(),
               commits_[step.commit].substr(0, 12), step.pairs, words[static_cast<int>(answer)]);
    std::fflush(stdout);
  }

  int Conclude(const Bisection& bisection) const {
    const std::vector<size_t> suspects = bisection.Suspects();
    if (!bisection.Confirmed() && last_ != StepAnswer::kPass) {
      fmt::print("{} could not be compared with {}; what the step wrote is in {}\n", options_.bad,
                 options_.good, folder_.string());
      return kExitInconclusive;
    }
    if (!bisection.Confirmed()) {
      fmt::print("{} is not shown to be worse than {}; nothing to look for\n", options_.bad, options_.good);
      return kExitInvalid;
    }
    fmt::print("what got worse: {}\n", Join(accused_, ", "));
    if (suspects.size() == 1) {
      fmt::print("first bad commit: {}\n", Described(commits_[suspects[0]]));
      return kExitPass;
    }
    fmt::print("one of these {} brought it in, oldest first; those between could not be told apart:\n",
               suspects.size());
    for (const size_t suspect : suspects) fmt::print("  {}\n", Described(commits_[suspect]));
    return kExitInconclusive;
  }

  std::string Described(const std::string& commit) const {
    const auto line = Git(options_.repository, {"show", "--no-patch", "--format=%h %an: %s", commit});
    return line ? Printable(*line) : commit;
  }

  const BisectOptions& options_;
  const std::vector<std::string> commits_;
  const Path folder_;
  const std::string program_;
  const std::atomic<bool>& interrupted_ = CatchInterrupts();
  std::vector<std::string> accused_;
  StepAnswer last_ = StepAnswer::kBroken;
  int steps_ = 0;
};

}  // namespace

StepAnswer AnswerOf(const record::Verdict& verdict, std::vector<std::string>& accused) {
  if (verdict.outcome == Outcome::kInvalid || verdict.outcome == Outcome::kInfrastructure)
    return StepAnswer::kInconclusive;
  const std::map<std::string, Outcome> outcomes = Outcomes(verdict);
  if (accused.empty()) {
    for (const auto& [metric, outcome] : outcomes) {
      if (outcome == Outcome::kFail) accused.push_back(metric);
    }
    if (!accused.empty()) return StepAnswer::kFail;
    // One check that cannot tell leaves open whether there is a loss.
    const bool undecided = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& each) {
      return each.second == Outcome::kInconclusive;
    });
    return verdict.outcome == Outcome::kPass && !undecided ? StepAnswer::kPass : StepAnswer::kInconclusive;
  }
  StepAnswer worst = StepAnswer::kPass;
  for (const std::string& metric : accused) {
    const StepAnswer answer = AnswerOn(metric, outcomes);
    if (answer == StepAnswer::kFail) return answer;
    if (answer == StepAnswer::kInconclusive) worst = answer;
  }
  return worst;
}

Result<std::vector<std::string>> CommitsBetween(const Path& repository, const std::string& good,
                                                const std::string& bad) {
  if (!Git(repository, {"merge-base", "--is-ancestor", good, bad})) {
    return Fail(ErrorKind::kUsage,
                "--good {}: is no ancestor of {}; bisect looks between a commit and one after it", good, bad);
  }
  ASSIGN_OR_RETURN(const std::string listed,
                   Git(repository, {"rev-list", "--first-parent", "--reverse", good + ".." + bad}));
  std::vector<std::string> commits = SplitLines(listed);
  if (commits.empty()) return Fail(ErrorKind::kUsage, "--good and --bad are one commit: {}", good);
  return commits;
}

Result<int> Bisect(const BisectOptions& options) {
  ASSIGN_OR_RETURN(const std::string good, ResolveCommit(options.repository, options.good));
  ASSIGN_OR_RETURN(const std::string bad, ResolveCommit(options.repository, options.bad));
  ASSIGN_OR_RETURN(std::vector<std::string> commits, CommitsBetween(options.repository, good, bad));
  std::string program = options.program;
  if (program.empty()) {
    ASSIGN_OR_RETURN(const Config config, LoadConfig(options.config));
    ASSIGN_OR_RETURN(const Path checkout, CheckoutOf(options.repository));
    ASSIGN_OR_RETURN(program, ProgramWithinCheckout(config, checkout));
  }
  for (const Path& left : RemoveAbandonedWorktrees(options.repository))
    spdlog::warn("removed {}, which a killed assay had left", left.string());
  const Path out = options.out.empty() ? Path("out") / ("bisect-" + NewRunId()) : options.out;
  RETURN_IF_ERROR(MakeFolders(out));
  return Bisector(options, std::move(commits), std::filesystem::absolute(out), program).Run(good);
}

}  // namespace assay::runner
