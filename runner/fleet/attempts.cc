#include "runner/fleet/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "runner/run/judged_file.h"
#include "runner/run/run_folder.h"

namespace assay::runner {
namespace {

using Why = NotMeasured::Why;

constexpr char kStartedFile[] = "started", kExitCodeFile[] = "exit_code", kJobStateFile[] = "job_state";

bool Exists(const Path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// A file that only a run has.
bool IsOfARun(const Path& name) {
  return name == kRecordFile || name == kJournalFile || name == kStartedFile || name == kExitCodeFile;
}

class RunFolderSearch {
 public:
  explicit RunFolderSearch(const Path& skip) : skip_(skip) {}

  Status Add(const Path& folder) {
    std::error_code ignored, failed;
    if (!skip_.empty() && std::filesystem::equivalent(folder, skip_, ignored)) return {};
    if (!seen_.insert(std::filesystem::weakly_canonical(folder, ignored)).second) return {};
    std::vector<Path> below;
    bool is_run = false;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
      is_run |= IsOfARun(entry->path().filename());
      if (!entry->is_directory(ignored)) continue;
      if (entry->is_symlink(ignored)) {
        spdlog::warn("{}: is a link to a folder, and not followed", entry->path().string());
        continue;
      }
      below.push_back(entry->path());
    }
    if (failed) {
      return Fail(ErrorKind::kInfrastructure,
                  "{}: cannot be read ({}), so runs in it would be missing; make it readable or move it away",
                  folder.string(), failed.message());
    }
    if (is_run) found_.push_back(folder);
    std::sort(below.begin(), below.end());
    for (const Path& each : below) RETURN_IF_ERROR(Add(each));
    return {};
  }

  std::vector<Path> Found() && { return std::move(found_); }

 private:
  const Path& skip_;
  std::vector<Path> found_;
  std::set<Path> seen_;
};

// What one folder holds, as far as it can be read.
struct Found {
  Path folder;
  bool wrapped = false;  // a job wrote `started`, and so writes `exit_code` when it comes to its end
  std::string started;
  std::optional<int> exit_code;
  bool exit_code_is_damaged = false;
  std::optional<std::string>
      job_state;  // "its job ended as NODE_FAIL on n7", where somebody asked the scheduler
  Result<record::RunRecord> record = Fail(ErrorKind::kInfrastructure, "no record");
  Result<JudgedRun> judged = Fail(ErrorKind::kInfrastructure, "not judged");
};

std::optional<int> ReadExitCode(const Path& file) {
  const auto text = ReadFile(file);
  if (!text) return std::nullopt;
  const std::string_view digits = Trim(*text);
  int code = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return code;
}

Found Read(const Path& folder) {
  Found found;
  found.folder = folder;
  found.wrapped = Exists(folder / kStartedFile);
  if (const auto started = ReadFile(folder / kStartedFile)) found.started = std::string(Trim(*started));
  found.exit_code = ReadExitCode(folder / kExitCodeFile);
  found.exit_code_is_damaged = !found.exit_code && Exists(folder / kExitCodeFile);
  if (const auto state = ReadFile(folder / kJobStateFile); state && !Trim(*state).empty())
    found.job_state = "its job ended as " + Printable(Trim(*state));
  found.record = record::LoadRunRecord(folder / kRecordFile);
  found.judged = LoadJudgedRun(folder / kJudgedFile);
  return found;
}

bool SameCells(const record::RunRecord& record, const JudgedRun& judged) {
  return std::equal(record.cells.begin(), record.cells.end(), judged.cells.begin(), judged.cells.end(),
                    [](const auto& cell, const auto& other) { return cell.key == other.key; });
}

NotMeasured WithoutRecord(const Found& found) {
  const std::string folder = found.folder.string();
  if (!found.exit_code) {
    return {Why::kLost, fmt::format("{}: holds no record.json: {}", folder,
                                    found.job_state.value_or("its job ended before assay did"))};
  }
  const std::string ended =
      fmt::format("{}: assay ended with exit code {} and left no record", folder, *found.exit_code);
  switch (*found.exit_code) {
    case kExitUsage:
      return {Why::kInvalid, ended + ": usage or config error, see the job's log"};
    case kExitInvalid:
      return {Why::kInvalid, ended + ": wrong hardware or no baseline, see the job's log"};
    case kExitInterrupted:
      return {Why::kInterrupted, ended + ": interrupted before the cell was measured"};
    default:
      return {Why::kLost, ended};
  }
}

// Nothing for a run whose verdict can be taken over.
std::optional<NotMeasured> ProblemOf(const Found& found) {
  const std::string folder = found.folder.string();
  if (found.exit_code_is_damaged) {
    return NotMeasured{Why::kLost,
                       folder + ": exit_code holds no number: nobody knows how assay ended (a full disk?)"};
  }
  if (!Exists(found.folder / kRecordFile)) return WithoutRecord(found);
  if (!found.record) {
    return NotMeasured{Why::kLost,
                       fmt::format("{}: the record is damaged: {}", folder, found.record.error().message)};
  }
  if (found.wrapped && !found.exit_code) {
    return NotMeasured{
        Why::kLost,
        fmt::format("{}: has no exit_code: {}", folder,
                    found.job_state.value_or("the job was killed, timed out or lost its machine"))};
  }
  if (found.record->status == "running") {
    return NotMeasured{Why::kLost, folder + ": the run did not reach its end (it was killed)"};
  }
  if (!Exists(found.folder / kJudgedFile)) {
    return NotMeasured{
        Why::kLost,
        folder + ": has no judged.json: the run did not reach its end, or an older assay made it"};
  }
  if (!found.judged || !SameCells(*found.record, *found.judged)) {
    return NotMeasured{Why::kLost, fmt::format("{}: judged.json is damaged{}", folder,
                                               found.judged ? ": it is of other cells than record.json"
                                                            : ": " + found.judged.error().message)};
  }
  const int judged = gate::Conclude(*found.record, found.judged->cells).exit_code;
  if (found.exit_code && *found.exit_code != judged) {
    return NotMeasured{Why::kLost, fmt::format("{}: assay ended with exit code {}, its verdict with {}",
                                               folder, *found.exit_code, judged)};
  }
  return std::nullopt;
}

std::string KeyFromPath(const Found& found, const std::vector<std::string>& expected) {
  const Path whole = std::filesystem::absolute(found.folder).lexically_normal();
  std::vector<std::string> names;
  for (const Path& part : whole) names.push_back(part.string());
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (std::find(expected.begin(), expected.end(), *name) != expected.end()) return *name;
  }
  return (found.wrapped ? whole.parent_path() : whole).filename().string();
}

record::RunRecord WithoutCells(record::RunRecord run) {
  run.cells.clear();
  return run;
}

}  // namespace

