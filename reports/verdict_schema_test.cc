#include "reports/verdict_schema.h"

#include <gtest/gtest.h>

#include "testing/golden.h"

namespace assay::reports {
namespace {

// That it describes what is written is for ci/check_schema.py to say: it holds the golden pages against it.
TEST(VerdictSchema, IsWhatIsPublished) {
  testing::ExpectGolden(VerdictSchema(), Path(ASSAY_SOURCE_DIR) / "docs/verdict.schema.json");
}

}  // namespace
}  // namespace assay::reports
