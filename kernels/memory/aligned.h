#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace assay::kernels {

// A zeroed array that starts on a cache line (on a huge page when it is large), so that a vector load never
// straddles one and a streaming read misses the TLB rarely.
template <typename T>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(int64_t size) : size_(size) {
    const size_t bytes = static_cast<size_t>(size) * sizeof(T);
    const size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    data_ = {static_cast<T*>(::operator new(rounded, std::align_val_t(alignment))),
             Free{std::align_val_t(alignment)}};
    if (alignment == kHugePage) ::madvise(data_.get(), rounded, MADV_HUGEPAGE);
    std::memset(static_cast<void*>(data_.get()), 0, bytes);
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }

 private:
  static constexpr size_t kCacheLine = 64, kHugePage = size_t{2} << 20;
  struct Free {
    std::align_val_t alignment{kCacheLine};
    void operator()(T* data) const { ::operator delete(data, alignment); }
  };
  int64_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

}  // namespace assay::kernels
