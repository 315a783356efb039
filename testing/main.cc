// assay-scripted-server: a server process with chosen faults, for tests of what launches and watches servers.

#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/scripted_server.h"

namespace {

struct Faults {
  std::vector<std::string> stderr_lines;
  bool ignore_term = false;
  bool fork_child = false;
  bool fork_child_in_new_session = false;
  int exit_before_ready = -1;
  int signal_before_ready = 0;
  bool never_listen = false;
  int announce_port = 0;
};

void AddFlags(CLI::App& app, assay::testing::ScriptedOptions& options, Faults& faults) {
  app.add_option("--model", options.model, "model id that /v1/models lists");
  app.add_option("--answer-model", options.answer_model, "model id that answers name (default: --model)");
  app.add_option("--port", options.port, "port on 127.0.0.1; 0 lets the kernel choose");
  app.add_option("--health-status", options.health_status, "status of /health, for ever");
  app.add_option("--unhealthy-answers", options.unhealthy_answers, "answer 503 to the first N of /health");
  app.add_option("--token-interval-ms", options.token_interval_ms, "pace of streamed tokens");
  app.add_option("--tokens", options.tokens, "tokens of a default answer");
  app.add_option("--answer", options.answer, "content of default chat answers");
  app.add_option("--die-after-requests", options.die_after_requests, "answer N POSTs, die at the next");
  app.add_option("--die-after-chunks", options.die_after_chunks, "die when N chunks were streamed");
  app.add_option("--hang-after-requests", options.hang_after_requests, "answer N POSTs, then none");
  app.add_option("--exit-code", options.exit_code, "exit code of that death");
  app.add_option("--die-signal", options.die_signal, "die by this signal instead");

  app.add_option("--stderr-line", faults.stderr_lines, "print this on stderr first (may be repeated)");
  app.add_flag("--ignore-term", faults.ignore_term, "ignore SIGTERM");
  app.add_flag("--fork-child", faults.fork_child, "leave a child in our group that ignores SIGTERM");
  app.add_flag("--fork-child-in-new-session", faults.fork_child_in_new_session,
               "leave a child outside our group that ignores SIGTERM");
  app.add_option("--exit-before-ready", faults.exit_before_ready, "exit with this code, never listening");
  app.add_option("--signal-before-ready", faults.signal_before_ready, "die by this signal, never listening");
  app.add_flag("--never-listen", faults.never_listen, "run, but never open a port");
  app.add_option("--announce-port", faults.announce_port, "name this port in the ready line, not ours");
}

// A process that outlives its parent until somebody kills it. Its pid is printed for the test.
void LeaveChild(bool new_session) {
  const pid_t child = ::fork();
  if (child != 0) {
    std::printf("{\"event\":\"child\",\"pid\":%d}\n", static_cast<int>(child));
    std::fflush(stdout);
    return;
  }
  if (new_session) ::setsid();
  std::signal(SIGTERM, SIG_IGN);
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  assay::testing::ScriptedOptions options;
  Faults faults;
  CLI::App app("assay-scripted-server: answers as it is told to, for tests");
  AddFlags(app, options, faults);
  CLI11_PARSE(app, argc, argv);

  // Before any thread exists, so that all of them inherit the mask and only sigwait sees the signals.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGINT);
  if (!faults.ignore_term) sigaddset(&stop_signals, SIGTERM);
  if (faults.ignore_term) std::signal(SIGTERM, SIG_IGN);
  sigprocmask(SIG_BLOCK, &stop_signals, nullptr);

  for (const std::string& line : faults.stderr_lines) std::fprintf(stderr, "%s\n", line.c_str());
  if (faults.fork_child) LeaveChild(false);
  if (faults.fork_child_in_new_session) LeaveChild(true);
  if (faults.signal_before_ready != 0) {
    std::signal(faults.signal_before_ready, SIG_DFL);  // a sanitizer's handler would make an exit code of it
    std::raise(faults.signal_before_ready);
  }
  if (faults.exit_before_ready >= 0) return faults.exit_before_ready;

  std::unique_ptr<assay::testing::ScriptedServer> server;
  int port = faults.announce_port;
  if (!faults.never_listen) {
    auto started = assay::testing::ScriptedServer::Start(options);
    if (!started) {
      std::fprintf(stderr, "%s\n", started.error().message.c_str());
      return 1;
    }
    server = std::move(*started);
    if (port == 0) port = server->Port();
  }
  if (port != 0) {
    const nlohmann::json ready = {
        {"event", "ready"}, {"port", port}, {"model", options.model}, {"pid", ::getpid()}};
    std::printf("%s\n", ready.dump().c_str());
    std::fflush(stdout);
  }
  int received = 0;
  sigwait(&stop_signals, &received);
  return 0;
}
