#include "runner/launch/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scripted_server.h"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;
using State = ProbeAnswer::State;

std::unique_ptr<testing::ScriptedServer> StartServer(const testing::ScriptedOptions& options) {
  auto server = testing::ScriptedServer::Start(options);
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

ReadinessProbe Probe(const testing::ScriptedServer& server) {
  return {server.BaseUrl(), "scripted", [] { return false; }};
}

TEST(ReadinessProbe, SaysYesToAServerThatAnswersOneToken) {
  const auto server = StartServer({});
  auto probe = Probe(*server);
  EXPECT_EQ(probe.Health("/health").state, State::kYes);
  EXPECT_EQ(probe.Models().state, State::kYes);
  EXPECT_EQ(probe.Token().state, State::kYes);
  EXPECT_THAT(server->RequestBodies(), ::testing::ElementsAre(HasSubstr("\"max_tokens\":1")));
}

TEST(ReadinessProbe, WaitsOnAServerThatIsLoading) {
  const auto server = StartServer({.health_status = 503});
  auto probe = Probe(*server);
  const ProbeAnswer answer = probe.Health("/health");
  EXPECT_EQ(answer.state, State::kNotYet);
  EXPECT_EQ(answer.detail, "GET /health: HTTP 503: not healthy");
}

TEST(ReadinessProbe, WaitsOnAServerThatDoesNotListen) {
  int port = 0;
  port = StartServer({})->Port();
  ReadinessProbe probe("http://127.0.0.1:" + std::to_string(port), "scripted", [] { return false; });
  EXPECT_EQ(probe.Health("/health").state, State::kNotYet);
}

TEST(ReadinessProbe, AsksTheChatEndpointWhereCompletionsDoNotExist) {
  const auto server = StartServer({});
  server->Queue({.status = 404, .content_type = "application/json", .body = "{}"});
  auto probe = Probe(*server);
  EXPECT_EQ(probe.Token().state, State::kYes);
  EXPECT_THAT(server->RequestBodies(), ::testing::ElementsAre(HasSubstr("prompt"), HasSubstr("messages")));
}

TEST(ReadinessProbe, DoesNotWaitOnARefusal) {
  const auto server = StartServer({});
  server->Queue({.status = 401, .content_type = "application/json", .body = R"({"error":"no key"})"});
  auto probe = Probe(*server);
  const ProbeAnswer answer = probe.Token();
  EXPECT_EQ(answer.state, State::kNever);
  EXPECT_EQ(answer.kind, "never_ready");
  EXPECT_THAT(answer.detail, HasSubstr("HTTP 401: no key"));
}

TEST(ReadinessProbe, GivesUpOnAnAnswerThatNeverComes) {
  const auto server = StartServer({.hang_after_requests = 0});
  int asked = 0;
  ReadinessProbe probe(server->BaseUrl(), "scripted", [&] { return ++asked > 1; });
  const ProbeAnswer answer = probe.Token();
  EXPECT_EQ(answer.state, State::kNotYet);
  EXPECT_EQ(answer.detail, "POST /v1/completions: no answer yet");
}

struct Case {
  const char* name;
  const char* body;
  State state;
  const char* kind;
};

class ModelList : public ::testing::TestWithParam<Case> {};
TEST_P(ModelList, IsJudged) {
  const ProbeAnswer answer = JudgeModelList(GetParam().body, "m");
  EXPECT_EQ(answer.state, GetParam().state) << answer.detail;
  EXPECT_EQ(answer.kind, GetParam().kind);
}
INSTANTIATE_TEST_SUITE_P(
    Body, ModelList,
    ::testing::Values(Case{"ours_among_others", R"({"data":[{"id":"a"},{"id":"m"}]})", State::kYes, ""},
                      Case{"another", R"({"data":[{"id":"a"}]})", State::kNever, "wrong_model"},
                      Case{"none_yet", R"({"data":[]})", State::kNotYet, ""},
                      Case{"no_json", "<html>", State::kNever, "never_ready"}),
    [](const auto& test) { return test.param.name; });

class FirstToken : public ::testing::TestWithParam<Case> {};
TEST_P(FirstToken, IsJudged) {
  const ProbeAnswer answer = JudgeToken("/v1/chat/completions", GetParam().body, "m");
  EXPECT_EQ(answer.state, GetParam().state) << answer.detail;
  EXPECT_EQ(answer.kind, GetParam().kind);
}
INSTANTIATE_TEST_SUITE_P(
    Body, FirstToken,
    ::testing::Values(
        Case{"text",
             R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},)"
             R"("finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":1}})",
             State::kYes, ""},
        Case{"one_token_of_no_text",
             R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null},)"
             R"("finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":1}})",
             State::kYes, ""},
        Case{"no_token",
             R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":""},)"
             R"("finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":0}})",
             State::kNotYet, ""},
        Case{"another_model",
             R"({"model":"a","choices":[{"index":0,"message":{"role":"assistant","content":"x"},)"
             R"("finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":1}})",
             State::kNever, "wrong_model"},
        Case{"no_json", "<html>", State::kNever, "never_ready"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace assay::runner
