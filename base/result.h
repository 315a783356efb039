#pragma once

#include <fmt/format.h>

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace assay {

// A value, or the Error that kept us from it.
template <typename T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

// return Fail(ErrorKind::kUsage, "{}:{}: gpus must be at least 1, got {}", file, line, gpus);
template <typename... Args>
tl::unexpected<Error> Fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{kind, fmt::format(format, std::forward<Args>(args)...)});
}

// Passes a callee's error on with our context in front.
inline tl::unexpected<Error> FailWithin(std::string_view context, Error error) {
  return tl::unexpected<Error>(std::move(error).Within(context));
}

}  // namespace assay

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

// ASSIGN_OR_RETURN(Config config, LoadConfig(path));
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_AS(ASSAY_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_AS(name, declaration, expression)                     \
  auto name = (expression);                                                    \
  if (!name) return ::tl::unexpected<::assay::Error>(std::move(name).error()); \
  declaration = std::move(*name)

#define RETURN_IF_ERROR(expression)                                        \
  do {                                                                     \
    if (auto status_ = (expression); !status_)                             \
      return ::tl::unexpected<::assay::Error>(std::move(status_).error()); \
  } while (false)
