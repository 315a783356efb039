#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/secrets.h"
#include "base/text.h"
#include "runner/cli/bench_flags.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"

namespace assay::runner {

const std::string_view kBenchHelp =
    R"(usage: assay bench serve [--base-url URL] [flags]

Sends a load to any OpenAI-compatible server and prints the table of `vllm bench serve`, whose flags, JSON and
file name it shares; below it every figure with its formula. Exits 1 when a request failed.

server   --base-url URL (or --host, --port: 127.0.0.1:8000)  --model NAME (default: the first of /v1/models)
         --backend openai|vllm|openai-chat  --endpoint PATH  --served-model-name NAME  --any-model
         --header K=V  --ready-check-timeout-sec 0  --tokenizer FOLDER (default: the server's /tokenize)
data     --dataset-name random|prefix_repetition|sharegpt|custom  --dataset-path FILE  --num-prompts 1000
         --seed 0  --repetition 0 (fresh prompts for each)  --same-prompts  --no-oversample --disable-shuffle
         --random-input-len 1024  --random-output-len 128  --random-prefix-len 0  --random-range-ratio 0.0
         --range-convention vllm|sglang  --text-prompts  --vocab-size N  --input-len N  --output-len N
         --prefix-repetition-{prefix-len 256, suffix-len 256, num-prefixes 10, output-len 128}
         --sharegpt-output-len N  --custom-output-len N  --ignore-eos (always with random data)
load     --request-rate inf  --burstiness 1.0 (inf: constant)  --max-concurrency N  --trace-file FILE
         --ramp-up-strategy linear|exponential --ramp-up-start-rps N --ramp-up-end-rps N
         --num-warmups 0  --warmup-until-steady  --request-timeout 21600  --idle-timeout 600 (seconds)
search   --find-rate ttft:200 tpot:50 (ms)  --find-rate-percentile 99  --find-rate-seconds 10 (of load,
         at least 5 requests: they and not --num-prompts say how many a rate is given)  --start-rate 1  --max-rate 4096
sampling --temperature --top-p --top-k --min-p --frequency-penalty --presence-penalty --repetition-penalty
         --logprobs --extra-body JSON --chat-template-kwargs JSON  --continuous-usage (tokens of each chunk)
report   --percentile-metrics ttft,tpot,itl[,e2el,...]  --metric-percentiles 99  --goodput ttft:200 tpot:50
         --definitions vllm|aiperf|guidellm  --save-result --save-detailed --append-result --result-dir DIR
         --result-filename NAME --label NAME --metadata K=V
accepted without effect: --trust-remote-code --tokenizer-mode --skip-tokenizer-init --disable-tqdm
         --skip-chat-template --request-id-prefix

example
  assay bench serve --base-url http://127.0.0.1:8000 --random-input-len 128 --random-output-len 32 \
    --num-prompts 300 --request-rate 10
)";

namespace {

void AddServerFlags(CLI::App& app, BenchFlags& flags, BenchOptions& options) {
  evals::ServingOptions& serving = options.serving;
  app.add_option("--base-url", flags.base_url);
  app.add_option("--host", flags.host);
  app.add_option("--port", flags.port);
  app.add_option("--backend", options.backend);
  app.add_option("--endpoint", serving.endpoint);
  app.add_option("--model", serving.model);
  app.add_option("--served-model-name", flags.served_model_name);
  app.add_flag("--any-model", serving.any_model);
  app.add_option("--tokenizer", flags.tokenizer);
  app.add_option("--header", flags.headers)->take_all();
  app.add_option("--ready-check-timeout-sec", options.ready_timeout_s);
  app.add_option("--request-timeout", serving.request_timeout_s);
  app.add_option("--idle-timeout", serving.idle_timeout_s);
  app.add_option("--tokenizer-mode", flags.ignored_text);
  app.add_option("--request-id-prefix", flags.ignored_text);
  for (const char* name :
       {"--trust-remote-code", "--skip-tokenizer-init", "--disable-tqdm", "--skip-chat-template"})
    app.add_flag(name, flags.ignored_flag);
}

void AddDataFlags(CLI::App& app, BenchFlags& flags, evals::ServingOptions& serving) {
  app.add_option("--dataset-name", serving.dataset);
  app.add_option("--dataset-path", serving.dataset_path);
  app.add_option("--num-prompts", serving.num_prompts);
  app.add_option("--seed", serving.seed);
  app.add_option("--repetition", serving.repetition);
  app.add_flag("--same-prompts", flags.same_prompts);
  app.add_flag("--no-oversample", flags.no_oversample);
  app.add_flag("--disable-shuffle", flags.disable_shuffle);
  app.add_flag("--ignore-eos", flags.ignore_eos);
  app.add_flag("--text-prompts", serving.text_prompts);
  app.add_option("--vocab-size", serving.vocab_size)->check(CLI::NonNegativeNumber);
  app.add_option("--input-len", flags.input_len);
  app.add_option("--output-len", flags.output_len);
  app.add_option("--random-input-len", flags.random_input_len);
  app.add_option("--random-output-len", flags.random_output_len);
  app.add_option("--random-prefix-len", flags.random_prefix_len);
  app.add_option("--random-range-ratio", flags.range_ratio);
  app.add_option("--range-convention", serving.range_convention);
  app.add_option("--sharegpt-output-len", flags.sharegpt_output_len);
  app.add_option("--custom-output-len", flags.custom_output_len);
  app.add_option("--prefix-repetition-prefix-len", flags.prefix_len);
  app.add_option("--prefix-repetition-suffix-len", flags.suffix_len);
  app.add_option("--prefix-repetition-num-prefixes", flags.num_prefixes);
  app.add_option("--prefix-repetition-output-len", flags.prefix_output_len);
}

void AddLoadFlags(CLI::App& app, BenchFlags& flags, BenchOptions& options) {
  evals::ServingOptions& serving = options.serving;
  app.add_option("--request-rate", flags.request_rate);
  app.add_option("--burstiness", flags.burstiness);
  app.add_option("--max-concurrency", serving.max_concurrency);
  app.add_option("--trace-file", serving.trace_file);
  app.add_option("--ramp-up-strategy", serving.ramp_up);
  app.add_option("--ramp-up-start-rps", serving.ramp_up_start);
  app.add_option("--ramp-up-end-rps", serving.ramp_up_end);
  app.add_option("--num-warmups", serving.warmups);
  app.add_flag("--warmup-until-steady", serving.steady_warm_up);
  app.add_option("--find-rate", flags.find_rate)->expected(1, 4)->take_all();
  app.add_option("--find-rate-percentile", options.limit_percentile)->check(CLI::Range(0.0, 100.0));
  app.add_option("--find-rate-seconds", options.probe_s)->check(CLI::Range(0.0, 3600.0));
  app.add_option("--start-rate", options.search.first);
  app.add_option("--max-rate", options.search.most);
  app.add_option("--temperature", flags.temperature);
  app.add_option("--top-p", flags.top_p);
  app.add_option("--top-k", flags.top_k);
  app.add_option("--min-p", flags.min_p);
  app.add_option("--frequency-penalty", flags.frequency_penalty);
  app.add_option("--presence-penalty", flags.presence_penalty);
  app.add_option("--repetition-penalty", flags.repetition_penalty);
  app.add_option("--logprobs", flags.logprobs);
  app.add_option("--extra-body", flags.extra_body);
  app.add_option("--chat-template-kwargs", flags.chat_template_kwargs);
  app.add_flag("--continuous-usage", serving.continuous_usage);
}

void AddReportFlags(CLI::App& app, BenchFlags& flags, BenchOptions& options) {
  app.add_option("--percentile-metrics", flags.percentile_metrics);
  app.add_option("--metric-percentiles", flags.percentiles);
  app.add_option("--goodput", flags.goodput)->expected(1, 4)->take_all();
  app.add_option("--definitions", flags.definitions);
  app.add_flag("--save-result", options.save_result);
  app.add_flag("--save-detailed", options.save_detailed);
  app.add_flag("--append-result", options.append_result);
  app.add_option("--result-dir", options.result_dir);
  app.add_option("--result-filename", options.result_filename);
  app.add_option("--label", options.label);
  app.add_option("--metadata", flags.metadata)->expected(1, 64)->take_all();
}

// vLLM takes --max_concurrency for --max-concurrency.
std::vector<std::string> Normalised(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (std::string& word : words) {
    if (!StartsWith(word, "--")) continue;
    const size_t end = std::min(word.find('='), word.size());
    std::replace(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  }
  return words;
}

// What is kept for the reader must hold no key.
std::vector<std::string> Shown(std::vector<std::string> words) {
  bool hide = false;
  for (std::string& word : words) {
    const size_t equals = word.find('=');
    if ((hide && !StartsWith(word, "--")) || StartsWith(word, "--header=")) {
      const size_t from = StartsWith(word, "--header=") ? word.find('=', 9) : equals;
      word = word.substr(0, from) + "=(hidden)";
    }
    hide = word == "--header" || (hide && !StartsWith(word, "--"));
  }
  return words;
}

}  // namespace

int BenchCommand(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "serve") {
    fmt::print(stderr, "assay bench: the benchmark is serve: assay bench serve --help\n");
    return kExitUsage;
  }
  BenchOptions options;
  options.serving.name = "bench";
  options.serving.num_prompts = 1000;
  options.serving.warmups = 0;
  options.serving.request_timeout_s = 6 * 3600;
  options.serving.idle_timeout_s = 600;
  BenchFlags flags;
  CLI::App app;
  app.set_help_flag();
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // as Python's argparse
  AddServerFlags(app, flags, options);
  AddDataFlags(app, flags, options.serving);
  AddLoadFlags(app, flags, options);
  AddReportFlags(app, flags, options);
  std::vector<std::string> words = Normalised(argc - 1, argv + 1);
  options.command = HideSecrets(Shown(words));
  options.command.insert(options.command.begin(), {"assay", "bench"});
  words.front() = "bench serve";
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  if (const auto exit_code = ParseArguments(app, argc - 1, pointers.data())) return *exit_code;

  const Result<int> exit_code = [&]() -> Result<int> {
    RETURN_IF_ERROR(ApplyFlags(flags, options));
    return Bench(std::move(options));
  }();
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay bench serve: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
