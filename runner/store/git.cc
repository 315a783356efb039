#include "runner/store/git.h"

#include <chrono>
#include <iterator>
#include <optional>

#include "base/secrets.h"
#include "base/text.h"
#include "runner/plan/program_output.h"

namespace assay::runner {
namespace {

constexpr std::chrono::minutes kLimit{5};  // a push over a slow line

// What git said, without its advice, on one line.
std::string Words(const ProgramEnd& end) {
  std::vector<std::string> lines;
  for (const std::string& line : SplitLines(end.output)) {
    if (!StartsWith(line, "hint:") && !Trim(line).empty()) lines.emplace_back(Trim(line));
  }
  return lines.empty() ? fmt::format("exit code {}", end.exit_code) : HideUserInfo(Join(lines, "; "));
}

std::optional<std::string> FindBranch(const Path& folder, const std::string& branch) {
  for (const std::string& name : {"refs/heads/" + branch, "refs/remotes/origin/" + branch}) {
    auto commit = Git(folder, {"rev-parse", "--verify", "--quiet", name + "^{commit}"});
    if (commit) return std::move(*commit);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> GitCommand(const Path& folder, std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"env",
                                   "-u",
                                   "GIT_DIR",
                                   "-u",
                                   "GIT_WORK_TREE",
                                   "-u",
                                   "GIT_INDEX_FILE",  // of a hook that runs us
                                   "GIT_TERMINAL_PROMPT=0",
                                   "LC_ALL=C",
                                   "git",
                                   "-C",
                                   folder.string()};
  argv.insert(argv.end(), std::make_move_iterator(arguments.begin()),
              std::make_move_iterator(arguments.end()));
  return argv;
}

Result<std::string> Git(const Path& folder, std::vector<std::string> arguments) {
  ASSIGN_OR_RETURN(ProgramEnd end, RunProgram(GitCommand(folder, arguments), kLimit, Errors::kWithOutput));
  if (end.exit_code == 0) return std::string(Trim(end.output));
  return Fail(ErrorKind::kUsage, "git {}: {}", ShellJoin(HideSecrets(std::move(arguments))), Words(end));
}

Result<std::string> MergeBase(const Path& folder, const std::string& head, const std::string& branch,
                              bool modified) {
  const auto tip = FindBranch(folder, branch);
  if (!tip) {
    return Fail(
        ErrorKind::kInvalid,
        "there is no branch {} here and none at origin, so the merge base is unknown; fetch it: git fetch "
        "origin {}:refs/remotes/origin/{}",
        branch, branch, branch);
  }
  auto base = Git(folder, {"merge-base", head, *tip});
  if (!base) {
    return Fail(
        ErrorKind::kInvalid,
        "this commit and {} have no common ancestor here; in a shallow clone fetch more of it: git fetch "
        "--unshallow",
        branch);
  }
  if (*base != head || modified) return std::move(*base);
  auto parent = Git(folder, {"rev-parse", "--verify", "--quiet", head + "^1"});
  if (parent) return std::move(*parent);
  return Fail(ErrorKind::kInvalid, "{} is the first commit of {}: there is nothing before it to compare with",
              head, branch);
}

}  // namespace assay::runner
