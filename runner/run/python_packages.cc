#include "runner/run/python_packages.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace assay::runner {
namespace {

// As pip calls them, with "-" between words.
constexpr std::array kKnown = {"aiter",
                               "amd-aiter",
                               "flash-attn",
                               "flashinfer-python",
                               "ktransformers",
                               "llvmlite",
                               "mori",
                               "numpy",
                               "nvidia-cublas-cu12",
                               "nvidia-cudnn-cu12",
                               "nvidia-nccl-cu12",
                               "openai-harmony",
                               "quark",
                               "amd-quark",
                               "sgl-kernel",
                               "sglang",
                               "tensorrt-llm",
                               "tokenizers",
                               "torch",
                               "transformers",
                               "triton",
                               "triton-kernels",
                               "vllm",
                               "xformers",
                               "xgrammar"};

std::string Find(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path != nullptr ? path : "", ':')) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(Path(folder) / program, ignored))
      return (Path(folder) / program).string();
  }
  return "";
}

// The interpreter of a script, or the program itself.
Path Interpreter(const std::string& program) {
  std::ifstream in(program, std::ios::binary);
  std::string line(2, ' ');
  if (!in.read(line.data(), 2) || line != "#!") return program;
  std::getline(in, line);
  const std::vector<std::string> words = Split(Trim(line), ' ');
  if (words.size() > 1 && Path(words[0]).filename() == "env") return Find(words[1]);
  return words.empty() ? "" : words[0];
}

std::string Normalised(std::string name) {
  return ReplaceAll(ToLower(name), "_", "-");
}

// "amd_aiter-0.1.19.dist-info"
void AddPackage(const std::string& folder, std::map<std::string, std::string>& packages) {
  constexpr std::string_view kEnd = ".dist-info";
  if (!folder.ends_with(kEnd)) return;
  const std::string whole = folder.substr(0, folder.size() - kEnd.size());
  const size_t dash = whole.rfind('-');
  if (dash == std::string::npos) return;
  const std::string name = Normalised(whole.substr(0, dash));
  if (std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end())
    packages[name] = Printable(whole.substr(dash + 1));
}

}  // namespace

std::map<std::string, std::string> PythonPackages(const std::string& program) {
  std::map<std::string, std::string> packages;
  const Path interpreter = Interpreter(Find(program));
  if (!StartsWith(interpreter.filename().string(), "python")) return packages;
  // Not resolved: the interpreter of a virtual environment is a link to another one's.
  const Path library = interpreter.parent_path().parent_path() / "lib";
  std::error_code ignored;
  for (const auto& version : std::filesystem::directory_iterator(library, ignored)) {
    if (!StartsWith(version.path().filename().string(), "python")) continue;
    for (const char* kind : {"site-packages", "dist-packages"}) {
      for (const auto& entry : std::filesystem::directory_iterator(version.path() / kind, ignored))
        AddPackage(entry.path().filename().string(), packages);
    }
  }
  return packages;
}

}  // namespace assay::runner
