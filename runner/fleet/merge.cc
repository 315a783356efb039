#include "runner/fleet/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/check.h"
#include "runner/fleet/attempts.h"
#include "runner/fleet/pipeline.h"
#include "runner/run/repository_url.h"
#include "runner/run/run_folder.h"

namespace assay::runner {
namespace {

using Why = NotMeasured::Why;

std::vector<std::string> KeysOf(const std::vector<FleetCell>& cells) {
  std::vector<std::string> keys;
  for (const FleetCell& cell : cells) keys.push_back(cell.key);
  return keys;
}

// `inner` is `outer` or lies below it, whatever links are on the way.
bool LiesIn(const Path& inner, const Path& outer) {
  std::error_code ignored;
  const Path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(inner), ignored);
  const Path above = std::filesystem::weakly_canonical(std::filesystem::absolute(outer), ignored);
  const Path between = whole.lexically_relative(above);
  return !between.empty() && *between.begin() != "..";
}

// What lies in --out is left out, so no run may.
Status CheckOut(const MergeOptions& options) {
  if (options.out.empty()) return {};
  const std::string out = options.out.string();
  for (const Path& folder : options.folders) {
    if (LiesIn(folder, options.out)) {
      return Fail(ErrorKind::kUsage,
                  "--out {}: holds {}, which is to be merged; choose a folder that holds no runs, such as {}",
                  out, folder.string(), (folder / "report").string());
    }
    if (!LiesIn(options.out, folder)) continue;
    ASSIGN_OR_RETURN(const std::vector<Path> hidden, FindRunFolders({options.out}, ""));
    for (const Path& run : hidden) {
      if (ReadRunFolder(run, {}).empty()) continue;  // an earlier report
      return Fail(ErrorKind::kUsage,
                  "--out {}: holds the run {}, which would be left out; choose a folder that holds no runs, "
                  "such as {}",
                  out, run.string(), (folder / "report").string());
    }
  }
  return {};
}

Status CheckFolders(const MergeOptions& options) {
  for (const Path& folder : options.folders) {
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored)) continue;
    // No job may have left anything: then every cell is missing, which the report is to say.
    if (options.expect.empty()) return Fail(ErrorKind::kUsage, "{}: is no folder", folder.string());
    spdlog::warn("{}: is no folder", folder.string());
  }
  return {};
}

using AttemptsByKey = std::map<std::string, std::vector<Attempt>>;

// What was measured and is expected by nobody is of another fleet, or the table is.
Result<AttemptsByKey> ReadAttempts(const MergeOptions& options, const std::vector<std::string>& expected,
                                   std::vector<std::string>& order) {
  AttemptsByKey found;
  ASSIGN_OR_RETURN(const std::vector<Path> folders, FindRunFolders(options.folders, options.out));
  for (const Path& folder : folders) {
    for (Attempt& attempt : ReadRunFolder(folder, expected)) {
      if (attempt.problem) spdlog::warn("cell {}: {}", attempt.key, attempt.problem->text);
      const bool known = std::find(order.begin(), order.end(), attempt.key) != order.end();
      if (!known && !expected.empty()) {
        if (!attempt.record) continue;
        const auto nearest = NearestWord(attempt.key, expected);
        return Fail(ErrorKind::kUsage, "{}: holds the cell {}, which {} does not list{}", folder.string(),
                    attempt.key, options.expect.string(), nearest ? "; did you mean " + *nearest + "?" : "");
      }
      if (!known) order.push_back(attempt.key);
      found[attempt.key].push_back(std::move(attempt));
    }
  }
  return found;
}

std::string RelativeLog(const Attempt& attempt, const Path& out) {
  if (attempt.record->server.log_file.empty()) return "";
  return (attempt.folder / attempt.record->server.log_file)
      .lexically_normal()
      .lexically_proximate(out.lexically_normal())
      .string();
}

// The record of a cell that has none, as far as anybody knows.
record::CellRecord EmptyCell(const std::string& key, const std::vector<FleetCell>& expected) {
  record::CellRecord cell;
  cell.key = cell.config = key;
  for (const FleetCell& each : expected) {
    if (each.key != key) continue;
    cell.config_file = each.config;
    cell.suite = each.suite;
    cell.fingerprint.hardware = each.hardware;
  }
  return cell;
}

// Infrastructure goes into the record, as of a server that did not start; the rest is for the verdict alone.
gate::JudgedCell JudgeMissing(const NotMeasured& problem, record::CellRecord& cell) {
  if (problem.why == Why::kLost) {
    cell.server.failure = record::ServerFailure{.kind = "not_measured",
                                                .stage = "",
                                                .message = problem.text,
                                                .exit = "",
                                                .infrastructure = true,
                                                .log_tail = {}};
    return gate::JudgeAlone(cell, {cell.key, {}, {}}, "");
  }
  record::Check check = gate::MakeCheck(cell, "validity", "measured", "validity");
  check.outcome = record::Outcome::kInvalid;
  check.reason = problem.text;
  return {cell.key, {{check}, {}, {}, false}, false, "", {}};
}

