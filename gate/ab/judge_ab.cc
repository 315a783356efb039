#include "gate/ab/judge_ab.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "base/text.h"
#include "gate/ab/looks.h"
#include "gate/ab/pair_speed.h"
#include "gate/ab/run_checks.h"
#include "gate/accuracy.h"
#include "gate/check.h"
#include "gate/comparable.h"
#include "gate/fold.h"
#include "gate/reproducibility.h"
#include "gate/server.h"
#include "gate/validity_accuracy.h"
#include "gate/validity_serving.h"
#include "record/arms.h"

namespace assay::gate {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;
using record::ServingRecord;
using record::Verdict;

std::string NameOf(const record::Pair& pair, const char* arm = "") {
  return fmt::format("pair {}{}{}", pair.number, *arm == '\0' ? "" : " ", arm);
}

const ServingRecord* FindBenchmark(const CellRecord& cell, const std::string& name) {
  const auto found = std::find_if(cell.serving.begin(), cell.serving.end(),
                                  [&](const ServingRecord& serving) { return serving.name == name; });
  return found == cell.serving.end() ? nullptr : &*found;
}

class AbJudge {
 public:
  AbJudge(const record::RunRecord& record, const Policy& policy)
      : record_(record),
        design_(*record.ab),
        policy_(policy),
        key_(record::ComparisonKey(record)),
        pairs_(record::WholePairs(record)),
        looks_(record.ab->looks, record.ab->error) {}

  Verdict Judge() && {
    JudgeServers();
    if (verdict_.checks.empty()) JudgePairs();
    AddNotes();
    const bool interrupted = record_.status == "interrupted";
    verdict_.outcome = Fold(verdict_.checks, policy_.strict);
    verdict_.exit_code = ExitCode(verdict_.checks, policy_.strict, interrupted);
    verdict_.headline = Headline(verdict_, interrupted);
    if (!interrupted && !pairs_.empty())
      verdict_.headline += fmt::format("; {} pair{}", pairs_.size(), pairs_.size() == 1 ? "" : "s");
    return std::move(verdict_);
  }

 private:
  void Add(std::vector<Check> checks) {
    std::move(checks.begin(), checks.end(), std::back_inserter(verdict_.checks));
  }
  Check Invalid(std::string metric, std::string reason, std::vector<std::string> details = {}) const {
    Check check = MakeCheck(One(), "validity", std::move(metric), "validity");
    check.outcome = Outcome::kInvalid;
    check.reason = std::move(reason);
    check.details = std::move(details);
    return check;
  }
  CellRecord One() const {
    CellRecord one;
    one.key = key_;
    return one;
  }
  std::vector<std::pair<const CellRecord*, std::string>> Runs() const {
    std::vector<std::pair<const CellRecord*, std::string>> runs;
    for (const record::Pair& pair : pairs_) {
      runs.emplace_back(pair.base, NameOf(pair, "base"));
      runs.emplace_back(pair.head, NameOf(pair, "head"));
    }
    return runs;
  }

  // A head that dies is a finding; a base that dies leaves nothing to compare with.
  void JudgeServers() {
    for (size_t i = 0; i < record_.cells.size(); ++i) {
      std::optional<Check> failure = JudgeServer(record_.cells[i]);
      if (!failure) continue;
      failure->cell = key_;
      const record::ArmRun& run = design_.runs[i];
      failure->reason = fmt::format("{} in pair {}: {}", run.arm, run.pair, failure->reason);
      if (run.arm == design_.base.name && failure->outcome == Outcome::kFail) {
        failure->outcome = Outcome::kInvalid;
        failure->details = {"nothing is said of head: what it would be compared with does not work"};
      }
      verdict_.checks.push_back(std::move(*failure));
    }
  }

  void JudgePairs() {
    if (pairs_.empty()) return Add({Invalid("pairs", "no pair was measured whole")});
    verdict_.environment = Differences(pairs_.front().head->fingerprint, pairs_.front().base->fingerprint);
    if (!ArmsStayedTheSame() || !HeadMeasuredAll()) return;
    JudgeReproducible();
    if (pairs_.front().head->accuracy) JudgeAnswers();
    if (!pairs_.front().head->serving.empty()) JudgeSpeed();
  }

  // What base measured and head did not would pass unseen.
  bool HeadMeasuredAll() {
    for (const record::Pair& pair : pairs_) {
      std::vector<std::string> missing;
      if (pair.base->accuracy && !pair.head->accuracy) missing.push_back(pair.base->accuracy->eval);
      if (pair.base->reproducibility && !pair.head->reproducibility) missing.emplace_back("reproducibility");
      for (const ServingRecord& serving : pair.base->serving) {
        if (FindBenchmark(*pair.head, serving.name) == nullptr) missing.push_back(serving.name);
      }
      const CellRecord& head = *pair.head;
      for (const std::string& what : missing)
        Add({Invalid("V6_completed." + what, NameOf(pair) + ": base measured it and head did not")});
      if (!missing.empty()) return false;
      if (head.accuracy || head.reproducibility || !head.serving.empty()) continue;
      Add({Invalid("V6_completed", NameOf(pair) + ": nothing was measured")});
      return false;
    }
    return true;
  }

