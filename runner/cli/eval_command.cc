#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/secrets.h"
#include "base/text.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/plan/resolve.h"
#include "runner/run/eval_gpqa.h"
#include "runner/run/run_folder.h"

namespace assay::runner {

const std::string_view kEvalHelp =
    R"(usage: assay eval gpqa --base-url URL [--model NAME] (--variant NAME | --dataset FILE) [flags]
       assay eval gpqa --resume DIR

Asks GPQA's questions of a server that runs already, any that speaks OpenAI's protocol, and writes report.md,
record.json and the rest as `assay run` does. A key for the server is taken from $ASSAY_API_KEY, else
$OPENAI_API_KEY.

what is asked
  --base-url URL            http://127.0.0.1:8000, with or without /v1
  --model NAME              default: the only one that the server lists
  --any-model               take answers that name another model than --model, as "gpt-x-2026-01-01" for "gpt-x"
  --variant NAME            diamond, main or extended: from the data folder (see assay data), or from --dataset
  --dataset FILE            a CSV with GPQA's columns; with --variant GPQA's zip or a folder
  --dataset-sha256 HEX      refuse a file with another SHA-256
  --subset N                only so many questions, drawn with --seed (default: all)
  --repeats N               how often each is asked (default: 1)
  --seed N                  of subset and shuffling; 0, the default, is the order of gpt-oss's own evals

how
  --prompt NAME             gpt-oss (default), simple-evals, lm-eval-cot, or a file with {question} {A} {B} {C} {D}
  --api NAME                chat (default) or responses
  --reasoning-effort E      low (default), medium, high; default sends none
  --temperature X           default: 1
  --sampling-seed N         request i sends N + i as its seed (default: none is sent)
  --max-tokens N            of an answer, reasoning included (default: 4096)
  --concurrency N           requests in flight (default: 32)
  --retries N               of a request that failed in transport or with 5xx (default: 2)
  --request-timeout S       seconds for one request (default: 600)
  --idle-timeout S          seconds without a byte (default: 120)

how it is judged
  --grader NAME             strict (default) or compat; both scores are reported
  --threshold X             score to reach, a fraction
  --tolerance KIND:X        how far below is still a pass: absolute:0.05 or relative:0.05
  --baseline RECORD         an earlier record.json, compared question by question
  --accuracy-margin X       loss in score that must not pass (default: 0.03)
  --max-failed-share X      of requests; above it the eval is INVALID (default: 0.02)
  --stop when-certain       end as soon as the verdict on all samples is clear
  --stop-error X            how often that may differ from it, each way (default: 0.05)
  --strict                  INCONCLUSIVE exits 3

what is written
  --out DIR                 default: out/<run id>
  --include-text            keep prompts and answers in record and journal, so that assay grade can read them
  --resume DIR              go on with an eval that was killed or interrupted, with the flags it had (no other may
                            be given, but --base-url for its password); what its journal has is not asked again

example
  assay eval gpqa --base-url http://127.0.0.1:8000 --variant diamond --threshold 0.568 --tolerance absolute:0.05
)";

