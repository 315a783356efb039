#include <fmt/format.h>

#include <csignal>

#include "base/text.h"
#include "runner/launch/death_table.h"
#include "runner/launch/exit_status.h"
#include "runner/launch/python_traceback.h"
#include "runner/launch/server.h"

namespace assay::runner {
namespace {

constexpr size_t kTailLines = 60;
constexpr size_t kLineBytes = 400;

struct Match {
  const DeathRule* rule;
  std::string line;
};

std::optional<Match> FirstMatch(const std::vector<std::string>& log_tail, bool sigkill) {
  for (const DeathRule& rule : DeathRules())
    for (const std::string& line : log_tail)
      if ((sigkill || !rule.needs_sigkill) && MatchesInOrder(line, rule.pattern)) return Match{&rule, line};
  return std::nullopt;
}

std::optional<std::string> LastLine(const std::vector<std::string>& log_tail) {
  for (auto line = log_tail.rbegin(); line != log_tail.rend(); ++line)
    if (!Trim(*line).empty()) return *line;
  return std::nullopt;
}

std::string Shortened(std::string_view line) {
  std::string text = Printable(Trim(line).substr(0, kLineBytes));
  if (line.size() > kLineBytes) text += " ...";
  return text;
}

std::vector<std::string> PrintableTail(const std::vector<std::string>& log_tail) {
  std::vector<std::string> lines;
  const size_t first = log_tail.size() > kTailLines ? log_tail.size() - kTailLines : 0;
  for (size_t i = first; i < log_tail.size(); ++i) lines.push_back(Printable(log_tail[i]));
  return lines;
}

// A signal that comes from outside: nothing in a server does this to itself.
bool FromOutside(int signal_number) {
  return signal_number == SIGKILL || signal_number == SIGTERM || signal_number == SIGINT ||
         signal_number == SIGHUP;
}

void ClassifyBySignal(int signal_number, record::ServerFailure& failure) {
  if (!FromOutside(signal_number)) return;
  failure.kind = "killed";
  failure.infrastructure = true;
  if (signal_number == SIGKILL)
    failure.message =
        "killed (signal 9); out of memory is the usual cause (the kernel's log, which we may not read, says)";
  else
    failure.message = "somebody outside ended it with " + DescribeSignal(signal_number);
}

}  // namespace

record::ServerFailure Classify(std::optional<int> wait_status, const std::vector<std::string>& log_tail,
                               const std::string& stage) {
  const bool starting = stage == "starting";
  record::ServerFailure failure;
  failure.stage = stage;
  failure.log_tail = PrintableTail(log_tail);
  failure.kind = starting ? (wait_status ? "died_before_ready" : "never_ready") : "crashed";
  failure.infrastructure = starting;
  if (wait_status) failure.exit = DescribeExit(*wait_status);

  const std::string how = failure.exit.empty() ? "it runs no more" : "ended with " + failure.exit;
  failure.message = starting ? how + " before it was ready" : how + " while it was being measured";
  if (starting && !wait_status) failure.message = "not ready";
  const bool sigkill = wait_status && DeathSignal(*wait_status) == SIGKILL;
  if (const auto match = FirstMatch(log_tail, sigkill)) {
    const Blame blame = starting ? match->rule->at_start : match->rule->while_serving;
    failure.kind = match->rule->kind;
    failure.infrastructure = blame == Blame::kMachine;
    failure.message = fmt::format("{}: {}", match->rule->explanation, Shortened(match->line));
    return failure;
  }
  if (wait_status)
    if (const auto signal_number = DeathSignal(*wait_status)) ClassifyBySignal(*signal_number, failure);
  if (const auto exception = LastPythonException(log_tail))
    failure.message += ": " + Shortened(*exception);
  else if (const auto line = LastLine(log_tail))
    failure.message += "; its log ends: " + Shortened(*line);
  return failure;
}

}  // namespace assay::runner