  // Head must give seeded requests the same text each time; where base does not either, nothing got worse.
  void JudgeReproducible() {
    std::optional<Check> said;
    for (const record::Pair& pair : pairs_) {
      std::optional<Check> head = JudgeReproducibility(*pair.head);
      if (!head) continue;
      head->cell = key_;
      const std::optional<Check> base = JudgeReproducibility(*pair.base);
      if (head->outcome == Outcome::kFail) {
        head->reason = NameOf(pair) + ": " + head->reason;
        if (base && base->outcome == Outcome::kFail) {
          head->outcome = Outcome::kInconclusive;
          head->reason += "; nor does base";
        }
      }
      if (!said || head->outcome == Outcome::kFail || said->outcome == Outcome::kPass) said = std::move(head);
      if (said->outcome == Outcome::kFail) break;
    }
    if (said) verdict_.checks.push_back(std::move(*said));
  }

  // A program that was rebuilt or a driver that was changed in between is a third arm.
  bool ArmsStayedTheSame() {
    RunChecks checks;
    for (const auto& [run, name] : Runs()) {
      const record::Pair& first = pairs_.front();
      const CellRecord& before = name.ends_with("head") ? *first.head : *first.base;
      std::vector<std::string> fields;
      for (const record::FingerprintDifference& one : Differences(run->fingerprint, before.fingerprint))
        fields.push_back(one.field);
      Check check = Invalid("V8_same_arm",
                            "not what this arm was in its first run: " + Join(fields, ", ") + " changed");
      if (fields.empty()) {
        check.outcome = Outcome::kPass;
        check.reason = "machine, program, flags and model are those of the arm's first run";
      }
      checks.Add(name, std::move(check));
    }
    Add(checks.Merged(key_));
    return !Has(verdict_.checks, Outcome::kInvalid);
  }

  // V6 and V9 of each run, and whether both arms of each pair asked the same.
  bool AnswersAreValid() {
    RunChecks checks;
    for (const auto& [run, name] : Runs()) {
      if (run->accuracy) {
        checks.Add(name, AccuracyValidity(*run, policy_.accuracy));
      } else {
        checks.Add(name, Invalid("V6_completed." + pairs_.front().head->accuracy->eval,
                                 "this run has no accuracy eval"));
      }
    }
    std::vector<Check> merged = checks.Merged(key_);
    bool usable = !Has(merged, Outcome::kInvalid);
    Add(std::move(merged));
    for (const record::Pair& pair : pairs_) {
      if (!usable) break;
      const AccuracyBaseline found = FindAccuracyBaseline(*pair.head, Against(pair));
      if (found.cell != nullptr) continue;
      Add({Invalid("V9_same_questions",
                   NameOf(pair) + ": the two arms cannot be compared question by question",
                   found.obstacles)});
      usable = false;
    }
    return usable;
  }

  CellPolicy Against(const record::Pair& pair) const { return {key_, policy_, {"base", {*pair.base}}}; }

  void JudgeAnswers() {
    if (!AnswersAreValid()) return;
    std::vector<const CellRecord*> base, head;
    for (const record::Pair& pair : pairs_) {
      base.push_back(pair.base);
      head.push_back(pair.head);
    }
    CellRecord ours = One(), theirs = One();
    ours.accuracy = record::PooledAnswers(head);
    theirs.accuracy = record::PooledAnswers(base);
    if (policy_.threshold) {  // two broken arms are as good as each other
      for (Check& check : JudgeThreshold(ours, *policy_.threshold))
        if (check.rule == "broken_line") verdict_.checks.push_back(std::move(check));
    }
    if (auto same = JudgeSameAnswers(ours, theirs, policy_.accuracy)) Add({std::move(*same)});
    const double tail = looks_.Tail(static_cast<int64_t>(pairs_.size()));
    if (tail > 0) {
      Check score = JudgePaired(ours, theirs, policy_.accuracy, {tail, tail});
      const bool told = score.outcome == Outcome::kFail;
      Add({std::move(score)});
      if (!told) Add(JudgeCutAnswers(ours, theirs, policy_.accuracy, {tail, tail}));
      return;
    }
    Check check = JudgePaired(ours, theirs, policy_.accuracy);
    check.outcome = Outcome::kInconclusive;
    check.improved = false;
    check.ci_low = check.ci_high = std::nullopt;  // no interval holds over all looks before the first
    check.reason = fmt::format("{} of {} pairs before the first look: n too small to decide", pairs_.size(),
                               design_.looks.front());
    verdict_.checks.push_back(std::move(check));
  }

  // Hardware, machine, driver, flags: whether the two runs of each pair may be compared for speed.
  bool ArmsAreComparable() {
    for (const record::Pair& pair : pairs_) {
      const PerformanceBaseline found = FindPerformanceBaseline(*pair.head, Against(pair));
      if (!found.cells.empty()) continue;
      Add({Invalid("V8_same_machine", NameOf(pair) + ": the speeds of the two arms cannot be compared",
                   found.obstacles)});
      return false;
    }
    return true;
  }

