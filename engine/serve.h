#pragma once

#include "engine/serve_flags.h"

namespace assay::engine {

// Exit codes of the program, after sysexits.h where it has one.
enum ExitCode { kExitOk = 0, kExitUsage = 2, kExitInternal = 70, kExitSystem = 71, kExitInterrupted = 130 };

// Loads, listens, prints the ready line and serves until SIGTERM or SIGINT.
Status Serve(const ServeFlags& flags);

int ExitCodeOf(const Error& error);

}  // namespace assay::engine
