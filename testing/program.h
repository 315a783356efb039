#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "testing/temp_dir.h"

namespace assay::testing {

// A program run by a whole-process test, in a process group of its own so that the test can stop all of it.
class Program {
 public:
  Program(std::vector<std::string> argv, std::map<std::string, std::string> env, const std::string& folder);
  ~Program();  // kills the group
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  bool Running();
  // Exit code, or 128 + signal; -1 when it still runs after `limit`.
  int Wait(std::chrono::milliseconds limit = std::chrono::seconds(120));
  std::string Out() const;
  std::string Err() const;

 private:
  TempDir files_;
  pid_t pid_ = -1;
  int exit_code_ = -1;
};

// Pids of all processes, zombies excepted, whose command line holds `text`.
std::vector<pid_t> ProcessesWith(const std::string& text);

}  // namespace assay::testing
