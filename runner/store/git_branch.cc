#include "runner/store/git_branch.h"

#include <unistd.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/secrets.h"
#include "base/text.h"
#include "runner/store/git.h"

namespace assay::runner {
namespace {

constexpr int kAttempts = 20;

// A repository of our own for one exchange, removed with everything in it.
class Scratch {
 public:
  static Result<std::unique_ptr<Scratch>> Make() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-baselines-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return Fail(ErrorKind::kInfrastructure, "{}: no folder can be made there", pattern);
    std::unique_ptr<Scratch> scratch(new Scratch(pattern));
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string out, Git(scratch->folder_, {"init", "--quiet"}));
    return scratch;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const Path& Folder() const { return folder_; }

 private:
  explicit Scratch(Path folder) : folder_(std::move(folder)) {}
  Path folder_;
};

// git would take these for flags, and some of its flags run commands.
Status CheckNoFlag(const std::string& remote, const std::string& branch) {
  for (const std::string& word : {remote, branch}) {
    if (word.empty() || word.front() == '-')
      return Fail(ErrorKind::kUsage, "'{}': neither a remote nor a branch begins with a dash", word);
  }
  return {};
}

// A remote's name means something only in the user's checkout, a relative path only from its folder.
std::string AddressOf(const std::string& remote) {
  const Path here = std::filesystem::current_path();
  if (auto address = Git(here, {"remote", "get-url", remote})) return std::move(*address);
  std::error_code ignored;
  return std::filesystem::exists(remote, ignored) ? std::filesystem::absolute(remote).string() : remote;
}

// Makes the scratch folder the branch as it is at the remote; false when the remote has none yet.
Result<bool> FetchBranch(const Path& folder, const std::string& address, const std::string& branch) {
  ASSIGN_OR_RETURN(const std::string listed,
                   Git(folder, {"ls-remote", "--heads", address, "refs/heads/" + branch}));
  if (listed.find("refs/heads/" + branch) == std::string::npos) {
    RETURN_IF_ERROR(Git(folder, {"checkout", "--quiet", "--orphan", branch}));
    return false;
  }
  RETURN_IF_ERROR(Git(folder, {"fetch", "--quiet", "--depth=1", address, "refs/heads/" + branch}));
  RETURN_IF_ERROR(Git(
      folder, {"-c", "core.symlinks=false", "checkout", "--quiet", "--force", "-B", branch, "FETCH_HEAD"}));
  return true;
}

Status CommitAll(const Path& folder, const Exchanged& exchanged) {
  RETURN_IF_ERROR(Git(folder, {"add", "--all", "--force"}));
  RETURN_IF_ERROR(Git(folder, {"-c", "user.name=assay", "-c", "user.email=assay@localhost", "-c",
                               "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "-m",
                               fmt::format("Add {} runs and {} acknowledgements", exchanged.runs,
                                           exchanged.acknowledgements)}));
  return {};
}

// Another push came first, as git words it, over every transport.
bool CameSecond(const std::string& message) {
  for (const char* words :
       {"fetch first", "non-fast-forward", "cannot lock ref", "stale info", "already exists"}) {
    if (message.find(words) != std::string::npos) return true;
  }
  return false;
}

void PauseAtRandom() {
  static thread_local std::mt19937 random(std::random_device{}());
  std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 300));
}

}  // namespace

Result<Exchanged> CopyMissing(BaselineStore& from, BaselineStore& to) {
  Exchanged exchanged;
  std::set<std::string> there;
  ASSIGN_OR_RETURN(const std::vector<StoredRun> known, to.Runs());
  for (const StoredRun& run : known) there.insert(run.id);
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, from.Runs());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {  // oldest first, as they came
    if (there.count(run->id) > 0) continue;
    const auto record = from.Load(run->id);
    if (!record) {
      spdlog::warn("passed over: {}", record.error().message);
      continue;
    }
    RETURN_IF_ERROR(to.Add(*run, *record));
    ++exchanged.runs;
  }
  ASSIGN_OR_RETURN(const auto known_acknowledgements, to.Acknowledgements());
  std::set<std::string> acknowledged;
  for (const gate::Acknowledgement& each : known_acknowledgements) acknowledged.insert(each.id);
  ASSIGN_OR_RETURN(const auto acknowledgements, from.Acknowledgements());
  for (const gate::Acknowledgement& each : acknowledgements) {
    if (acknowledged.count(each.id) > 0) continue;
    RETURN_IF_ERROR(to.Add(each));
    ++exchanged.acknowledgements;
  }
  return exchanged;
}

Result<Exchanged> PushToGit(BaselineStore& store, const std::string& remote, const std::string& branch) {
  RETURN_IF_ERROR(CheckNoFlag(remote, branch));
  const std::string address = AddressOf(remote);
  ASSIGN_OR_RETURN(const auto scratch, Scratch::Make());
  const Path& folder = scratch->Folder();
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN([[maybe_unused]] const bool exists, FetchBranch(folder, address, branch));
    ASSIGN_OR_RETURN(const auto there, OpenFolderStore(folder));
    ASSIGN_OR_RETURN(const Exchanged exchanged, CopyMissing(store, *there));
    if (exchanged.runs + exchanged.acknowledgements == 0) return exchanged;
    RETURN_IF_ERROR(CommitAll(folder, exchanged));
    const auto pushed = Git(folder, {"push", "--quiet", address, "HEAD:refs/heads/" + branch});
    if (pushed) return exchanged;
    if (!CameSecond(pushed.error().message)) return tl::unexpected(pushed.error());
    if (attempt == kAttempts) {
      return Fail(ErrorKind::kInfrastructure, "{}: somebody else pushed first each of {} times: {}",
                  HideUserInfo(remote), kAttempts, pushed.error().message);
    }
    PauseAtRandom();
    RETURN_IF_ERROR(Git(folder, {"checkout", "--quiet", "--detach"}));  // as if nothing had been copied
    RETURN_IF_ERROR(Git(folder, {"branch", "--quiet", "-D", branch}));
    std::error_code ignored;
    std::filesystem::remove_all(folder / "runs", ignored);
    std::filesystem::remove_all(folder / "acknowledgements", ignored);
  }
}

Result<Exchanged> PullFromGit(BaselineStore& store, const std::string& remote, const std::string& branch) {
  RETURN_IF_ERROR(CheckNoFlag(remote, branch));
  ASSIGN_OR_RETURN(const auto scratch, Scratch::Make());
  ASSIGN_OR_RETURN(const bool exists, FetchBranch(scratch->Folder(), AddressOf(remote), branch));
  if (!exists) {
    return Fail(ErrorKind::kUsage, "{}: has no branch {} yet; `assay baseline push` makes it",
                HideUserInfo(remote), branch);
  }
  ASSIGN_OR_RETURN(const auto there, OpenFolderStore(scratch->Folder()));
  return CopyMissing(*there, store);
}

}  // namespace assay::runner
