#include "runner/run/subject.h"

#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/text.h"
#include "runner/run/ci_links.h"
#include "runner/run/environment.h"

namespace assay::runner {
namespace {

// Standard output of a git command in `folder`, trimmed; nullopt when it failed.
std::optional<std::string> Git(const Path& folder, const std::string& arguments) {
  const std::string command = "git -C " + ShellQuote(folder.string()) + " " + arguments + " 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "re"), &::pclose);
  if (!pipe) return std::nullopt;
  std::string output;
  std::array<char, 4096> buffer;
  for (size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    output.append(buffer.data(), n);
  if (::pclose(pipe.release()) != 0) return std::nullopt;
  return std::string(Trim(output));
}

std::string BranchFromCi() {
  if (IsPullRequest()) return "";
  for (const char* name : {"BUILDKITE_BRANCH", "GITHUB_REF_NAME", "CI_COMMIT_BRANCH"}) {
    if (const std::string branch = Environment(name); !branch.empty()) return branch;
  }
  return "";
}

}  // namespace

Subject DetectSubject(const Path& folder) {
  Subject subject;
  subject.commit = Git(folder, "rev-parse HEAD").value_or("");
  if (subject.commit.empty()) return subject;
  subject.repository = Git(folder, "config --get remote.origin.url").value_or("");
  subject.branch = Git(folder, "symbolic-ref --short -q HEAD").value_or(BranchFromCi());
  const bool modified = !Git(folder, "status --porcelain --untracked-files=no").value_or("").empty();
  if (modified) subject.branch += kModified;
  return subject;
}

}  // namespace assay::runner
