#include "runner/launch/python_traceback.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

TEST(LastPythonException, IsTheLineThatEndsTheTraceback) {
  EXPECT_EQ(LastPythonException({"Traceback (most recent call last):", "  File \"a.py\", line 1, in f",
                                 "    raise ValueError(x)", "ValueError: no such thing", "INFO: bye"}),
            "ValueError: no such thing");
}

TEST(LastPythonException, DropsALoggersPrefix) {
  EXPECT_EQ(LastPythonException(
                {"(EngineCore pid=7) ERROR 08-12 12:00:00 [core.py:700] Traceback (most recent call last):",
                 "(EngineCore pid=7) ERROR 08-12 12:00:00 [core.py:700] torch.foo.BarError: 3 is not 4"}),
            "torch.foo.BarError: 3 is not 4");
}

TEST(LastPythonException, PrefersTheCauseToAPointerAtIt) {
  EXPECT_EQ(LastPythonException({"Traceback (most recent call last):", "AssertionError: shapes differ",
                                 "Traceback (most recent call last):",
                                 "RuntimeError: Engine core initialization failed. See root cause above."}),
            "AssertionError: shapes differ");
}

TEST(LastPythonException, NeedsATraceback) {
  EXPECT_EQ(LastPythonException({"ValueError: only a log line"}), std::nullopt);
  EXPECT_EQ(LastPythonException({"Traceback (most recent call last):", "  cut off here"}), std::nullopt);
}

TEST(LastPythonException, MayHaveNoText) {
  EXPECT_EQ(LastPythonException({"Traceback (most recent call last):", "KeyboardInterrupt"}),
            "KeyboardInterrupt");
}

}  // namespace
}  // namespace assay::runner
