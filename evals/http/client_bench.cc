// client_bench: what the client itself can do, against a server that costs nothing. Prints
//   chunks a second of one core, everything at once; 10,000 streams in one process; how late chunks are
//   stamped; a worked example to the millisecond.

#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include "evals/http/stream.h"
#include "record/statistics.h"
#include "testing/null_server.h"
#include "testing/scripted_server.h"

namespace assay::evals {
namespace {

using assay::testing::NullServer;
using assay::testing::NullServerOptions;

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Outcome {
  std::vector<StreamOutcome> streams;
  int64_t chunks = 0, failed = 0;
  size_t open_at_once = 0;
  double wall_s = 0, cpu_s = 0;
  std::string first_error;
};

Outcome ReadStreams(const NullServerOptions& options) {
  const NullServer server(options);
  const auto client = NewCurlClient();
  Progress progress;
  Outcome outcome;
  const TimePoint start = RealClock().Now();
  const double cpu = CpuSeconds();
  for (int64_t i = 0; i < options.streams; ++i) {
    HttpRequest request;
    request.url = server.BaseUrl() + "/v1/completions";
    request.body = R"({"prompt":[1],"stream":true})";
    request.connect_timeout = std::chrono::milliseconds(30000);
    StartStream(*client, std::move(request), StreamKind::kCompletions, progress,
                [&](StreamOutcome done) { outcome.streams.push_back(std::move(done)); });
    client->Poll(std::chrono::microseconds(0));
    outcome.open_at_once = std::max(outcome.open_at_once, client->InFlight());
  }
  while (client->InFlight() > 0) client->Poll(std::chrono::milliseconds(20));
  outcome.wall_s = Seconds(RealClock().Now() - start);
  outcome.cpu_s = CpuSeconds() - cpu;
  for (const StreamOutcome& stream : outcome.streams) {
    outcome.chunks += stream.chunks;
    if (stream.error.empty()) continue;
    if (outcome.failed++ == 0) outcome.first_error = stream.error;
  }
  return outcome;
}

void Print(const char* what, const Outcome& outcome) {
  std::printf(
      "%s: %zu streams open at once, %lld chunks in %.2f s, %lld failed%s%s; client %.2f of a core, "
      "%.0f chunks/s a core\n",
      what, outcome.open_at_once, static_cast<long long>(outcome.chunks), outcome.wall_s,
      static_cast<long long>(outcome.failed), outcome.failed > 0 ? ", first: " : "",
      outcome.first_error.c_str(), outcome.cpu_s / outcome.wall_s,
      static_cast<double>(outcome.chunks) / outcome.cpu_s);
}

// Stamp minus send time of every chunk that carries one, in microseconds.
std::vector<double> StampErrors(const Outcome& outcome) {
  std::vector<double> errors;
  for (const StreamOutcome& stream : outcome.streams) {
    double arrived_ms = Milliseconds(stream.first_chunk.time_since_epoch());
    for (size_t i = 0; (i + 1) * NullServer::kStampDigits <= stream.content.size(); ++i) {
      if (i > 0) arrived_ms += static_cast<double>(stream.chunk_gaps_ms[i - 1]);
      const std::string sent = stream.content.substr(i * NullServer::kStampDigits, NullServer::kStampDigits);
      errors.push_back((arrived_ms - static_cast<double>(std::stoll(sent)) * 1e-6) * 1000);
    }
  }
  return errors;
}

// A stream of a scripted server: chunks 0.50, 0.60 and 0.80 s after the request, five tokens by its usage,
// which comes at 0.81 s. So TTFT 500, TPOT 300 / 4 = 75, ITL 100 and 200, E2EL 800 ms; later by what a
// connection and two threads take.
int MeasureWorkedExample() {
  const auto text = [](const char* word) {
    return std::string(R"(data: {"choices":[{"index":0,"text":")") + word + "\"}]}\n\n";
  };
  const auto server = assay::testing::ScriptedServer::Start({});
  if (!server) return 1;
  constexpr int kRuns = 9;
  std::vector<double> ttft, tpot, e2el, first_gap, second_gap;
  const auto client = NewCurlClient();
  for (int i = 0; i < kRuns; ++i) {
    (*server)->Queue({.chunks = {{500, text("a")},
                                 {100, text("b")},
                                 {200, text("c")},
                                 {10,
                                  "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,"
                                  "\"completion_tokens\":5}}\n\n"},
                                 {0, "data: [DONE]\n\n"}}});
    HttpRequest request;
    request.url = (*server)->BaseUrl() + "/v1/completions";
    request.body = R"({"prompt":[1],"stream":true})";
    Progress progress;
    StreamOutcome outcome;
    StartStream(*client, std::move(request), StreamKind::kCompletions, progress,
                [&](StreamOutcome done) { outcome = std::move(done); });
    while (client->InFlight() > 0) client->Poll(std::chrono::milliseconds(20));
    if (!outcome.error.empty() || outcome.chunk_gaps_ms.size() != 2 || !outcome.usage) return 1;
    ttft.push_back(Milliseconds(outcome.first_chunk - outcome.sent));
    e2el.push_back(Milliseconds(outcome.last_chunk - outcome.sent));
    tpot.push_back((e2el.back() - ttft.back()) / static_cast<double>(outcome.usage->completion_tokens - 1));
    first_gap.push_back(static_cast<double>(outcome.chunk_gaps_ms[0]));
    second_gap.push_back(static_cast<double>(outcome.chunk_gaps_ms[1]));
  }
  const auto median = [](const std::vector<double>& values) { return record::Percentile(values, 50); };
  std::printf(
      "worked example, medians of %d: TTFT %.2f ms (500), TPOT %.2f (75), ITL %.2f (100) and %.2f (200), "
      "E2EL "
      "%.2f (800)\n",
      kRuns, median(ttft), median(tpot), median(first_gap), median(second_gap), median(e2el));
  return 0;
}

int Main() {
  if (MeasureWorkedExample() != 0) {
    std::printf("worked example: the scripted server could not be read\n");
    return 1;
  }
  const Outcome flood = ReadStreams({.streams = 64, .chunks = 30000});
  Print("flat out", flood);
  const Outcome many = ReadStreams({.streams = 10000, .chunks = 12, .chunks_per_s = 20000});
  Print("10,000 streams", many);
  const Outcome paced = ReadStreams({.streams = 200, .chunks = 600, .chunks_per_s = 20000});
  Print("20,000 chunks/s", paced);
  const std::vector<double> errors = StampErrors(paced);
  std::printf("time stamps at 20,000 chunks/s: p50 %.1f us, p90 %.1f us, p99 %.1f us late, n %zu\n",
              record::Percentile(errors, 50), record::Percentile(errors, 90), record::Percentile(errors, 99),
              errors.size());
  return flood.failed + many.failed + paced.failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace assay::evals

int main() {
  return assay::evals::Main();
}
