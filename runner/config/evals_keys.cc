#include <set>

#include "runner/config/config_file.h"

namespace assay::runner {
namespace {

constexpr char kToleranceAdvice[] =
    "absolute: a threshold of 0.568 with 0.05 fails below 0.518; relative: it fails below 0.5396";

void CheckGpqa(const YamlNode& node, const std::string& path, const GpqaFile& gpqa, Reading& reading) {
  if (gpqa.variant.empty() && gpqa.options.dataset.empty()) {
    reading.mistakes.Add(
        node.mark, path,
        "needs variant (diamond, main, extended: the published question sets), dataset (a CSV "
        "of your own), or both (dataset is then the published zip or a folder)");
  }
  if (gpqa.options.stop == "when-certain" && gpqa.options.stop_error <= 0) {
    reading.mistakes.Add(node.Find("stop_error")->mark, JoinPath(path, "stop_error"),
                         "must be above 0: without any error nothing is certain before the end");
  }
  if (gpqa.threshold && !gpqa.tolerance) {
    reading.mistakes.Add(
        node.Find("threshold")->mark, JoinPath(path, "threshold"),
        fmt::format("needs tolerance: {{kind: ..., value: ...}} beside it; {}", kToleranceAdvice));
  }
  if (!gpqa.threshold && gpqa.tolerance) {
    reading.mistakes.Add(node.Find("tolerance")->mark, JoinPath(path, "tolerance"),
                         "has no threshold to loosen; add threshold or remove it");
  }
  if (!gpqa.threshold || !gpqa.tolerance) return;
  if ((gpqa.tolerance->kind == gate::ToleranceKind::kAbsolute ? gpqa.tolerance->value >= *gpqa.threshold
                                                              : gpqa.tolerance->value >= 1)) {
    reading.mistakes.Add(node.Find("tolerance")->mark, JoinPath(path, "tolerance"),
                         fmt::format("{} takes the whole threshold of {} away, so that any score would pass",
                                     gpqa.tolerance->value, *gpqa.threshold));
  }
  if (gpqa.broken_below > *gpqa.threshold) {
    const YamlNode* given = node.Find("broken_below");
    reading.mistakes.Add(given != nullptr ? given->mark : node.Find("threshold")->mark,
                         JoinPath(path, "broken_below"),
                         fmt::format("is {}, above the threshold of {}; write a smaller broken_below",
                                     gpqa.broken_below, *gpqa.threshold));
  }
}

void CheckTolerance(const YamlNode& node, const std::string& path, const Tolerance& tolerance,
                    Reading& reading) {
  if (tolerance.kind) return;
  reading.mistakes.Add(node.mark, path,
                       fmt::format("needs kind: absolute or relative; {}", kToleranceAdvice));
}

void CheckEvals(const YamlNode& node, const std::string& path, const EvalsFile& evals, Reading& reading) {
  if (!evals.gpqa && evals.serving.empty() && !evals.reproducibility) {
    reading.mistakes.Add(node.mark, path, "measures nothing; add gpqa, serving or both");
  }
  std::set<std::string> names;
  for (size_t i = 0; i < evals.serving.size(); ++i) {
    const std::string& name = evals.serving[i].name;
    if (names.insert(name).second) continue;
    reading.mistakes.Add(
        node.Find("serving")->items[i].Find("name")->mark, fmt::format("{}.serving[{}].name", path, i),
        fmt::format("{} names two shapes; results are kept by name, so choose another", name));
  }
}

const Section<Tolerance>& ToleranceSection() {
  using T = Tolerance;
  static const Section<T> section = {
      "evals.gpqa.tolerance",
      std::string("How far below the threshold a score may fall. The kind is mandatory because the two "
                  "readings of a number differ: ") +
          kToleranceAdvice + ".",
      {
          {"kind", &T::kind,
           OneOfEnum<gate::ToleranceKind>(
               {{"absolute", gate::ToleranceKind::kAbsolute}, {"relative", gate::ToleranceKind::kRelative}}),
           "`absolute`: score points; `relative`: a share of the threshold.", "absolute", kRequiredByCheck},
          {"value", &T::value, Fraction(), "The tolerance.", "0.05", kRequired},
      },
      CheckTolerance,
  };
  return section;
}

// `tolerance: 0.05` says neither kind.
Value<Tolerance> ToleranceValue() {
  Value<Tolerance> value = Sub(ToleranceSection());
  value.read = [read = value.read](const YamlNode& node, const Where& where,
                                   Reading& reading) -> std::optional<Tolerance> {
    if (node.IsMap()) return read(node, where, reading);
    reading.mistakes.Add(node.mark, where.path,
                         fmt::format("must name its kind, got {}; write {{kind: absolute, value: 0.05}} or "
                                     "{{kind: relative, value: 0.05}}; {}",
                                     Describe(node), kToleranceAdvice));
    return std::nullopt;
  };
  return value;
}

Value<std::string> Sha256Digits() {
  Value<std::string> value = Text();
  value.type = "64 hexadecimal digits";
  value.schema = {{"type", "string"}, {"pattern", "^[0-9a-fA-F]{64}$"}};
  value.read = [type = value.type](const YamlNode& node, const Where& where,
                                   Reading& reading) -> std::optional<std::string> {
    const auto text = ReadScalar(type, node, where, reading);
    if (!text) return std::nullopt;
    const bool digits = text->find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (text->size() == 64 && digits) return text;
    AddWrongType(type, node, where, reading);
    return std::nullopt;
  };
  return value;
}

// A known name is measured as it is, a file by its last two parts as other files are.
Value<std::string> PromptName() {
  Value<std::string> value = ModelName();
  value.type = "gpt-oss, simple-evals, lm-eval-cot or a file";
  return value;
}

}  // namespace

const Section<GpqaFile>& GpqaSection() {
  using G = GpqaFile;
  const auto option = [](auto member) {
    return [member](auto& file) -> auto& {
      return file.options.*member;
    };
  };
  using O = evals::GpqaOptions;
  static const Section<G> section = {
      "evals.gpqa",
      "The accuracy eval: four-option questions in GPQA's format, each asked `repeats` times with shuffled "
      "options.",
      {
          {"variant", &G::variant, OneOf({"diamond", "main", "extended"}),
           "A published GPQA set. Without `dataset` it is looked for in the data folder (see *Data*), with "
           "it "
           "in that zip or folder.",
           "diamond"},
          {"dataset", option(&O::dataset), FilePath(),
           "A CSV with GPQA's columns; or, together with `variant`, GPQA's `dataset.zip` or a folder of its "
           "files (see *Paths*).",
           "models/tiny-moe/questions.csv"},
          {"dataset_sha256", option(&O::dataset_sha256), Sha256Digits(),
           "SHA-256 that the file must have: the zip, or the CSV.",
           "461ae7329f15a3e35f8184d2dac24b990f34fdf12f366ca4062d8e6638cd08dc", kNotMeasured},
          {"subset", option(&O::subset), Integer<int64_t>(1),
           "Ask only so many questions, drawn with `seed`. Default: all.", "50"},
          {"repeats", option(&O::repeats), Integer<int>(1, 1000), "How often each question is asked.", "8"},
          {"seed", option(&O::seed), Integer<uint64_t>(0),
           "Seed of subset and shuffling; 0 is the order of gpt-oss's own evals.", "0"},
          {"prompt", option(&O::prompt), PromptName(),
           "`gpt-oss`, `simple-evals`, `lm-eval-cot`, or a text file (see *Paths*) with {question}, {A}, "
           "{B}, "
           "{C} and {D} in it.",
           "gpt-oss"},
          {"api", option(&O::api), OneOf({"chat", "responses"}),
           "`chat`: /v1/chat/completions, `responses`: /v1/responses.", "chat"},
          {"reasoning_effort", option(&O::reasoning_effort), OneOf({"low", "medium", "high", "default"}),
           "Sent with every request; `default` sends none.", "low"},
          {"temperature", option(&O::temperature), Number({0, 10}), "Sampling temperature; 0 is greedy.",
           "1"},
          {"sampling_seed", option(&O::sampling_seed), Integer<int64_t>(0),
           "Request i sends this plus i as its seed. Default: none is sent.", "0"},
          {"max_tokens", option(&O::max_tokens), Integer<int64_t>(1),
           "Limit of an answer, reasoning included; what is cut there counts as truncated.", "4096"},
          {"concurrency", option(&O::concurrency), Integer<int>(1, 65536), "Requests in flight.", "200"},
          {"retries", option(&O::retries), Integer<int>(0, 100),
           "Retries of a request that failed in transport or with 5xx.", "2"},
          {"request_timeout_s", option(&O::request_timeout_s), Number({0, 86400, true}),
           "Seconds for one whole request.", "600"},
          {"idle_timeout_s", option(&O::idle_timeout_s), Number({0, 86400, true}),
           "Seconds without a byte after which a request has failed.", "120"},
          {"grader", option(&O::grader), OneOf({"strict", "compat"}),
           "`strict`: the last explicit declaration; `compat`: as gpt-oss's grader. Both letters are "
           "recorded, this one decides.",
           "strict"},
          {"stop", option(&O::stop), OneOf({"never", "when-certain"}),
           "`when-certain`: ask in random order, and end as soon as it is clear what threshold and baseline "
           "would say of all samples (see [measuring.md](measuring.md)).",
           "when-certain", kNotMeasured},
          {"stop_error", option(&O::stop_error), Number({0, 0.5}),
           "How often that may differ from the verdict on all samples, each way.", "0.05", kNotMeasured},
          {"threshold", &G::threshold, Fraction(),
           "Score to reach, a fraction. Needs `tolerance`. Default: only the baseline judges.", "0.568",
           kNotMeasured},
          {"tolerance", &G::tolerance, ToleranceValue(), "How far below is still a pass.",
           "{kind: absolute, value: 0.05}", kNotMeasured},
          {"proof", &G::proof,
           OneOfEnum<gate::ThresholdProof>({{"tolerance", gate::ThresholdProof::kTolerance},
                                            {"prove_bad", gate::ThresholdProof::kProveBad},
                                            {"prove_good", gate::ThresholdProof::kProveGood}}),
           "`tolerance`: score at least threshold minus tolerance; `prove_bad`: FAIL only when the interval "
           "lies below that; `prove_good`: PASS only when it lies above.",
           "tolerance", kNotMeasured},
          {"broken_below", &G::broken_below, Fraction(),
           "A score below this is a model that guesses: FAIL without statistics.", "0.35", kNotMeasured},
      },
      CheckGpqa,
  };
  return section;
}

namespace {

void CheckServing(const YamlNode& node, const std::string& path, const evals::ServingOptions& serving,
                  Reading& reading) {
  const Status status = evals::CheckOptions(serving);
  if (!status) reading.mistakes.Add(node.mark, path, status.error().message);
}

}  // namespace

const Section<evals::ServingOptions>& ServingSection() {
  using S = evals::ServingOptions;
  static const Section<S> section = {
      "evals.serving[]",
      "One serving benchmark: a shape of prompts and answers, and a load.",
      {
          {"name", &S::name, SafeName(40, false), "Name of the shape; metrics are kept as `<name>.<metric>`.",
           "1k1k", kRequired},
          {"dataset", &S::dataset, OneOf({"random", "prefix_repetition", "sharegpt", "custom"}),
           "`random`: token ids drawn from the vocabulary; `prefix_repetition`: the same behind shared "
           "prefixes; `sharegpt`, `custom`: the prompts of `dataset_path`.",
           "random"},
          {"input_len", &S::input_len, Integer<int64_t>(1, 10'000'000),
           "Tokens of each random prompt, after its prefix.", "1024"},
          {"output_len", &S::output_len, Integer<int64_t>(1, 10'000'000), "Tokens asked for in each answer.",
           "1024"},
          {"api", &S::api, OneOf({"completions", "chat"}),
           "`completions`: `/v1/completions`; `chat`: `/v1/chat/completions`, with text prompts.", "chat"},
          {"dataset_path", &S::dataset_path, FilePath(),
           "ShareGPT's JSON, or JSON lines of `{\"prompt\": ..., \"output_tokens\": ...}` (see *Paths*).",
           "ShareGPT_V3_unfiltered_cleaned_split.json"},
          {"range_ratio", &S::range_ratio, Fraction(),
           "Spread of both lengths of random prompts, in the convention below.", "0.2"},
          {"range_convention", &S::range_convention, OneOf({"vllm", "sglang"}),
           "`vllm`: L(1-r) to L(1+r), 0 is exactly L; `sglang`: L r to L, 1 is exactly L.", "vllm"},
          {"prefix_len", &S::prefix_len, Integer<int64_t>(0, 10'000'000),
           "Tokens that random prompts share, before those of `input_len`.", "256"},
          {"num_prefixes", &S::num_prefixes, Integer<int64_t>(1, 1'000'000),
           "Different prefixes, taken in turn.", "10"},
          {"text_prompts", &S::text_prompts, TrueOrFalse(),
           "Random prompts as text of exact length; needs `tokenizer`, or a server with `/tokenize`.",
           "true"},
          {"tokenizer", &S::tokenizer, ModelName(),
           "Folder whose tokenizer.json counts tokens of text. Default: the server's `/tokenize`.",
           "models/tiny-moe"},
          {"num_prompts", &S::num_prompts, Integer<int64_t>(1, 10'000'000), "Requests.", "512"},
          {"request_rate", &S::request_rate, RequestRate(),
           "Open loop: requests per second, sent whether or not earlier ones are answered. `inf` sends all "
           "at once.",
           "10"},
          {"burstiness", &S::burstiness, Number({0, 1e6, true}),
           "Shape of the gamma-distributed gaps; 1 is Poisson, larger is more regular.", "1"},
          {"ramp_up", &S::ramp_up, OneOf({"linear", "exponential"}),
           "The rate goes from `ramp_up_start` to `ramp_up_end` over the requests, by equal steps or equal "
           "ratios. In place of `request_rate`.",
           "linear"},
          {"ramp_up_start", &S::ramp_up_start, Number({0, 1e9}), "Requests per second of the first request.",
           "1"},
          {"ramp_up_end", &S::ramp_up_end, Number({0, 1e9}), "Requests per second of the last one.", "20"},
          {"trace_file", &S::trace_file, FilePath(),
           "Send times, one a line: seconds, or `{\"timestamp\": ms, \"input_length\": n, \"output_length\": "
           "m}`. In place of `request_rate`.",
           "trace.jsonl"},
          {"max_concurrency", &S::max_concurrency, Integer<int64_t>(1, 1'000'000),
           "Closed loop: at most so many requests in flight. Default: no limit.", "64"},
          {"warmups", &S::warmups, Integer<int64_t>(0, 1'000'000),
           "Requests before the measurement, left out of it.", "4"},
          {"steady_warm_up", &S::steady_warm_up, TrueOrFalse(),
           "After the warm-ups send waves of them until the median TTFT of three waves in a row is within a "
           "tenth, at most 16.",
           "true"},
          {"goodput", &S::goodput, NumberMap({"ttft", "tpot", "e2el"}),
           "The most milliseconds for a request to count as good; gives `request_goodput_req_s`.",
           "{ttft: 200, tpot: 50}"},
          {"continuous_usage", &S::continuous_usage, TrueOrFalse(),
           "Ask for the token count with every chunk, where the server has it; gives `itl_by_token`.",
           "true"},
          {"seed", &S::seed, Integer<uint64_t>(0), "Seed of prompts and arrival times.", "0"},
          {"ignore_eos", &S::ignore_eos, TrueOrFalse(),
           "Answers run to `output_len` whatever the model says; without it lengths differ between arms.",
           "true"},
          {"temperature", &S::temperature, Temperature(),
           "Sampling temperature; 0 is greedy, `default` sends none.", "0"},
          {"vocab_size", &S::vocab_size, Integer<int32_t>(0),
           "Prompts draw ids below this. 0: the size of the tokenizer in the model or tokenizer folder, "
           "special tokens left out; needed when no such folder is on this machine.",
           "199998"},
          {"request_timeout_s", &S::request_timeout_s, Number({0, 86400, true}),
           "Seconds for one whole request.", "600"},
          {"idle_timeout_s", &S::idle_timeout_s, Number({0, 86400, true}),
           "Seconds without a byte after which a request has failed.", "120"},
      },
      CheckServing,
  };
  return section;
}

const Section<evals::ReproducibilityOptions>& ReproducibilitySection() {
  using R = evals::ReproducibilityOptions;
  static const Section<R> section = {
      "evals.reproducibility",
      "Seeded requests with random prompts over `/v1/completions`, each asked alone and then all at once.",
      {
          {"num_prompts", &R::num_prompts, Integer<int64_t>(1, 1'000'000), "Requests, each asked twice.",
           "16"},
          {"input_len", &R::input_len, Integer<int64_t>(1, 10'000'000), "Tokens of each prompt.", "64"},
          {"output_len", &R::output_len, Integer<int64_t>(1, 10'000'000), "Tokens of each answer.", "32"},
          {"temperature", &R::temperature, Number({0, 10}),
           "Sampling temperature. At 0 it is not seen whether the seed counts.", "1"},
          {"seed", &R::seed, Integer<int64_t>(0), "Sent with every request, and the seed of the prompts.",
           "0"},
          {"vocab_size", &R::vocab_size, Integer<int32_t>(0),
           "As in `evals.serving[]`: 0 takes the size of the tokenizer on this machine.", "199998"},
          {"request_timeout_s", &R::request_timeout_s, Number({0, 86400, true}),
           "Seconds for one whole request.", "600"},
      },
      nullptr,
  };
  return section;
}

const Section<EvalsFile>& EvalsSection() {
  using E = EvalsFile;
  static const Section<E> section = {
      "evals",
      "What is measured. At least one of them.",
      {
          {"gpqa", &E::gpqa, Sub(GpqaSection()), "The accuracy eval.", "{variant: diamond, repeats: 8}"},
          {"serving", &E::serving, ListOf(Sub(ServingSection()), "a list of shapes"),
           "Serving benchmarks, run in this order.",
           "[{name: 1k1k, input_len: 1024, output_len: 1024, num_prompts: 512, request_rate: 10}]"},
          {"reproducibility", &E::reproducibility, Sub(ReproducibilitySection()),
           "Whether seeded requests get the same text alone and beside others. Only for a server that "
           "promises "
           "that: any difference fails.",
           "{num_prompts: 16}"},
      },
      CheckEvals,
  };
  return section;
}

}  // namespace assay::runner
