// The built program with the bundled model, seen over HTTP: what other tests show of its parts with a
// scripted model.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "base/file.h"
#include "engine/server/abuse_test_support.h"
#include "testing/program.h"

namespace assay::engine {
namespace {

using nlohmann::json;

class ServedTinyMoe {
 public:
  explicit ServedTinyMoe(const std::vector<std::string>& flags)
      : program_(Argv(flags), {{"PATH", "/usr/bin:/bin"}}, ASSAY_SOURCE_DIR) {
    for (int i = 0; i < 3000 && port_ == 0 && program_.Running(); ++i) {
      const std::string out = program_.Out();
      if (out.find('\n') != std::string::npos) port_ = json::parse(out.substr(0, out.find('\n')))["port"];
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_NE(port_, 0) << program_.Err();
  }
  int Port() const { return port_; }
  std::string Metrics() const { return TestClient(port_).Call("GET", "/metrics").body; }
  // Exit code of SIGTERM.
  int Stop() {
    program_.Signal(SIGTERM);
    return program_.Wait();
  }

 private:
  static std::vector<std::string> Argv(const std::vector<std::string>& flags) {
    std::vector<std::string> argv = {std::string(ASSAY_BIN_DIR) + "/assay-engine",       "serve",  "--model",
                                     std::string(ASSAY_SOURCE_DIR) + "/models/tiny-moe", "--port", "0"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return argv;
  }

  testing::Program program_;
  int port_ = 0;
};

// Token-id prompts of all lengths, some with a common beginning, greedy and sampled, with log-probabilities.
std::vector<json> SomeRequests() {
  std::mt19937 random(20261201);  // NOLINT: the same requests in every run
  std::vector<json> requests;
  for (int i = 0; i < 24; ++i) {
    std::vector<int> prompt;
    if (i % 3 == 0) {
      for (int token = 0; token < 70; ++token) prompt.push_back(100 + token);
    }
    const int length = 1 + static_cast<int>(random() % (i % 4 == 0 ? 300 : 40));
    for (int t = 0; t < length; ++t) prompt.push_back(static_cast<int>(random() % 900));
    json request = {{"model", "tiny-moe"},        {"prompt", prompt},       {"max_tokens", 8 + random() % 40},
                    {"temperature", i % 2 * 0.8}, {"seed", 1000 + i},       {"logprobs", 3},
                    {"ignore_eos", true},         {"n", i % 8 == 1 ? 3 : 1}};
    if (i % 5 == 0) request["presence_penalty"] = 0.7;
    requests.push_back(std::move(request));
  }
  return requests;
}

json Choices(int port, const json& request) {
  const TestClient::Response response = TestClient(port).Post("/v1/completions", request);
  EXPECT_EQ(response.status, 200) << response.body;
  return response.Json().value("choices", json());
}

TEST(ServedTinyMoe, AnswersTheSameBitsAloneAndInAnyCompanyUnderAnySchedule) {
  const std::vector<json> requests = SomeRequests();
  std::vector<json> alone;
  {
    ServedTinyMoe server({"--threads", "1", "--max-num-seqs", "1", "--no-enable-prefix-caching"});
    for (const json& request : requests) alone.push_back(Choices(server.Port(), request));
    EXPECT_EQ(server.Stop(), 0);
  }
  struct Schedule {
    std::vector<std::string> flags;
    std::string happens;  // a counter of what this schedule is about
  };
  const std::vector<Schedule> schedules = {
      {{"--threads", "2"}, "assay:prefix_cache_hits_total"},
      {{"--tensor-parallel-size", "2", "--max-num-batched-tokens", "48", "--max-num-seqs", "7"},
       "assay:prefix_cache_hits_total"},
      // 40 blocks of 16 hold two long requests: others are pre-empted.
      {{"--threads", "2", "--kv-cache-blocks", "40", "--max-model-len", "512", "--no-enforce-eager"},
       "assay:num_preemptions_total"}};
  for (const Schedule& schedule : schedules) {
    SCOPED_TRACE(::testing::PrintToString(schedule.flags));
    ServedTinyMoe server(schedule.flags);
    std::atomic<size_t> next = 0;
    std::vector<std::thread> clients;
    for (int client = 0; client < 12; ++client) {
      clients.emplace_back([&] {
        for (size_t i = next++; i < 2 * requests.size(); i = next++) {
          const size_t which = i * 7 % requests.size();  // twice each, in another order
          EXPECT_EQ(Choices(server.Port(), requests[which]), alone[which]) << "request " << which;
        }
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_GT(Metric(server.Metrics(), schedule.happens), 0) << schedule.happens;
    EXPECT_EQ(server.Stop(), 0);
  }
}

TEST(ServedTinyMoe, AbuseCostsNobodyElseAnAnswerAndLeavesNothingBehind) {
  ServedTinyMoe server({"--threads", "2"});
  const json decent = {{"model", "tiny-moe"},
                       {"prompt", {1, 2, 3, 4, 5}},
                       {"max_tokens", 12},
                       {"temperature", 0},
                       {"ignore_eos", true}};
  json endless = decent;
  endless.update({{"stream", true}, {"max_tokens", 1500}});
  const json hello = {{{"role", "user"}, {"content", "hello"}}};
  const json answer = Choices(server.Port(), decent);
  const AbusedServer abused{
      .port = server.Port(),
      .endless = endless,
      .brief = decent,
      .brief_text = answer.at(0).at("text"),
      .many = {{"messages", hello}, {"n", 16}, {"stream", true}, {"max_tokens", 1500}, {"ignore_eos", true}},
      .responses = {{"input", "hello"}, {"stream", true}, {"max_output_tokens", 1500}}};
  const double descriptors = Metric(server.Metrics(), "process_open_fds");

  std::atomic<bool> done = false;
  std::thread neighbour([&] {
    while (!done) EXPECT_EQ(Choices(server.Port(), decent), answer);
  });
  std::vector<std::thread> abusers;
  for (const Abuse& abuse : kAbuses) abusers.emplace_back([&, act = abuse.act] { act(abused); });
  for (std::thread& abuser : abusers) abuser.join();
  done = true;
  neighbour.join();

  const auto clean = [&](const std::string& metrics) {
    return Metric(metrics, "assay:num_requests_running") == 0 &&
           Metric(metrics, "assay:num_requests_waiting") == 0 &&
           Metric(metrics, "assay:kv_cache_usage_perc") == 0 &&
           Metric(metrics, "process_open_fds") <= descriptors;
  };
  std::string metrics = server.Metrics();
  for (int i = 0; i < 1000 && !clean(metrics); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    metrics = server.Metrics();
  }
  EXPECT_TRUE(clean(metrics)) << metrics;
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace assay::engine
