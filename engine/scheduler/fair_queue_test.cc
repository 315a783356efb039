#include "engine/scheduler/fair_queue.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::engine {
namespace {

constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();

std::unique_ptr<ActiveRequest> Request(uint64_t id, const char* client, size_t length = 1) {
  auto request = std::make_unique<ActiveRequest>();
  request->id = id;
  request->request.client = client;
  request->tokens.resize(length);
  return request;
}

std::vector<uint64_t> TakeAll(FairQueue& queue, int64_t longest = kAnyLength) {
  std::vector<uint64_t> ids;
  while (const ActiveRequest* next = queue.Next(longest)) ids.push_back(queue.Take(next)->id);
  return ids;
}

TEST(FairQueue, OneClientIsServedInOrderOfArrival) {
  FairQueue queue;
  for (uint64_t id = 1; id <= 4; ++id) queue.Add(Request(id, ""));
  EXPECT_EQ(queue.Size(), 4);
  EXPECT_EQ(TakeAll(queue), (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(queue.Next(kAnyLength), nullptr);
}

TEST(FairQueue, ClientsTakeTurns) {
  FairQueue queue;
  for (uint64_t id = 1; id <= 5; ++id) queue.Add(Request(id, "flood"));
  queue.Add(Request(6, "a"));
  queue.Add(Request(7, "b"));
  queue.Add(Request(8, "a"));
  EXPECT_EQ(TakeAll(queue), (std::vector<uint64_t>{1, 6, 7, 2, 8, 3, 4, 5}));
}

TEST(FairQueue, AClientThatComesBackWaitsForTheTurnOfTheOthers) {
  FairQueue queue;
  queue.Add(Request(1, "a"));
  queue.Add(Request(2, "b"));
  queue.Add(Request(3, "b"));
  EXPECT_EQ(queue.Take(queue.Next(kAnyLength))->id, 1u);
  queue.Add(Request(4, "a"));
  EXPECT_EQ(TakeAll(queue), (std::vector<uint64_t>{2, 4, 3}));
}

TEST(FairQueue, WhatWasSetBackGoesBeforeAllInOrderOfArrival) {
  FairQueue queue;
  queue.Add(Request(5, "a"));
  queue.Return(Request(4, "b"));
  queue.Return(Request(2, "a"));
  queue.Return(Request(3, "c"));
  EXPECT_EQ(TakeAll(queue), (std::vector<uint64_t>{2, 3, 4, 5}));
}

TEST(FairQueue, PassesOverWhatIsTooLong) {
  FairQueue queue;
  queue.Return(Request(1, "a", 9));
  queue.Add(Request(2, "a", 9));
  queue.Add(Request(3, "a", 3));
  queue.Add(Request(4, "b", 3));
  EXPECT_EQ(TakeAll(queue, 8), (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(TakeAll(queue), (std::vector<uint64_t>{1, 2}));
}

TEST(FairQueue, RemovesById) {
  FairQueue queue;
  queue.Add(Request(1, "a"));
  queue.Add(Request(2, "b"));
  queue.Return(Request(3, "a"));
  EXPECT_EQ(queue.Remove(2)->id, 2u);
  EXPECT_EQ(queue.Remove(2), nullptr);
  EXPECT_EQ(queue.Remove(3)->id, 3u);
  EXPECT_EQ(queue.Ids(), std::vector<uint64_t>{1});
}

}  // namespace
}  // namespace assay::engine