void NoteAttempts(const std::vector<Attempt>& attempts, const Attempt& newest, gate::JudgedCell& judged) {
  if (attempts.size() < 2) return;
  std::vector<std::string> others;
  for (const Attempt& attempt : attempts) {
    if (&attempt == &newest) continue;
    others.push_back(attempt.problem ? attempt.problem->text : attempt.folder.string());
  }
  judged.verdict.notes.push_back({judged.key, "attempts",
                                  fmt::format("{} attempts; the newest decides: {}; not counted: {}",
                                              attempts.size(), newest.folder.string(), Join(others, "; "))});
}

Status Differs(const Attempt& attempt, std::string_view what, const std::string& its,
               const std::string& others) {
  return Fail(ErrorKind::kInvalid, "{}: measured {} {}, and the cells before it {}; merge runs of one {}",
              attempt.folder.string(), what, its.empty() ? "unknown" : its,
              others.empty() ? "unknown" : others, what);
}

// Cells of different changes are no run of anything. One machine may have cloned with ssh, another with a
// token.
Status CheckSameCommit(const Attempt& attempt, const record::RunRecord& merged) {
  if (attempt.run->commit != merged.commit)
    return Differs(attempt, "commit", attempt.run->commit, merged.commit);
  if (RepositoryPlace(attempt.run->repository) == RepositoryPlace(merged.repository)) return {};
  return Differs(attempt, "repository", WithoutCredentials(attempt.run->repository), merged.repository);
}

class Merging {
 public:
  Merging(const MergeOptions& options, const std::vector<FleetCell>& expected)
      : options_(options), expected_(expected) {
    merged_.record.id = NewRunId();
    merged_.record.created = UtcNow();
    merged_.record.command = options.command;
    merged_.record.status = "complete";
    out_ = options.out.empty() ? Path("out") / merged_.record.id : options.out;
  }

  Status Add(const std::string& key, const std::vector<Attempt>& attempts) {
    if (attempts.empty()) {
      AddMissing(
          {Why::kLost, fmt::format("no folder of {} is there: its job did not run or left nothing", key)},
          EmptyCell(key, expected_));
      return {};
    }
    const Attempt& newest = NewestOf(attempts);
    if (newest.run) RETURN_IF_ERROR(AddRun(newest));
    record::CellRecord cell = newest.record ? *newest.record : EmptyCell(key, expected_);
    if (newest.record) cell.server.log_file = RelativeLog(newest, out_);
    if (newest.problem) {
      AddMissing(*newest.problem, std::move(cell));
    } else {
      merged_.record.cells.push_back(std::move(cell));
      merged_.cells.push_back(*newest.judged);
      AddBaseName(newest.base_name);
    }
    NoteAttempts(attempts, newest, merged_.cells.back());
    return {};
  }

  MergedRun Done() && {
    record::RunRecord& record = merged_.record;
    const bool failed = std::any_of(record.cells.begin(), record.cells.end(),
                                    [](const auto& cell) { return cell.server.failure.has_value(); });
    if (interrupted_) {
      record.status = "interrupted";
    } else if (failed) {
      record.status = "failed";
    }
    return std::move(merged_);
  }

 private:
  void AddMissing(const NotMeasured& problem, record::CellRecord cell) {
    interrupted_ |= problem.why == Why::kInterrupted;
    merged_.cells.push_back(JudgeMissing(problem, cell));
    merged_.record.cells.push_back(std::move(cell));
  }

  // The first says which change it is; all others must be of the same.
  Status AddRun(const Attempt& attempt) {
    record::RunRecord& record = merged_.record;
    const record::RunRecord& run = *attempt.run;
    // A scheduler that ends a job ends assay politely, which then keeps what it has; the job is lost
    // nonetheless.
    interrupted_ |= !attempt.problem && run.status == "interrupted";
    if (has_run_) return CheckSameCommit(attempt, record);
    has_run_ = true;
    record.assay_version = run.assay_version;
    record.assay_commit = run.assay_commit;
    record.repository = WithoutCredentials(run.repository);  // of an older assay
    record.branch = run.branch;
    record.commit = run.commit;
    return {};
  }

  void AddBaseName(const std::string& name) {
    if (merged_.base_name.empty()) merged_.base_name = name;
    if (merged_.base_name != name) merged_.base_name = "baseline";
  }

  const MergeOptions& options_;
  const std::vector<FleetCell>& expected_;
  Path out_;
  MergedRun merged_;
  bool has_run_ = false, interrupted_ = false;
};

}  // namespace

Result<MergedRun> MergeRuns(const MergeOptions& options) {
  std::vector<FleetCell> expected;
  if (!options.expect.empty()) {
    ASSIGN_OR_RETURN(expected, ReadCellsTable(options.expect));
  }
  RETURN_IF_ERROR(CheckFolders(options));
  RETURN_IF_ERROR(CheckOut(options));
  std::vector<std::string> order = KeysOf(expected);
  const std::vector<std::string> keys = order;
  ASSIGN_OR_RETURN(const AttemptsByKey found, ReadAttempts(options, keys, order));
  if (order.empty()) {
    return Fail(ErrorKind::kUsage, "{}: holds no folder of a run (one with a record.json)",
                options.folders.front().string());
  }
  Merging merging(options, expected);
  for (const std::string& key : order) {
    const auto attempts = found.find(key);
    RETURN_IF_ERROR(merging.Add(key, attempts == found.end() ? std::vector<Attempt>{} : attempts->second));
  }
  return std::move(merging).Done();
}

}  // namespace assay::runner
