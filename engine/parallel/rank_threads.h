#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace assay::engine {

// A thread for each rank, of which the caller is the first, for work that all ranks do side by side and in
// which they may wait for one another.
class RankThreads {
 public:
  explicit RankThreads(int ranks);
  ~RankThreads();
  RankThreads(const RankThreads&) = delete;

  int Size() const { return static_cast<int>(helpers_.size()) + 1; }
  // Calls work(rank) in every rank's thread; returns when all are done. An exception ends the process: the
  // others may wait for the rank that it came from.
  void Run(const std::function<void(int rank)>& work) noexcept;

 private:
  void Help(int rank);

  const std::function<void(int)>* work_ = nullptr;
  std::atomic<uint32_t> round_{0}, left_{0};
  bool stopping_ = false;  // read after a change of round_
  std::vector<std::thread> helpers_;
};

}  // namespace assay::engine
