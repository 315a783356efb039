// Several processes at once. Two seconds each; ASSAY_STORE_TEST_SECONDS=60 makes it a minute.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <thread>

#include "runner/store/sqlite.h"
#include "runner/store/store_test_support.h"
#include "testing/file_server.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using std::chrono::steady_clock;

std::chrono::seconds Duration() {
  const char* seconds = std::getenv("ASSAY_STORE_TEST_SECONDS");
  return std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 2);
}

// What a process says it has committed: a line for each run, through a pipe that outlives it.
class Acknowledged {
 public:
  Acknowledged() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Acknowledged() { ::close(ends_[0]); }
  Acknowledged(const Acknowledged&) = delete;
  Acknowledged& operator=(const Acknowledged&) = delete;

  bool Say(const std::string& id) const {
    const std::string line = id + "\n";
    return ::write(ends_[1], line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  void CloseWriting() const { ::close(ends_[1]); }
  std::set<std::string> All() const {
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ends_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<size_t>(n));
    std::set<std::string> ids;
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      ids.insert(text.substr(begin, end - begin));
    return ids;
  }

 private:
  int ends_[2] = {-1, -1};
};

// Adds runs and says so after each, until the time is up. False when one could not be added.
bool WriteUntil(steady_clock::time_point end, const std::string& place, const std::string& name,
                const Acknowledged& acknowledged) {
  const auto store = BaselineStore::Open(place);
  if (!store) return false;
  for (int i = 0; steady_clock::now() < end; ++i) {
    const std::string id = name + "-" + std::to_string(i);
    if (!(*store)->Add(NewRecord(id), 0) || !acknowledged.Say(id)) return false;
  }
  return true;
}

struct Written {
  std::set<std::string> by_all;  // acknowledged
  int killed = 0;
};

// Two processes write to the end while a third is killed again and again, at whatever it is doing. A pipe is
// read after the others are done: what was said would fill one in a minute, so a thread empties them.
Written WriteAndKill(const std::string& place) {
  Written written;
  const auto end = steady_clock::now() + Duration();
  Acknowledged first, second, victim;
  std::vector<pid_t> writers;
  for (const auto& [name, pipe] : {std::pair{"w1", &first}, std::pair{"w2", &second}})
    writers.push_back(Fork([&, name = name, pipe = pipe] { return WriteUntil(end, place, name, *pipe); }));
  std::set<std::string> said[3];
  std::vector<std::thread> readers;
  const auto read_all = [&](Acknowledged& pipe, std::set<std::string>& into) {
    readers.emplace_back([&] { into = pipe.All(); });
  };
  first.CloseWriting();
  second.CloseWriting();
  read_all(first, said[0]);
  read_all(second, said[1]);
  read_all(victim, said[2]);
  for (; steady_clock::now() < end; ++written.killed) {
    const std::string name = "k" + std::to_string(written.killed);
    const pid_t child = Fork([&] { return WriteUntil(end, place, name, victim); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + written.killed * 37 % 150));
    ::kill(child, SIGKILL);
    Wait(child);
  }
  for (const pid_t writer : writers) EXPECT_EQ(Wait(writer), 0) << "a writer met an error";
  victim.CloseWriting();
  for (std::thread& reader : readers) reader.join();
  for (const auto& ids : said) written.by_all.insert(ids.begin(), ids.end());
  return written;
}

void ExpectNothingIsLost(const std::string& place, const Written& written) {
  const auto store = BaselineStore::Open(place);  // SQLite's integrity is checked here
  ASSERT_TRUE(store) << store.error().message;
  std::set<std::string> kept;
  const auto runs = (*store)->Runs();
  ASSERT_TRUE(runs) << runs.error().message;
  for (const StoredRun& run : *runs) {
    kept.insert(run.id);
    EXPECT_TRUE((*store)->Load(run.id)) << run.id << ": bytes are as they were written";
  }
  std::vector<std::string> lost;
  for (const std::string& id : written.by_all) {
    if (kept.count(id) == 0) lost.push_back(id);
  }
  EXPECT_THAT(lost, ::testing::IsEmpty());
  // Each killed process may have committed one run that it had no time to say.
  EXPECT_LE(kept.size(), written.by_all.size() + static_cast<size_t>(written.killed));
  std::printf("%zu runs acknowledged, %zu kept, %d processes killed\n", written.by_all.size(), kept.size(),
              written.killed);
}

TEST(Writers, LoseNoCommittedRunInSqliteWhileAThirdIsKilled) {
  const testing::TempDir folder;
  const std::string place = (folder / "store.db").string();
  const Written written = WriteAndKill(place);
  EXPECT_GT(written.killed, 3);
  ExpectNothingIsLost(place, written);
  const auto database = Database::Open(place);
  ASSERT_TRUE(database);
  EXPECT_EQ((*database)->Value("PRAGMA integrity_check").value_or("?"), "ok");
}

TEST(Writers, LoseNoCommittedRunInAFolderWhileAThirdIsKilled) {
  const testing::TempDir folder;
  const std::string place = (folder / "store/").string();
  ExpectNothingIsLost(place, WriteAndKill(place));
}

// Six processes from the first moment on, when the store is just being made.
void ExpectManyWritersFit(const std::string& place, int runs_each) {
  constexpr int kWriters = 6;
  std::vector<pid_t> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.push_back(Fork([&] {
      const auto store = BaselineStore::Open(place);
      for (int i = 0; store && i < runs_each; ++i)
        if (!(*store)->Add(NewRecord("w" + std::to_string(w) + "-" + std::to_string(i)), 0)) return false;
      return store.has_value();
    }));
  }
  for (const pid_t writer : writers) EXPECT_EQ(Wait(writer), 0);
  EXPECT_EQ((*BaselineStore::Open(place))->Runs()->size(), static_cast<size_t>(kWriters * runs_each));
}

TEST(Writers, MayBeManyFromTheFirstMomentOn) {
  const testing::TempDir folder;
  ExpectManyWritersFit((folder / "store.db").string(), 15);
  ExpectManyWritersFit((folder / "store/").string(), 15);
}

TEST(Writers, MayBeManyOnAWebServer) {
  const auto server = testing::FileServer::Start({});
  ExpectManyWritersFit(server->Url(), 3);
}

}  // namespace
}  // namespace assay::runner
