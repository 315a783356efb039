#include "record/arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"

namespace assay::record {
namespace {

bool IsFinished(const CellRecord& cell) {
  if (cell.server.failure) return true;
  return (!cell.accuracy || cell.accuracy->complete) &&
         std::all_of(cell.serving.begin(), cell.serving.end(), [](const auto& s) { return s.complete; });
}

bool HasAllOf(const CellRecord& cell, const CellRecord& first) {
  return cell.accuracy.has_value() == first.accuracy.has_value() &&
         cell.serving.size() == first.serving.size();
}

std::string Suffix(int64_t pair, const std::string& arm) {
  return fmt::format(".{}-{}", pair, arm);
}

}  // namespace

std::string RunKey(const std::string& comparison, int64_t pair, const std::string& arm) {
  return comparison + Suffix(pair, arm);
}

std::string ComparisonKey(const RunRecord& record) {
  if (record.cells.empty()) return "";
  const std::string& key = record.cells.front().key;
  const std::string suffix = Suffix(record.ab->runs.front().pair, record.ab->runs.front().arm);
  return key.ends_with(suffix) ? key.substr(0, key.size() - suffix.size()) : key;
}

const CellRecord* CutRun(const RunRecord& record) {
  if (record.status != "interrupted" || record.cells.empty()) return nullptr;
  const CellRecord& last = record.cells.back();
  const bool empty = !last.accuracy && last.serving.empty() && !last.server.failure;
  return empty || !IsFinished(last) || !HasAllOf(last, record.cells.front()) ? &last : nullptr;
}

std::vector<Pair> WholePairs(const RunRecord& record) {
  CHECK_EQ(record.ab->runs.size(), record.cells.size());
  const CellRecord* cut = CutRun(record);
  std::map<int64_t, Pair> by_number;
  for (size_t i = 0; i < record.cells.size(); ++i) {
    const ArmRun& run = record.ab->runs[i];
    Pair& pair = by_number[run.pair];
    pair.number = run.pair;
    if (&record.cells[i] == cut) continue;
    (run.arm == record.ab->base.name ? pair.base : pair.head) = &record.cells[i];
  }
  std::vector<Pair> pairs;
  for (const auto& [number, pair] : by_number)
    if (pair.base != nullptr && pair.head != nullptr) pairs.push_back(pair);
  return pairs;
}

AccuracyRecord PooledAnswers(const std::vector<const CellRecord*>& runs) {
  CHECK_GT(runs.size(), size_t{0});
  AccuracyRecord pooled = *runs.front()->accuracy;
  for (size_t i = 1; i < runs.size(); ++i) {
    for (QuestionSample sample : runs[i]->accuracy->samples) {
      sample.repeat += pooled.repeats;
      pooled.samples.push_back(std::move(sample));
    }
    pooled.repeats += runs[i]->accuracy->repeats;
    pooled.duration_s += runs[i]->accuracy->duration_s;
  }
  return pooled;
}

RunRecord AsTwoCells(const RunRecord& record) {
  RunRecord shown = record;
  shown.cells.clear();
  shown.ab->runs.clear();
  if (record.cells.empty()) return shown;
  const auto add = [&](const Arm& arm, std::string key, bool any) {
    std::vector<const CellRecord*> runs, answered;
    for (size_t i = 0; i < record.cells.size(); ++i)
      if (any || record.ab->runs[i].arm == arm.name) runs.push_back(&record.cells[i]);
    if (runs.empty()) return false;
    for (const CellRecord* run : runs)
      if (run->accuracy) answered.push_back(run);
    CellRecord& cell = shown.cells.emplace_back(*runs.back());
    cell.key = std::move(key);
    if (!answered.empty()) cell.accuracy = PooledAnswers(answered);
    shown.ab->runs.push_back({1, arm.name});
    return true;
  };
  const std::string key = ComparisonKey(record);
  if (add(record.ab->head, key, false)) {
    add(record.ab->base, key + "." + record.ab->base.name, false);
  } else {
    add(record.ab->head, key, true);  // base failed before head was measured
  }
  for (const CellRecord& cell : record.cells)
    if (cell.server.failure) shown.cells.front().server = cell.server;
  return shown;
}

}  // namespace assay::record
