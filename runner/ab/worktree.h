#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace assay::runner {

// The commit that a branch, tag or hash names in the repository around `folder`. kUsage when there is none.
Result<std::string> ResolveCommit(const Path& folder, const std::string& ref);
// The top folder of that repository's checkout.
Result<Path> CheckoutOf(const Path& folder);

// A checkout of one commit in a folder of its own (git worktree), removed when this is destroyed. A lock file
// beside it is held for as long as our process lives, so that what a killed one left behind is known as such.
class Worktree {
 public:
  // `folder` must not exist. Submodules and files kept elsewhere (LFS) are as `git worktree add` leaves them.
  static Result<std::unique_ptr<Worktree>> Add(const Path& repository, const std::string& commit,
                                               const Path& folder, const Path& log_file,
                                               const std::atomic<bool>& interrupted);
  ~Worktree();
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;

  const Path& Folder() const { return folder_; }

 private:
  Worktree(Path repository, Path folder, int lock)
      : repository_(std::move(repository)), folder_(std::move(folder)), lock_(lock) {}

  Path repository_, folder_;
  int lock_;
};

// Removes the worktrees of this repository whose assay was killed; returns their folders.
std::vector<Path> RemoveAbandonedWorktrees(const Path& repository);

}  // namespace assay::runner
