#pragma once

#include <spdlog/spdlog.h>

namespace assay {

// The story goes to stderr, one line an event; stdout is for results. `verbose` adds debug lines.
void StartLogging(bool verbose);

}  // namespace assay
