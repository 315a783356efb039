#include "engine/server/stop_filter.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

// Everything that came out, and whether it stopped, for each way to cut `text` in pieces of `size` bytes.
std::pair<std::string, bool> Filter(const std::vector<std::string>& stops, const std::string& text,
                                    size_t size) {
  StopFilter filter(stops);
  std::string out;
  for (size_t at = 0; at < text.size() && !filter.Stopped(); at += size)
    out += filter.Add(text.substr(at, size));
  if (!filter.Stopped()) out += filter.Finish();
  return {out, filter.Stopped()};
}

TEST(StopFilter, CutsAtTheFirstStopStringHoweverTheTextIsCut) {
  const struct {
    const char* name;
    std::vector<std::string> stops;
    const char* text;
    const char* out;
    bool stopped;
  } rows[] = {{"no stop strings", {}, "abc", "abc", false},
              {"none found", {"xyz"}, "abcxy", "abcxy", false},
              {"in the middle", {"END"}, "one ENtwo ENDthree", "one ENtwo ", true},
              {"at the start", {"a"}, "abc", "", true},
              {"repeated beginning", {"aab"}, "aaab", "a", true},
              {"self overlap", {"abab"}, "abaabab", "aba", true},
              {"the one that ends first", {"bcd", "c"}, "abcd", "ab", true},
              {"same end, the longer", {"c", "bc"}, "abcd", "a", true},
              {"multibyte", {"é!"}, "caf\u00e9 \u00e9!x", "caf\u00e9 ", true},
              {"newlines", {"\n\n"}, "a\nb\n\nc", "a\nb", true}};
  for (const auto& row : rows) {
    for (size_t size = 1; size <= 8; ++size) {
      SCOPED_TRACE(std::string(row.name) + ", pieces of " + std::to_string(size));
      EXPECT_EQ(Filter(row.stops, row.text, size), (std::pair<std::string, bool>(row.out, row.stopped)));
    }
  }
}

TEST(StopFilter, HoldsBackOnlyWhatCouldStillBecomeAStopString) {
  StopFilter filter({"STOP"});
  EXPECT_EQ(filter.Add("go S"), "go ");
  EXPECT_EQ(filter.Add("T"), "");
  EXPECT_EQ(filter.Add("AR"), "STAR");
  EXPECT_EQ(filter.Add("STO"), "");
  EXPECT_EQ(filter.Finish(), "STO");
}

TEST(StopFilter, SaysWhichStringStoppedAndKeepsItIfAsked) {
  StopFilter cut({"zz", "END"}), keep({"zz", "END"}, true);
  EXPECT_EQ(cut.Add("one ENDx"), "one ");
  EXPECT_EQ(cut.StoppedBy(), "END");
  EXPECT_EQ(keep.Add("one ENDx"), "one END");
  EXPECT_EQ(keep.StoppedBy(), "END");
}

}  // namespace
}  // namespace assay::engine
