#include "reports/prose.h"

#include <gtest/gtest.h>

#include <set>

#include "reports/chinese.h"

namespace assay::reports {
namespace {

using Values = std::vector<std::string>;

TEST(ValuesOf, FindsWhatStandsBetweenTheWords) {
  EXPECT_EQ(ValuesOf("all {} samples were asked", "all 448 samples were asked"), Values{"448"});
  EXPECT_EQ(ValuesOf("{}: {} here, {} in the baseline", "api: chat here, responses in the baseline"),
            (Values{"api", "chat", "responses"}));
  EXPECT_EQ(ValuesOf("nothing passes", "nothing passes"), Values{});
  EXPECT_EQ(ValuesOf("compared with {}", "compared with a; b"), Values{"a; b"});
}

TEST(ValuesOf, RefusesOtherWordsAndEmptyValues) {
  EXPECT_FALSE(ValuesOf("all {} samples were asked", "all 448 samples were answered"));
  EXPECT_FALSE(ValuesOf("all {} samples were asked", "all  samples were asked "));
  EXPECT_FALSE(ValuesOf("nothing passes", "nothing passes."));
  EXPECT_FALSE(ValuesOf("compared with {}", "compared with "));
}

TEST(ValuesOf, MakesAnEarlierValueLongerWhereALaterWordNeedsIt) {
  EXPECT_EQ(ValuesOf("{} of {}", "3 of main of yesterday"), (Values{"3", "main of yesterday"}));
  EXPECT_EQ(ValuesOf("{} at {} s", "due at noon at 5 s"), (Values{"due", "noon at 5"}));
  EXPECT_EQ(ValuesOf("{} x {} end", "a x b x c end"), (Values{"a", "b x c"}));
}

TEST(ChineseProse, SaysASentenceOfTheGate) {
  EXPECT_EQ(ChineseProse("all 448 samples were asked"), "全部 448 个样本均已提问");
  EXPECT_EQ(ChineseProse("not judged: no baseline yet"), "未判定：尚无基线");
  EXPECT_EQ(ChineseProse("64 of 70 planned requests completed; speed is only stated for all of them"),
            "计划的 70 个请求只完成了 64 个；速度只针对全部请求给出");
}

TEST(ChineseProse, SaysThePartsOfASentenceThatHasNoRow) {
  EXPECT_EQ(
      ChineseProse(
          "FAIL: 1k1k ttft_p50_ms +10.0 %, gpqa_score against the threshold; 4 checks pass, 1 improved"),
      "FAIL（失败）：1k1k ttft_p50_ms +10.0 %，gpqa_score 未达门限；4 项检查通过，1 项有提升");
}

TEST(ChineseProse, LeavesWhatAServerSaid) {
  EXPECT_EQ(ChineseProse("CUDA error: out of everything"), "CUDA error: out of everything");
  EXPECT_EQ(ChineseProse("3 x HTTP 500: not ready to serve"), "3 × HTTP 500: not ready to serve");
  EXPECT_EQ(ChineseProse(""), "");
}

std::multiset<std::string> Specs(std::string_view pattern) {
  std::multiset<std::string> specs;
  for (size_t open = pattern.find('{'); open != std::string_view::npos; open = pattern.find('{', open + 1)) {
    std::string spec(pattern.substr(open + 1, pattern.find('}', open) - open - 1));
    const size_t colon = spec.find(':');
    specs.insert(colon == std::string::npos ? "" : spec.substr(colon));
  }
  return specs;
}

TEST(Chinese, EachPhraseStandsOnceAndKeepsItsValues) {
  for (const auto table : {ChinesePages(), ChineseVerdicts()}) {
    std::set<std::string_view> seen;
    for (const Phrase& phrase : table) {
      EXPECT_TRUE(seen.insert(phrase.english).second) << phrase.english;
      EXPECT_EQ(Specs(phrase.english), Specs(phrase.chinese)) << phrase.english;
      EXPECT_FALSE(phrase.chinese.empty()) << phrase.english;
    }
  }
}

// An error of a server: no sentence of ours, with separators without end.
TEST(ChineseProse, ReadsForeignTextInTime) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "'loc', 'x': ; ";
  EXPECT_EQ(ChineseProse(text), text);
}

}  // namespace
}  // namespace assay::reports
