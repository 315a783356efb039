#include "engine/memory_budget.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "engine/model/batch_rows.h"
#include "engine/model/device.h"

namespace assay::engine {
namespace {

constexpr int64_t kFloat = 4, kBf16 = 2;

// "MemAvailable:  123 kB" or "inactive_file 123": the number behind the word.
std::optional<int64_t> NumberAfter(const std::string& text, std::string_view word) {
  for (const std::string& line : SplitLines(text)) {
    if (!StartsWith(line, word)) continue;
    long long number = 0;
    if (std::sscanf(line.c_str() + word.size(), "%lld", &number) == 1) return number;
  }
  return std::nullopt;
}

std::optional<int64_t> NumberIn(const Path& file) {
  const auto text = ReadFile(file);
  return text ? NumberAfter(*text, "") : std::nullopt;  // "max" is none
}

// Files that the kernel keeps in memory and can drop count as used and are not.
struct GroupFiles {
  const char *limit, *used, *droppable;
};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file "};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};

std::optional<int64_t> LeftIn(const Path& group, const GroupFiles& files) {
  const auto limit = NumberIn(group / files.limit), used = NumberIn(group / files.used);
  if (!limit || !used) return std::nullopt;
  const auto stat = ReadFile(group / "memory.stat");
  const int64_t droppable = stat ? NumberAfter(*stat, files.droppable).value_or(0) : 0;
  return std::max<int64_t>(0, *limit - *used + droppable);
}

// The least that `name` and the groups above it leave. Inside a container the name may be one that only the
// outside knows; then the mount's root is the container's own group.
void LimitByGroup(const Path& mount, std::string name, const GroupFiles& files, MemoryLimit& limit) {
  for (;;) {
    const auto left = LeftIn(mount / Path(name).relative_path(), files);
    if (left && *left < limit.bytes) limit = {*left, "the control group " + name};
    if (name.empty() || name == "/") return;
    name = Path(name).parent_path().string();
  }
}

std::string Gigabytes(int64_t bytes) {
  return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

MemoryNeed EstimateMemory(const Path& folder, const ModelConfig& config, const ModelOptions& options,
                          int64_t cache_bytes) {
  MemoryNeed need;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".safetensors")
      need.weights += static_cast<int64_t>(entry.file_size(ignored));
  }
  if (options.moe_backend == MoeBackend::kReference) need.weights *= 2;  // bf16 is held as float32
  need.cache = cache_bytes;
  if (options.device == Device::kGpu) {
    need.scratch = DeviceScratchBytes(config, options);
    return need;
  }

  const int64_t h = config.hidden_size, q = config.num_attention_heads * config.head_dim;
  const int64_t qkv = q + 2 * config.num_key_value_heads * config.head_dim;
  constexpr int64_t kTerms = 2;  // of an activation, at most
  const int64_t row = kFloat * (2 * h + q + qkv + config.num_local_experts) +
                      kTerms * kBf16 * std::max(h, q) +
                      kTerms * kBf16 * config.num_experts_per_tok * config.intermediate_size;
  need.scratch = options.max_batch_tokens * row +
                 MaxPositions(config, options) * config.head_dim * kFloat +  // rotary table
                 options.max_requests * config.vocab_size * kFloat;          // logits
  return need;
}

Result<MemoryLimit> AvailableMemory(const Path& root) {
  ASSIGN_OR_RETURN(const std::string memory, ReadFile(root / "proc/meminfo"));
  const auto kilobytes = NumberAfter(memory, "MemAvailable:");
  if (!kilobytes) return Fail(ErrorKind::kInfrastructure, "/proc/meminfo: has no MemAvailable");
  MemoryLimit limit{*kilobytes * 1024, "the machine"};
  const auto groups = ReadFile(root / "proc/self/cgroup");
  for (const std::string& line : SplitLines(groups.value_or(""))) {
    // "0::/name" in version 2, "N:memory:/name" in version 1
    const size_t colon = line.find(':', line.find(':') + 1);
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(colon + 1);
    if (StartsWith(line, "0::")) LimitByGroup(root / "sys/fs/cgroup", name, kVersion2, limit);
    if (line.find(":memory:") != std::string::npos) {
      LimitByGroup(root / "sys/fs/cgroup/memory", name, kVersion1, limit);
    }
  }
  return limit;
}

Status CheckMemory(const MemoryNeed& need, const MemoryLimit& limit) {
  if (need.Total() <= limit.bytes) return {};
  const int64_t left = limit.bytes - need.weights - need.scratch;
  const std::string remedy =
      left >= 1 << 20 ? fmt::format("--kv-cache-memory-mb {} would fit", left >> 20)
                      : "the weights alone do not fit: a smaller model or a larger machine is needed";
  return Fail(ErrorKind::kInfrastructure,
              "out of memory: needs {} = weights {} + KV cache {} + scratch {}, and {} has {} left; {}",
              Gigabytes(need.Total()), Gigabytes(need.weights), Gigabytes(need.cache),
              Gigabytes(need.scratch), limit.whose, Gigabytes(limit.bytes), remedy);
}

}  // namespace assay::engine
