#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "testing/temp_dir.h"

namespace assay::testing {

// A git repository of a test's own, on branch main.
class GitRepository {
 public:
  GitRepository() { Git("init -q -b main"); }

  // Writes a file and commits it.
  void Commit(const std::string& file, const std::string& content) const {
    folder_.Write(file, content);
    Git("add -A");
    Git("commit -q -m change");
  }
  void Git(const std::string& arguments) const {
    const std::string command =
        fmt::format("git -C {} -c user.name=t -c user.email=t@example.com -c commit.gpgsign=false {}",
                    ShellQuote(folder_.path().string()), arguments);
    CHECK_EQ(std::system(command.c_str()), 0);  // NOLINT: nothing else runs git here
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TempDir folder_;
};

}  // namespace assay::testing
