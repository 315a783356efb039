#include "reports/junit.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "reports/markup_text.h"
#include "reports/scenes_test_support.h"

namespace assay::reports {
namespace {

std::string JunitOf(const testing::Scene& scene) {
  const record::Verdict verdict = VerdictOf(scene);
  return RenderJunit({scene.run, verdict});
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(RenderJunit, CountsWhatItLists) {
  for (const testing::Scene& scene : testing::AllScenes()) {
    const std::string xml = JunitOf(scene);
    const std::string head =
        fmt::format(R"(<testsuites name="assay" tests="{}" failures="{}" errors="{}")",
                    Count(xml, "<testcase "), Count(xml, "<failure "), Count(xml, "<error "));
    EXPECT_NE(xml.find(head), std::string::npos) << scene.name << ": wanted " << head;
    EXPECT_NE(xml.find(fmt::format("skipped=\"{}\"", Count(xml, "<skipped "))), std::string::npos)
        << scene.name;
  }
}

TEST(RenderJunit, NamesEachCaseOnceAndWithoutValues) {
  for (const testing::Scene& scene : testing::AllScenes()) {
    const std::string xml = JunitOf(scene);
    std::set<std::string> names;
    const std::regex pattern("<testcase (classname=\"[^\"]+\" name=\"[^\"]+\")");
    for (std::sregex_iterator found(xml.begin(), xml.end(), pattern), end; found != end; ++found)
      EXPECT_TRUE(names.insert((*found)[1]).second) << scene.name << ": " << (*found)[1];
    EXPECT_EQ(names.size(), Count(xml, "<testcase ")) << scene.name;
  }
}

TEST(RenderJunit, SaysWhatFailedInTheTextToo) {
  const std::string xml = JunitOf(testing::FailScene());
  const std::string reason = "40 answers lost and 3 won of 448";
  EXPECT_NE(xml.find("type=\"regression\">" + reason), std::string::npos);
  EXPECT_NE(xml.find("message=\"" + reason), std::string::npos);
}

TEST(Escaped, IsWellFormedWhateverComesIn) {
  EXPECT_EQ(Escaped("<a href='x'>&\"\x1b[31m\x01\n"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\n");
  EXPECT_EQ(Escaped("\xff"), "\uFFFD");
  EXPECT_EQ(Escaped("\uFFFE"), "\uFFFD");
}

}  // namespace
}  // namespace assay::reports
