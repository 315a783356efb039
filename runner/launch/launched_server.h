#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/launch/guardian.h"
#include "runner/launch/keeper.h"
#include "runner/launch/process_family.h"
#include "runner/launch/server.h"

namespace assay::runner {

// A started process that may or may not become ready. Its functions may be called from several threads.
class LaunchedServer final : public Server {
 public:
  // `plan.argv` is final, no placeholder left; port 0 means that the program announces it.
  static Result<std::unique_ptr<LaunchedServer>> Launch(LaunchPlan plan, int port);
  ~LaunchedServer() override { Stop(); }

  const std::string& BaseUrl() const override { return base_url_; }
  int Port() const override { return port_; }
  std::vector<std::string> Argv() const override { return plan_.argv; }
  const nlohmann::json& Announcement() const override { return announcement_; }
  std::optional<record::ServerFailure> Died(const std::string& stage) override;
  std::vector<std::string> Stop() override;
  void Kill() override;
  std::optional<double> MemoryMb() override;
  std::vector<std::string> LogTail() const override;

  pid_t Pid() const { return leader_; }
  // Takes the port from the announcement if that has come by now; whether the port is known.
  bool FindPort();
  // Whether one of our own processes listens on our port.
  bool OwnsPort();

 private:
  explicit LaunchedServer(LaunchPlan plan, std::string mark)
      : plan_(std::move(plan)), mark_(std::move(mark)) {}

  std::optional<int> WaitStatus() const;
  std::optional<int> ExitStatusSoon() const;
  std::vector<std::string> Evidence() const;
  bool WaitUntilGone(double seconds);
  std::vector<std::string> Remaining();
  void SetPort(int port);

  const LaunchPlan plan_;
  const std::string mark_;
  std::unique_ptr<Guardian> guardian_;
  std::unique_ptr<Keeper> keeper_;
  pid_t leader_ = -1;
  int port_ = 0;
  std::string base_url_;
  nlohmann::json announcement_;
  const TimePoint started_ = RealClock().Now();
  std::optional<int64_t> oom_kills_before_;

  std::mutex mutex_;
  std::optional<ProcessFamily> family_;
  std::set<uint64_t> sockets_;  // inodes of our listening sockets, when last seen
  std::optional<record::ServerFailure> death_;
  bool ended_by_us_ = false;
  bool stopped_ = false;
};

}  // namespace assay::runner