  void JudgeSpeed() {
    const bool comparable = ArmsAreComparable();
    const bool wrong_answers = HasWrongAnswers(verdict_.checks);
    std::vector<PairedBenchmark> benchmarks;
    RunChecks checks;
    for (const ServingRecord& serving : pairs_.front().head->serving) {
      PairedBenchmark benchmark;
      benchmark.name = serving.name;
      for (const record::Pair& pair : pairs_) AddPair(pair, benchmark, checks);
      if (benchmark.pairs.size() != pairs_.size()) continue;  // a check says which run lacks it
      if (!comparable) Close(benchmark, "the arms are not comparable");
      if (wrong_answers)
        Close(benchmark, "the answers fail the accuracy gate, and the speed of wrong answers is no speed");
      benchmarks.push_back(std::move(benchmark));
    }
    Add(checks.Merged(key_));
    Add(JudgePairedSpeed(One(), benchmarks, policy_.performance, looks_));
  }

  static void Close(PairedBenchmark& benchmark, std::string why) {
    benchmark.scope = SpeedScope::kNothing;
    benchmark.why_not = std::move(why);
  }

  static void Narrow(const ServingValidity& validity, PairedBenchmark& benchmark) {
    if (!validity.usable) return Close(benchmark, "a measurement is invalid");
    if (validity.throughput || benchmark.scope != SpeedScope::kAll) return;
    benchmark.scope = SpeedScope::kLatencyOnly;
    benchmark.why_not = "the answers did not have the length that throughput needs";
  }

  // The benchmark of both runs of a pair, with the validity of each and of the two beside each other.
  void AddPair(const record::Pair& pair, PairedBenchmark& benchmark, RunChecks& checks) const {
    ServingPair both{FindBenchmark(*pair.base, benchmark.name), FindBenchmark(*pair.head, benchmark.name)};
    bool usable = true;
    for (const auto& [run, serving, arm] :
         {std::tuple{pair.base, both.base, "base"}, std::tuple{pair.head, both.head, "head"}}) {
      if (serving == nullptr) {
        checks.Add(NameOf(pair, arm),
                   Invalid("V6_completed." + benchmark.name, "this run has no such benchmark"));
        return;
      }
      ServingValidity own = JudgeServingValidity(*run, *serving);
      Narrow(own, benchmark);
      usable = usable && own.usable;
      checks.Add(NameOf(pair, arm), std::move(own.checks));
    }
    benchmark.pairs.push_back(both);
    if (!usable) return;
    if (FindSameLoad(*both.head, *pair.base) == nullptr) {
      checks.Add(NameOf(pair),
                 Invalid("V4_same_load." + benchmark.name, "the two arms were asked for different loads"));
      return Close(benchmark, "a measurement is invalid");
    }
    ServingValidity load = JudgeSameLoad(*pair.head, *both.head, {both.base});
    Narrow(load, benchmark);
    checks.Add(NameOf(pair), std::move(load.checks));
  }

  void AddNotes() {
    const auto note = [&](std::string text) { verdict_.notes.push_back({key_, "ab", std::move(text)}); };
    for (const record::Arm* arm : {&design_.base, &design_.head})
      note(fmt::format("{}: {}{}", arm->name, arm->what,
                       arm->commit.empty() ? "" : ", commit " + arm->commit.substr(0, 12)));
    std::vector<std::string> order;
    for (const record::ArmRun& run : design_.runs) order.push_back(run.arm);
    note(fmt::format("runs in turn, {}: {} (seed {})",
                     design_.fresh_servers ? "each on a server process of its own"
                                           : "on two servers that ran already, so that what differs between "
                                             "two starts of one server is not seen",
                     Join(order, " "), design_.seed));
    const int64_t most = design_.looks.back();
    if (design_.ended == "budget") {
      note(fmt::format("ended by the budget of {:g} s after {} of at most {} pairs", design_.budget_s,
                       pairs_.size(), most));
    } else if (!design_.ended.empty() && design_.ended != "build") {
      note(fmt::format("looked at after each pair from {} to {}, ended after {}: {}", design_.looks.front(),
                       most, pairs_.size(), design_.ended == "decided" ? "decided" : "all were measured"));
    }
  }

  const record::RunRecord& record_;
  const record::AbRecord& design_;
  const Policy& policy_;
  const std::string key_;
  const std::vector<record::Pair> pairs_;
  const Looks looks_;
  Verdict verdict_;
};

}  // namespace

Verdict JudgeAb(const record::RunRecord& record, const Policy& policy) {
  CHECK(record.ab.has_value());
  return AbJudge(record, policy).Judge();
}

bool IsDecided(const Verdict& verdict) {
  // Answers that are merely others leave open how fast the change is.
  if (HasWrongAnswers(verdict.checks)) return true;
  for (const Outcome outcome : {Outcome::kInvalid, Outcome::kInfrastructure})
    if (Has(verdict.checks, outcome)) return true;
  return !Has(verdict.checks, Outcome::kInconclusive);
}

}  // namespace assay::gate
