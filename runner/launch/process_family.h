#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::runner {

// One line of /proc/<pid>/stat, as far as we act on it.
struct ProcessInfo {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  char state = '?';    // R S D Z ...
  unsigned flags = 0;  // PF_*
  std::string name;

  bool Ended() const { return state == 'Z' || state == 'X'; }
  // The kernel is taking it apart: its sockets may be closed before its exit status can be read.
  bool Exiting() const { return (flags & 0x4u) != 0; }  // PF_EXITING
};

std::optional<ProcessInfo> ParseProcessStat(std::string_view stat);
std::optional<ProcessInfo> ReadProcess(pid_t pid);
std::vector<ProcessInfo> AllProcesses();
// RssAnon in the text of /proc/<pid>/status, in KiB.
std::optional<int64_t> ParseAnonymousMemory(std::string_view status);

// A server's process and all that it started: its group, its session, its descendants, and those that left
// all three by a double fork. The last kind becomes our child (MakeUsReaper) and is known by a mark in its
// environment, or by having been seen as a descendant before. Only a program that does all of that at once
// and clears its environment too gets away.
class ProcessFamily {
 public:
  // `mark` is "NAME=value" in the environment that the leader was started with.
  ProcessFamily(pid_t leader, std::string mark) : leader_(leader), mark_(std::move(mark)) {}

  // Those that live, the leader among them. Collects the exit status of adopted ones that have ended.
  std::vector<ProcessInfo> Alive();
  // Resident anonymous memory of all that live, in bytes; nothing where the kernel does not say.
  std::optional<int64_t> Memory();
  // To the whole group at once, then to each member outside of it.
  void Signal(int signal_number);

 private:
  bool Belongs(const ProcessInfo& process, const std::set<pid_t>& members) const;

  pid_t leader_;
  std::string mark_;
  std::set<pid_t> seen_;
};

// From now on a descendant whose parent ends becomes our child, not init's (PR_SET_CHILD_SUBREAPER).
void MakeUsReaper();

}  // namespace assay::runner
