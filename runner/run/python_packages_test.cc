#include "runner/run/python_packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A virtual environment with these packages, as pip leaves it.
class Environment {
 public:
  explicit Environment(const std::vector<std::string>& packages) {
    std::filesystem::create_directories(folder_ / "bin");
    for (const std::string& package : packages)
      std::filesystem::create_directories(folder_ / "lib/python3.11/site-packages" /
                                          (package + ".dist-info"));
    folder_.Write("bin/python3",
                  "\x7f"
                  "ELF");
    folder_.Write("bin/vllm", "#!" + (folder_ / "bin/python3").string() + "\nimport vllm\n");
    folder_.Write("bin/server",
                  "\x7f"
                  "ELF");
  }
  std::string Program(const std::string& name) const { return (folder_ / ("bin/" + name)).string(); }

 private:
  testing::TempDir folder_;
};

TEST(PythonPackages, AreThoseOfTheEnvironmentThatTheScriptNames) {
  const Environment environment(
      {"amd_aiter-0.1.19", "vllm-0.11.0+rocm700", "requests-2.32.0", "torch-2.9.0"});
  EXPECT_THAT(
      PythonPackages(environment.Program("vllm")),
      ElementsAre(Pair("amd-aiter", "0.1.19"), Pair("torch", "2.9.0"), Pair("vllm", "0.11.0+rocm700")));
}

TEST(PythonPackages, AreThoseOfAnInterpreterThatIsStartedItself) {
  const Environment environment({"sglang-0.5.4"});
  EXPECT_THAT(PythonPackages(environment.Program("python3")), ElementsAre(Pair("sglang", "0.5.4")));
}

TEST(PythonPackages, AreNoneOfAProgramThatIsNoScript) {
  const Environment environment({"torch-2.9.0"});
  EXPECT_THAT(PythonPackages(environment.Program("server")), IsEmpty());
  EXPECT_THAT(PythonPackages("no-such-program-here"), IsEmpty());
}

}  // namespace
}  // namespace assay::runner
