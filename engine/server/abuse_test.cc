#include <gtest/gtest.h>

#include <atomic>

#include "engine/server/abuse_test_support.h"
#include "engine/server/service_test_support.h"

namespace assay::engine {
namespace {

TEST(Abuse, CostsNobodyElseAnAnswerAndLeavesNothingBehind) {
  TestServer::Options options;
  options.limits.header_timeout = options.limits.body_timeout = std::chrono::milliseconds(200);
  options.limits.write_timeout = std::chrono::milliseconds(200);
  options.limits.linger_timeout = std::chrono::milliseconds(200);
  options.before_forward = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
  TestServer server(std::move(options));
  TestClient prober(server.Port());
  const double descriptors = Metric(prober.Call("GET", "/metrics").body, "process_open_fds");

  std::atomic<bool> done = false;
  std::thread decent([&] {
    while (!done) {
      TestClient client(server.Port());
      const auto response = client.Post(kCompletions, Completion("a decent answer^", {{"stream", true}}));
      EXPECT_TRUE(response.complete);
      EXPECT_EQ(response.Events().size(), 17u);  // a chunk for each character, the end, [DONE]
    }
  });
  const AbusedServer abused{.port = server.Port(),
                            .endless = Completion("x~", {{"stream", true}}),
                            .brief = Completion("ok^"),
                            .brief_text = "ok",
                            .many = Chat("{final}x~", {{"n", 16}, {"stream", true}}),
                            .responses = {{"input", "say:{final}x~|"}, {"stream", true}}};
  std::vector<std::thread> abusers;
  for (const Abuse& abuse : kAbuses) {
    abusers.emplace_back([&abused, act = abuse.act] {
      for (int i = 0; i < 4; ++i) act(abused);
    });
  }
  EXPECT_EQ(prober.Post(kCompletions, Completion("ab%^")).status, 500) << "the model fails";
  for (std::thread& abuser : abusers) abuser.join();
  done = true;
  decent.join();

  EXPECT_TRUE(server.BecomesFree());
  std::string metrics;
  for (int i = 0; i < 500; ++i) {  // connections linger for a moment
    metrics = prober.Call("GET", "/metrics").body;
    if (Metric(metrics, "process_open_fds") <= descriptors) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(Metric(metrics, "process_open_fds"), descriptors);
  EXPECT_EQ(Metric(metrics, "assay:num_requests_running"), 0);
  EXPECT_EQ(Metric(metrics, "assay:num_requests_waiting"), 0);
  EXPECT_EQ(Metric(metrics, "assay:kv_cache_usage_perc"), 0);
  EXPECT_EQ(prober.Call("GET", "/health").status, 200);
}

}  // namespace
}  // namespace assay::engine
