#include <sys/resource.h>

#include <algorithm>

#include "evals/http/request.h"
#include "evals/serving/load.h"
#include "evals/serving/prompts.h"
#include "evals/serving/series.h"
#include "evals/serving/serving.h"
#include "evals/serving/trace.h"
#include "evals/serving/warm_up.h"
#include "record/statistics.h"

namespace assay::evals {
namespace {

using record::Direction;
using record::ServingRecord;

constexpr int64_t kOpenLoopWave = 8;  // requests of a warm-up wave where concurrency has no limit

double ProcessCpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

LoadPlan PlanOf(const std::string& base_url, const ServingOptions& options) {
  LoadPlan plan;
  plan.kind = options.api == "chat" ? StreamKind::kChat : StreamKind::kCompletions;
  const char* path = options.api == "chat" ? "/v1/chat/completions" : "/v1/completions";
  plan.url = JoinUrl(base_url, options.endpoint.empty() ? path : options.endpoint);
  plan.headers = options.headers;
  plan.max_concurrency = options.max_concurrency;
  if (!options.any_model) plan.model = options.model;
  plan.request_timeout = Timeout(options.request_timeout_s);
  plan.idle_timeout = Timeout(options.idle_timeout_s);
  return plan;
}

Result<std::vector<PlannedRequest>> Requests(const ServingOptions& options,
                                             std::vector<PlannedPrompt> prompts) {
  std::vector<PlannedRequest> requests;
  for (PlannedPrompt& prompt : prompts) {
    ASSIGN_OR_RETURN(std::string body, RequestBody(options, prompt));
    requests.push_back({std::move(body), prompt.prompt_tokens, prompt.output_len});
    prompt = {};
  }
  return requests;
}

std::vector<double> SendTimes(const ServingOptions& options, const std::vector<TraceEntry>& trace,
                              int64_t count) {
  if (!trace.empty()) {
    std::vector<double> times;
    for (int64_t i = 0; i < count; ++i) times.push_back(trace[static_cast<size_t>(i)].at_s);
    return times;
  }
  if (!options.ramp_up.empty()) {
    return PlanRampUp(count, options.ramp_up == "exponential", options.ramp_up_start, options.ramp_up_end,
                      options.burstiness, options.seed);
  }
  return PlanArrivals(count, options.request_rate, options.burstiness, options.seed);
}

// What decides the prompts beside the lengths; "" for token ids of one length without prefix, the plain case.
std::string PromptWords(const ServingOptions& options, const std::string& note) {
  std::vector<std::string> words;
  if (options.api != "completions") words.push_back(options.api);
  if (options.text_prompts) words.emplace_back("text");
  if (options.range_ratio != 0)
    words.push_back(fmt::format("range ratio {:g} ({})", options.range_ratio, options.range_convention));
  if (options.output_range_ratio)
    words.push_back(fmt::format("output range ratio {:g}", *options.output_range_ratio));
  if (options.prefix_len > 0)
    words.push_back(fmt::format("{} prefixes of {} tokens", options.num_prefixes, options.prefix_len));
  if (!options.fresh_prompts) words.emplace_back("the same for each repetition");
  if (!note.empty()) words.push_back(note);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string ArrivalWords(const ServingOptions& options) {
  if (!options.trace_file.empty()) return "trace " + options.trace_file.filename().string();
  if (options.ramp_up.empty()) return "";
  return fmt::format("{} ramp-up from {:g} to {:g} requests/s", options.ramp_up, options.ramp_up_start,
                     options.ramp_up_end);
}

ServingRecord RecordOf(const ServingOptions& options) {
  ServingRecord serving;
  serving.name = options.name;
  serving.dataset = options.dataset;
  serving.arrivals = ArrivalWords(options);
  serving.input_len = options.input_len;
  serving.output_len = options.output_len;
  serving.num_prompts = options.num_prompts;
  serving.request_rate = options.request_rate;
  serving.max_concurrency = options.max_concurrency;
  serving.burstiness = options.burstiness;
  serving.warmups = options.warmups;
  serving.seed = static_cast<int64_t>(options.seed);
  serving.ignore_eos = options.ignore_eos;
  return serving;
}

// One run of the benchmark against one server.
class Benchmark {
 public:
  Benchmark(const std::string& base_url, ServingOptions options, Progress& progress)
      : base_url_(base_url), options_(std::move(options)), progress_(progress), client_(NewCurlClient()) {}

  // Everything that can fail for a reason of ours, before anything is measured.
  Status Prepare() {
    if (!options_.trace_file.empty()) {
      ASSIGN_OR_RETURN(trace_, LoadTrace(options_.trace_file));
      options_.num_prompts = std::min(options_.num_prompts, static_cast<int64_t>(trace_.size()));
    }
    ASSIGN_OR_RETURN(encode_, FindEncoder(base_url_, options_));
    std::string warm_up_note;
    ASSIGN_OR_RETURN(measured_, PlanPhase("measured", options_.num_prompts, &note_));
    ASSIGN_OR_RETURN(warm_up_, PlanPhase("warm_up", options_.warmups + WavesOfFile(), &warm_up_note));
    if (!warm_up_note.empty()) note_ += ", " + warm_up_note;
    waves_.assign(std::make_move_iterator(warm_up_.begin() + options_.warmups),
                  std::make_move_iterator(warm_up_.end()));
    warm_up_.resize(static_cast<size_t>(options_.warmups));
    progress_.done = 0;
    progress_.planned = options_.warmups + options_.num_prompts;
    return {};
  }

  // The number of requests sent.
  Result<int64_t> WarmUp() {
    auto sent = static_cast<int64_t>(warm_up_.size());
    LoadPlan plan = PlanOf(base_url_, options_);
    plan.planned_s.assign(warm_up_.size(), 0.0);
    plan.requests = std::move(warm_up_);
    DriveLoad(*client_, std::move(plan), progress_, {});
    if (!options_.steady_warm_up) return sent;
    const int64_t wave_size = WaveSize();
    Status status;
    WarmUpUntilSteady([&](int index) {
      auto wave = PlanWave(index);
      if (!wave) status = tl::unexpected(std::move(wave).error());
      if (!status || progress_.stop) return -1.0;
      sent += wave_size;
      progress_.planned += wave_size;
      LoadPlan wave_plan = PlanOf(base_url_, options_);
      wave_plan.planned_s.assign(wave->size(), 0.0);
      wave_plan.requests = std::move(*wave);
      const ServingSeries seen = SeriesOf(DriveLoad(*client_, std::move(wave_plan), progress_, {}).requests);
      return seen.ttft.empty() ? -1.0 : record::Median(seen.ttft);
    });
    RETURN_IF_ERROR(status);
    return sent;
  }

  LoadResult Measure(const std::function<void(const record::RequestTiming&)>& on_request, bool keep_texts) {
    LoadPlan plan = PlanOf(base_url_, options_);
    plan.planned_s = SendTimes(options_, trace_, options_.num_prompts);
    plan.requests = std::move(measured_);
    plan.keep_texts = keep_texts;
    return DriveLoad(*client_, std::move(plan), progress_, on_request);
  }

  const ServingOptions& options() const { return options_; }
  const std::string& note() const { return note_; }

 private:
  int64_t WaveSize() const {
    return std::min<int64_t>(options_.max_concurrency.value_or(kOpenLoopWave), 256);
  }
  // Prompts of a file are dealt out once, for all waves that there may be.
  int64_t WavesOfFile() const {
    const bool file = options_.dataset == "sharegpt" || options_.dataset == "custom";
    return file && options_.steady_warm_up ? kMostWarmUpWaves * WaveSize() : 0;
  }

  Result<std::vector<PlannedRequest>> PlanWave(int index) {
    if (waves_.empty()) return PlanPhase(fmt::format("warm_up wave {}", index), WaveSize(), nullptr);
    const auto first = waves_.begin() + index * WaveSize();
    return std::vector<PlannedRequest>(first, first + WaveSize());
  }

  Result<std::vector<PlannedRequest>> PlanPhase(std::string_view phase, int64_t count, std::string* note) {
    if (count == 0) return std::vector<PlannedRequest>();
    const std::vector<TraceEntry> none;
    ASSIGN_OR_RETURN(PlannedPrompts planned,
                     PlanPrompts(options_, phase, count, phase == "measured" ? trace_ : none, encode_));
    if (note != nullptr) *note = planned.note;
    return Requests(options_, std::move(planned.prompts));
  }

  const std::string& base_url_;
  ServingOptions options_;
  Progress& progress_;
  std::unique_ptr<HttpClient> client_;
  Encoder encode_;
  std::vector<TraceEntry> trace_;
  std::vector<PlannedRequest> warm_up_, waves_, measured_;
  std::string note_;
};

}  // namespace

Result<ServingRecord> RunServing(const std::string& base_url, const ServingOptions& options,
                                 Progress& progress,
                                 const std::function<void(const record::RequestTiming&)>& on_request,
                                 std::vector<std::string>* texts) {
  RETURN_IF_ERROR(CheckOptions(options));
  Benchmark benchmark(base_url, options, progress);
  RETURN_IF_ERROR(benchmark.Prepare());
  ASSIGN_OR_RETURN(const auto warmed_up, benchmark.WarmUp());

  const double cpu_before = ProcessCpuSeconds();
  LoadResult load = benchmark.Measure(on_request, texts != nullptr);
  const double cpu_s = ProcessCpuSeconds() - cpu_before;
  if (texts != nullptr) *texts = std::move(load.texts);

  ServingRecord serving = RecordOf(benchmark.options());
  serving.prompts = PromptWords(options, benchmark.note());
  serving.duration_s = load.duration_s;
  serving.complete = load.complete;
  serving.metrics = SummariseServing(load.requests, load.duration_s, options.goodput);
  serving.requests = std::move(load.requests);

  const record::Metric* mean_in_flight = record::Find(serving.metrics, "mean_in_flight");
  serving.mean_in_flight = mean_in_flight != nullptr ? mean_in_flight->value.value_or(0) : 0;
  const auto sent = static_cast<int64_t>(load.send_lags_ms.size());
  if (sent > 0) {
    serving.client_cpu_share = cpu_s / load.duration_s;
    serving.send_lag_p99_ms = record::Percentile(load.send_lags_ms, 99);
  }
  const auto add_client_figure = [&](const char* name, const char* unit, double value) {
    serving.metrics.push_back(
        {name, unit, Direction::kLowerIsBetter, sent > 0 ? std::optional(value) : std::nullopt, sent});
  };
  if (options.steady_warm_up) {
    serving.metrics.push_back(
        {"warm_up_requests", "", Direction::kLowerIsBetter, static_cast<double>(warmed_up), warmed_up});
  }
  add_client_figure("client_cpu_share", "", serving.client_cpu_share);
  add_client_figure("send_lag_p99_ms", "ms", serving.send_lag_p99_ms);
  return serving;
}

}  // namespace assay::evals
