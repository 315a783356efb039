#include "testing/golden.h"

#include <gtest/gtest.h>

#include "gate/judge.h"
#include "record/json_text.h"
#include "testing/example_scenes.h"

namespace assay::gate {
namespace {

// The verdicts that the reports' golden pages are rendered from.
TEST(Judge, GivesTheGoldenVerdictOfEachScene) {
  for (const testing::Scene& scene : testing::AllScenes()) {
    CellPolicy policy{scene.run.cells[0].key, {}, {"store main", scene.baseline}};
    policy.policy.threshold = ThresholdPolicy{0.88, ToleranceKind::kAbsolute, 0.02};
    if (scene.first_run_is_recorded) policy.policy.baseline.first_run = FirstRun::kRecord;
    const record::Verdict verdict = Judge(scene.run, {policy});
    testing::ExpectGolden(record::JsonText(ToJson(verdict)),
                          Path(ASSAY_SOURCE_DIR) / "gate/golden" / (scene.name + ".json"));
  }
}

}  // namespace
}  // namespace assay::gate
