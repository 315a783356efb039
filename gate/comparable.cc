#include "gate/comparable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "gate/check.h"

namespace assay::gate {
namespace {

using record::AccuracyRecord;
using record::CellRecord;
using record::ServingRecord;

std::string Unequal(std::string_view what, std::string_view ours, std::string_view theirs) {
  const auto shown = [](std::string_view text) { return text.empty() ? "unknown" : text.substr(0, 60); };
  return fmt::format("{}: {} here, {} in the baseline", what, shown(ours), shown(theirs));
}

using SampleKey = std::pair<std::string, int>;

// Samples whose options were shown in another order, of those that both sides asked.
int64_t ShuffledOtherwise(const AccuracyRecord& ours, const AccuracyRecord& theirs) {
  std::map<SampleKey, std::string> permutations;
  for (const record::QuestionSample& sample : theirs.samples) {
    permutations[{sample.id, sample.repeat}] = sample.permutation;
  }
  return std::count_if(ours.samples.begin(), ours.samples.end(), [&](const record::QuestionSample& sample) {
    const auto found = permutations.find({sample.id, sample.repeat});
    return found != permutations.end() && found->second != sample.permutation;
  });
}

std::set<SampleKey> Keys(const AccuracyRecord& accuracy) {
  std::set<SampleKey> keys;
  for (const record::QuestionSample& sample : accuracy.samples) keys.emplace(sample.id, sample.repeat);
  return keys;
}

void CompareQuestions(const AccuracyRecord& ours, const AccuracyRecord& theirs,
                      std::vector<std::string>& obstacles) {
  const std::set<SampleKey> our_keys = Keys(ours), their_keys = Keys(theirs);
  if (our_keys == their_keys) return;
  // With an order that may end early, a part of the same questions is enough.
  const bool is_part = ours.sequential && !ours.complete && ours.questions == theirs.questions &&
                       std::includes(their_keys.begin(), their_keys.end(), our_keys.begin(), our_keys.end());
  if (is_part) return;
  std::vector<SampleKey> common;
  std::set_intersection(our_keys.begin(), our_keys.end(), their_keys.begin(), their_keys.end(),
                        std::back_inserter(common));
  obstacles.push_back(fmt::format("question ids: {} only here, {} only in the baseline, {} in both",
                                  our_keys.size() - common.size(), their_keys.size() - common.size(),
                                  common.size()));
}

bool Declared(const CellPolicy& policy, std::string_view field) {
  const auto& declared = policy.policy.declared_differences;
  return std::find(declared.begin(), declared.end(), field) != declared.end();
}

bool Imported(const CellRecord& cell) {
  return (cell.accuracy && !cell.accuracy->source.empty()) ||
         std::any_of(cell.serving.begin(), cell.serving.end(),
                     [](const ServingRecord& serving) { return !serving.source.empty(); });
}

// Imported results say little of where they come from: what one side leaves open is no difference. That it is
// open is a check of its own.
std::vector<record::FingerprintDifference> KnownDifferences(const CellRecord& ours,
                                                            const CellRecord& theirs) {
  std::vector<record::FingerprintDifference> differences = Differences(ours.fingerprint, theirs.fingerprint);
  if (!Imported(ours) && !Imported(theirs)) return differences;
  const auto open = [](const std::string& text) { return text.empty() || text == "0"; };
  std::erase_if(differences, [&](const auto& d) { return open(d.ours) || open(d.theirs); });
  return differences;
}

// A stated score has no samples to pair; it must be of the same eval as far as both sides say.
std::vector<std::string> StatedObstacles(const AccuracyRecord& ours, const AccuracyRecord& theirs) {
  std::vector<std::string> obstacles;
  const auto agree = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (!a.empty() && !b.empty() && a != b) obstacles.push_back(Unequal(what, a, b));
  };
  agree("eval", ours.eval, theirs.eval);
  agree("dataset_hash", ours.dataset_hash, theirs.dataset_hash);
  agree("grader", ours.grader, theirs.grader);
  agree("prompt_template", ours.prompt_template, theirs.prompt_template);
  agree("reasoning_effort", ours.reasoning_effort, theirs.reasoning_effort);
  if (Count(theirs).samples == 0) obstacles.push_back("the baseline states no samples");
  return obstacles;
}

std::vector<std::string> AccuracyObstacles(const CellRecord& ours, const CellRecord& theirs,
                                           const CellPolicy& policy) {
  std::vector<std::string> obstacles;
  const AccuracyRecord &a = *ours.accuracy, &b = *theirs.accuracy;
  if (a.stated || b.stated) return StatedObstacles(a, b);
  const auto require = [&](std::string_view what, const auto& mine, const auto& other) {
    if (mine != other) {
      obstacles.push_back(Unequal(what, fmt::format("{}", mine), fmt::format("{}", other)));
    }
  };
  require("eval", a.eval, b.eval);
  require("dataset_hash", a.dataset_hash, b.dataset_hash);
  require("grader", a.grader, b.grader);
  require("prompt_template", a.prompt_template, b.prompt_template);
  const auto api = [](const AccuracyRecord& r) { return r.api.empty() ? std::string("chat") : r.api; };
  require("api", api(a), api(b));
  require("reasoning_effort", a.reasoning_effort, b.reasoning_effort);
  require("repeats", a.repeats, b.repeats);
  require("temperature", a.temperature, b.temperature);
  require("max_tokens", a.max_tokens, b.max_tokens);
  if (!b.complete) obstacles.push_back("the baseline's eval was not finished");
  if (a.repeats == b.repeats) CompareQuestions(a, b, obstacles);
  if (const int64_t shuffled = ShuffledOtherwise(a, b); shuffled > 0) {
    obstacles.push_back(fmt::format("{} samples show their options in another order", shuffled));
  }
  const record::AccuracyCounts counts = record::Count(b);
  if (static_cast<double>(counts.failed) >
      policy.policy.accuracy.max_failed_share * static_cast<double>(counts.samples)) {
    obstacles.push_back(
        fmt::format("{} of the baseline's {} requests failed", counts.failed, counts.samples));
  }
  for (const record::FingerprintDifference& d : KnownDifferences(ours, theirs)) {
    if (d.breaks_accuracy && !Declared(policy, d.field)) {
      obstacles.push_back(Unequal(d.field, d.ours, d.theirs));
    }
  }
  return obstacles;
}

}  // namespace

