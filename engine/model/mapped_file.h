#pragma once

#include <cstddef>
#include <span>

#include "base/file.h"
#include "base/result.h"

namespace assay::engine {

// A file in memory, read as it is touched.
class MappedFile {
 public:
  static Result<MappedFile> Open(const Path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  const Path& path() const { return path_; }
  // Its pages need not stay in memory; those touched again are read again.
  void Release() const;

 private:
  MappedFile(Path path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}

  Path path_;
  std::span<const std::byte> bytes_;
};

}  // namespace assay::engine
