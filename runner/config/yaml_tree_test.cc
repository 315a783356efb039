#include "runner/config/yaml_tree.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::runner {
namespace {

// "" when there is no mistake.
std::string MistakesOf(std::string_view text) {
  Mistakes mistakes;
  ParseYaml(text, "f.yaml", mistakes);
  return mistakes.Text();
}

struct Case {
  const char* name;
  std::string text;
  std::string mistakes;
};

class YamlTreeRefuses : public ::testing::TestWithParam<Case> {};

TEST_P(YamlTreeRefuses, WithThePlaceAndWhatToDo) {
  EXPECT_EQ(MistakesOf(GetParam().text), GetParam().mistakes);
}

INSTANTIATE_TEST_SUITE_P(
    Table, YamlTreeRefuses,
    ::testing::Values(
        Case{"EmptyFile", "", "f.yaml: is empty; configs/README.md shows what a config needs"},
        Case{"OnlyComments", "# nothing\n\n",
             "f.yaml: is empty; configs/README.md shows what a config needs"},
        Case{"ListAtTheRoot", "- a\n", "f.yaml:1:1: must be a map of keys (name: value), got a list"},
        Case{"TextAtTheRoot", "hello\n", "f.yaml:1:1: must be a map of keys (name: value), got hello"},
        Case{"TabIndentation", "a:\n\tb: 1\n", "f.yaml:2:1: a tab in the indentation; YAML wants spaces"},
        Case{"TabAfterSpaces", "a:\n  b: 1\n \tc: 1\n",
             "f.yaml:3:2: a tab in the indentation; YAML wants spaces"},
        Case{"NulByte", std::string("a: 1\nb: x\0y\n", 12),
             "f.yaml:2:5: holds a NUL byte; save the file as UTF-8 text"},
        Case{"NulEscape", "a: \"x\\0y\"\n",
             "f.yaml:1:4: holds a NUL character, which no program argument can carry; remove it"},
        Case{"Latin1", "a: caf\xE9\n", "f.yaml:1:1: is not valid UTF-8; save the file as UTF-8 text"},
        Case{"DuplicateKey", "a: 1\nb: 2\na: 3\n",
             "f.yaml:3:1: a: stands twice, first in line 1; keep one of the two"},
        Case{"DuplicateKeyInsideAList", "s:\n  - n: 1\n  - n: 2\n    k: 1\n    n: 3\n",
             "f.yaml:5:5: s[1].n: stands twice, first in line 3; keep one of the two"},
        Case{"DuplicateKeyInAFlowMap", "e: {x: 1, y: 2, x: 3}\n",
             "f.yaml:1:17: e.x: stands twice, first in line 1; keep one of the two"},
        Case{"SecondDocument", "a: 1\n---\nb: 2\n",
             "f.yaml:2:1: a second document starts here; keep one in a file and remove the line with ---"},
        Case{"Anchor", "a: &x 1\n",
             "f.yaml:1:4: an anchor (&name) is not read; write the value out, or share it with another file "
             "through "
             "extends"},
        Case{"AnchorAndAlias", "a: &x 1\nb: *x\n",
             "f.yaml:1:4: an anchor (&name) is not read; write the value out, or share it with another file "
             "through "
             "extends\n"
             "f.yaml:2:4: an alias (*name) is not read; write the value out, or share it with another file "
             "through "
             "extends"},
        Case{"Tag", "a: !!python/object x\n",
             "f.yaml:1:4: the tag tag:yaml.org,2002:python/object is not read; remove it"},
        Case{"ListAsKey", "? [a]\n: 2\n", "f.yaml:1:3: a key must be text, got a list"},
        Case{"QuoteNeverCloses", "a: \"x\nb: 2\n",
             "f.yaml:1:4: a quote opens here and never closes; close it at the end of the value"},
        Case{"SingleQuoteNeverCloses", "\xC3\xA4: 'it''s\n",
             "f.yaml:1:4: a quote opens here and never closes; close it at the end of the value"},
        Case{"MapNeverCloses", "a: {b: 1\n",
             "f.yaml:2:1: not valid YAML: end of map flow not found; a map that opens with { needs its } and "
             "commas between "
             "entries"},
        Case{"ListNeverCloses", "a: [1, 2\nb: 3\n",
             "f.yaml:2:2: not valid YAML: end of sequence flow not found; a list that opens with [ needs its "
             "] and commas "
             "between items"},
        Case{"BadIndentation", "a:\n  b: 1\n c: 2\n",
             "f.yaml:3:2: not valid YAML: end of map not found; keys of one section must start in the same "
             "column"},
        Case{"ColonInText", "a: b: c\n",
             "f.yaml:1:5: not valid YAML: illegal map value; a colon with a blank after it starts a value: "
             "put text with a "
             "colon in quotes, and check that this line and the one above are indented alike"},
        Case{"AtSign", "a: @x\n",
             "f.yaml:1:4: not valid YAML: unknown token; text that starts with @, ` or % must be in quotes"}),
    [](const auto& test) { return test.param.name; });

TEST(YamlTree, KeepsTheSourceTextOfScalars) {
  Mistakes mistakes;
  const YamlNode root =
      ParseYaml("{a: 1, b: \"1\", c: true, d: on, e: 0x10, f: 1.0, g: 'it''s'}", "f", mistakes);
  ASSERT_TRUE(mistakes.empty()) << mistakes.Text();
  std::string texts;
  for (const YamlEntry& entry : root.entries) texts += entry.value.text + (entry.value.quoted ? "q " : " ");
  EXPECT_EQ(texts, "1 1q true on 0x10 1.0 it'sq ");
}

TEST(YamlTree, ReadsCrLfByteOrderMarkAndNoFinalNewline) {
  Mistakes mistakes;
  const YamlNode root = ParseYaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: 3",
      "f", mistakes);
  ASSERT_TRUE(mistakes.empty()) << mistakes.Text();
  EXPECT_EQ(root.Find("a")->text, "1");
  EXPECT_EQ(root.Find("b")->text, "x\ny\n");
  EXPECT_EQ(root.Find("c")->text, "3");
  EXPECT_EQ(root.Find("c")->mark.line, 5);
}

