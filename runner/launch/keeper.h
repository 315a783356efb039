#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "runner/launch/child_process.h"
#include "runner/launch/server.h"

namespace assay::runner {

// The thread that starts a server and stays as long as the server may live, because the kernel's death signal
// follows the thread and not the process. It copies the standard output of a program that announces its port
// into the log, and reads the announcement on the way.
class Keeper {
 public:
  // `argv` and `env` are final; the log is opened for appending.
  Keeper(const LaunchPlan& plan, std::vector<std::string> argv, std::map<std::string, std::string> env);
  ~Keeper();  // the server must have ended
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Once: the pid, or why the program could not be started.
  Result<pid_t> WaitForStart() { return started_.get_future().get(); }
  // The ready line; null until it came.
  nlohmann::json Announcement() const;
  // Waits until what the ended server had written is in the log, but not for a child that keeps it open.
  void WaitForOutput();

 private:
  void Run();
  Result<pid_t> Spawn();
  void CopyOutput();
  void ReadLines(std::string_view bytes);

  const LaunchPlan& plan_;
  const std::vector<std::string> argv_;
  const std::map<std::string, std::string> env_;
  std::promise<Result<pid_t>> started_;
  int output_ = -1;  // read end of the server's standard output, when it announces its port
  int log_ = -1;
  int wake_[2] = {-1, -1};  // closing [1] ends the thread
  std::string line_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool output_ended_ = false;
  nlohmann::json announcement_;
  std::thread thread_;
};

// {"event":"ready","port":N,...} with a port in range, or nothing.
std::optional<nlohmann::json> ParseAnnouncement(std::string_view line);

}  // namespace assay::runner
