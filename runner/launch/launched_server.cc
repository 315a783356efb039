#include "runner/launch/launched_server.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "runner/launch/kill_evidence.h"
#include "runner/launch/listening_sockets.h"

namespace assay::runner {
namespace {

using std::chrono::steady_clock;

constexpr char kMarkName[] = "ASSAY_SERVER";
constexpr size_t kTailLines = 200;
constexpr double kKillWaitSeconds = 15;  // after SIGKILL: a driver may take its time to free a device
constexpr std::chrono::milliseconds kShortPause{2}, kLongPause{50};
constexpr std::chrono::seconds kExitingWait{1};

std::chrono::nanoseconds FromSeconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

// Unique among all servers of all runs on this machine.
std::string NewMarkValue() {
  static std::atomic<int> count{0};
  return fmt::format("{}-{}-{}", ::getpid(), steady_clock::now().time_since_epoch().count(), ++count);
}

// siginfo_t back into the form that wait(2) uses.
int ToWaitStatus(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return info.si_status << 8;
  return info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
}

std::vector<pid_t> Pids(const std::vector<ProcessInfo>& processes) {
  std::vector<pid_t> pids;
  for (const ProcessInfo& process : processes) pids.push_back(process.pid);
  return pids;
}

}  // namespace

Result<std::unique_ptr<LaunchedServer>> LaunchedServer::Launch(LaunchPlan plan, int port) {
  MakeUsReaper();
  const std::string mark = NewMarkValue();
  std::unique_ptr<LaunchedServer> server(
      new LaunchedServer(std::move(plan), std::string(kMarkName) + "=" + mark));
  if (port != 0) server->SetPort(port);
  server->oom_kills_before_ = OomKills();
  ASSIGN_OR_RETURN(server->guardian_, Guardian::Start());
  std::map<std::string, std::string> env = server->plan_.env;
  env[kMarkName] = mark;
  server->keeper_ = std::make_unique<Keeper>(server->plan_, server->plan_.argv, std::move(env));
  ASSIGN_OR_RETURN(server->leader_, server->keeper_->WaitForStart());
  server->guardian_->Guard(server->leader_);
  server->family_.emplace(server->leader_, server->mark_);
  return server;
}

void LaunchedServer::SetPort(int port) {
  port_ = port;
  base_url_ = fmt::format("http://127.0.0.1:{}", port);
}

bool LaunchedServer::FindPort() {
  if (port_ != 0) return true;
  announcement_ = keeper_->Announcement();
  if (announcement_.is_null()) return false;
  SetPort(announcement_["port"].get<int>());
  return true;
}

bool LaunchedServer::OwnsPort() {
  const std::lock_guard lock(mutex_);
  const std::set<uint64_t> listeners = ListenersOn(port_);
  const std::set<uint64_t> ours = SocketsOf(Pids(family_->Alive()));
  if (listeners.empty() || !std::includes(ours.begin(), ours.end(), listeners.begin(), listeners.end()))
    return false;
  sockets_ = listeners;
  return true;
}

std::vector<std::string> LaunchedServer::LogTail() const {
  return TailLines(plan_.log_file, kTailLines);
}

// The leader is looked at and left a zombie, so that its number stays ours until Stop is through.
std::optional<int> LaunchedServer::WaitStatus() const {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return std::nullopt;
  return ToWaitStatus(info);
}

// A dying process closes its sockets before it can be waited for: clients see it first.
std::optional<int> LaunchedServer::ExitStatusSoon() const {
  const auto give_up = steady_clock::now() + kExitingWait;
  for (;;) {
    if (const auto status = WaitStatus()) return status;
    if (steady_clock::now() >= give_up) return std::nullopt;
    std::this_thread::sleep_for(kShortPause);
  }
}

std::vector<std::string> LaunchedServer::Evidence() const {
  std::vector<std::string> lines = KernelLinesAbout(leader_, started_);
  const auto kills = OomKills();
  if (kills && oom_kills_before_ && *kills > *oom_kills_before_)
    lines.push_back(fmt::format("kernel: memory.events of our control group: oom_kill rose from {} to {}",
                                *oom_kills_before_, *kills));
  return lines;
}

std::optional<record::ServerFailure> LaunchedServer::Died(const std::string& stage) {
  const std::lock_guard lock(mutex_);
  if (death_) return death_;
  if (ended_by_us_ || leader_ < 0) return std::nullopt;
  std::optional<int> status = WaitStatus();
  if (!status) {
    const auto process = ReadProcess(leader_);
    if (process && !process->Exiting()) return std::nullopt;
    status = ExitStatusSoon();
  }
  keeper_->WaitForOutput();
  std::vector<std::string> tail = LogTail();
  for (std::string& line : Evidence()) tail.push_back(std::move(line));
  death_ = Classify(status, tail, stage);
  return death_;
}

void LaunchedServer::Kill() {
  const std::lock_guard lock(mutex_);
  ended_by_us_ = true;
  if (!stopped_ && family_) family_->Signal(SIGKILL);
}

std::optional<double> LaunchedServer::MemoryMb() {
  const std::lock_guard lock(mutex_);
  const auto bytes = family_ && !stopped_ ? family_->Memory() : std::nullopt;
  return bytes ? std::optional(static_cast<double>(*bytes) / 1e6) : std::nullopt;
}

bool LaunchedServer::WaitUntilGone(double seconds) {
  const auto give_up = steady_clock::now() + FromSeconds(seconds);
  auto pause = kShortPause;
  while (!Remaining().empty()) {
    if (steady_clock::now() >= give_up) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongPause);
  }
  return true;
}

// What must be gone before the next server may start, by name. The one place to extend: device memory that
// the driver still frees comes here.
std::vector<std::string> LaunchedServer::Remaining() {
  std::vector<std::string> remaining;
  for (const ProcessInfo& process : family_->Alive())
    remaining.push_back(fmt::format("process {} ({}, state {})", process.pid, process.name, process.state));
  const std::set<uint64_t> listeners = port_ != 0 ? ListenersOn(port_) : std::set<uint64_t>{};
  const bool listening = std::any_of(sockets_.begin(), sockets_.end(),
                                     [&](uint64_t inode) { return listeners.contains(inode); });
  if (listening) remaining.push_back(fmt::format("port {}", port_));
  return remaining;
}

std::vector<std::string> LaunchedServer::Stop() {
  const std::lock_guard lock(mutex_);
  if (stopped_) return {};
  stopped_ = ended_by_us_ = true;
  std::vector<std::string> remaining;
  if (family_) {
    family_->Signal(SIGTERM);
    if (!WaitUntilGone(plan_.stop_timeout_s)) {
      family_->Signal(SIGKILL);
      WaitUntilGone(kKillWaitSeconds);
    }
    remaining = Remaining();
    ::waitpid(leader_, nullptr, WNOHANG);
  }
  guardian_.reset();
  keeper_.reset();
  return remaining;
}

}  // namespace assay::runner
