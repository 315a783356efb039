#pragma once

#include "base/error.h"

namespace assay::runner {

// Every exit code of `assay`. ARCHITECTURE.md says what each asks of its reader.
enum ExitCode : int {
  kExitPass = 0,
  kExitFail = 1,
  kExitUsage = 2,
  kExitInconclusive = 3,
  kExitInvalid = 4,
  kExitInfrastructure = 75,  // EX_TEMPFAIL of sysexits.h
  kExitInterrupted = 130,    // 128 + SIGINT
};

inline int ExitCodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kInvalid:
      return kExitInvalid;
    case ErrorKind::kInfrastructure:
      return kExitInfrastructure;
    case ErrorKind::kInterrupted:
      return kExitInterrupted;
  }
  return kExitInfrastructure;
}

}  // namespace assay::runner
