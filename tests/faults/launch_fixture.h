#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "evals/http/client.h"
#include "runner/launch/process_family.h"
#include "runner/launch/server.h"
#include "testing/temp_dir.h"

// The launcher against a server process with planted faults.
namespace assay::runner {

inline const std::atomic<bool> kNotInterrupted{false};

inline bool IsAlive(pid_t pid) {
  const auto process = ReadProcess(pid);
  return process && !process->Ended();
}

// Waits for what must come soon; the limit only ends a failing test.
template <typename Condition>
bool Soon(const Condition& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

class Launch : public ::testing::Test {
 protected:
  // A scripted server that announces its port, with these flags.
  LaunchPlan Plan(const std::vector<std::string>& flags = {}) {
    LaunchPlan plan;
    plan.argv = {ASSAY_BIN_DIR "/assay-scripted-server"};
    plan.argv.insert(plan.argv.end(), flags.begin(), flags.end());
    plan.model_id = "scripted";
    plan.announces_port = true;
    plan.ready_timeout_s = 20;
    plan.stop_timeout_s = 20;
    plan.log_file = folder_ / "server.log";
    return plan;
  }

  Server::Started Start(const LaunchPlan& plan) {
    auto started = Server::Start(plan, kNotInterrupted);
    EXPECT_TRUE(started) << started.error().message;
    return started ? std::move(*started) : Server::Started{};
  }

  record::ServerFailure Failure(const LaunchPlan& plan) {
    Server::Started started = Start(plan);
    EXPECT_FALSE(started.server);
    EXPECT_TRUE(started.failure);
    return started.failure.value_or(record::ServerFailure{});
  }

  std::unique_ptr<Server> Ready(const LaunchPlan& plan) {
    Server::Started started = Start(plan);
    EXPECT_TRUE(started.server) << (started.failure ? started.failure->message : "");
    return std::move(started.server);
  }

  std::string Log() const { return ReadFile(folder_ / "server.log").value_or(""); }

  // The number behind "pid": in the log's line of this event.
  pid_t LoggedPid(const std::string& event) const {
    for (const std::string& line : SplitLines(Log())) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object() && json.value("event", "") == event) return json["pid"].get<pid_t>();
    }
    return -1;
  }

  const testing::TempDir folder_;
};

inline evals::HttpResult Complete(const Server& server) {
  evals::HttpRequest request;
  request.url = server.BaseUrl() + "/v1/completions";
  request.body = R"({"model":"scripted","prompt":"x"})";
  return evals::Fetch(request);
}

}  // namespace assay::runner
