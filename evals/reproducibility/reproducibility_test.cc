#include "evals/reproducibility/reproducibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/scripted_server.h"

namespace assay::evals {
namespace {

using assay::testing::ScriptedAnswer;
using assay::testing::ScriptedServer;
using nlohmann::json;
using ::testing::ElementsAre;

class ReproducibilityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = ScriptedServer::Start({});
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    options_.model = "scripted";
    options_.num_prompts = 2;
    options_.input_len = options_.output_len = 4;
    options_.vocab_size = 100;
    options_.seed = 7;
  }

  void Queue(const std::string& text) {
    const json choice = {{"index", 0}, {"text", text}, {"finish_reason", "length"}};
    const json event = {{"model", "scripted"}, {"choices", {choice}}};
    server_->Queue({.body = "data: " + event.dump() + "\n\ndata: [DONE]\n\n"});
  }

  record::ReproducibilityRecord Run() {
    auto record = RunReproducibility(server_->BaseUrl(), options_, progress_);
    EXPECT_TRUE(record) << (record ? "" : record.error().message);
    return record.value_or(record::ReproducibilityRecord{});
  }

  std::unique_ptr<ScriptedServer> server_;
  ReproducibilityOptions options_;
  Progress progress_;
};

TEST_F(ReproducibilityTest, AServerThatRepeatsItselfHasNoDifference) {
  const record::ReproducibilityRecord record = Run();
  EXPECT_TRUE(record.complete);
  EXPECT_EQ(record.failed, 0);
  EXPECT_TRUE(record.differences.empty());
}

TEST_F(ReproducibilityTest, AsksTheSamePromptsWithTheSameSeedTwice) {
  Run();
  const std::vector<std::string> bodies = server_->RequestBodies();
  ASSERT_EQ(bodies.size(), 4u);
  for (const std::string& body : bodies) {
    EXPECT_EQ(json::parse(body).at("seed"), 7);
    EXPECT_EQ(json::parse(body).at("temperature"), 1);
  }
  EXPECT_NE(bodies[0], bodies[1]);
  EXPECT_TRUE((bodies[2] == bodies[0] && bodies[3] == bodies[1]) ||
              (bodies[2] == bodies[1] && bodies[3] == bodies[0]));
}

TEST_F(ReproducibilityTest, SaysFromWhereOnATextDiffers) {
  Queue("abcd");
  Queue("wxyz");
  Queue("abXd");
  Queue("abXd");  // whichever of the two arrives first
  EXPECT_THAT(Run().differences,
              ElementsAre("request 0: from character 2 on", "request 1: from character 0 on"));
}

TEST_F(ReproducibilityTest, ARequestThatFailedIsNoDifference) {
  Queue("abcd");
  server_->Queue({.status = 500, .content_type = "application/json", .body = "{}"});
  Queue("abcd");
  Queue("abcd");
  const record::ReproducibilityRecord record = Run();
  EXPECT_EQ(record.failed, 1);
  EXPECT_TRUE(record.differences.empty());
}

}  // namespace
}  // namespace assay::evals
