#include "runner/launch/child_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "base/file.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

// What `/bin/sh -c script` writes.
std::string Shell(const std::string& script, const std::map<std::string, std::string>& env) {
  const testing::TempDir folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "we");
  ChildOptions options;
  options.argv = {"sh", "-c", script};
  options.env = env;
  options.out = options.err = out;
  const auto pid = SpawnChild(options);
  EXPECT_TRUE(pid) << pid.error().message;
  if (pid) ::waitpid(*pid, nullptr, 0);
  std::fclose(out);
  return ReadFile(folder / "out").value_or("");
}

TEST(SpawnChild, AddsToOurEnvironmentAndReplacesInIt) {
  ::setenv("ASSAY_TEST_KEPT", "kept", 1);
  ::setenv("ASSAY_TEST_OLD", "old", 1);
  EXPECT_EQ(Shell("echo $ASSAY_TEST_KEPT,$ASSAY_TEST_OLD,$ASSAY_TEST_NEW",
                  {{"ASSAY_TEST_OLD", "a=b c"}, {"ASSAY_TEST_NEW", "1"}}),
            "kept,a=b c,1\n");
  EXPECT_EQ(Shell("env | grep -c ^ASSAY_TEST_OLD=", {{"ASSAY_TEST_OLD", "x"}}), "1\n");
  ::unsetenv("ASSAY_TEST_KEPT");
  ::unsetenv("ASSAY_TEST_OLD");
}

TEST(SpawnChild, LooksAProgramUpInThePathThatTheChildGets) {
  ChildOptions options;
  options.argv = {"sh"};
  options.env = {{"PATH", "/no/such/folder"}};
  const auto pid = SpawnChild(options);
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().message, "cannot start sh: No such file or directory");
}

}  // namespace
}  // namespace assay::runner
