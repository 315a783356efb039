#include "reports/markdown_text.h"

#include <gtest/gtest.h>

namespace assay::reports {
namespace {

#define ZWSP "\u200B"

TEST(Inline, MakesForeignTextHarmless) {
  const struct {
    const char* name;
    std::string text, expected;
  } cases[] = {
      {"plain", "all 64 requests completed", "all 64 requests completed"},
      {"table cell", "a|b", "a\\|b"},
      {"code", "`rm`", "\\`rm\\`"},
      {"mention", "ask @octocat", "ask @" ZWSP "octocat"},
      {"issue", "fixes #12 and GH-12", "fixes #" ZWSP "12 and GH" ZWSP "-12"},
      {"bare link", "see https://a.b", "see https:" ZWSP "//a.b"},
      {"issue, oddly spelt", "fixes Gh-12", "fixes Gh" ZWSP "-12"},
      {"bare www", "www.a.b", "www" ZWSP ".a.b"},
      {"link", "[x](y)", "\\[x\\](y)"},
      {"image", "![x](y)", "\\!\\[x\\](y)"},
      {"html", "<img src=x>&amp;", "&lt;img src=x&gt;&amp;amp;"},
      {"comment", "<!-- x", "&lt;\\!-- x"},
      {"emphasis", "ttft_p50_ms *x*", "ttft\\_p50\\_ms \\*x\\*"},
      {"math", "$x$", "\\$x\\$"},
      {"new line", "a\n# b", "a #" ZWSP " b"},
      {"terminal colour", "\x1b[31mred\x1b[0m", "red"},
      {"not UTF-8", "a\xff", "a\uFFFD"},
      {"too long", std::string(700, 'x'), std::string(600, 'x') + "..."},
  };
  for (const auto& c : cases) EXPECT_EQ(Inline(c.text), c.expected) << c.name;
}

TEST(Inline, CutsBetweenCharacters) {
  EXPECT_EQ(Inline("aé", 2), "a...");
}

TEST(Link, IsOneOnlyForAnAddressOfTheWeb) {
  EXPECT_EQ(Link("job", "https://ci.example/b/1#a"), "[job](https://ci.example/b/1#a)");
  EXPECT_EQ(Link("job", "https://x/a) [b](c\"<"), "[job](https://x/a%29%20%5Bb%5D%28c%22%3C)");
  EXPECT_EQ(Link("job", "javascript:alert(1)"), "");
  EXPECT_EQ(Link("job", ""), "");
}

TEST(Characters, CountsCodePoints) {
  EXPECT_EQ(Characters("aé漢😀"), 4u);
}

TEST(Code, HasAFenceLongerThanItsContent) {
  EXPECT_EQ(Code("a`b"), "``a`b``");
  EXPECT_EQ(Code("`a`"), "`` `a` ``");
  EXPECT_EQ(Code("a|b"), "`a\\|b`");
  EXPECT_EQ(Code(""), "");
}

TEST(CodeBlock, CannotBeClosedFromWithin) {
  EXPECT_EQ(CodeBlock({"a", "```` x"}, "text"), "`````text\na\n```` x\n`````\n");
}

}  // namespace
}  // namespace assay::reports