namespace {

struct Flags {
  EvalOptions eval;
  double threshold = -1;
  std::string tolerance;
  Status alone;  // --resume given with anything else
};

std::string KeyOfEnvironment() {
  for (const char* name : {"ASSAY_API_KEY", "OPENAI_API_KEY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

// "absolute:0.05". Without one the threshold itself is to be reached.
Result<gate::ThresholdPolicy> Threshold(const Flags& flags) {
  gate::ThresholdPolicy policy;
  policy.threshold = flags.threshold;
  policy.broken_below = std::min(policy.broken_below, flags.threshold);
  if (flags.tolerance.empty()) return policy;
  const std::vector<std::string> parts = Split(flags.tolerance, ':');
  char* end = nullptr;
  policy.tolerance = parts.size() == 2 ? std::strtod(parts[1].c_str(), &end) : -1;
  const bool number = end != nullptr && *end == '\0' && !parts[1].empty();
  if (!number || !(policy.tolerance >= 0 && policy.tolerance < 1) ||
      (parts[0] != "absolute" && parts[0] != "relative")) {
    return Fail(ErrorKind::kUsage, "--tolerance {}: must be absolute:X or relative:X with X from 0 to 1",
                flags.tolerance);
  }
  policy.kind = parts[0] == "absolute" ? gate::ToleranceKind::kAbsolute : gate::ToleranceKind::kRelative;
  return policy;
}

void AddFlags(CLI::App& app, std::string& what, Flags& flags) {
  EvalOptions& eval = flags.eval;
  evals::GpqaOptions& gpqa = eval.gpqa;
  app.set_help_flag();
  app.add_option("eval", what)->required()->check(CLI::IsMember({"gpqa"}));
  app.add_option("--base-url", eval.base_url);
  app.add_option("--model", gpqa.model);
  app.add_flag("--any-model", gpqa.any_model);
  app.add_option("--variant", gpqa.variant)->check(CLI::IsMember({"diamond", "main", "extended"}));
  app.add_option("--dataset", gpqa.dataset);
  app.add_option("--dataset-sha256", gpqa.dataset_sha256);
  app.add_option("--subset", gpqa.subset)->check(CLI::PositiveNumber);
  app.add_option("--repeats", gpqa.repeats)->check(CLI::Range(1, 1000));
  app.add_option("--seed", gpqa.seed);
  app.add_option("--prompt", gpqa.prompt);
  app.add_option("--api", gpqa.api)->check(CLI::IsMember({"chat", "responses"}));
  app.add_option("--reasoning-effort", gpqa.reasoning_effort)
      ->check(CLI::IsMember({"low", "medium", "high", "default"}));
  app.add_option("--temperature", gpqa.temperature)->check(NumberWithin(0, 10));
  app.add_option("--sampling-seed", gpqa.sampling_seed)->check(CLI::NonNegativeNumber);
  app.add_option("--max-tokens", gpqa.max_tokens)->check(CLI::PositiveNumber);
  app.add_option("--concurrency", gpqa.concurrency)->check(CLI::Range(1, 65536));
  app.add_option("--retries", gpqa.retries)->check(CLI::Range(0, 100));
  app.add_option("--request-timeout", gpqa.request_timeout_s)->check(NumberWithin(0.001, 86400));
  app.add_option("--idle-timeout", gpqa.idle_timeout_s)->check(NumberWithin(0.001, 86400));
  app.add_option("--grader", gpqa.grader)->check(CLI::IsMember({"strict", "compat"}));
  app.add_option("--threshold", flags.threshold)->check(NumberWithin(0, 1));
  app.add_option("--tolerance", flags.tolerance);
  app.add_option("--baseline", eval.baseline);
  app.add_option("--accuracy-margin", eval.accuracy.margin)->check(NumberWithin(0, 1));
  app.add_option("--max-failed-share", eval.accuracy.max_failed_share)->check(NumberWithin(0, 1));
  app.add_option("--stop", gpqa.stop)->check(CLI::IsMember({"never", "when-certain"}));
  app.add_option("--stop-error", gpqa.stop_error)->check(NumberWithin(1e-6, 0.5));
  app.add_flag("--strict", eval.strict);
  app.add_flag("--include-text", gpqa.include_text);
  app.add_option("--out", eval.out);
  app.add_option("--resume", eval.resume);
}

std::optional<int> Parse(int argc, char** argv, Flags& flags) {
  CLI::App app;
  std::string what;
  flags.eval.command.assign(argv, argv + argc);
  flags.eval.command.insert(flags.eval.command.begin(), "assay");
  AddFlags(app, what, flags);
  const auto exit_code = ParseArguments(app, argc, argv);
  if (!exit_code) flags.alone = CheckResumeIsAlone(app, {"eval", "--base-url"});
  return exit_code;
}

// The flags of the attempt that is gone on with: those of its command line.
Result<Flags> FlagsOfEarlier(const Path& folder) {
  ASSIGN_OR_RETURN(const EarlierAttempt earlier, LoadEarlierAttempt(folder));
  std::vector<std::string> command = earlier.record.command;
  std::vector<char*> argv;
  for (size_t i = 1; i < command.size(); ++i) argv.push_back(command[i].data());
  Flags flags;
  if (command.size() < 3 || command[1] != "eval" ||
      Parse(static_cast<int>(argv.size()), argv.data(), flags)) {
    return Fail(ErrorKind::kUsage, "--resume: {} was not begun by assay eval", folder.string());
  }
  flags.eval.resume = folder;
  return flags;
}

Result<int> Eval(Flags flags) {
  RETURN_IF_ERROR(flags.alone);
  if (!flags.eval.resume.empty()) {
    const std::string given = flags.eval.base_url;
    ASSIGN_OR_RETURN(flags, FlagsOfEarlier(flags.eval.resume));
    std::string& url = flags.eval.base_url;
    if (!given.empty() && HideUserInfo(given) != url) {
      return Fail(ErrorKind::kUsage, "--resume: that eval asked {}, not --base-url {}", url,
                  HideUserInfo(given));
    }
    if (!given.empty()) url = given;
    if (url.find(kHidden) != std::string::npos) {
      return Fail(ErrorKind::kUsage,
                  "--resume: the record does not keep the password of {}; give that --base-url again", url);
    }
  }
  EvalOptions& eval = flags.eval;
  if (eval.base_url.empty()) return Fail(ErrorKind::kUsage, "--base-url is required");
  if (eval.gpqa.dataset.empty() && eval.gpqa.variant.empty()) {
    return Fail(ErrorKind::kUsage, "--variant (diamond, main, extended) or --dataset (a CSV) is required");
  }
  if (eval.gpqa.dataset.empty()) {
    eval.gpqa.dataset = GpqaFilePath(eval.gpqa.variant, Surroundings::OfThisProcess());
    std::error_code ignored;
    if (!std::filesystem::exists(eval.gpqa.dataset, ignored)) {
      return Fail(ErrorKind::kUsage,
                  "--variant {}: no file {}; assay data gpqa --from dataset.zip puts it there",
                  eval.gpqa.variant, eval.gpqa.dataset.string());
    }
    eval.gpqa.variant.clear();
  }
  if (flags.threshold >= 0) {
    ASSIGN_OR_RETURN(eval.threshold, Threshold(flags));
  } else if (!flags.tolerance.empty()) {
    return Fail(ErrorKind::kUsage, "--tolerance {}: there is no --threshold to loosen", flags.tolerance);
  }
  eval.gpqa.api_key = KeyOfEnvironment();
  return EvalGpqa(std::move(eval));
}

}  // namespace

int EvalCommand(int argc, char** argv) {
  Flags flags;
  if (const auto exit_code = Parse(argc, argv, flags)) return *exit_code;
  const Result<int> exit_code = Eval(std::move(flags));
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay eval: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