AccuracyBaseline FindAccuracyBaseline(const CellRecord& ours, const CellPolicy& policy) {
  AccuracyBaseline found;
  for (const CellRecord& cell : policy.baseline.cells) {
    if (!cell.accuracy || cell.server.failure) continue;
    if (cell.accuracy->sequential && cell.accuracy->sequential->stopped) {
      found.ended_early = true;
      continue;
    }
    std::vector<std::string> obstacles = AccuracyObstacles(ours, cell, policy);
    if (obstacles.empty()) return {&cell, {}, false};
    if (found.obstacles.empty()) found.obstacles = std::move(obstacles);
  }
  return found;
}

std::vector<std::string> SpeedObstacles(const CellRecord& ours, const CellRecord& theirs,
                                        const CellPolicy& policy) {
  std::vector<std::string> obstacles;
  for (const record::FingerprintDifference& d : KnownDifferences(ours, theirs)) {
    if (d.breaks_performance && !Declared(policy, d.field)) {
      obstacles.push_back(Unequal(d.field, d.ours, d.theirs));
    }
  }
  return obstacles;
}

record::Check SameQuestions(const CellRecord& ours, const AccuracyBaseline& baseline) {
  record::Check check = MakeCheck(ours, "validity", "V9_same_questions", "validity");
  if (ours.accuracy->stated || baseline.cell->accuracy->stated)
    return NotPossible(std::move(check), "a stated score does not say of which questions it is");
  check.samples = static_cast<int64_t>(ours.accuracy->samples.size());
  check = Within(std::move(check), static_cast<double>(baseline.obstacles.size()), 0, 0);
  check.reason =
      fmt::format("{} differences from the baseline in questions, order of options or settings (limit 0)",
                  baseline.obstacles.size());
  return check;
}

record::Check SameMachine(const CellRecord& ours, const PerformanceBaseline& baseline,
                          const CellPolicy& policy) {
  record::Check check = MakeCheck(ours, "validity", "V8_same_machine", "validity");
  check.baseline_samples = static_cast<int64_t>(baseline.cells.size());
  for (const CellRecord* cell : baseline.cells) {
    for (std::string& obstacle : SpeedObstacles(ours, *cell, policy))
      check.details.push_back(std::move(obstacle));
  }
  check = Within(std::move(check), static_cast<double>(check.details.size()), 0, 0);
  const auto& declared = policy.policy.declared_differences;
  check.reason =
      fmt::format("{} fields that break speed differ from {} baseline run{} (limit 0{})",
                  check.details.size(), baseline.cells.size(), baseline.cells.size() == 1 ? "" : "s",
                  declared.empty() ? "" : "; declared to differ: " + Join(declared, ", "));
  return check;
}

PerformanceBaseline FindPerformanceBaseline(const CellRecord& ours, const CellPolicy& policy) {
  PerformanceBaseline found;
  bool newest = true;
  for (const CellRecord& cell : policy.baseline.cells) {
    if (cell.serving.empty() || cell.server.failure) continue;
    std::vector<std::string> obstacles = SpeedObstacles(ours, cell, policy);
    if (obstacles.empty()) found.cells.push_back(&cell);
    if (std::exchange(newest, false)) found.obstacles = std::move(obstacles);
  }
  return found;
}

const ServingRecord* FindSameLoad(const ServingRecord& ours, const CellRecord& cell) {
  const auto load = [](const ServingRecord& s) {
    return std::tie(s.name, s.dataset, s.prompts, s.arrivals, s.input_len, s.output_len, s.num_prompts,
                    s.request_rate, s.max_concurrency, s.burstiness, s.ignore_eos, s.warmups, s.seed);
  };
  for (const ServingRecord& theirs : cell.serving) {
    const bool failed = std::any_of(theirs.requests.begin(), theirs.requests.end(),
                                    [](const record::RequestTiming& r) { return !r.error.empty(); });
    if (load(theirs) == load(ours) && theirs.complete && !failed) return &theirs;
  }
  return nullptr;
}

}  // namespace assay::gate
