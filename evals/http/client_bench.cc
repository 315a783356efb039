// client_bench: what the client itself can do, against a server that costs nothing. Prints
//   chunks a second of one core, everything at once; 10,000 streams in one process; how late chunks are
//   stamped.

#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include "evals/http/stream.h"
#include "record/statistics.h"
#include "testing/null_server.h"

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

int Main() {
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
