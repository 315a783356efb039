#include "runner/launch/keeper.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

TEST(ParseAnnouncement, TakesAReadyLineOnly) {
  EXPECT_EQ((*ParseAnnouncement(R"({"event":"ready","port":4711,"model":"x"})"))["port"], 4711);
  EXPECT_TRUE(ParseAnnouncement("  {\"event\":\"ready\",\"port\":1}\r"));
  for (const char* line : {"", "ready", "{", R"({"event":"loading","port":1})", R"({"event":"ready"})",
                           R"({"event":"ready","port":0})", R"({"event":"ready","port":65536})",
                           R"({"event":"ready","port":"1"})", R"([{"event":"ready","port":1}])"})
    EXPECT_FALSE(ParseAnnouncement(line)) << line;
}

}  // namespace
}  // namespace assay::runner
