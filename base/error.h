#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace assay {

// What stopped us, as far as the exit code cares. What a *server* did wrong is not an Error: it is a result
// in the record.
enum class ErrorKind {
  kUsage,           // bad flag, config or input file: nothing was launched (exit 2)
  kInvalid,         // the measurement cannot be used, or no baseline (exit 4)
  kInfrastructure,  // server did not start, device lost, disk full: worth one retry (exit 75)
  kInterrupted,     // Ctrl-C (exit 130)
};

// A failure of ours with the whole story: each caller prepends what it was trying to do.
struct Error {
  ErrorKind kind = ErrorKind::kInfrastructure;
  std::string message;

  // "loading config: configs/a.yaml:3:5: unknown key": context first.
  Error Within(std::string_view context) && {
    return {kind, std::string(context) + ": " + std::move(message)};
  }
};

}  // namespace assay
