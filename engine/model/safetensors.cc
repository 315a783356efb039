#include "engine/model/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/model/json_fields.h"

namespace assay::engine {
namespace {

struct TypeRow {
  TensorType type;
  const char* name;
  int64_t bytes;
};
constexpr TypeRow kTypes[] = {
    {TensorType::kBf16, "BF16", 2},      {TensorType::kF16, "F16", 2},        {TensorType::kF32, "F32", 4},
    {TensorType::kF64, "F64", 8},        {TensorType::kU8, "U8", 1},          {TensorType::kI8, "I8", 1},
    {TensorType::kI32, "I32", 4},        {TensorType::kI64, "I64", 8},        {TensorType::kBool, "BOOL", 1},
    {TensorType::kF8E4M3, "F8_E4M3", 1}, {TensorType::kF8E5M2, "F8_E5M2", 1},
};
const TypeRow& Row(TensorType type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [&](const TypeRow& row) { return row.type == type; });
}

constexpr uint64_t kLargestHeader = 100'000'000;  // as the format's own reader has it

std::string Shape(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::optional<uint64_t> Unsigned(const nlohmann::json& value) {
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0))
    return std::nullopt;
  return value.get<uint64_t>();
}

// One header entry to a view of `data`. `where` is file and tensor.
Result<TensorView> ReadEntry(const nlohmann::json& entry, std::span<const std::byte> data,
                             const std::string& where) {
  const auto wrong = [&](const std::string& what) { return Fail(ErrorKind::kUsage, "{}: {}", where, what); };
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets")) {
    return wrong("needs dtype, shape and data_offsets");
  }
  const TypeRow* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const TypeRow& row) { return entry["dtype"] == row.name; });
  if (type == std::end(kTypes)) return wrong("unknown dtype " + entry["dtype"].dump().substr(0, 40));

  TensorView view{type->type, {}, {}};
  if (!entry["shape"].is_array()) return wrong("shape is not a list");
  uint64_t bytes = static_cast<uint64_t>(type->bytes);
  for (const nlohmann::json& side : entry["shape"]) {
    const auto length = Unsigned(side);
    if (!length || *length > INT64_MAX || __builtin_mul_overflow(bytes, *length, &bytes)) {
      return wrong("impossible shape " + entry["shape"].dump().substr(0, 80));
    }
    view.shape.push_back(static_cast<int64_t>(*length));
  }
  const nlohmann::json& offsets = entry["data_offsets"];
  const auto begin = offsets.is_array() && offsets.size() == 2 ? Unsigned(offsets[0]) : std::nullopt;
  const auto end = begin ? Unsigned(offsets[1]) : std::nullopt;
  if (!end || *begin > *end) return wrong("impossible data_offsets " + offsets.dump().substr(0, 80));
  if (*end > data.size()) {
    return Fail(ErrorKind::kUsage,
                "missing weights: {}: ends at byte {} of the data, the file has {}: truncated?", where, *end,
                data.size());
  }
  if (*end - *begin != bytes) {
    return wrong(fmt::format("shape {} of {} needs {} bytes, data_offsets give {}", Shape(view.shape),
                             type->name, bytes, *end - *begin));
  }
  view.bytes = data.subspan(*begin, bytes);
  if (reinterpret_cast<uintptr_t>(view.bytes.data()) % static_cast<uintptr_t>(type->bytes) != 0) {
    return wrong(fmt::format("starts at byte {} of the data, which {} does not allow", *begin, type->name));
  }
  return view;
}

// Every byte of the data belongs to exactly one tensor.
Status CheckCover(const std::map<std::string, TensorView>& tensors, std::span<const std::byte> data,
                  const std::string& source) {
  std::vector<std::pair<const std::byte*, const std::string*>> order;
  for (const auto& [name, view] : tensors) {
    if (!view.bytes.empty()) order.emplace_back(view.bytes.data(), &name);
  }
  std::sort(order.begin(), order.end());
  const std::byte* at = data.data();
  const std::string* before = nullptr;
  for (const auto& [begin, name] : order) {
    if (begin < at) return Fail(ErrorKind::kUsage, "{}: tensor {} overlaps {}", source, *name, *before);
    if (begin > at) {
      return Fail(ErrorKind::kUsage, "{}: {} bytes before tensor {} belong to nothing", source, begin - at,
                  *name);
    }
    at = begin + tensors.at(*name).bytes.size();
    before = name;
  }
  if (at != data.data() + data.size()) {
    return Fail(ErrorKind::kUsage, "{}: {} bytes after the last tensor", source,
                data.data() + data.size() - at);
  }
  return {};
}

}  // namespace

const char* TensorTypeName(TensorType type) {
  return Row(type).name;
}
int64_t TensorTypeBytes(TensorType type) {
  return Row(type).bytes;
}

