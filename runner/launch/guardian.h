#pragma once

#include <sys/types.h>

#include <memory>

#include "base/result.h"

namespace assay::runner {

// A waiting shell that kills a process group when we end in a way that lets us do nothing (SIGKILL, a crash).
// The kernel's death signal reaches only our direct child; this reaches what that child had started, as far
// as it stays in the group. What left the group (a daemon with a session of its own) survives our SIGKILL.
class Guardian {
 public:
  // Call before the group exists; Guard names it.
  static Result<std::unique_ptr<Guardian>> Start();
  // Dismisses the shell: the group is gone, or is stopped by us.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  void Guard(pid_t group);

 private:
  Guardian(pid_t shell, int pipe) : shell_(shell), pipe_(pipe) {}

  pid_t shell_;
  int pipe_;  // its write end lives exactly as long as we do
};

}  // namespace assay::runner
