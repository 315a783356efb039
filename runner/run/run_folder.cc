#include "runner/run/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "assay_version.h"
#include "base/clock.h"
#include "base/secrets.h"
#include "runner/run/subject.h"

namespace assay::runner {
namespace {

// The journal is created, never opened.
Status Claim(const Path& folder) {
  const int fd = ::open((folder / kJournalFile).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) {
    return Fail(ErrorKind::kUsage,
                "{}: holds another run's journal; choose another --out, or go on with it: --resume",
                folder.string());
  }
  if (fd < 0) return Fail(ErrorKind::kUsage, "--out: {}: {}", folder.string(), std::strerror(errno));
  ::close(fd);
  return {};
}

}  // namespace

record::RunRecord NewRunRecord(const std::vector<std::string>& command, const std::string& branch) {
  const Subject subject = DetectSubject(std::filesystem::current_path());
  record::RunRecord record;
  record.id = NewRunId();
  record.created = UtcNow();
  record.assay_version = ASSAY_VERSION;
  record.assay_commit = ASSAY_COMMIT;
  record.repository = subject.repository;
  record.branch = branch.empty() ? subject.branch : branch;
  record.commit = subject.commit;
  record.command = HideSecrets(command);
  record.status = "running";
  return record;
}

Result<Path> ClaimRunFolder(const Path& out, const std::string& run_id) {
  const Path folder = out.empty() ? Path("out") / run_id : out;
  if (std::filesystem::exists(folder / kRecordFile)) {
    return Fail(ErrorKind::kUsage, "{}: already holds a run; choose another --out", folder.string());
  }
  if (const Status made = MakeFolders(folder); !made)
    return Fail(ErrorKind::kUsage, "--out: {}", made.error().message);
  RETURN_IF_ERROR(Claim(folder));
  return folder;
}

Status WriteReports(const reports::ReportInput& input, const Path& folder) {
  for (const reports::Report& report : reports::ReportTable()) {
    RETURN_IF_ERROR(WriteFileAtomic(folder / report.file_name, report.render(input)));
  }
  return {};
}

Status Publish(const reports::ReportInput& input, const Path& folder) {
  RETURN_IF_ERROR(WriteReports(input, folder));
  fmt::print("{}\nreport  {}\nrecord  {}\n", reports::RenderTerminal(input, ::isatty(STDOUT_FILENO) == 1),
             (folder / "report.md").string(), (folder / kRecordFile).string());
  return {};
}

Result<EarlierAttempt> LoadEarlierAttempt(const Path& folder) {
  EarlierAttempt earlier;
  ASSIGN_OR_RETURN(earlier.record, record::LoadRunRecord(folder / kRecordFile));
  if (earlier.record.status != "running" && earlier.record.status != "interrupted") {
    return Fail(ErrorKind::kUsage, "--resume: the run in {} is {}; there is nothing to go on with",
                folder.string(), earlier.record.status);
  }
  ASSIGN_OR_RETURN(earlier.journal, ReadJournal(folder / kJournalFile));
  return earlier;
}

Status CheckSameChange(const record::RunRecord& earlier, const record::RunRecord& now, const Path& folder) {
  if (earlier.commit == now.commit && earlier.repository == now.repository) return {};
  return Fail(ErrorKind::kUsage, "--resume: the run in {} measured commit {}, and this checkout is at {}",
              folder.string(), earlier.commit.empty() ? "unknown" : earlier.commit,
              now.commit.empty() ? "unknown" : now.commit);
}

Status CheckSameAsked(const JournalCell& earlier, const std::map<std::string, std::string>& now,
                      const Path& folder) {
  if (earlier.samples.empty()) return {};
  if (earlier.asked.empty()) {
    return Fail(
        ErrorKind::kUsage,
        "--resume: the journal in {} does not say what was asked (an older assay wrote it); begin anew "
        "with another --out",
        folder.string());
  }
  for (const auto& [setting, value] : now) {
    const auto found = earlier.asked.find(setting);
    const std::string before = found == earlier.asked.end() ? "unknown" : found->second;
    if (before == value) continue;
    return Fail(
        ErrorKind::kUsage,
        "--resume: the run in {} was begun with {} {}, and now it is {}; its answers cannot stand beside "
        "new ones: restore what was asked, or begin anew with another --out",
        folder.string(), setting, before, value);
  }
  return {};
}

}  // namespace assay::runner
