#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model/mapped_file.h"

namespace assay::engine {

enum class TensorType { kBf16, kF16, kF32, kF64, kU8, kI8, kI32, kI64, kBool, kF8E4M3, kF8E5M2 };
const char* TensorTypeName(TensorType type);
int64_t TensorTypeBytes(TensorType type);

// A tensor in a mapped file. `bytes` is exactly shape * size of the type and aligned for it.
struct TensorView {
  TensorType type;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;

  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

// Safetensors: 8 bytes of little-endian header size, a JSON header {name: {dtype, shape, data_offsets}}, then
// the data. The header is checked against the file's size before any tensor is looked at: size, types, shapes
// against offsets, order, overlap, holes, truncation.
Result<std::map<std::string, TensorView>> ParseSafetensors(std::span<const std::byte> file,
                                                           const std::string& source);

// The tensors of a model folder: model.safetensors, or the shards that model.safetensors.index.json names.
class TensorFiles {
 public:
  static Result<TensorFiles> Open(const Path& folder);

  bool Has(const std::string& name) const { return tensors_.contains(name); }
  // The tensor, if it has this type and shape; otherwise an error that names file and tensor.
  Result<TensorView> Get(const std::string& name, TensorType type, const std::vector<int64_t>& shape) const;
  // As above for tensors that exporters write in more than one way; the first is the one that errors name.
  Result<TensorView> GetAnyOf(const std::string& name, const std::vector<TensorType>& types,
                              const std::vector<std::vector<int64_t>>& shapes) const;
  std::vector<Path> Paths() const;
  const Path& Folder() const { return folder_; }
  // Gives mapped pages back to the system; they are read again when they are touched again.
  void Release() const;

 private:
  struct Entry {
    TensorView view;
    size_t file;
  };
  Status AddFile(const Path& path);

  Path folder_;
  std::vector<MappedFile> files_;
  std::map<std::string, Entry> tensors_;
};

}  // namespace assay::engine
