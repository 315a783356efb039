#include "runner/launch/death_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "runner/launch/server.h"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;

constexpr int Exit(int code) {
  return code << 8;
}

struct Case {
  std::string name;
  std::optional<int> status;
  std::vector<std::string> log;
  std::string kind_at_start;
  bool retry_at_start;
  std::string kind_serving;
  bool retry_serving;
  std::string message;  // a part of it, in both stages
};

// Log lines as the programs print them.
const Case kCases[] = {
    {"exits_with_zero", Exit(0), {}, "died_before_ready", true, "crashed", false, "exit code 0"},
    {"exits_with_one",
     Exit(1),
     {"cannot do it", ""},
     "died_before_ready",
     true,
     "crashed",
     false,
     "its log ends: cannot do it"},
    {"segmentation_fault",
     SIGSEGV,
     {},
     "died_before_ready",
     true,
     "crashed",
     false,
     "signal 11 (Segmentation fault)"},
    {"segmentation_fault_through_a_shell",
     Exit(139),
     {},
     "died_before_ready",
     true,
     "crashed",
     false,
     "exit code 139 (128 + signal 11, Segmentation fault)"},
    {"abort", SIGABRT, {}, "died_before_ready", true, "crashed", false, "signal 6 (Aborted)"},
    {"killed_without_evidence",
     SIGKILL,
     {"INFO: serving"},
     "killed",
     true,
     "killed",
     true,
     "killed (signal 9); out of memory is the usual cause"},
    {"killed_through_a_shell",
     Exit(137),
     {},
     "killed",
     true,
     "killed",
     true,
     "out of memory is the usual cause"},
    {"preempted",
     SIGTERM,
     {},
     "killed",
     true,
     "killed",
     true,
     "somebody outside ended it with signal 15 (Terminated)"},
    {"oom_killer_by_control_group",
     SIGKILL,
     {"kernel: memory.events of our control group: oom_kill rose from 0 to 1"},
     "out_of_memory",
     true,
     "out_of_memory",
     true,
     "out-of-memory killer"},
    {"oom_killer_by_kernel_log",
     SIGKILL,
     {"kernel: Out of memory: Killed process 4711 (python3) total-vm:98765432kB, anon-rss:65432100kB, "
      "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:190000kB oom_score_adj:0"},
     "out_of_memory",
     true,
     "out_of_memory",
     true,
     "out-of-memory killer"},
    {"amd_memory_access_fault",
     SIGABRT,
     {"Memory access fault by GPU node-2 (Agent handle: 0x55d0c8a2f6f0) on address 0x7f1c5e400000. Reason: "
      "Unknown."},
     "memory_access_fault",
     true,
     "memory_access_fault",
     false,
     "node-2"},
    {"amd_queue_error",
     SIGABRT,
     {":0:rocdevice.cpp            :2881: 7520123456 us: [pid:913 tid:0x7f] Callback: Queue 0x7f aborting "
      "with "
      "error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: "
      "0x1016"},
     "memory_access_fault",
     true,
     "memory_access_fault",
     false,
     "hardware exception"},
    {"nvidia_illegal_access",
     Exit(1),
     {"torch.AcceleratorError: CUDA error: an illegal memory access was encountered"},
     "memory_access_fault",
     true,
     "memory_access_fault",
     false,
     "illegal memory access"},
    {"bundled_engine_gpu_fault",
     Exit(71),
     {"GPU fault in attention: CUDA error: an illegal memory access was encountered (requests 3, 7)"},
     "memory_access_fault",
     true,
     "memory_access_fault",
     false,
     "illegal memory access"},
    {"bundled_engine_gpu_memory",
     Exit(71),
     {"GPU fault in memory for weights: CUDA error: out of memory"},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "out of memory"},
    {"nvidia_xid_mmu_fault",
     Exit(1),
     {"kernel: NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=assay-engine, Ch 00000008, intr 00000000. MMU "
      "Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f_12345000."},
     "memory_access_fault",
     true,
     "memory_access_fault",
     false,
     "MMU Fault"},
    {"nvidia_off_the_bus",
     Exit(1),
     {"kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python3, GPU has fallen off the bus."},
     "device_lost",
     true,
     "device_lost",
     true,
     "device is lost"},
    {"no_amd_device",
     Exit(1),
     {"RuntimeError: No HIP GPUs are available"},
     "device_lost",
     true,
     "device_lost",
     true,
     "No HIP GPUs"},
    {"torch_rocm_out_of_memory",
     Exit(1),
     {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
      "191.98 GiB of which 0 bytes is free."},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "out of device memory"},
    {"torch_cuda_out_of_memory",
     Exit(1),
     {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB."},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "Tried to allocate 20.00 MiB"},
    {"hip_out_of_memory",
     Exit(1),
     {"hipErrorOutOfMemory: out of memory"},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "out of device memory"},
    {"amd_out_of_resources",
     SIGABRT,
     {"Callback: Queue 0x7fe aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to "
      "allocate the necessary resources. code: 0x1008"},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "out of device memory"},
    {"vllm_neighbour_holds_memory",
     Exit(1),
     {"ValueError: Free memory on device (12.3/191.98 GiB) on startup is less than desired GPU memory "
      "utilization "
      "(0.9, 172.79 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "used by other processes"},
    {"cpp_bad_alloc",
     SIGABRT,
     {"terminate called after throwing an instance of 'std::bad_alloc'", "  what():  std::bad_alloc"},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "out of host memory"},
    {"python_memory_error",
     Exit(1),
     {"MemoryError"},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "out of host memory: MemoryError"},
    {"port_taken_python",
     Exit(1),
     {"OSError: [Errno 98] Address already in use"},
     "port_taken",
     true,
     "port_taken",
     true,
     "Errno 98"},
    {"port_taken_uvicorn",
     Exit(1),
     {"ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in "
      "use"},
     "port_taken",
     true,
     "port_taken",
     true,
     "8000"},
    {"port_taken_own",
     Exit(1),
     {"port taken: 127.0.0.1:8000: Address already in use"},
     "port_taken",
     true,
     "port_taken",
     true,
     "127.0.0.1:8000"},
    {"bad_flag_argparse",
     Exit(2),
     {"usage: vllm serve [model_tag] [options]", "vllm: error: unrecognized arguments: --moe-backnd aiter"},
     "bad_flag",
     false,
     "bad_flag",
     false,
     "--moe-backnd"},
    {"bad_value_argparse",
     Exit(2),
     {"api_server.py: error: argument --moe-backend: invalid choice: 'aitr' (choose from 'auto', 'aiter')"},
     "bad_flag",
     false,
     "bad_flag",
     false,
     "invalid choice"},
    {"bad_flag_llama_cpp",
     Exit(1),
     {"error: invalid argument: --portt"},
     "bad_flag",
     false,
     "bad_flag",
     false,
     "--portt"},
    {"bad_flag_own",
     Exit(2),
     {"bad flag: --tensor-parallel-size: 3 does not divide 8 heads"},
     "bad_flag",
     false,
     "bad_flag",
     false,
     "does not divide"},
    {"missing_weights_python",
     Exit(1),
     {"FileNotFoundError: [Errno 2] No such file or directory: '/models/x/model-00001-of-00002.safetensors'"},
     "missing_weights",
     true,
     "missing_weights",
     false,
     "model-00001"},
    {"missing_weights_hub",
     Exit(1),
     {"OSError: amd/gpt-oss-20b-x does not appear to have a file named model.safetensors"},
     "missing_weights",
     true,
     "missing_weights",
     false,
     "amd/gpt-oss-20b-x"},
    {"missing_weights_own",
     Exit(1),
     {"missing weights: models/x/model.safetensors: is 10 bytes short"},
     "missing_weights",
     true,
     "missing_weights",
     false,
     "10 bytes short"},
    {"tokenizer_class_unknown",
     Exit(1),
     {"ValueError: Tokenizer class TokenizersBackend does not exist or is not currently imported."},
     "unusable_tokenizer",
     false,
     "unusable_tokenizer",
     false,
     "engine.tokenizer names another one"},
    {"tokenizer_own",
     Exit(1),
     {"unusable tokenizer: models/x: TokenizersBackend; give --tokenizer"},
     "unusable_tokenizer",
     false,
     "unusable_tokenizer",
     false,
     "TokenizersBackend"},
    {"python_exception",
     Exit(1),
     {"Traceback (most recent call last):", "  File \"x.py\", line 3, in <module>",
      "KeyError: 'num_local_experts'"},
     "died_before_ready",
     true,
     "crashed",
     false,
     "KeyError: 'num_local_experts'"},
    {"cause_before_consequence",
     Exit(1),
     {"torch.OutOfMemoryError: HIP out of memory.", "OSError: [Errno 98] Address already in use"},
     "out_of_memory",
     true,
     "out_of_memory",
     false,
     "HIP out of memory"},
};

class ClassifyDeath : public ::testing::TestWithParam<Case> {};

TEST_P(ClassifyDeath, NamesCauseAndBlame) {
  const Case& c = GetParam();
  const record::ServerFailure starting = Classify(c.status, c.log, "starting");
  EXPECT_EQ(starting.kind, c.kind_at_start);
  EXPECT_EQ(starting.infrastructure, c.retry_at_start);
  EXPECT_THAT(starting.message, HasSubstr(c.message));
  const record::ServerFailure serving = Classify(c.status, c.log, "serving:1k1k");
  EXPECT_EQ(serving.kind, c.kind_serving);
  EXPECT_EQ(serving.infrastructure, c.retry_serving);
  EXPECT_THAT(serving.message, HasSubstr(c.message));
  EXPECT_EQ(serving.stage, "serving:1k1k");
}

INSTANTIATE_TEST_SUITE_P(Log, ClassifyDeath, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(Classify, KeepsTheTailPrintable) {
  const auto failure = Classify(Exit(1), {"\x1b[31mred\x1b[0m", "bad \xff byte"}, "gpqa");
  EXPECT_THAT(failure.log_tail, ::testing::ElementsAre("red", "bad \xEF\xBF\xBD byte"));
}

TEST(Classify, SaysNothingOfAnExitThatWasNotSeen) {
  EXPECT_EQ(Classify(std::nullopt, {}, "starting").kind, "never_ready");
  EXPECT_EQ(Classify(std::nullopt, {}, "starting").exit, "");
}

TEST(DeathRules, EachPatternIsReachedByALineThatHoldsOnlyIt) {
  for (const DeathRule& rule : DeathRules()) {
    const int status = rule.needs_sigkill ? SIGKILL : Exit(1);
    const auto failure = Classify(status, {std::string(rule.pattern)}, "starting");
    EXPECT_EQ(failure.kind, rule.kind) << rule.pattern;
  }
}

TEST(MatchesInOrder, NeedsAllPartsInOrder) {
  EXPECT_TRUE(MatchesInOrder("Tokenizer class X does not exist.", "Tokenizer class * does not exist"));
  EXPECT_FALSE(MatchesInOrder("it does not exist: Tokenizer class X", "Tokenizer class * does not exist"));
  EXPECT_FALSE(MatchesInOrder("", "a"));
  EXPECT_TRUE(MatchesInOrder("aab", "a*a*b"));
  EXPECT_FALSE(MatchesInOrder("ab", "a*a*b"));
}

}  // namespace
}  // namespace assay::runner
