// A server that goes wrong is named in the verdict, and never passes.

#include <gtest/gtest.h>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

struct FaultCase {
  const char* name;
  const char* server_flags;
  const char* engine;  // further engine keys
  int exit_code;
  const char* kind;
};

// Servers log what they are asked, as they please.
TEST_F(AssayTest, ALogThatQuotesQuestionsIsKeptWithoutThem) {
  const std::string quoted =
      R"(Received request: prompt: '...\n\nExpress your final answer as the corresponding option')";
  EXPECT_EQ(RunScene({.server_flags = "--die-after-requests, \"5\", --die-signal, \"11\", --stderr-line, "
                                      "\"" +
                                      ReplaceAll(ReplaceAll(quoted, "\\", "\\\\"), "\"", "\\\"") + "\""}),
            runner::kExitFail)
      << Err();
  const record::RunRecord record = Record();
  ASSERT_TRUE(record.cells.at(0).server.failure);
  EXPECT_EQ(record.cells[0].server.failure->log_tail.at(0),
            "Received request: prompt: '...\\n\\n(question left out)'");
  // Elsewhere it stands in the command line alone, which is the user's own.
  EXPECT_EQ(record.cells[0].server.failure->message.find("final answer"), std::string::npos);
  for (const record::Check& check : Verdict().checks) {
    EXPECT_EQ(check.reason.find("final answer"), std::string::npos);
    for (const std::string& line : check.details) {
      if (line.find("--stderr-line") != std::string::npos) continue;
      EXPECT_EQ(line.find("final answer"), std::string::npos) << line;
    }
  }
  EXPECT_EQ(ReadFile(LastOut() / "journal.jsonl").value().find("final answer"), std::string::npos);
}

class ServerFaultTest : public AssayTest, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(ServerFaultTest, IsNamedAndNeverPasses) {
  const FaultCase& fault = GetParam();
  EXPECT_EQ(RunScene({.server_flags = fault.server_flags, .engine = fault.engine}), fault.exit_code)
      << Err() << Out();
  const record::RunRecord record = Record();
  ASSERT_TRUE(record.cells.at(0).server.failure);
  EXPECT_EQ(record.cells[0].server.failure->kind, fault.kind) << record.cells[0].server.failure->message;
  EXPECT_NE(Verdict().outcome, record::Outcome::kPass);
  const std::string report = ReadFile(LastOut() / "report.md").value();
  EXPECT_NE(report.find(record.cells[0].server.failure->stage), std::string::npos) << report;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ServerFaultTest,
    ::testing::Values(FaultCase{"DiesBeforeReady", "--exit-before-ready, \"0\"", "",
                                runner::kExitInfrastructure, "died_before_ready"},
                      FaultCase{"NeverReady", "--never-listen", "ready_timeout_s: 1",
                                runner::kExitInfrastructure, "never_ready"},
                      FaultCase{"UnhealthyForEver", "--health-status, \"503\"", "ready_timeout_s: 1",
                                runner::kExitInfrastructure, "never_ready"},
                      FaultCase{"CrashesInTheEval", "--die-after-requests, \"5\", --die-signal, \"11\"", "",
                                runner::kExitFail, "crashed"},
                      FaultCase{"ExitsCleanlyInTheEval", "--die-after-requests, \"5\", --exit-code, \"0\"",
                                "", runner::kExitFail, "crashed"},
                      FaultCase{"HangsInTheEval", "--hang-after-requests, \"5\"", "hang_timeout_s: 1",
                                runner::kExitFail, "hang"}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace assay
