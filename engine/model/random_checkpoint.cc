#include "engine/model/random_checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "engine/model/random_tensors.h"

namespace assay::engine {
namespace {

using Json = nlohmann::json;
using Tensors = std::span<const RandomTensor>;

int64_t BytesOf(Tensors tensors) {
  int64_t bytes = 0;
  for (const RandomTensor& tensor : tensors) bytes += tensor.Bytes();
  return bytes;
}

// Header size and header; padded so that the data is aligned.
std::string Header(Tensors tensors) {
  std::string text = R"({"__metadata__":{"format":"pt"})";
  int64_t offset = 0;
  for (const RandomTensor& tensor : tensors) {
    text += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", tensor.name,
                        TensorTypeName(tensor.type), fmt::join(tensor.shape, ","), offset,
                        offset + tensor.Bytes());
    offset += tensor.Bytes();
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string size;
  for (int i = 0; i < 64; i += 8) size.push_back(static_cast<char>(static_cast<uint64_t>(text.size()) >> i));
  return size + text;
}

// A piece of a tensor and where it goes.
struct Piece {
  const RandomTensor* tensor;
  int64_t begin, end;  // bytes of the tensor
  int64_t at;          // of the file
};

std::vector<Piece> CutIntoPieces(Tensors tensors, int64_t at) {
  std::vector<Piece> pieces;
  for (const RandomTensor& tensor : tensors) {
    const int64_t bytes = tensor.Bytes(), step = tensor.PieceBytes();
    for (int64_t begin = 0; begin < bytes; begin += step) {
      pieces.push_back({&tensor, begin, std::min(begin + step, bytes), at + begin});
    }
    at += bytes;
  }
  return pieces;
}

// A file that threads write at different places.
class OutputFile {
 public:
  static Result<OutputFile> Create(const Path& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return Broken(path);
    return OutputFile(path, fd);
  }
  OutputFile(OutputFile&& other) noexcept : path_(other.path_), fd_(std::exchange(other.fd_, -1)) {}
  ~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  Status Write(const void* data, int64_t bytes, int64_t at) {
    for (const char* from = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t n = ::pwrite(fd_, from, static_cast<size_t>(bytes), at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return Broken(path_);
      from += n;
      at += n;
      bytes -= n;
    }
    return {};
  }
  Status Close() {
    if (::close(std::exchange(fd_, -1)) != 0) return Broken(path_);
    return {};
  }

 private:
  OutputFile(Path path, int fd) : path_(std::move(path)), fd_(fd) {}
  static tl::unexpected<Error> Broken(const Path& path) {
    return Fail(ErrorKind::kInfrastructure, "{}: cannot be written: {}", path.string(), std::strerror(errno));
  }

  Path path_;
  int fd_;
};

// Threads take the next piece until none is left or one of them fails.
class PieceWriter {
 public:
  PieceWriter(std::span<const Piece> pieces, uint64_t seed, const WriteControl& control, OutputFile& out)
      : pieces_(pieces), seed_(seed), control_(control), out_(out) {}

  Status Run() {
    size_t threads = control_.threads > 0 ? static_cast<size_t>(control_.threads)
                                          : std::max(1u, std::thread::hardware_concurrency());
    threads = std::min(threads, pieces_.size() / 16 + 1);
    std::vector<std::jthread> others;
    for (size_t i = 1; i < threads; ++i) others.emplace_back([this] { Work(); });
    Work();
    others.clear();
    return result_;
  }

 private:
  void Work() {
    std::vector<uint64_t> buffer;
    for (size_t i; (i = next_++) < pieces_.size() && !failed_;) {
      const Piece& piece = pieces_[i];
      if (control_.stop != nullptr && *control_.stop) {
        return Record(Fail(ErrorKind::kInterrupted, "interrupted"));
      }
      buffer.resize(static_cast<size_t>(piece.end - piece.begin + 7) / 8);
      FillPiece(*piece.tensor, seed_, piece.begin, piece.end, reinterpret_cast<std::byte*>(buffer.data()));
      if (Status written = out_.Write(buffer.data(), piece.end - piece.begin, piece.at); !written) {
        return Record(std::move(written));
      }
      if (control_.wrote_bytes) control_.wrote_bytes(piece.end - piece.begin);
    }
  }
  void Record(Status status) {
    const std::scoped_lock lock(mutex_);
    if (result_) result_ = std::move(status);
    failed_ = true;
  }

