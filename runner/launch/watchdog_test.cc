#include "runner/launch/watchdog.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "testing/fake_clock.h"

namespace assay::runner {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(HangDetector, TripsAtTheLimitAndNotANanosecondBefore) {
  testing::FakeClock clock;
  HangDetector detector(seconds(10), clock.Now());
  EXPECT_FALSE(detector.Observe(5, 2, clock.Now()));
  clock.Advance(seconds(10) - nanoseconds(1));
  EXPECT_FALSE(detector.Observe(5, 2, clock.Now()));
  clock.Advance(nanoseconds(1));
  EXPECT_TRUE(detector.Observe(5, 2, clock.Now()));
}

TEST(HangDetector, IsPutOffByAnyToken) {
  testing::FakeClock clock;
  HangDetector detector(seconds(10), clock.Now());
  clock.Advance(seconds(9));
  EXPECT_FALSE(detector.Observe(1, 2, clock.Now()));
  clock.Advance(seconds(9));
  EXPECT_FALSE(detector.Observe(1, 2, clock.Now()));
  clock.Advance(seconds(1));
  EXPECT_TRUE(detector.Observe(1, 2, clock.Now()));
}

TEST(HangDetector, DoesNotCountIdleTime) {
  testing::FakeClock clock;
  HangDetector detector(seconds(10), clock.Now());
  clock.Advance(seconds(100));
  EXPECT_FALSE(detector.Observe(0, 0, clock.Now()));  // nothing was asked
  clock.Advance(seconds(9));
  EXPECT_FALSE(detector.Observe(0, 1, clock.Now()));
  clock.Advance(seconds(1));
  EXPECT_TRUE(detector.Observe(0, 1, clock.Now()));
}

// A server that dies when told to.
class FakeServer final : public Server {
 public:
  const std::string& BaseUrl() const override { return url_; }
  int Port() const override { return 0; }
  std::vector<std::string> Argv() const override { return {}; }
  const nlohmann::json& Announcement() const override { return announcement_; }
  std::optional<record::ServerFailure> Died(const std::string& stage) override {
    if (!dead) return std::nullopt;
    return Classify(3 << 8, {}, stage);
  }
  std::vector<std::string> Stop() override { return {}; }
  void Kill() override { killed = true; }
  std::vector<std::string> LogTail() const override { return log; }

  std::atomic<bool> dead{false}, killed{false};
  std::vector<std::string> log;

 private:
  std::string url_;
  nlohmann::json announcement_;
};

struct Scene {
  FakeServer server;
  evals::Progress progress;
  std::atomic<bool> interrupted{false};
  testing::FakeClock clock;

  std::optional<record::ServerFailure> Run(const std::function<void()>& eval) {
    return RunWatched(server, progress, "gpqa", 10, interrupted, clock, eval);
  }
  void WaitForStop() const {
    while (!progress.stop) std::this_thread::yield();
  }
};

TEST(RunWatched, ReportsNothingOfAnEvalThatEnds) {
  Scene scene;
  bool ran = false;
  EXPECT_FALSE(scene.Run([&] { ran = true; }));
  EXPECT_TRUE(ran);
  EXPECT_FALSE(scene.progress.stop);
}

TEST(RunWatched, StopsTheEvalWhenTheServerDies) {
  Scene scene;
  const auto failure = scene.Run([&] {
    scene.server.dead = true;
    scene.WaitForStop();
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "crashed");
  EXPECT_EQ(failure->stage, "gpqa");
  EXPECT_EQ(failure->exit, "exit code 3");
}

TEST(RunWatched, SeesADeathThatEndedTheEvalBeforeItLooked) {
  Scene scene;
  const auto failure = scene.Run([&] { scene.server.dead = true; });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "crashed");
}

TEST(RunWatched, KillsAHangAndSaysSo) {
  Scene scene;
  scene.server.log = {"Memory access fault by GPU node-1"};
  const auto failure = scene.Run([&] {
    scene.progress.in_flight = 7;
    scene.clock.Advance(seconds(10));
    scene.WaitForStop();
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "hang");
  EXPECT_FALSE(failure->infrastructure);
  EXPECT_EQ(
      failure->message,
      "no token from any of 7 requests in flight for 10.0 s (engine.hang_timeout_s); it was killed; its log "
      "says: a GPU kernel touched memory that is not its own: Memory access fault by GPU node-1");
  EXPECT_TRUE(scene.server.killed);
}

TEST(RunWatched, PassesAnInterruptionOn) {
  Scene scene;
  EXPECT_FALSE(scene.Run([&] {
    scene.interrupted = true;
    scene.WaitForStop();
  }));
}

}  // namespace
}  // namespace assay::runner
