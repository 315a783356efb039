#include "runner/run/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

record::QuestionSample Sample(const std::string& id) {
  record::QuestionSample sample;
  sample.id = id;
  sample.permutation = "3102";
  sample.strict = "B";
  return sample;
}

TEST(Journal, GivesBackWhatWasAdded) {
  const testing::TempDir folder;
  {
    const auto journal = Journal::Open(folder / "j");
    (*journal)->Begin("a", "c0ffee");
    (*journal)->Add("a", Sample("rec1"));
    (*journal)->Add("a", "small", record::RequestTiming{});
    (*journal)->Add("b", Sample("rec2"));
  }
  const auto cells = ReadJournal(folder / "j");
  ASSERT_TRUE(cells) << cells.error().message;
  ASSERT_EQ(cells->size(), 2u);
  EXPECT_EQ(cells->at("a").config_hash, "c0ffee");
  ASSERT_EQ(cells->at("a").samples.size(), 1u);
  EXPECT_EQ(cells->at("a").samples[0].id, "rec1");
  EXPECT_EQ(cells->at("a").samples[0].strict, "B");
}

TEST(Journal, GoesOnAfterAnyCut) {
  const testing::TempDir folder;
  { (*Journal::Open(folder / "j"))->Add("a", Sample("rec1")); }
  const std::string whole = ReadFile(folder / "j").value();
  for (size_t length = 0; length <= whole.size(); ++length) {
    ASSERT_TRUE(WriteFileAtomic(folder / "cut", whole + whole.substr(0, length)));
    { (*Journal::Open(folder / "cut"))->Add("a", Sample("rec3")); }
    const auto cells = ReadJournal(folder / "cut");
    ASSERT_TRUE(cells);
    const auto& samples = cells->at("a").samples;
    const bool complete = length + 1 >= whole.size();
    ASSERT_EQ(samples.size(), complete ? 3u : 2u) << length;
    EXPECT_EQ(samples.back().id, "rec3");
  }
}

TEST(Journal, HasOneWriterForAsLongAsThatLives) {
  const testing::TempDir folder;
  {
    const auto first = Journal::Open(folder / "j");
    ASSERT_TRUE(first);
    const auto second = Journal::Open(folder / "j");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(second.error().message, ::testing::HasSubstr("another assay is writing it"));
  }
  EXPECT_TRUE(Journal::Open(folder / "j"));
}

TEST(Journal, ReadsNoNoise) {
  const testing::TempDir folder;
  ASSERT_TRUE(WriteFileAtomic(folder / "j",
                              std::string("\0\0\n[]\n{\"cell\":3}\n{\"cell\":\"a\",\"sample\":7}\n", 41)));
  const auto cells = ReadJournal(folder / "j");
  ASSERT_TRUE(cells);
  EXPECT_TRUE(cells->at("a").samples.empty());
  EXPECT_FALSE(ReadJournal(folder / "none"));
}

}  // namespace
}  // namespace assay::runner
