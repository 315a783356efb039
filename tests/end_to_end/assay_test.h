#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/run_record.h"
#include "record/verdict.h"
#include "testing/program.h"
#include "testing/temp_dir.h"

namespace assay {

// Runs the built `assay` in a folder of its own, with a store of its own, against a scripted server whose
// faults the test chooses. No server may be left when a test ends.
class AssayTest : public ::testing::Test {
 protected:
  AssayTest();
  void TearDown() override;

  // A config for assay-scripted-server with these flags, e.g. "--die-after-requests, 5". `gpqa` and `gate`
  // are further YAML keys of those sections in flow style, e.g. "threshold: 0.9, tolerance: {kind: absolute,
  // value: 0}". The server's pace and one wave of equal requests keep the load of the benchmark the same in
  // every run: a pause of the whole machine lengthens all of them.
  struct Scene {
    std::string server_flags = {};
    int token_interval_ms = 20;
    std::string engine = {};
    std::string gpqa = {};
    std::string serving =
        "{name: small, input_len: 8, output_len: 8, num_prompts: 8, max_concurrency: 8, warmups: 1, "
        "vocab_size: 1000}";
    std::string gate = "baseline: {policy: none}";
  };
  std::string Config(const Scene& scene) const;
  // Writes it and returns its path.
  std::string Write(const std::string& name, const std::string& content) const;

  int Run(std::vector<std::string> arguments);  // exit code; Out() and Err() are of this call
  int RunScene(const Scene& scene, std::vector<std::string> flags = {});
  std::vector<std::string> Argv(std::vector<std::string> arguments) const;
  std::map<std::string, std::string> Env() const;

  const std::string& Out() const { return out_; }
  const std::string& Err() const { return err_; }
  record::RunRecord Record() const;  // of the last run
  record::Verdict Verdict() const;
  Path LastOut() const;
  bool Launched() const;  // whether any run folder exists

  testing::TempDir folder_;
  std::string model_;  // unique to this test: names its servers in the process table

 private:
  int runs_ = 0;
  std::string out_, err_;
};

}  // namespace assay
