#include "evals/gpqa/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "testing/temp_dir.h"
#include "testing/zip_file.h"

namespace assay::evals {
namespace {

using assay::testing::MadeUpQuestions;
using assay::testing::ZipOf;
using ::testing::HasSubstr;

constexpr char kPassword[] = "deserted-untie-orchid";

class DatasetTest : public ::testing::Test {
 protected:
  Path Write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(MakeFolders((folder_ / name).parent_path()));
    EXPECT_TRUE(WriteFileAtomic(folder_ / name, content));
    return folder_ / name;
  }
  static std::string ErrorOf(const Result<NamedText>& result) {
    return result ? "no error" : result.error().message;
  }

  // As published: three question sets and the validators, which are no questions.
  std::string Published(const std::string& password = kPassword) const {
    return ZipOf({{"dataset/gpqa_diamond.csv", diamond_},
                  {"dataset/gpqa_main.csv", MadeUpQuestions(448)},
                  {"dataset/gpqa_extended.csv", MadeUpQuestions(546)},
                  {"dataset/gpqa_experts.csv", "Expert,Score\n1,2\n"},
                  {"old/dataset/gpqa_diamond.csv", "not this one"}},
                 password);
  }

  assay::testing::TempDir folder_;
  const std::string diamond_ = MadeUpQuestions(198);
};

TEST_F(DatasetTest, ReadsThePublishedZipWithItsPublishedPassword) {
  const Path zip = Write("dataset.zip", Published());
  const auto csv = ReadDataset(zip, "diamond", "");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->text, diamond_) << "members are found by their exact name";
  EXPECT_EQ(csv->name, zip.string() + ":dataset/gpqa_diamond.csv");
  for (const PublishedSet& set : PublishedSets()) {
    const auto each = ReadDataset(zip, set.variant, "");
    ASSERT_TRUE(each) << each.error().message;
    const auto questions = ParseQuestions(each->text, each->name);
    ASSERT_TRUE(questions) << questions.error().message;
    EXPECT_EQ(static_cast<int64_t>(questions->size()), set.questions);
  }
}

TEST_F(DatasetTest, ReadsAZipWithoutEncryptionToo) {
  const auto csv = ReadDataset(Write("d.zip", Published("")), "main", "");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->text, MadeUpQuestions(448));
}

TEST_F(DatasetTest, KeepsFieldsWithNewlinesCommasAndQuotes) {
  const auto questions = ParseQuestions(diamond_, "d.csv");
  ASSERT_TRUE(questions) << questions.error().message;
  EXPECT_EQ(questions->size(), 198u);
  EXPECT_EQ(questions->front().text, "Which number, \"exactly\",\ncomes after 0?");
  EXPECT_EQ(questions->front().choices[0], "1\n") << "Correct Answer, and neither revision's";
}

TEST_F(DatasetTest, RefusesAnotherPassword) {
  const std::string error = ErrorOf(ReadDataset(Write("d.zip", Published("wrong")), "diamond", ""));
  EXPECT_THAT(error, HasSubstr("dataset/gpqa_diamond.csv: cannot be"));
}

TEST_F(DatasetTest, NamesTheMemberThatIsMissing) {
  const Path zip = Write("d.zip", ZipOf({{"gpqa_diamond.csv", diamond_}}, ""));
  EXPECT_THAT(ErrorOf(ReadDataset(zip, "diamond", "")), HasSubstr("has no member dataset/gpqa_diamond.csv"));
}

TEST_F(DatasetTest, ReadsAnUnpackedFolderEitherWay) {
  Write("a/gpqa_diamond.csv", "x");
  Write("b/dataset/gpqa_main.csv", "y");
  EXPECT_EQ(ReadDataset(folder_ / "a", "diamond", "")->text, "x");
  EXPECT_EQ(ReadDataset(folder_ / "b", "main", "")->text, "y");
  EXPECT_THAT(ErrorOf(ReadDataset(folder_ / "a", "main", "")), HasSubstr("has no gpqa_main.csv"));
}

TEST_F(DatasetTest, WantsAVariantOfAZipOrAFolderAndNoneOfACsv) {
  EXPECT_THAT(ErrorOf(ReadDataset(Write("d.zip", Published()), "", "")), HasSubstr("name one of them"));
  EXPECT_THAT(ErrorOf(ReadDataset(folder_.path(), "", "")), HasSubstr("name one of them"));
  const Path csv = Write("q.csv", diamond_);
  EXPECT_EQ(ReadDataset(csv, "", "")->text, diamond_);
  EXPECT_THAT(ErrorOf(ReadDataset(csv, "diamond", "")), HasSubstr("leave variant out"));
}

TEST_F(DatasetTest, HoldsAFileToItsPin) {
  const std::string zip = Published();
  const Path file = Write("d.zip", zip);
  EXPECT_TRUE(ReadDataset(file, "diamond", Sha256(zip)));
  EXPECT_THAT(ErrorOf(ReadDataset(file, "diamond", std::string(64, 'a'))),
              HasSubstr("has SHA-256 " + Sha256(zip) + ", not the pinned aaaa"));
}

TEST_F(DatasetTest, EveryCutZipIsAnErrorAndNoCrash) {
  const std::string zip = Published();
  for (size_t length = 4; length < zip.size(); length += zip.size() / 40) {
    const auto csv = ReadPublishedZip(std::string_view(zip).substr(0, length), "d.zip", "extended");
    EXPECT_FALSE(csv) << length;
  }
}

TEST_F(DatasetTest, AFlippedByteIsNeverTakenForAnotherText) {
  const std::string zip = Published();
  for (size_t at = 0; at < zip.size(); at += zip.size() / 60) {
    std::string flipped = zip;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
    const auto csv = ReadPublishedZip(flipped, "d.zip", "diamond");
    EXPECT_TRUE(!csv || csv->text == diamond_) << at;
  }
}

TEST_F(DatasetTest, AZipThatUnpacksToMoreThanAnySetIsRefused) {
  const std::string bomb = ZipOf({{"dataset/gpqa_main.csv", std::string(size_t{80} << 20, 'a')}}, "");
  EXPECT_LT(bomb.size(), size_t{1} << 20);
  EXPECT_THAT(ErrorOf(ReadPublishedZip(bomb, "d.zip", "main")), HasSubstr("is larger than 64 MiB"));
}

TEST_F(DatasetTest, NoErrorQuotesAQuestion) {
  std::string cut = diamond_.substr(0, diamond_.size() - 40);
  std::string nul = diamond_;
  nul[nul.size() / 2] = '\0';
  for (const std::string& bad : {cut, nul, "Question\n" + diamond_}) {
    const auto questions = ParseQuestions(bad, "d.csv");
    ASSERT_FALSE(questions);
    EXPECT_THAT(questions.error().message, ::testing::Not(HasSubstr("comes after")));
  }
}

}  // namespace
}  // namespace assay::evals