TEST(YamlTree, FoldsABlockIntoOneLine) {
  Mistakes mistakes;
  const YamlNode root = ParseYaml("a: >-\n  --x 1\n  --y 2\n", "f", mistakes);
  EXPECT_EQ(root.Find("a")->text, "--x 1 --y 2");
}

TEST(YamlTree, RefusesDeepNestingAndEndlessAliasesQuickly) {
  EXPECT_NE(MistakesOf("a: " + std::string(100'000, '[')), "");
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'z'; ++c) {
    laughs += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i)
      laughs += std::string("*") + static_cast<char>(c - 1) + (i < 8 ? ", " : "]\n");
  }
  EXPECT_NE(MistakesOf(laughs).find("an alias (*name) is not read"), std::string::npos);
}

TEST(YamlTree, RefusesAFileThatIsNoConfig) {
  EXPECT_EQ(MistakesOf(std::string((1 << 20) + 1, 'a')),
            "f.yaml: is 1048577 bytes, more than any config; is it the right file?");
}

TEST(YamlTree, OverlayMergesMapsAndReplacesTheRest) {
  Mistakes mistakes;
  const YamlNode base = ParseYaml("a: {x: 1, y: [1, 2]}\nb: 1\n", "base", mistakes);
  const YamlNode over = ParseYaml("a: {y: [3], z: 4}\nc: 5\n", "over", mistakes);
  const YamlNode merged = Overlay(base, over);
  const YamlNode& a = *merged.Find("a");
  EXPECT_EQ(a.Find("x")->text, "1");
  ASSERT_EQ(a.Find("y")->items.size(), 1u);
  EXPECT_EQ(a.Find("y")->items[0].text, "3");
  EXPECT_EQ(a.Find("z")->text, "4");
  EXPECT_EQ(merged.Find("b")->text, "1");
  EXPECT_EQ(merged.Find("c")->text, "5");
  EXPECT_EQ(*a.Find("x")->mark.file, "base");
  EXPECT_EQ(*a.Find("z")->mark.file, "over");
}

}  // namespace
}  // namespace assay::runner
