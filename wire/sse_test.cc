#include "wire/sse.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay::wire {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;  // event name, data

Events Decode(const std::vector<std::string_view>& pieces, SseDecoder* decoder) {
  Events events;
  const SseDecoder::Sink sink = [&](const SseEvent& event) {
    events.emplace_back(std::string(event.event), std::string(event.data));
  };
  for (const std::string_view piece : pieces) decoder->Feed(piece, sink);
  return events;
}

Events Decode(const std::vector<std::string_view>& pieces) {
  SseDecoder decoder;
  return Decode(pieces, &decoder);
}

struct Case {
  const char* name;
  std::string stream;
  Events events;
};

class SseDecoderTable : public testing::TestWithParam<Case> {};

TEST_P(SseDecoderTable, GivesTheEvents) {
  EXPECT_EQ(Decode({GetParam().stream}), GetParam().events);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, SseDecoderTable,
    testing::Values(Case{"DataWithBlank", "data: x\n\n", {{"", "x"}}},
                    Case{"DataWithoutBlank", "data:x\n\n", {{"", "x"}}},
                    Case{"OnlyOneBlankIsRemoved", "data:  x\n\n", {{"", " x"}}},
                    Case{"BlanksAtTheEndAreKept", "data: x  \n\n", {{"", "x  "}}},
                    Case{"CarriageReturns", "data: x\r\rdata: y\r\r", {{"", "x"}, {"", "y"}}},
                    Case{"CarriageReturnLineFeeds", "event: message\r\ndata: x\r\n\r\n", {{"message", "x"}}},
                    Case{"MixedLineEnds", "data: a\rdata: b\r\ndata: c\n\r\n", {{"", "a\nb\nc"}}},
                    Case{"CommentBeforeData", ": ping\n\ndata: x\n\n", {{"", "x"}}},
                    Case{"CommentInsideAnEvent", "data: a\n:keep-alive\ndata: b\n\n", {{"", "a\nb"}}},
                    Case{"IdAndRetryAreDropped", "id: 7\nretry: 10\ndata: x\n\n", {{"", "x"}}},
                    Case{"UnknownFieldIsDropped", "dat: a\ndataa: b\n data: c\n\n", {}},
                    Case{"ColonsInTheValue", "data: {\"a\":\"b:c\"}\n\n", {{"", "{\"a\":\"b:c\"}"}}},
                    Case{"FieldWithoutColon", "data\n\n", {{"", ""}}},
                    Case{"EmptyDataIsAnEvent", "data:\n\n", {{"", ""}}},
                    Case{"TwoEmptyDataLines", "data\ndata\n\n", {{"", "\n"}}},
                    Case{"EventWithoutDataIsNotDispatched", "event: x\n\ndata: y\n\n", {{"", "y"}}},
                    Case{"LastEventNameWins", "event: x\nevent: y\ndata: z\n\n", {{"y", "z"}}},
                    Case{"ByteOrderMarkAtTheStart",
                         "\xEF\xBB\xBF"
                         "data: x\n\n",
                         {{"", "x"}}},
                    Case{"OnlyOneByteOrderMark",
                         "\xEF\xBB\xBF\xEF\xBB\xBF"
                         "data: x\n\n",
                         {}},
                    Case{"ByteOrderMarkLaterIsData", "data: \xEF\xBB\xBF\n\n", {{"", "\xEF\xBB\xBF"}}},
                    Case{"StartOfAByteOrderMarkIsAFieldName",
                         "\xEF\xBB"
                         "data: x\n\ndata: y\n\n",
                         {{"", "y"}}},
                    Case{"BlankLinesFirst", "\n\r\n\rdata: x\n\n", {{"", "x"}}},
                    Case{"UnfinishedEventIsNotDispatched", "data: x\n\ndata: y\n", {{"", "x"}}},
                    Case{"NulByteIsData", std::string("data: a\0b\n\n", 11), {{"", std::string("a\0b", 3)}}}),
    [](const auto& row) { return row.param.name; });

TEST(SseDecoder, JoinsEventSplitInsideUtf8Character) {
  EXPECT_EQ(Decode({"data: caf\xC3", "\xA9\n\n"}), (Events{{"", "caf\xC3\xA9"}}));
}

TEST(SseDecoder, JoinsDataCutAfterTheColon) {
  EXPECT_EQ(Decode({"data:", " {\"choices\":[]}\n\ndata: [DONE]\n\n"}),
            (Events{{"", "{\"choices\":[]}"}, {"", "[DONE]"}}));
}

TEST(SseDecoder, GivesTheSameEventsForEveryTwoCuts) {
  const std::string stream =
      "\xEF\xBB\xBF: hi\r\n\r\nevent: a\r\ndata: \xE2\x82\xAC{\"x\":1}\r\n\r\ndata:y\rdata\r\rid: 1\n"
      "data: \xF0\x9F\x99\x82 \n\n:p\n\nevent:b\ndata: z\n\ndata: [DONE]\n\n";
  const Events whole = Decode({stream});
  ASSERT_EQ(whole, (Events{{"a", "\xE2\x82\xAC{\"x\":1}"},
                           {"", "y\n"},
                           {"", "\xF0\x9F\x99\x82 "},
                           {"b", "z"},
                           {"", "[DONE]"}}));
  const std::string_view bytes = stream;
  for (size_t a = 0; a <= bytes.size(); ++a) {
    for (size_t b = a; b <= bytes.size(); ++b) {
      ASSERT_EQ(Decode({bytes.substr(0, a), bytes.substr(a, b - a), bytes.substr(b)}), whole)
          << "cut at " << a << " and " << b;
    }
  }
  std::vector<std::string_view> single;
  for (size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
  EXPECT_EQ(Decode(single), whole);
}

TEST(SseDecoder, CountsWhatNeverGotItsBlankLine) {
  SseDecoder decoder;
  Decode({"data: x\n\n"}, &decoder);
  EXPECT_EQ(decoder.Pending(), 0u);
  Decode({"data: [DO"}, &decoder);
  EXPECT_GT(decoder.Pending(), 0u);
  Decode({"NE]\n"}, &decoder);
  EXPECT_GT(decoder.Pending(), 0u) << "the line is complete, the event is not";
  Decode({"\n"}, &decoder);
  EXPECT_EQ(decoder.Pending(), 0u);
  Decode({"data:\n"}, &decoder);
  EXPECT_GT(decoder.Pending(), 0u) << "an event with empty data is pending too";
}

TEST(SseData, IsReadBackByTheDecoder) {
  EXPECT_EQ(SseData("{\"a\":1}"), "data: {\"a\":1}\n\n");
  EXPECT_EQ(SseData("response.created", "{}"), "event: response.created\ndata: {}\n\n");
  EXPECT_EQ(Decode({SseData("a\nb\r\nc\rd\n")}), (Events{{"", "a\nb\nc\nd\n"}}));
}

}  // namespace
}  // namespace assay::wire
