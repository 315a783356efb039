#pragma once

#include <span>
#include <string_view>

// Why a server died, read from its exit status and the tail of its log. Classify (server.h) walks this table.
namespace assay::runner {

// Whose fault a death is decides the exit code: the machine's is "infrastructure, worth one retry" (75), the
// change's is FAIL (1). What is the same on every machine (a flag the engine does not know, a tokenizer it
// cannot read) is the change's even while starting: a retry would only say it again. Anything else that
// happens before the first token may be the machine (a driver, a neighbour's memory, a port, a download) and
// gets its retry; while it is being measured, a server that had come up and then died is broken.
enum class Blame { kMachine, kChange };

struct DeathRule {
  std::string_view kind;
  // Parts that a log line holds in this order, separated by '*'.
  std::string_view pattern;
  Blame at_start;
  Blame while_serving;
  std::string_view explanation;
  bool needs_sigkill = false;  // counts only for a process that died of signal 9
};

// First match wins, so causes stand before what usually follows from them.
std::span<const DeathRule> DeathRules();

// Whether `line` holds the parts of `pattern` in order; case matters.
bool MatchesInOrder(std::string_view line, std::string_view pattern);

}  // namespace assay::runner
