#include "runner/run/progress_line.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

TEST(ProgressText, EstimatesTheTimeToGoFromWhatIsDone) {
  EXPECT_EQ(ProgressText("gpqa", 100, 400, 32, 5000, 10),
            "gpqa 100/400  in flight 32  500 tok/s  30 s to go");
  EXPECT_EQ(ProgressText("gpqa", 0, 400, 32, 0, 0), "gpqa 0/400  in flight 32");
  EXPECT_EQ(ProgressText("gpqa", 400, 400, 0, 800, 4), "gpqa 400/400  in flight 0  200 tok/s");
}

}  // namespace
}  // namespace assay::runner
