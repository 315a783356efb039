#include "runner/run/eval_gpqa.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/log.h"
#include "base/secrets.h"
#include "base/text.h"
#include "gate/judge.h"
#include "runner/run/gpqa_hooks.h"
#include "runner/run/interrupt.h"
#include "runner/run/journal.h"
#include "runner/run/progress_line.h"
#include "runner/run/report_input.h"
#include "runner/run/run_folder.h"
#include "runner/run/server_models.h"

namespace assay::runner {
namespace {

// The model to ask for, when the server says which it has; a server without such a list is taken at its word.
Status ChooseModel(EvalOptions& options) {
  auto listed = ListModels(options.base_url, options.gpqa.api_key);
  if (!listed) return FailWithin("--base-url", std::move(listed).error());
  std::vector<std::string>& names = listed->names;
  if (names.empty()) {
    if (!options.gpqa.model.empty()) return {};
    return Fail(ErrorKind::kUsage, "{}: lists no model (HTTP {}); name it with --model", listed->url,
                listed->status);
  }
  if (options.gpqa.model.empty()) {
    if (names.size() == 1) {
      options.gpqa.model = names.front();
      return {};
    }
    return Fail(ErrorKind::kUsage, "--model is needed: {} has {}", HideUserInfo(options.base_url),
                Join(names, ", "));
  }
  if (std::find(names.begin(), names.end(), options.gpqa.model) != names.end()) return {};
  return Fail(ErrorKind::kUsage, "--model {}: {} has {}", options.gpqa.model, HideUserInfo(options.base_url),
              Join(names, ", "));
}

// "openai/gpt-oss-20b" as part of a key.
std::string KeyPart(const std::string& model) {
  std::string part;
  for (const char c : ToLower(model)) {
    const bool safe = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    part += safe ? c : '-';
  }
  return part.substr(0, 48);
}

record::CellRecord NewCell(const EvalOptions& options) {
  record::CellRecord cell;
  cell.key = "external." + KeyPart(options.gpqa.model) + ".gpqa";
  cell.config = KeyPart(options.gpqa.model);
  cell.server.base_url = HideUserInfo(options.base_url);
  cell.server.model_id = options.gpqa.model;
  cell.fingerprint.hardware = "external";
  cell.fingerprint.model_hash = cell.fingerprint.tokenizer_hash = "id:" + options.gpqa.model;
  return cell;
}

// The first cell of a record that has an accuracy eval.
Result<gate::Baseline> LoadBaseline(const std::string& file) {
  if (file.empty() || file == "none") return gate::Baseline{"", {}, false};
  ASSIGN_OR_RETURN(const record::RunRecord record, record::LoadRunRecord(file));
  for (const record::CellRecord& cell : record.cells) {
    if (cell.accuracy) return gate::Baseline{file, {cell}};
  }
  return Fail(ErrorKind::kInvalid, "--baseline {}: has no accuracy eval", file);
}

Status CheckSomethingDecides(const EvalOptions& options, const gate::Baseline& baseline) {
  if (options.gpqa.stop != "when-certain" || options.threshold || baseline.requested) return {};
  return Fail(
      ErrorKind::kUsage,
      "--stop when-certain needs --threshold or --baseline; with neither there is nothing to be certain "
      "of");
}

Status Measure(const EvalOptions& options, const gate::CellPolicy& policy, EarlierAttempt earlier,
               Journal& journal, record::RunRecord& record) {
  const std::atomic<bool>& interrupted = CatchInterrupts();
  record::CellRecord& cell = record.cells.front();
  evals::Progress progress;
  const ProgressLine line("gpqa", progress);
  const std::jthread watch([&](const std::stop_token& over) {
    while (!over.stop_requested()) {
      if (interrupted) progress.stop = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  auto accuracy =
      evals::RunGpqa(options.base_url, options.gpqa, progress,
                     MakeGpqaHooks(
                         options.gpqa, cell, policy,
                         [&](const record::QuestionSample& sample) { journal.Add(cell.key, sample); },
                         std::move(earlier.journal[cell.key].samples)));
  if (!accuracy) return tl::unexpected(std::move(accuracy).error());
  cell.accuracy = std::move(*accuracy);
  record.status = interrupted ? "interrupted" : "complete";
  return {};
}

}  // namespace

Result<int> EvalGpqa(EvalOptions options) {
  CatchInterrupts();
  options.base_url = WithoutV1(options.base_url);
  ASSIGN_OR_RETURN(const int64_t samples, evals::CheckGpqa(options.gpqa));
  ASSIGN_OR_RETURN(gate::Baseline baseline, LoadBaseline(options.baseline));
  RETURN_IF_ERROR(CheckSomethingDecides(options, baseline));
  RETURN_IF_ERROR(ChooseModel(options));

  record::RunRecord record = NewRunRecord(options.command, "");
  record.cells = {NewCell(options)};
  gate::CellPolicy policy{record.cells.front().key, {}, std::move(baseline)};
  policy.policy.threshold = options.threshold;
  policy.policy.accuracy = options.accuracy;
  policy.policy.strict = options.strict;

  ASSIGN_OR_RETURN(const auto asked, evals::WhatIsAsked(options.gpqa));
  EarlierAttempt earlier;
  std::unique_ptr<Journal> journal;
  Path folder = options.resume;
  if (folder.empty()) {
    ASSIGN_OR_RETURN(folder, ClaimRunFolder(options.out, record.id));
    RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));
    ASSIGN_OR_RETURN(journal, Journal::Open(folder / kJournalFile));
  } else {
    ASSIGN_OR_RETURN(journal,
                     Journal::Open(folder / kJournalFile));  // first: nobody else writes what is read
    ASSIGN_OR_RETURN(earlier, LoadEarlierAttempt(folder));
    for (const auto& [key, cell] : earlier.journal) RETURN_IF_ERROR(CheckSameAsked(cell, asked, folder));
    record.id = earlier.record.id;
    record.created = earlier.record.created;
  }
  journal->BeginGpqa(record.cells.front().key, asked);
  spdlog::info("{}: {} samples of {}", HideUserInfo(options.base_url), samples, options.gpqa.model);
  RETURN_IF_ERROR(Measure(options, policy, std::move(earlier), *journal, record));
  RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));

  const std::vector<gate::CellPolicy> policies = {policy};
  const record::Verdict verdict = gate::Judge(record, policies);
  const reports::ReportInput input = MakeReportInput(record, verdict, policies, folder);
  RETURN_IF_ERROR(Publish(input, folder));
  return verdict.exit_code;
}

}  // namespace assay::runner
