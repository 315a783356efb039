#include "runner/plan/engine_build.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

// "" when it is the right one.
std::string Problem(const std::string& hardware, const Result<std::string>& version) {
  Probe probe;
  probe.run = [&](const std::vector<std::string>& argv) -> Result<std::string> {
    EXPECT_EQ(argv, (std::vector<std::string>{"bin/assay-engine", "--version"}));
    return version;
  };
  const Status status = CheckEngineBuild("bin/assay-engine", hardware, probe);
  return status ? "" : status.error().message;
}

std::string BuiltFor(const std::string& backend) {
  return "assay-engine 0.1.0 (0123456789ab), GPU backend: " + backend + "\n";
}

TEST(EngineBuild, FitsTheHardwareItHasCodeFor) {
  EXPECT_EQ(Problem("cpu", BuiltFor("none")), "");
  EXPECT_EQ(Problem("h200", BuiltFor("cuda 90")), "");
  EXPECT_EQ(Problem("gfx950", BuiltFor("hip gfx950")), "");
  EXPECT_EQ(Problem("gfx942", BuiltFor("hip gfx90a gfx942")), "");
  EXPECT_EQ(Problem("gfx942", BuiltFor("hip gfx942:sramecc+:xnack-")), "");
  EXPECT_EQ(Problem("gfx942", BuiltFor("hip gfx9-4-generic")), "");
  EXPECT_EQ(Problem("l40s", BuiltFor("none")), "") << "hardware that is not known here";
}

TEST(EngineBuild, SaysHowToBuildTheOneThatIsNeeded) {
  EXPECT_EQ(Problem("gfx950", BuiltFor("none")),
            "bin/assay-engine was built for the CPU alone, and not for gfx950; build one with cmake "
            "-DASSAY_GPU=hip -DASSAY_GPU_ARCHITECTURES=gfx950 (docs/gpu.md), or name another one in "
            "engine.binary");
  EXPECT_NE(Problem("gfx942", BuiltFor("hip gfx90a")).find("was built for hip gfx90a, and not for gfx942"),
            std::string::npos);
  EXPECT_NE(Problem("gfx942", BuiltFor("cuda 90")).find("was built for cuda 90"), std::string::npos);
  EXPECT_NE(Problem("h200", BuiltFor("none")).find("cmake -DASSAY_GPU=cuda (docs/gpu.md)"),
            std::string::npos);
}

TEST(EngineBuild, AnEngineThatDoesNotSayPasses) {
  EXPECT_EQ(Problem("gfx950", std::string("assay-engine 0.1.0 (0123456789ab)\n")), "");
  EXPECT_EQ(Problem("gfx950", Fail(ErrorKind::kInfrastructure, "not found")), "");
}

}  // namespace
}  // namespace assay::runner