Result<std::map<std::string, TensorView>> ParseSafetensors(std::span<const std::byte> file,
                                                           const std::string& source) {
  if (file.size() < 8)
    return Fail(ErrorKind::kUsage, "missing weights: {}: {} bytes, too short for safetensors", source,
                file.size());
  uint64_t header_size = 0;
  for (size_t i = 0; i < 8; ++i) header_size |= static_cast<uint64_t>(file[i]) << (8 * i);
  if (header_size > kLargestHeader || header_size > file.size() - 8) {
    return Fail(ErrorKind::kUsage,
                "missing weights: {}: header of {} bytes in a file of {}: truncated or not safetensors",
                source, header_size, file.size());
  }
  const auto* text = reinterpret_cast<const char*>(file.data()) + 8;
  ASSIGN_OR_RETURN(const nlohmann::json header,
                   ParseJsonObject(std::string(text, header_size), source + ": safetensors header"));
  const std::span<const std::byte> data = file.subspan(8 + header_size);
  std::map<std::string, TensorView> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    ASSIGN_OR_RETURN(TensorView view, ReadEntry(entry, data, source + ": tensor " + name));
    tensors.emplace(name, std::move(view));
  }
  RETURN_IF_ERROR(CheckCover(tensors, data, source));
  return tensors;
}

Status TensorFiles::AddFile(const Path& path) {
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  ASSIGN_OR_RETURN(const auto tensors, ParseSafetensors(file.bytes(), path.string()));
  for (const auto& [name, view] : tensors) {
    if (!tensors_.emplace(name, Entry{view, files_.size()}).second) {
      return Fail(ErrorKind::kUsage, "{}: tensor {} is in another shard too", path.string(), name);
    }
  }
  files_.push_back(std::move(file));
  return {};
}

Result<TensorFiles> TensorFiles::Open(const Path& folder) {
  TensorFiles files;
  files.folder_ = folder;
  const Path index = folder / "model.safetensors.index.json", single = folder / "model.safetensors";
  std::error_code ignored;
  if (!std::filesystem::exists(index, ignored)) {
    if (!std::filesystem::exists(single, ignored)) {
      return Fail(ErrorKind::kUsage, "missing weights: {}: no such file, and no model.safetensors.index.json",
                  single.string());
    }
    RETURN_IF_ERROR(files.AddFile(single));
    return files;
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(index));
  ASSIGN_OR_RETURN(const nlohmann::json object, ParseJsonObject(text, index.string()));
  ASSIGN_OR_RETURN(const JsonFields map, JsonFields(object, index.string()).Object("weight_map"));
  std::vector<std::string> shards;
  for (const auto& [name, shard] : map.json().items()) {
    if (!shard.is_string() || Path(shard.get<std::string>()).filename() != shard.get<std::string>()) {
      return map.Wrong(name, "must be a file name within the folder");
    }
    shards.push_back(shard.get<std::string>());
  }
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  for (const std::string& shard : shards) RETURN_IF_ERROR(files.AddFile(folder / shard));
  for (const auto& [name, shard] : map.json().items()) {
    const auto entry = files.tensors_.find(name);
    if (entry == files.tensors_.end() ||
        files.files_[entry->second.file].path() != folder / shard.get<std::string>()) {
      return Fail(ErrorKind::kUsage,
                  "missing weights: {}: tensor {} is not in {}, where the index says it is", folder.string(),
                  name, shard.get<std::string>());
    }
  }
  return files;
}

Result<TensorView> TensorFiles::Get(const std::string& name, TensorType type,
                                    const std::vector<int64_t>& shape) const {
  return GetAnyOf(name, {type}, {shape});
}

Result<TensorView> TensorFiles::GetAnyOf(const std::string& name, const std::vector<TensorType>& types,
                                         const std::vector<std::vector<int64_t>>& shapes) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    return Fail(ErrorKind::kUsage, "missing weights: {}: tensor {} is in none of its files", folder_.string(),
                name);
  }
  const TensorView& view = found->second.view;
  const std::string file = files_[found->second.file].path().string();
  if (std::find(types.begin(), types.end(), view.type) == types.end()) {
    return Fail(ErrorKind::kUsage, "{}: tensor {} must be {}, found {}", file, name,
                TensorTypeName(types.front()), TensorTypeName(view.type));
  }
  if (std::find(shapes.begin(), shapes.end(), view.shape) == shapes.end()) {
    return Fail(ErrorKind::kUsage, "{}: tensor {} must have shape {} by config.json, found {}", file, name,
                Shape(shapes.front()), Shape(view.shape));
  }
  return view;
}

void TensorFiles::Release() const {
  for (const MappedFile& file : files_) file.Release();
}

std::vector<Path> TensorFiles::Paths() const {
  std::vector<Path> paths;
  for (const MappedFile& file : files_) paths.push_back(file.path());
  return paths;
}

}  // namespace assay::engine