Result<std::vector<Path>> FindRunFolders(const std::vector<Path>& folders, const Path& skip) {
  RunFolderSearch search(skip);
  for (const Path& folder : folders) {
    if (Exists(folder)) RETURN_IF_ERROR(search.Add(folder));
  }
  return std::move(search).Found();
}

std::vector<Attempt> ReadRunFolder(const Path& folder, const std::vector<std::string>& expected) {
  const Found found = Read(folder);
  if (found.record && found.record->command.size() > 1 && found.record->command[1] == "merge") return {};
  Attempt common;
  common.folder = folder;
  common.began = found.started;
  common.problem = ProblemOf(found);
  if (found.record) {
    common.run = WithoutCells(*found.record);
    if (common.began.empty()) common.began = found.record->created;
  }
  if (found.judged) common.base_name = found.judged->base_name;
  std::vector<Attempt> attempts;
  for (size_t i = 0; found.record && i < found.record->cells.size(); ++i) {
    Attempt attempt = common;
    attempt.record = found.record->cells[i];
    attempt.key = attempt.record->key;
    if (!attempt.problem) attempt.judged = found.judged->cells[i];
    attempts.push_back(std::move(attempt));
  }
  if (!attempts.empty()) return attempts;
  common.key = KeyFromPath(found, expected);
  if (!common.problem) {
    common.problem = NotMeasured{found.record->status == "interrupted" ? Why::kInterrupted : Why::kLost,
                                 folder.string() + ": the run ended before a cell was measured"};
  }
  return {common};
}

const Attempt& NewestOf(const std::vector<Attempt>& attempts) {
  CHECK(!attempts.empty());
  const auto older = [](const Attempt& a, const Attempt& b) {
    if (a.began.empty() || b.began.empty()) return !a.began.empty();
    return a.began < b.began;
  };
  const Attempt* newest = &attempts.front();
  for (const Attempt& attempt : attempts) {
    if (!older(attempt, *newest)) newest = &attempt;
  }
  return *newest;
}

}  // namespace assay::runner
