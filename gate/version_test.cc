#include "gate/version.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::gate {
namespace {

void ExpectAscending(const std::vector<const char*>& versions) {
  for (size_t i = 0; i < versions.size(); ++i) {
    for (size_t j = 0; j < versions.size(); ++j) {
      const int order = CompareVersions(versions[i], versions[j]);
      EXPECT_EQ(order < 0, i < j) << versions[i] << " and " << versions[j];
      EXPECT_EQ(order > 0, i > j) << versions[i] << " and " << versions[j];
    }
  }
}

// The list that PEP 440 gives under "Summary of permitted suffixes and relative ordering", with its local
// versions from the test suite of Python's packaging library.
TEST(Version, OrdersAsPep440Says) {
  ExpectAscending({"1.dev0",
                   "1.0.dev456",
                   "1.0a1",
                   "1.0a2.dev456",
                   "1.0a12.dev456",
                   "1.0a12",
                   "1.0b1.dev456",
                   "1.0b2",
                   "1.0b2.post345.dev456",
                   "1.0b2.post345",
                   "1.0rc1.dev456",
                   "1.0rc1",
                   "1.0",
                   "1.0+abc.5",
                   "1.0+abc.7",
                   "1.0+5",
                   "1.0.post456.dev34",
                   "1.0.post456",
                   "1.0.15",
                   "1.1.dev1",
                   "1!0.1"});
}

TEST(Version, TakesSpellingsOfOneVersionForEqual) {
  const std::pair<const char*, const char*> equal[] = {
      {"1.0", "1"},           {"1.0", "v1.0.0"},       {"1.0rc1", "1.0-RC.1"}, {"1.0a", "1.0a0"},
      {"1.0.post1", "1.0-1"}, {"1.0.post2", "1.0.r2"}, {"1.0c1", "1.0rc1"},    {"01.02", "1.2"},
  };
  for (const auto& [a, b] : equal) EXPECT_EQ(CompareVersions(a, b), 0) << a << " and " << b;
}

TEST(Version, CountsInNumbersNotInLetters) {
  ExpectAscending({"0.1.9", "0.1.19", "0.1.20", "0.2", "0.10"});
  ExpectAscending({"580.82.07", "580.126", "610.1"});
}

// From the manual and the test suite of dpkg: what PEP 440 cannot read.
TEST(Version, OrdersOthersAsDebianDoes) {
  ExpectAscending({"1.0~beta1~svn1245", "1.0~beta1", "1.0-1~bpo1", "1.0-1", "1.0-1+b1", "1:0.9~x"});
  ExpectAscending({"2.36-9+deb12u3", "2.36-9+deb12u10"});
  EXPECT_EQ(CompareVersions("0:1.0-0x", "1.00-0x"), 0);
}

TEST(VersionCondition, IsANameAComparisonAndAVersion) {
  VersionCondition condition;
  ASSERT_TRUE(ParseVersionCondition("aiter>=0.1.20", condition));
  EXPECT_EQ(condition.name, "aiter");
  EXPECT_EQ(condition.comparison, ">=");
  EXPECT_EQ(condition.version, "0.1.20");
  EXPECT_TRUE(ParseVersionCondition(" rocm == 7.0 ", condition));
  EXPECT_EQ(condition.name, "rocm");
  for (const char* wrong : {"", "aiter", "aiter>=", ">=1", "aiter=>1", "aiter=1", "aiter~=1", "aiter >= new",
                            "a b>=1", "aiter>=0.1, <2"}) {
    EXPECT_FALSE(ParseVersionCondition(wrong, condition)) << wrong;
  }
}

TEST(VersionCondition, HoldsByTheOrderOfVersions) {
  const struct {
    const char *condition, *version;
    bool holds;
  } cases[] = {
      {"aiter>=0.1.20", "0.1.19", false},
      {"aiter>=0.1.20", "0.1.20", true},
      {"aiter>=0.1.20", "0.1.100", true},
      {"aiter>=0.1.20", "0.1.20.dev3", false},
      {"aiter>=0.1.20", "0.1.20+rocm7", true},
      {"aiter>0.1.20", "0.1.20", false},
      {"aiter<2", "1.99", true},
      {"aiter<=2", "2.0.0", true},
      {"aiter==2", "2.0", true},
      {"aiter!=2", "2.0", false},
  };
  for (const auto& c : cases) {
    VersionCondition condition;
    ASSERT_TRUE(ParseVersionCondition(c.condition, condition));
    EXPECT_EQ(Holds(condition, c.version), c.holds) << c.version << " " << c.condition;
  }
}

}  // namespace
}  // namespace assay::gate
