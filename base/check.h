#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace assay {

[[noreturn]] inline void CheckFailed(const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what.c_str());
  std::abort();
}

}  // namespace assay

// For what cannot happen. What a user or a file can cause is a Result.
#define CHECK(condition) ((condition) ? void(0) : ::assay::CheckFailed(__FILE__, __LINE__, #condition))
#define CHECK_OP(a, op, b)                                                                     \
  do {                                                                                         \
    const auto& check_a = (a);                                                                 \
    const auto& check_b = (b);                                                                 \
    if (!(check_a op check_b))                                                                 \
      ::assay::CheckFailed(__FILE__, __LINE__,                                                 \
                           fmt::format("{} {} {} ({} vs {})", #a, #op, #b, check_a, check_b)); \
  } while (false)
#define CHECK_EQ(a, b) CHECK_OP(a, ==, b)
#define CHECK_NE(a, b) CHECK_OP(a, !=, b)
#define CHECK_LT(a, b) CHECK_OP(a, <, b)
#define CHECK_LE(a, b) CHECK_OP(a, <=, b)
#define CHECK_GT(a, b) CHECK_OP(a, >, b)
#define CHECK_GE(a, b) CHECK_OP(a, >=, b)
