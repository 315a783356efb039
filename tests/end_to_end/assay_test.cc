#include "tests/end_to_end/assay_test.h"

#include <fmt/format.h>
#include <unistd.h>

namespace assay {
namespace {

// Twelve questions, four options each, GPQA's columns. With Random(0) the right letters are C D C B C C C D A
// C A D, so a server that always answers A is right twice.
std::string Questions() {
  std::string csv =
      "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,High-level "
      "domain,"
      "Writer's Difficulty Estimate\n";
  for (int i = 0; i < 12; ++i) {
    csv +=
        fmt::format("rec{:02},What is {} + 1?,{},{},{},{},Physics,Easy\n", i, i, i + 1, i + 2, i + 3, i + 4);
  }
  return csv;
}

}  // namespace

AssayTest::AssayTest()
    : model_(fmt::format("scripted-{}-{:x}", ::getpid(), reinterpret_cast<uintptr_t>(this))) {
  Write("questions.csv", Questions());
}

void AssayTest::TearDown() {
  EXPECT_TRUE(testing::ProcessesWith(model_).empty()) << "a server was left behind";
}

std::string AssayTest::Config(const Scene& scene) const {
  const std::string flags = scene.server_flags.empty() ? "" : ", " + scene.server_flags;
  const std::string engine = scene.engine.empty() ? "" : "  " + scene.engine + "\n";
  const std::string ready =
      scene.engine.find("ready_timeout_s") == std::string::npos ? "  ready_timeout_s: 20\n" : "";
  const std::string gpqa = scene.gpqa.empty() ? "" : ", " + scene.gpqa;
  return fmt::format(
      "schema: assay/config/1\n"
      "name: scripted\n"
      "hardware: cpu\n"
      "engine:\n"
      "  kind: command\n"
      "  model: {0}\n"
      "  argv: [{1}/assay-scripted-server, --model, \"{{model}}\", --port, \"{{port}}\", "
      "--token-interval-ms, \"{8}\"{2}]\n"
      "{7}"
      "  stop_timeout_s: 2\n"
      "{3}"
      "evals:\n"
      "  gpqa: {{dataset: questions.csv, concurrency: 2, max_tokens: 16, broken_below: 0{4}}}\n"
      "  serving: [{5}]\n"
      "gate: {{{6}}}\n",
      model_, ASSAY_BIN_DIR, flags, engine, gpqa, scene.serving, scene.gate, ready, scene.token_interval_ms);
}

std::string AssayTest::Write(const std::string& name, const std::string& content) const {
  const Path path = folder_ / name;
  EXPECT_TRUE(WriteFileAtomic(path, content));
  return path.string();
}

std::vector<std::string> AssayTest::Argv(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), std::string(ASSAY_BIN_DIR) + "/assay");
  return arguments;
}

std::map<std::string, std::string> AssayTest::Env() const {
  return {{"ASSAY_STORE", (folder_ / "store.db").string()}, {"HOME", folder_.path().string()}};
}

int AssayTest::Run(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "run") {
    arguments.insert(arguments.end(), {"--out", fmt::format("out/{}", ++runs_), "--branch", "main"});
  }
  testing::Program program(Argv(std::move(arguments)), Env(), folder_.path().string());
  const int exit_code = program.Wait();
  out_ = program.Out();
  err_ = program.Err();
  return exit_code;
}

int AssayTest::RunScene(const Scene& scene, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"run", Write("config.yaml", Config(scene))});
  return Run(std::move(flags));
}

Path AssayTest::LastOut() const {
  return folder_.path() / "out" / std::to_string(runs_);
}

record::RunRecord AssayTest::Record() const {
  auto record = record::LoadRunRecord(LastOut() / "record.json");
  EXPECT_TRUE(record) << (record ? "" : record.error().message) << err_;
  return record ? std::move(*record) : record::RunRecord{};
}

record::Verdict AssayTest::Verdict() const {
  const auto text = ReadFile(LastOut() / "verdict.json");
  EXPECT_TRUE(text) << err_;
  auto verdict = record::ParseVerdict(text.value_or("{}"), "verdict.json");
  EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message);
  return verdict ? std::move(*verdict) : record::Verdict{};
}

bool AssayTest::Launched() const {
  return std::filesystem::exists(folder_.path() / "out");
}

}  // namespace assay
