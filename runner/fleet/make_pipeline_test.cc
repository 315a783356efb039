#include "runner/fleet/make_pipeline.h"

#include <gmock/gmock.h>

#include "runner/config/config_test_support.h"

namespace assay::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FleetRequest Request(std::vector<Path> configs, std::string target = "buildkite") {
  FleetRequest request;
  request.target = std::move(target);
  request.configs = std::move(configs);
  return request;
}

std::string Refusal(const FleetRequest& request) {
  const Result<Pipeline> pipeline = MakePipeline(request);
  EXPECT_FALSE(pipeline);
  if (pipeline) return "";
  EXPECT_EQ(pipeline.error().kind, ErrorKind::kUsage);
  return pipeline.error().message;
}

TEST(MakePipeline, HasTheCellsOfAPlanAndTheWordsThatMadeIt) {
  ConfigFolder folder;
  FleetRequest request = Request({folder.Write("c.yaml", kExampleConfig)});
  request.run_flags = {"--strict"};
  const Result<Pipeline> pipeline = MakePipeline(request);
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  ASSERT_EQ(pipeline->cells.size(), 1u);
  EXPECT_EQ(pipeline->cells[0].key, "cpu.tiny");
  EXPECT_EQ(pipeline->cells[0].gpus, 0);
  const std::string config = request.configs[0].string();
  EXPECT_THAT(pipeline->run_words, ElementsAre("assay", "run", config, "--strict"));
  EXPECT_THAT(pipeline->cells_words, ElementsAre("assay", "ci", "emit", "--to", "cells", config));
}

TEST(MakePipeline, CountsTheGpusOfAServer) {
  ConfigFolder folder;
  const std::string eight =
      ReplaceAll(ExampleWith("kind: bundled", "kind: bundled\n  tensor_parallel_size: 8"), "hardware: cpu",
                 "hardware: gfx950");
  const Result<Pipeline> pipeline = MakePipeline(Request({folder.Write("c.yaml", eight)}));
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  EXPECT_EQ(pipeline->cells[0].gpus, 8);
}

TEST(MakePipeline, RefusesWhatAJobsScriptCannotHave) {
  ConfigFolder folder;
  const Path config = folder.Write("c.yaml", kExampleConfig);
  FleetRequest request = Request({config});
  request.pipeline.setup = {"make\nbuild"};
  EXPECT_THAT(Refusal(request), HasSubstr("line end"));
  request = Request({config});
  request.run_flags = {"--store", "http://me:secret@store.example"};
  EXPECT_THAT(Refusal(request), HasSubstr("would write a password into a file"));
  EXPECT_THAT(Refusal(request), ::testing::Not(HasSubstr("secret")));
  request = Request({folder.Write("${{ x }}.yaml", kExampleConfig)}, "github");
  EXPECT_THAT(Refusal(request), HasSubstr("GitHub would replace ${{"));
  request = Request({config});
  request.pipeline.name = "My Fleet";
  EXPECT_THAT(Refusal(request), HasSubstr("--name My Fleet"));
  for (const char* name_space : {"a; rm -rf .", "Team", "-a", "a-", "", "$(id)"}) {
    request = Request({config}, "kubernetes");
    request.pipeline.kubernetes.name_space = name_space;
    EXPECT_THAT(Refusal(request), HasSubstr(std::string("--namespace ") + name_space + ": must be up to 63"));
  }
  request = Request({config});
  request.pipeline.setup = {"echo \xff"};
  EXPECT_THAT(Refusal(request), HasSubstr("is not UTF-8"));
}

TEST(MakePipeline, RefusesRunnersThatTheEngineWouldNotUnderstand) {
  ConfigFolder folder;
  FleetRequest request = Request({folder.Write("c.yaml", kExampleConfig)});
  request.runners = {"gfx950=queue=x"};
  EXPECT_THAT(Refusal(request), HasSubstr("the hardware here is report, cpu"));
  request.runners = {"cpu=short"};
  EXPECT_THAT(Refusal(request), HasSubstr("NAME=VALUE"));
  request.target = "slurm";
  EXPECT_THAT(Refusal(request), HasSubstr("options of sbatch"));
}

TEST(FindCiTarget, AnswersAnUnknownEngineWithTheNearest) {
  const auto found = FindCiTarget("buildkit");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("did you mean buildkite?"));
}

}  // namespace
}  // namespace assay::runner