  std::span<const Piece> pieces_;
  uint64_t seed_;
  const WriteControl& control_;
  OutputFile& out_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  Status result_;
};

Status WriteShard(const Path& path, Tensors tensors, uint64_t seed, const WriteControl& control) {
  ASSIGN_OR_RETURN(OutputFile out, OutputFile::Create(path));
  const std::string header = Header(tensors);
  const auto header_bytes = static_cast<int64_t>(header.size());
  RETURN_IF_ERROR(out.Write(header.data(), header_bytes, 0));
  const std::vector<Piece> pieces = CutIntoPieces(tensors, header_bytes);
  RETURN_IF_ERROR(PieceWriter(pieces, seed, control, out).Run());
  return out.Close();
}

// Shards of about equal size, none of them empty.
std::vector<std::vector<RandomTensor>> CutIntoShards(std::vector<RandomTensor> tensors, int64_t shards) {
  const int64_t total = BytesOf(tensors);
  std::vector<std::vector<RandomTensor>> cut(1);
  int64_t done = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto full = static_cast<int64_t>(cut.size()), left = static_cast<int64_t>(tensors.size() - i);
    const bool enough = done >= total / shards * full || left <= shards - full;
    if (!cut.back().empty() && full < shards && enough) cut.emplace_back();
    done += tensors[i].Bytes();
    cut.back().push_back(std::move(tensors[i]));
  }
  // Wide types first, so that every tensor is aligned.
  for (std::vector<RandomTensor>& shard : cut) {
    std::stable_sort(shard.begin(), shard.end(), [](const RandomTensor& a, const RandomTensor& b) {
      return TensorTypeBytes(a.type) > TensorTypeBytes(b.type);
    });
  }
  return cut;
}

Status WriteConfigs(const Path& folder, const RandomCheckpoint& checkpoint) {
  RETURN_IF_ERROR(WriteFileAtomic(folder / "config.json", RandomConfigJson(checkpoint)));
  std::vector<int32_t> ends = checkpoint.eos_token_ids;
  if (ends.empty()) ends.push_back(static_cast<int32_t>(checkpoint.shape.vocab_size - 1));
  const Json generation = {{"eos_token_id", ends}, {"do_sample", false}};
  return WriteFileAtomic(folder / "generation_config.json", generation.dump(2) + "\n");
}

}  // namespace

int64_t RandomCheckpointBytes(const RandomCheckpoint& checkpoint) {
  return BytesOf(ListRandomTensors(checkpoint));
}

Status WriteRandomCheckpoint(const Path& folder, const RandomCheckpoint& checkpoint,
                             const WriteControl& control) {
  std::vector<RandomTensor> tensors = ListRandomTensors(checkpoint);
  const auto most = static_cast<int64_t>(tensors.size());
  if (checkpoint.shards < 1 || checkpoint.shards > most) {
    return Fail(ErrorKind::kUsage, "shards must be from 1 to {}, the number of tensors, got {}", most,
                checkpoint.shards);
  }
  RETURN_IF_ERROR(MakeFolders(folder));
  RETURN_IF_ERROR(WriteConfigs(folder, checkpoint));
  const int64_t total = BytesOf(tensors);
  const auto shards = CutIntoShards(std::move(tensors), checkpoint.shards);
  if (shards.size() == 1) {
    return WriteShard(folder / "model.safetensors", shards.front(), checkpoint.seed, control);
  }
  Json index = {{"metadata", {{"total_size", total}}}, {"weight_map", Json::object()}};
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    for (const RandomTensor& tensor : shards[i]) index["weight_map"][tensor.name] = name;
    RETURN_IF_ERROR(WriteShard(folder / name, shards[i], checkpoint.seed, control));
  }
  return WriteFileAtomic(folder / "model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace assay::engine
