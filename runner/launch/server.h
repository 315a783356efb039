#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "record/run_record.h"

namespace assay::runner {

// Everything needed to start one server; runner/plan makes it from a Config.
struct LaunchPlan {
  std::vector<std::string>
      argv;  // argv[0] is looked up in PATH unless it has a slash; "{port}" is replaced by a free port
  std::map<std::string, std::string> env;  // added to ours
  std::string model_id;                    // must be listed by /v1/models and answer one token
  // The program announces its own port in a line of standard output: {"event":"ready","port":N,...}. Without
  // that the port is chosen by us and filled into argv.
  bool announces_port = false;
  int port = 0;  // not 0: the program uses this very port, whatever its argv says
  std::string ready_path = "/health";
  double ready_timeout_s = 600;
  double stop_timeout_s = 15;
  Path log_file;  // stdout and stderr of the server
};

// A running server in its own process group. Destroying it stops the group; nothing it started survives. If
// our own process is killed the kernel ends the server (PR_SET_PDEATHSIG).
class Server {
 public:
  // Starts and waits until the started process (not some other on that port) answers one real token as
  // `model_id`. The outcome of a server that does not come up is a ServerFailure (a result), not an Error; an
  // Error means that we could not even try.
  struct Started {
    std::unique_ptr<Server> server;  // null when it failed
    std::optional<record::ServerFailure> failure;
    double ready_s = 0;
  };
  static Result<Started> Start(const LaunchPlan& plan, const std::atomic<bool>& interrupted);

  virtual ~Server() = default;
  virtual const std::string& BaseUrl() const = 0;  // http://127.0.0.1:PORT
  virtual int Port() const = 0;
  virtual std::vector<std::string> Argv() const = 0;
  // The ready line of a server that announces its port; null for others.
  virtual const nlohmann::json& Announcement() const = 0;
  // nullopt while it runs; else how it ended. Waits at most about a second, for the exit status and the last
  // lines of the log.
  virtual std::optional<record::ServerFailure> Died(const std::string& stage) = 0;
  // TERM to the group, then KILL after stop_timeout_s; returns what is still there (pids, the port), or
  // nothing.
  virtual std::vector<std::string> Stop() = 0;
  // KILL now (a hang).
  virtual void Kill() = 0;
  // Memory that all its processes hold for themselves (resident and backed by no file: what a leak grows).
  virtual std::optional<double> MemoryMb() { return std::nullopt; }
  // The last lines of its log.
  virtual std::vector<std::string> LogTail() const { return {}; }
};

// One readable table: exit status and log patterns to a failure kind. First match wins.
record::ServerFailure Classify(std::optional<int> wait_status, const std::vector<std::string>& log_tail,
                               const std::string& stage);

}  // namespace assay::runner
