#pragma once

#include <atomic>

namespace assay::runner {

// SIGINT, SIGTERM and SIGHUP ask the run to end: the server is stopped, what was measured is written, exit
// 130. Further signals change nothing, so that an impatient second Ctrl-C cannot leave a server behind.
const std::atomic<bool>& CatchInterrupts();

}  // namespace assay::runner
