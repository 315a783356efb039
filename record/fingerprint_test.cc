#include <gtest/gtest.h>

#include "record/run_record.h"

namespace assay::record {
namespace {

TEST(Differences, SayWhatEachFieldBreaks) {
  const struct {
    const char* field;
    void (*change)(Fingerprint&);
    bool performance, accuracy;
  } cases[] = {
      {"hardware", [](Fingerprint& f) { f.hardware = "h200"; }, true, false},
      {"device", [](Fingerprint& f) { f.device = "other CPU"; }, true, false},
      {"devices", [](Fingerprint& f) { f.devices = 8; }, true, false},
      {"host", [](Fingerprint& f) { f.host = "beef"; }, true, false},
      {"memory_mb", [](Fingerprint& f) { f.memory_mb = 1; }, false, false},
      {"driver", [](Fingerprint& f) { f.driver = "570"; }, true, false},
      {"os", [](Fingerprint& f) { f.os = "Debian 13"; }, false, false},
      {"kernel", [](Fingerprint& f) { f.kernel = "6.12"; }, false, false},
      {"engine", [](Fingerprint& f) { f.engine = "assay-engine 0.2.0"; }, false, false},
      {"engine_flags", [](Fingerprint& f) { f.engine_flags = "--fast"; }, true, false},
      {"engine_binary", [](Fingerprint& f) { f.engine_binary = "abc"; }, false, false},
      {"model_hash", [](Fingerprint& f) { f.model_hash = "abc"; }, true, true},
      {"tokenizer_hash", [](Fingerprint& f) { f.tokenizer_hash = "abc"; }, true, true},
  };
  for (const auto& c : cases) {
    const Fingerprint theirs;
    Fingerprint ours;
    c.change(ours);
    const auto differences = Differences(ours, theirs);
    ASSERT_EQ(differences.size(), 1u) << c.field;
    EXPECT_EQ(differences[0].field, c.field);
    EXPECT_EQ(differences[0].breaks_performance, c.performance) << c.field;
    EXPECT_EQ(differences[0].breaks_accuracy, c.accuracy) << c.field;
  }
}

TEST(Differences, OfClocksAndEccBreakSpeedOnlyWhereBothSidesKnow) {
  Fingerprint ours, theirs;
  ours.clocks = "sm max 1980 MHz";
  ours.ecc = "enabled";
  for (const FingerprintDifference& difference : Differences(ours, theirs)) {
    EXPECT_FALSE(difference.breaks_performance) << difference.field;
  }
  theirs.clocks = "sm max 1200 MHz";
  theirs.ecc = "disabled";
  const auto differences = Differences(ours, theirs);
  ASSERT_EQ(differences.size(), 2u);
  for (const FingerprintDifference& difference : differences) {
    EXPECT_TRUE(difference.breaks_performance) << difference.field;
    EXPECT_FALSE(difference.breaks_accuracy) << difference.field;
  }
}

TEST(Differences, NameEachLibraryOfAnotherVersionAsASuspect) {
  Fingerprint ours, theirs;
  ours.versions = {{"aiter", "0.1.20"}, {"cuda", "12.8"}, {"rocm", "7.0"}};
  theirs.versions = {{"aiter", "0.1.19"}, {"cuda", "12.8"}, {"glibc", "2.36"}};
  const auto differences = Differences(ours, theirs);
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].field, "versions.aiter");
  EXPECT_EQ(differences[0].ours, "0.1.20");
  EXPECT_EQ(differences[0].theirs, "0.1.19");
  EXPECT_EQ(differences[1].field, "versions.glibc");
  EXPECT_EQ(differences[1].ours, "");
  EXPECT_EQ(differences[2].field, "versions.rocm");
  for (const FingerprintDifference& difference : differences) {
    EXPECT_FALSE(difference.breaks_performance || difference.breaks_accuracy);
  }
}

TEST(Differences, AreNoneBetweenEqualMachines) {
  EXPECT_TRUE(Differences({}, {}).empty());
}

}  // namespace
}  // namespace assay::record
