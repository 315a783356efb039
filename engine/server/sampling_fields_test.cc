#include <gtest/gtest.h>

#include <cmath>

#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

// Fields that act in the scheduler, seen from outside. The scripted model gives its token the logit 1 and all
// others 0.
namespace assay::engine {
namespace {

using nlohmann::json;

const double kSaid = 1 - std::log(std::exp(1.0) + (kTestVocabulary - 1));
const double kNotSaid = kSaid - 1;

TEST(SamplingFields, LogprobsOfAChatAreThoseOfTheModel) {
  TestServer server;
  TestClient client(server.Port());
  const json body =
      client
          .Post("/v1/chat/completions",
                Chat("{final}a^", {{"logprobs", true}, {"top_logprobs", 2}, {"temperature", 0}}))
          .Json();
  const json& position = body["choices"][0]["logprobs"]["content"][1];
  EXPECT_EQ(position["token"], "f");
  EXPECT_NEAR(position["logprob"].get<double>(), kSaid, 1e-4);
  ASSERT_EQ(position["top_logprobs"].size(), 2u);
  EXPECT_EQ(position["top_logprobs"][0]["token"], "f");
  EXPECT_EQ(position["top_logprobs"][1]["bytes"], json::array({0}));  // the lowest id of the rest
  EXPECT_NEAR(position["top_logprobs"][1]["logprob"].get<double>(), kNotSaid, 1e-4);
}

TEST(SamplingFields, LogprobsOfACompletionAreThoseOfTheModel) {
  TestServer server;
  TestClient client(server.Port());
  const json body = client.Post("/v1/completions", Completion("ba^", {{"logprobs", 1}})).Json();
  const json& logprobs = body["choices"][0]["logprobs"];
  EXPECT_NEAR(logprobs["token_logprobs"][1].get<double>(), kSaid, 1e-4);
  EXPECT_EQ(logprobs["top_logprobs"][1].size(), 1u);
  EXPECT_TRUE(logprobs["top_logprobs"][1].contains("a"));
}

TEST(SamplingFields, BiasAndPenaltiesMoveTheAnswer) {
  TestServer server;
  TestClient client(server.Port());
  const auto text = [&](const json& more) {
    json all = {{"max_tokens", 6}, {"temperature", 0}};
    all.update(more);
    return client.Post("/v1/completions", Completion("a~", all))
        .Json()["choices"][0]["text"]
        .get<std::string>();
  };
  EXPECT_EQ(text(json::object()), "aaaaaa");
  EXPECT_EQ(text({{"logit_bias", {{"98", 50}}}}), "bbbbbb");
  // The logit of "a" is 1, 0.7, 0.4, 0.1, -0.2: the fifth token is another.
  const std::string penalised = text({{"frequency_penalty", 0.3}});
  EXPECT_EQ(penalised.substr(0, 4), "aaaa");
  EXPECT_NE(penalised[4], 'a');
  EXPECT_NE(text({{"presence_penalty", 1.5}})[1], 'a');
}

TEST(SamplingFields, TokenTimesReachTheMetrics) {
  TestServer::Options options;
  options.before_forward = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  TestServer server(std::move(options));
  TestClient client(server.Port());
  client.Post("/v1/completions", Completion("abc^"));
  const std::string metrics = client.Call("GET", "/metrics").body;
  const auto sum = [&](const std::string& name) {
    const size_t at = metrics.find("assay:" + name + "_sum{");
    return std::stod(metrics.substr(metrics.find("} ", at) + 2));
  };
  EXPECT_GE(sum("inter_token_latency_seconds"), 3 * 0.002);
  EXPECT_GE(sum("request_decode_time_seconds"), 3 * 0.002);
  EXPECT_GE(sum("request_prefill_time_seconds"), 0.002);
}

}  // namespace
}  // namespace assay::engine
