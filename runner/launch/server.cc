#include "runner/launch/server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "runner/launch/launched_server.h"
#include "runner/launch/listening_sockets.h"
#include "runner/launch/readiness.h"

namespace assay::runner {
namespace {

using State = ProbeAnswer::State;

constexpr std::chrono::milliseconds kFirstPause{20}, kLongestPause{500};
constexpr double kSecondsBetweenNotices = 15;
constexpr char kStage[] = "starting";

double SecondsSince(TimePoint start) {
  return Seconds(std::chrono::steady_clock::now() - start);
}

// Waits for one server, step by step; ends with its readiness, its failure, the deadline or an interruption.
class Waiting {
 public:
  Waiting(LaunchedServer& server, const LaunchPlan& plan, const std::atomic<bool>& interrupted)
      : server_(server), plan_(plan), interrupted_(interrupted) {}

  // nullopt when it became ready. Check `Interrupted` too.
  std::optional<record::ServerFailure> Wait();
  bool Interrupted() const { return interrupted_; }
  double Elapsed() const { return SecondsSince(start_); }

 private:
  ProbeAnswer Step();
  ProbeAnswer CheckOwner() const;
  bool Over();
  void Notice();
  void Pause();
  void Await(const std::string& what);
  record::ServerFailure Refused(const ProbeAnswer& answer) const;
  record::ServerFailure TimedOut() const;

  LaunchedServer& server_;
  const LaunchPlan& plan_;
  const std::atomic<bool>& interrupted_;
  const TimePoint start_ = std::chrono::steady_clock::now();
  std::unique_ptr<ReadinessProbe> probe_;
  std::optional<record::ServerFailure> death_;
  bool was_healthy_ = false;
  std::string awaited_;
  std::string last_answer_;  // why we still wait
  double next_notice_ = kSecondsBetweenNotices;
  std::chrono::milliseconds pause_ = kFirstPause;
};

std::optional<record::ServerFailure> Waiting::Wait() {
  while (!Over()) {
    const ProbeAnswer answer = Step();
    if (answer.state == State::kYes) return std::nullopt;
    last_answer_ = answer.detail;
    // A question that was cut short by the server's death proves nothing about what it answered.
    if (Over()) break;
    if (answer.state == State::kNever) return Refused(answer);
    Pause();
  }
  if (death_) return death_;
  return TimedOut();
}

ProbeAnswer Waiting::Step() {
  if (!server_.FindPort()) {
    Await("its ready line");
    return {State::kNotYet, "", "no ready line on its standard output"};
  }
  if (!probe_) {
    probe_ = std::make_unique<ReadinessProbe>(server_.BaseUrl(), plan_.model_id, [this] { return Over(); });
  }
  if (!was_healthy_) Await(fmt::format("{}{}", server_.BaseUrl(), plan_.ready_path));
  ProbeAnswer answer = probe_->Health(plan_.ready_path);
  if (answer.state != State::kYes) return answer;
  was_healthy_ = true;
  if (answer = CheckOwner(); answer.state != State::kYes) return answer;
  if (answer = probe_->Models(); answer.state != State::kYes) return answer;
  Await("one token of " + plan_.model_id);
  if (answer = probe_->Token(); answer.state != State::kYes) return answer;
  return CheckOwner();
}

ProbeAnswer Waiting::CheckOwner() const {
  if (server_.OwnsPort()) return {State::kYes, "", ""};
  return {
      State::kNever, "foreign_server",
      fmt::format("port {} is answered by a process that this run did not start; stop that server, or let "
                  "this one use another port",
                  server_.Port())};
}

bool Waiting::Over() {
  Notice();
  if (!death_) death_ = server_.Died(kStage);
  return death_ || interrupted_ || Elapsed() >= plan_.ready_timeout_s;
}

void Waiting::Await(const std::string& what) {
  if (what == awaited_) return;
  awaited_ = what;
  spdlog::info("waiting for {} (pid {}), at most {:.0f} s more", what, server_.Pid(),
               plan_.ready_timeout_s - Elapsed());
}

void Waiting::Notice() {
  if (Elapsed() < next_notice_) return;
  next_notice_ += kSecondsBetweenNotices;
  spdlog::info("still waiting for {}: {:.0f} of at most {:.0f} s{}; its log is {}", awaited_, Elapsed(),
               plan_.ready_timeout_s, last_answer_.empty() ? "" : "; last answer: " + last_answer_,
               plan_.log_file.string());
}

void Waiting::Pause() {
  std::this_thread::sleep_for(pause_);
  pause_ = std::min(pause_ * 3 / 2, kLongestPause);
}

record::ServerFailure Waiting::Refused(const ProbeAnswer& answer) const {
  record::ServerFailure failure = Classify(std::nullopt, server_.LogTail(), kStage);
  failure.kind = answer.kind;
  failure.message = answer.detail;
  // Another model is the config's or the change's doing, and will be there again; the rest may pass.
  failure.infrastructure = answer.kind != "wrong_model";
  return failure;
}

record::ServerFailure Waiting::TimedOut() const {
  record::ServerFailure failure = Classify(std::nullopt, server_.LogTail(), kStage);
  const bool known_cause = failure.kind != "never_ready";
  const std::string cause = known_cause ? "; its log says: " + failure.message : "";
  failure.kind = "never_ready";
  failure.infrastructure = true;
  failure.message =
      fmt::format("not ready after {:.1f} s (engine.ready_timeout_s): {}{}", plan_.ready_timeout_s,
                  last_answer_.empty() ? "no answer from " + awaited_ : last_answer_, cause);
  return failure;
}

// The port that goes into argv, 0 when the program announces its own.
Result<int> ChoosePort(const LaunchPlan& plan) {
  if (plan.port != 0) return plan.port;
  if (plan.announces_port) return 0;
  for (const std::string& argument : plan.argv)
    if (argument.find("{port}") != std::string::npos) return FreePort();
  return Fail(
      ErrorKind::kUsage,
      "engine.argv has no {{port}}: write it where the program takes its port, as in --port {{port}}");
}

record::ServerFailure NotStarted(const Error& error) {
  record::ServerFailure failure;
  failure.kind = "not_started";
  failure.stage = kStage;
  failure.message = error.message;
  failure.infrastructure = true;  // the program is not on this machine, or it cannot run one more
  return failure;
}

}  // namespace

Result<Server::Started> Server::Start(const LaunchPlan& requested, const std::atomic<bool>& interrupted) {
  LaunchPlan plan = requested;
  if (plan.argv.empty()) return Fail(ErrorKind::kUsage, "engine.argv is empty: it must name a program");
  RETURN_IF_ERROR(MakeFolders(std::filesystem::absolute(plan.log_file).parent_path()));
  ASSIGN_OR_RETURN(const int port, ChoosePort(plan));
  for (std::string& argument : plan.argv)
    argument = ReplaceAll(std::move(argument), "{port}", std::to_string(port));

  Started started;
  auto launched = LaunchedServer::Launch(plan, port);
  if (!launched) {
    started.failure = NotStarted(launched.error());
    return started;
  }
  Waiting waiting(**launched, plan, interrupted);
  started.failure = waiting.Wait();
  started.ready_s = waiting.Elapsed();
  if (!started.failure) {
    started.server = std::move(*launched);
    return started;
  }
  for (const std::string& left : (*launched)->Stop())
    started.failure->message += "; still there after stopping it: " + left;
  if (waiting.Interrupted() && started.failure->exit.empty())
    return Fail(ErrorKind::kInterrupted, "interrupted while waiting for {}", plan.argv[0]);
  return started;
}

}  // namespace assay::runner
