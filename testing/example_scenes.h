#pragma once

#include <string>
#include <utility>
#include <vector>

#include "testing/example_run.h"

// The situations that reports are written for, as records; gate/golden has the verdict of each.
namespace assay::testing {

struct Scene {
  std::string name;
  record::RunRecord run;
  std::vector<record::CellRecord> baseline;
  bool first_run_is_recorded = false;
};

inline Scene PassScene() {
  return {"pass", ExampleRun(), ExampleBaseline({1, 1.002, 0.998})};
}

// Forty questions lost, three won, and slower by a tenth.
inline Scene FailScene() {
  Scene scene{"fail", ExampleRun(), ExampleBaseline({1, 1.002, 0.998})};
  record::CellRecord& cell = scene.run.cells[0];
  Break(*cell.accuracy, 40);
  for (size_t i = 430; i < 433; ++i) {
    cell.accuracy->samples[i].correct = true;
    cell.accuracy->samples[i].strict = "A";
  }
  for (size_t i = 0; i < 12; ++i) {
    cell.accuracy->samples[i].finish_reason = "length";
    cell.accuracy->samples[i].strict = "";
  }
  cell.serving = {ExampleServing(22, 5.5)};
  cell.fingerprint.kernel = "6.1.1";
  return scene;
}

inline Scene SlowScene() {
  Scene scene{"slow", ExampleRun(), ExampleBaseline({1, 1.002, 0.998})};
  scene.run.cells[0].serving = {ExampleServing(16, 5.5)};
  return scene;
}

// Answers half as long as asked for, and requests refused with hostile text.
inline Scene InvalidScene() {
  Scene scene{"invalid", ExampleRun(), ExampleBaseline({1, 1.002, 0.998})};
  record::CellRecord& cell = scene.run.cells[0];
  cell.serving.push_back(ExampleServing(20, 5));
  cell.serving[1].name = "short";
  for (auto& request : cell.serving[1].requests) request.output_tokens = request.chunks = 16;
  *cell.serving[1].metrics[1].value /= 2;
  cell.serving[0].requests[3].error =
      "HTTP 500: @everyone see #1 | <img src=x onerror=alert(1)> [click](https://evil.example) `x`";
  return scene;
}

inline Scene CrashScene() {
  Scene scene{"crash", ExampleRun(), ExampleBaseline({1, 1.002, 0.998})};
  record::CellRecord& cell = scene.run.cells[0];
  scene.run.status = "failed";
  cell.serving.clear();
  cell.accuracy->complete = false;
  cell.accuracy->samples.resize(200);
  cell.server.failure =
      record::ServerFailure{"memory_access_fault",
                            "gpqa",
                            "the GPU reported a memory access fault",
                            "signal 6 (Aborted)",
                            false,
                            {"loading weights", "Memory access fault by GPU node-2 on address 0x7f00",
                             "</details> ``` @someone \x1b[31mred\x1b[0m"}};
  return scene;
}

inline Scene NotStartedScene() {
  Scene scene{"not_started", ExampleRun(), ExampleBaseline({1, 1.002, 0.998})};
  record::CellRecord& cell = scene.run.cells[0];
  scene.run.status = "failed";
  cell.serving.clear();
  cell.accuracy.reset();
  cell.server.failure = record::ServerFailure{
      "port_taken", "starting", "port 8000 is in use by another process", "exit code 1", true, {}};
  return scene;
}

// Another machine's record serves the answers; speed has nothing to be compared with.
inline Scene FirstRunScene() {
  Scene scene{"first_run", ExampleRun(), ExampleBaseline({1}), true};
  scene.baseline[0].fingerprint.host = "0ddba11";
  scene.baseline[0].fingerprint.device = "Intel Xeon 8480C";
  return scene;
}

inline Scene OneBaselineRunScene() {
  return {"one_baseline_run", ExampleRun(), ExampleBaseline({1.01}), true};
}

inline Scene NoBaselineScene() {
  return {"no_baseline", ExampleRun(), {}};
}

inline std::vector<Scene> AllScenes() {
  return {PassScene(),       FailScene(),     SlowScene(),           InvalidScene(),   CrashScene(),
          NotStartedScene(), FirstRunScene(), OneBaselineRunScene(), NoBaselineScene()};
}

}  // namespace assay::testing
