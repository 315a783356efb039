#pragma once

#include "runner/store/sqlite.h"

namespace assay::runner {

// Makes a new file a store, brings an older one up to date, refuses what is not ours, newer than we are, or
// damaged. Several processes may do so at once.
Status PrepareStore(Database& database);

}  // namespace assay::runner
