#include <thread>

#include "kernels/collective/communicator.h"
#include "kernels/gpu/gpu_test_support.h"

namespace assay::kernels::gpu {
namespace {

// What rank r gives in round i: `count` numbers that nobody else gives.
std::vector<int32_t> Given(int rank, int round, int64_t count) {
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = rank * 1'000'000 + round * 10'000 + static_cast<int32_t>(i);
  return numbers;
}

// Every rank's thread gathers and holds the result against what was given, time and again.
void ExpectGathers(Communicator& communicator, int ranks, bool recorded) {
  constexpr int64_t kCount = 1000;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      UseDevice(communicator.DeviceOf(rank));
      const Stream stream;
      DeviceBuffer<int32_t> from(kCount, "a test's input");
      const auto to = Unwritten<int32_t>(stream, kCount * ranks);
      const auto gather = [&] {
        communicator.AllGather(rank, stream, from.data(), to.data(), kCount * sizeof(int32_t));
      };
      if (recorded) gather();  // what it takes the first time cannot be recorded
      const Graph graph = recorded ? stream.Record(gather) : Graph();
      for (int round = 0; round < 5; ++round) {
        const std::vector<int32_t> given = Given(rank, round, kCount);
        stream.CopyToDevice(from.data(), given.data(), from.bytes());
        recorded ? stream.Replay(graph) : gather();
        std::vector<int32_t> expected;
        for (int r = 0; r < ranks; ++r) {
          const std::vector<int32_t> one = Given(r, round, kCount);
          expected.insert(expected.end(), one.begin(), one.end());
        }
        EXPECT_EQ(ToHost(stream, to), expected) << "rank " << rank << " round " << round;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedDeviceCommunicator, GathersInTheOrderOfRanks) {
  for (const int ranks : {1, 2, 4, 8}) {
    const auto communicator = MakeSharedDeviceCommunicator(ranks);
    ExpectGathers(*communicator, ranks, false);
  }
}

TEST(LibraryCommunicator, GathersInTheOrderOfRanksAlsoWhenReplayed) {
  for (int ranks = 1; ranks <= DeviceCount(); ranks *= 2) {
    std::string problem = CheckLibraryCommunicator(ranks);
    if (!problem.empty()) GTEST_SKIP() << problem;
    const auto communicator = MakeLibraryCommunicator(ranks, problem);
    ASSERT_NE(communicator, nullptr) << problem;
    ExpectGathers(*communicator, ranks, false);
    ExpectGathers(*communicator, ranks, true);
  }
}

TEST(LibraryCommunicator, SaysThatThereAreTooFewDevices) {
  std::string problem;
  EXPECT_EQ(MakeLibraryCommunicator(DeviceCount() + 1, problem), nullptr);
  EXPECT_EQ(CheckLibraryCommunicator(DeviceCount() + 1), problem);
  EXPECT_EQ(problem, "there are " + std::to_string(DeviceCount()) + " GPUs");
}

TEST(JoinSlices, PutsTheSlicesOfARowSideBySide) {
  const Stream stream;
  for (const int64_t ranks : {2, 4, 8}) {
    for (const int64_t rows : {1, 3, 70}) {
      for (const int64_t slice : {4, 100, 2048}) {  // numbers of four bytes
        std::vector<float> from(static_cast<size_t>(ranks * rows * slice)), expected(from.size());
        for (int64_t rank = 0, i = 0; rank < ranks; ++rank) {
          for (int64_t row = 0; row < rows; ++row) {
            for (int64_t n = 0; n < slice; ++n, ++i) {
              from[static_cast<size_t>(i)] = static_cast<float>(i);
              expected[static_cast<size_t>((row * ranks + rank) * slice + n)] = static_cast<float>(i);
            }
          }
        }
        const auto device_from = Input(stream, from);
        const auto to = Unwritten<float>(stream, ranks * rows * slice);
        JoinSlices(stream.handle(), device_from.data(), ranks, rows, slice * 4, to.data());
        EXPECT_EQ(ToHost(stream, to), expected) << ranks << " " << rows << " " << slice;
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels::gpu
