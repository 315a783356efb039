#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "runner/store/baseline_store.h"

namespace assay::runner {

// A record of one cell, tiny.smoke.
inline record::RunRecord NewRecord(const std::string& id,
                                   const std::string& created = "2026-11-30T10:00:00Z") {
  record::RunRecord record;
  record.id = id;
  record.created = created;
  record.branch = "main";
  record.commit = "abc";
  record.cells.resize(1);
  record.cells[0].key = "tiny.smoke";
  record.cells[0].config_hash = "hash";
  record.cells[0].config = id;  // tells the cells apart
  return record;
}

inline gate::Acknowledgement NewAcknowledgement(const std::string& id) {
  return {id, "tiny.smoke", "gpqa_score", "kim", "a new prompt", "2026-11-30T10:00:00Z", "2026-12-31"};
}

// Runs `body` in a process of its own, which ends with its answer.
inline pid_t Fork(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  return child;
}

inline int Wait(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace assay::runner
