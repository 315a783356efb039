#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "base/check.h"

namespace assay::kernels {

// A zeroed array that starts on a cache line. A large one starts on a huge page, so that a streaming read
// seldom misses the TLB, and takes memory only as it is touched.
template <typename T>
class Aligned {
  static_assert(std::is_trivial_v<T>);

 public:
  Aligned() = default;
  explicit Aligned(int64_t size) : size_(size) {
    const size_t bytes = static_cast<size_t>(size) * sizeof(T);
    const size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
    const size_t mapped = bytes >= kHugePage ? bytes + kHugePage : 0;
    void* base = mapped > 0
                     ? ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                     : std::calloc(bytes + kCacheLine, 1);
    CHECK(base != MAP_FAILED && base != nullptr);
    const auto address = reinterpret_cast<uintptr_t>(base);
    auto* data = reinterpret_cast<T*>((address + alignment - 1) / alignment * alignment);
    if (mapped > 0) ::madvise(data, bytes, MADV_HUGEPAGE);
    data_ = {data, Release{base, mapped}};
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }

 private:
  static constexpr size_t kCacheLine = 64, kHugePage = size_t{2} << 20;
  struct Release {
    void* base = nullptr;
    size_t mapped = 0;  // 0: from calloc
    void operator()(T*) const {
      if (mapped > 0) {
        ::munmap(base, mapped);
      } else {
        std::free(base);
      }
    }
  };
  int64_t size_ = 0;
  std::unique_ptr<T, Release> data_;
};

}  // namespace assay::kernels
