#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "runner/fleet/pipeline.h"

namespace assay::runner {

// Two cells on a CPU, one on eight GPUs of AMD, one on one of NVIDIA; a path with a space and a quote.
inline Pipeline ExamplePipeline() {
  Pipeline pipeline;
  pipeline.cells = {{"cpu.tiny-moe.smoke", "cpu", 0, "configs/cpu/tiny-moe.yaml", "smoke"},
                    {"gfx950.gpt-oss-120b.smoke", "gfx950", 8, "configs/gfx950/gpt-oss-120b.yaml", "smoke"},
                    {"h200.gpt-oss-20b.smoke", "h200", 1, "configs/h200/gpt-oss-20b.yaml", "smoke"},
                    {"cpu.it-s.smoke", "cpu", 0, "my configs/it's.yaml", "smoke"}};
  const std::vector<std::string> configs = {"configs", "my configs/it's.yaml", "--suite", "smoke"};
  const auto words = [&](std::vector<std::string> command) {
    command.insert(command.end(), configs.begin(), configs.end());
    return command;
  };
  pipeline.run_words = words({"assay", "run"});
  pipeline.run_words.insert(pipeline.run_words.end(), {"--store", "http://store.example/$team", "--strict"});
  pipeline.cells_words = words({"assay", "ci", "emit", "--to", "cells"});
  pipeline.emit_words = words({"assay", "ci", "emit", "--to", "github"});
  pipeline.merge_words = {"assay", "merge"};
  pipeline.setup = {"export PATH=\"$PWD/build/release/bin:$PATH\"", "make build"};
  return pipeline;
}

// As many cells as no engine takes in one piece.
inline Pipeline BigPipeline(int cells, const std::string& hardware = "gfx950") {
  Pipeline pipeline = ExamplePipeline();
  pipeline.cells.clear();
  for (int i = 0; i < cells; ++i) {
    pipeline.cells.push_back(
        {fmt::format("{}.variant-with-a-rather-long-name-{:05}.full", hardware, i), hardware, 8,
         fmt::format("configs/{}/variant-with-a-rather-long-name-{:05}.yaml", hardware, i), "full"});
  }
  return pipeline;
}

}  // namespace assay::runner
