#include "runner/ab/worktree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "runner/ab/shell_command.h"
#include "runner/plan/program_output.h"
#include "runner/store/git.h"

namespace assay::runner {
namespace {

constexpr char kReason[] = "assay builds here";

Result<std::string> GitOutput(const Path& folder, std::vector<std::string> arguments) {
  const bool long_work = arguments.front() == "worktree";
  ASSIGN_OR_RETURN(const std::string output, ProgramOutput(GitCommand(folder, std::move(arguments)),
                                                           std::chrono::seconds(long_work ? 600 : 30)));
  return std::string(Trim(output));
}

Path LockFile(const Path& folder) {
  return folder.string() + ".lock";
}

// The lock, unless another process holds it.
std::optional<int> TryLock(const Path& file, int flags) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC | flags, 0644);
  if (fd < 0) return std::nullopt;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return std::nullopt;
}

// What git knows of it goes first: what is left then is an ordinary folder.
void Remove(const Path& repository, const Path& folder) {
  const auto removed = GitOutput(repository, {"worktree", "remove", "--force", "--force", folder.string()});
  std::error_code failed;
  std::filesystem::remove_all(folder, failed);
  if (failed) spdlog::warn("{}: cannot be removed: {}", folder.string(), failed.message());
  if (removed) return;
  static_cast<void>(GitOutput(repository, {"worktree", "unlock", folder.string()}));
  static_cast<void>(GitOutput(repository, {"worktree", "prune"}));
}

}  // namespace

Result<Path> CheckoutOf(const Path& folder) {
  const auto top = GitOutput(folder, {"rev-parse", "--show-toplevel"});
  if (top && !top->empty()) return Path(*top);
  return Fail(ErrorKind::kUsage, "{}: is in no git checkout; name one with --repository",
              std::filesystem::absolute(folder).lexically_normal().string());
}

Result<std::string> ResolveCommit(const Path& folder, const std::string& ref) {
  const auto commit =
      GitOutput(folder, {"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"});
  if (commit && !commit->empty()) return *commit;
  return Fail(
      ErrorKind::kUsage,
      "{}: no such branch, tag or commit in {}; if it is only on the remote, fetch it first (a shallow "
      "clone needs git fetch --unshallow)",
      ref, folder.string());
}

Result<std::unique_ptr<Worktree>> Worktree::Add(const Path& repository, const std::string& commit,
                                                const Path& folder, const Path& log_file,
                                                const std::atomic<bool>& interrupted) {
  const Path place = std::filesystem::absolute(folder).lexically_normal();
  if (std::filesystem::exists(place))
    return Fail(ErrorKind::kUsage, "{}: exists; a worktree needs a folder of its own", place.string());
  RETURN_IF_ERROR(MakeFolders(place.parent_path()));
  const auto lock = TryLock(LockFile(place), O_CREAT);
  if (!lock)
    return Fail(ErrorKind::kInfrastructure, "{}: another process holds it, or it cannot be written",
                LockFile(place).string());
  // From here on the destructor cleans up, whatever git has done of its part.
  std::unique_ptr<Worktree> worktree(new Worktree(repository, place, *lock));
  const std::string command =
      ShellJoin(GitCommand(repository, {"worktree", "add", "--quiet", "--detach", "--lock", "--reason",
                                        kReason, place.string(), commit}));
  ASSIGN_OR_RETURN(const int status, RunShellCommand(command, "/", log_file, interrupted));
  if (status == 0) return worktree;
  return Fail(ErrorKind::kInfrastructure, "git worktree add {} {}: failed: {}", place.string(), commit,
              Join(TailLines(log_file, 3), "; "));
}

Worktree::~Worktree() {
  Remove(repository_, folder_);
  std::error_code ignored;
  std::filesystem::remove(LockFile(folder_), ignored);
  ::close(lock_);
}

std::vector<Path> RemoveAbandonedWorktrees(const Path& repository) {
  std::vector<Path> removed;
  const auto list = GitOutput(repository, {"worktree", "list", "--porcelain"});
  if (!list) return removed;
  Path folder;
  for (const std::string& line : SplitLines(*list)) {
    if (StartsWith(line, "worktree ")) folder = line.substr(9);
    if (line != std::string("locked ") + kReason) continue;
    // Its process holds the lock file. Where the file is gone, so is the process: it is made before and
    // removed after.
    const bool no_file = !std::filesystem::exists(LockFile(folder));
    const auto lock = TryLock(LockFile(folder), 0);
    if (!lock && !no_file) continue;
    Remove(repository, folder);
    std::error_code ignored;
    std::filesystem::remove(LockFile(folder), ignored);
    if (lock) ::close(*lock);
    removed.push_back(folder);
  }
  return removed;
}

}  // namespace assay::runner
