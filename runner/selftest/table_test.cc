#include "runner/selftest/table.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

FaultResult Caught() {
  return {.name = "crash:40",
          .what = "request N ends the process",
          .effect = "ended with signal 11",
          .caught_by = "FAIL crashed (server)",
          .red = true,
          .right_reason = true,
          .samples = 8,
          .seconds = 2.4};
}
FaultResult BelowMde() {
  return {.name = "slow-step:5",
          .what = "every step takes N % longer",
          .effect = "+4.8 % tpot_p50_ms",
          .size = 0.048,
          .mde = 0.14,
          .mde_text = "14.0 %",
          .samples = 256,
          .seconds = 9.6};
}
FaultResult Missed() {
  return {.name = "top-3",
          .what = "three | of four",
          .effect = "-9.0 points",
          .size = 0.09,
          .mde = 0.027,
          .mde_text = "2.7 points",
          .samples = 480,
          .seconds = 12};
}

const SelftestHead kHead = {.command = "assay selftest --format markdown",
                            .seed = "7",
                            .machine = "2 x CPU",
                            .engine = "assay-engine 0.1.0+faulty (abc)",
                            .created = "2026-12-01T05:00:00Z",
                            .clean_runs = 6,
                            .seconds = 321};

TEST(SelftestMarkdown, PutsMissedFaultsFirstAndSaysHowToMakeItAgain) {
  EXPECT_EQ(SelftestMarkdown(kHead, {Caught(), BelowMde(), Missed()}),
            R"(`assay selftest --format markdown`

seed 7, 2 x CPU, assay-engine 0.1.0+faulty (abc), 6 clean runs of the speed evals, 321 s in all, 2026-12-01T05:00:00Z.

| fault | what it does | effect | noticed from | | by | samples | seconds |
|---|---|---|---|---|---|---:|---:|
| `top-3` | three \| of four | -9.0 points | 2.7 points | **MISSED** |  | 480 | 12 |
| `slow-step:5` | every step takes N % longer | +4.8 % tpot_p50_ms | 14.0 % | **below MDE** |  | 256 | 10 |
| `crash:40` | request N ends the process | ended with signal 11 | any | caught | FAIL crashed (server) | 8 | 2 |

3 faults: 1 caught for the right reason, 1 below the MDE and not noticed, 1 MISSED.
)");
}

TEST(SelftestTerminal, NamesEveryFaultAndWhatNoticedIt) {
  const std::string text = SelftestTerminal(kHead, {Caught(), Missed()});
  EXPECT_LT(text.find("top-3"), text.find("crash:40")) << text;
  EXPECT_NE(text.find("nothing (480 samples, 12 s)"), std::string::npos) << text;
  EXPECT_NE(text.find("FAIL crashed (server)"), std::string::npos) << text;
}

TEST(SelftestExitCode, IsZeroOnlyIfEveryFaultAboveTheMdeWasCaughtForTheRightReason) {
  EXPECT_EQ(SelftestExitCode({Caught(), BelowMde()}), 0);
  EXPECT_EQ(SelftestExitCode({Caught(), Missed()}), 1);
  FaultResult wrong = Caught();
  wrong.right_reason = false;
  EXPECT_EQ(SelftestExitCode({wrong}), 1);
}

}  // namespace
}  // namespace assay::runner
