#include "base/planted_fault.h"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

TEST(PlantedFault, NothingIsPlantedInAnOrdinaryProgram) {
  static_assert(!kFaultsCompiledIn);
  for (const FaultInfo& fault : FaultTable()) EXPECT_FALSE(Planted(fault.fault)) << fault.name;
  std::vector<std::string> arguments = {"serve", "--plant", "crash"};
  EXPECT_TRUE(PlantFrom(arguments));
  EXPECT_EQ(arguments.size(), 3u) << "the flag is left for the command line to refuse";
  EXPECT_EQ(PlantedVersion(), "");
}

TEST(FaultTable, NamesEachFaultOnce) {
  std::set<std::string_view> names;
  std::set<Fault> faults;
  for (const FaultInfo& fault : FaultTable()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_TRUE(faults.insert(fault.fault).second) << fault.name;
    EXPECT_NE(fault.fault, Fault::kNone);
    EXPECT_EQ(FindFault(fault.name), &fault);
  }
  EXPECT_EQ(FindFault("crash:3"), nullptr);
  EXPECT_EQ(faults.size(), static_cast<size_t>(Fault::kWrongModel));
}

}  // namespace
}  // namespace assay
