#include "engine/make_model.h"

#include <unistd.h>

#include <chrono>

#include "base/log.h"
#include "tokenizer/harmony.h"
#include "tokenizer/tokenizer.h"

namespace assay::engine {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr const char* kTokenizerFiles[] = {"tokenizer.json", "tokenizer_config.json",
                                           "special_tokens_map.json", "chat_template.jinja"};

std::string Size(int64_t bytes) {
  return bytes < 1'000'000'000 ? fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6)
                               : fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

// A folder that goes away unless it was kept.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(Path path) : path_(std::move(path)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const Path& path() const { return path_; }
  Status KeepAs(const Path& final) {
    std::error_code error;
    std::filesystem::rename(path_, final, error);
    if (error) {
      return Fail(ErrorKind::kInfrastructure, "{}: cannot be made: {}", final.string(), error.message());
    }
    path_.clear();
    return {};
  }

 private:
  Path path_;
};

// The tokenizer's end tokens, if it is one the model can use.
Result<std::vector<int32_t>> EndTokens(const MakeModelFlags& flags) {
  ASSIGN_OR_RETURN(const tokenizer::Tokenizer tokenizer, tokenizer::Tokenizer::Load(flags.tokenizer));
  const int64_t vocab = flags.checkpoint.shape.vocab_size;
  if (tokenizer.Size() > vocab) {
    return Fail(
        ErrorKind::kUsage,
        "bad flag: --tokenizer {}: has ids up to {}, and the vocabulary has {}; give --vocab {} or more",
        flags.tokenizer, tokenizer.Size() - 1, vocab, tokenizer.Size());
  }
  const auto harmony = tokenizer::FindHarmonyTokens(tokenizer);
  if (!harmony) return std::vector<int32_t>{};
  return std::vector<int32_t>{harmony->return_, harmony->end_of_text, harmony->call};
}

Status CopyTokenizer(const Path& from, const Path& to) {
  for (const char* name : kTokenizerFiles) {
    std::error_code error;
    if (!std::filesystem::exists(from / name, error)) continue;
    std::filesystem::copy_file(from / name, to / name, error);
    if (error) {
      return Fail(ErrorKind::kInfrastructure, "{}: cannot be copied: {}", (from / name).string(),
                  error.message());
    }
  }
  return {};
}

// `out` without a slash at its end, its parent existing, itself not.
Result<Path> CheckOut(const std::string& out, int64_t bytes) {
  Path path = std::filesystem::absolute(out).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::error_code error;
  if (std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found) {
    return Fail(ErrorKind::kUsage, "bad flag: {}: is there already, and is not overwritten", path.string());
  }
  RETURN_IF_ERROR(MakeFolders(path.parent_path()));
  const auto disk = std::filesystem::space(path.parent_path(), error);
  if (!error && disk.available < static_cast<uintmax_t>(bytes) + (uintmax_t{16} << 20)) {
    return Fail(ErrorKind::kInfrastructure, "{}: needs {}, and its disk has {} free", path.string(),
                Size(bytes), Size(static_cast<int64_t>(disk.available)));
  }
  return path;
}

}  // namespace

Result<std::string> MakeModel(const MakeModelFlags& flags, const std::atomic<bool>& stop) {
  RandomCheckpoint checkpoint = flags.checkpoint;
  if (!flags.tokenizer.empty()) {
    ASSIGN_OR_RETURN(checkpoint.eos_token_ids, EndTokens(flags));
  }
  const int64_t bytes = RandomCheckpointBytes(checkpoint);
  ASSIGN_OR_RETURN(const Path out, CheckOut(flags.out, bytes));
  TemporaryFolder folder(out.string() + fmt::format(".partial-{}", ::getpid()));

  const auto start = std::chrono::steady_clock::now();
  std::atomic<int64_t> written = 0;
  WriteControl control{flags.threads, &stop, {}};
  control.wrote_bytes = [&](int64_t count) {
    constexpr int64_t kStep = 1'000'000'000;
    const int64_t before = written.fetch_add(count);
    if (before / kStep == (before + count) / kStep) return;
    const double seconds = Seconds(std::chrono::steady_clock::now() - start).count();
    spdlog::info("{} of {} written, {:.0f} MB/s", Size(before + count), Size(bytes),
                 static_cast<double>(before + count) / 1e6 / seconds);
  };
  RETURN_IF_ERROR(WriteRandomCheckpoint(folder.path(), checkpoint, control));
  if (!flags.tokenizer.empty()) RETURN_IF_ERROR(CopyTokenizer(flags.tokenizer, folder.path()));
  RETURN_IF_ERROR(folder.KeepAs(out));
  const double seconds = Seconds(std::chrono::steady_clock::now() - start).count();
  return fmt::format("{}: {} in {:.1f} s, {:.0f} MB/s", out.string(), Size(bytes), seconds,
                     static_cast<double>(bytes) / 1e6 / seconds);
}

}  // namespace assay::engine
