#include "runner/launch/death_table.h"

namespace assay::runner {
namespace {

constexpr Blame kMachine = Blame::kMachine;
constexpr Blame kChange = Blame::kChange;

constexpr std::string_view kOomKiller = "the kernel's out-of-memory killer ended it";
constexpr std::string_view kLost = "the device is lost or missing";
constexpr std::string_view kFault = "a GPU kernel touched memory that is not its own";
constexpr std::string_view kDeviceMemory = "out of device memory";
constexpr std::string_view kHostMemory = "out of host memory";
constexpr std::string_view kPort = "its port was taken by somebody else";
constexpr std::string_view kFlag = "it does not know a flag or a value that the config gives it";
constexpr std::string_view kWeights = "model files are missing or unreadable";
constexpr std::string_view kTokenizer = "its tokenizer cannot be used; engine.tokenizer names another one";

// kind, pattern, blame at start, blame while serving, explanation
constexpr DeathRule kRules[] = {
    // Lines that assay adds from the kernel (kill_evidence.cc).
    {"out_of_memory", "oom_kill rose", kMachine, kMachine, kOomKiller, true},
    {"out_of_memory", "Out of memory: Killed process", kMachine, kMachine, kOomKiller, true},
    {"out_of_memory", "Memory cgroup out of memory: Killed process", kMachine, kMachine, kOomKiller, true},

    // A dead or absent device. Xid: NVIDIA's list of driver errors; 48, 63, 64, 94, 95 are ECC, 79 is "fallen
    // off the bus", 119 and 120 the GPU's own system processor.
    {"device_lost", "Xid (*): 48,", kMachine, kMachine, kLost},
    {"device_lost", "Xid (*): 63,", kMachine, kMachine, kLost},
    {"device_lost", "Xid (*): 64,", kMachine, kMachine, kLost},
    {"device_lost", "Xid (*): 79,", kMachine, kMachine, kLost},
    {"device_lost", "Xid (*): 94,", kMachine, kMachine, kLost},
    {"device_lost", "Xid (*): 95,", kMachine, kMachine, kLost},
    {"device_lost", "Xid (*): 119,", kMachine, kMachine, kLost},
    {"device_lost", "Xid (*): 120,", kMachine, kMachine, kLost},
    {"device_lost", "GPU has fallen off the bus", kMachine, kMachine, kLost},
    {"device_lost", "uncorrectable ECC error", kMachine, kMachine, kLost},
    {"device_lost", "no ROCm-capable device is detected", kMachine, kMachine, kLost},
    {"device_lost", "no CUDA-capable device is detected", kMachine, kMachine, kLost},
    {"device_lost", "No HIP GPUs are available", kMachine, kMachine, kLost},
    {"device_lost", "No CUDA GPUs are available", kMachine, kMachine, kLost},

    // While starting, memory is usually short because a neighbour, or the server before this one, still holds
    // it; once it serves, the engine had what it planned for and then asked for more.
    {"out_of_memory", "OutOfMemoryError", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "HIP out of memory", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "CUDA out of memory", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "CUDA error: out of memory", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "HIP error: out of memory", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "hipErrorOutOfMemory", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "cudaErrorMemoryAllocation", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "HSA_STATUS_ERROR_OUT_OF_RESOURCES", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "is less than desired GPU memory utilization", kMachine, kChange, kDeviceMemory},
    {"out_of_memory", "No available memory for the cache blocks", kMachine, kChange, kDeviceMemory},

    {"memory_access_fault", "Memory access fault by GPU node", kMachine, kChange, kFault},
    {"memory_access_fault", "an illegal memory access was encountered", kMachine, kChange, kFault},
    {"memory_access_fault", "HSA_STATUS_ERROR", kMachine, kChange, kFault},
    {"memory_access_fault", "Xid (*): 13,", kMachine, kChange, kFault},
    {"memory_access_fault", "Xid (*): 31,", kMachine, kChange, kFault},

    {"out_of_memory", "std::bad_alloc", kMachine, kChange, kHostMemory},
    {"out_of_memory", "MemoryError", kMachine, kChange, kHostMemory},
    {"out_of_memory", "DefaultCPUAllocator: can't allocate memory", kMachine, kChange, kHostMemory},
    {"out_of_memory", "Cannot allocate memory", kMachine, kChange, kHostMemory},

    {"port_taken", "port taken:", kMachine, kMachine, kPort},
    {"port_taken", "Address already in use", kMachine, kMachine, kPort},
    {"port_taken", "address already in use", kMachine, kMachine, kPort},

    {"bad_flag", "bad flag:", kChange, kChange, kFlag},
    {"bad_flag", "unrecognized arguments", kChange, kChange, kFlag},
    {"bad_flag", "error: argument", kChange, kChange, kFlag},
    {"bad_flag", "error: invalid argument:", kChange, kChange, kFlag},
    {"bad_flag", "error: unexpected argument", kChange, kChange, kFlag},

    // Files are there or not there on one machine; the next one, or the next download, may have them.
    {"missing_weights", "missing weights:", kMachine, kChange, kWeights},
    {"missing_weights", "No such file or directory*safetensors", kMachine, kChange, kWeights},
    {"missing_weights", "safetensors*No such file or directory", kMachine, kChange, kWeights},
    {"missing_weights", "too short for safetensors", kMachine, kChange, kWeights},
    {"missing_weights", "truncated or not safetensors", kMachine, kChange, kWeights},
    {"missing_weights", "SafetensorError", kMachine, kChange, kWeights},
    {"missing_weights", "does not appear to have a file named", kMachine, kChange, kWeights},
    {"missing_weights", "Cannot find any model weights", kMachine, kChange, kWeights},
    {"missing_weights", "is not a local folder and is not a valid model identifier", kMachine, kChange,
     kWeights},
    {"missing_weights", "error loading model", kMachine, kChange, kWeights},

    {"unusable_tokenizer", "unusable tokenizer:", kChange, kChange, kTokenizer},
    {"unusable_tokenizer", "Tokenizer class * does not exist", kChange, kChange, kTokenizer},
    {"unusable_tokenizer", "Can't load tokenizer for", kChange, kChange, kTokenizer},
    {"unusable_tokenizer", "Couldn't instantiate the backend tokenizer", kChange, kChange, kTokenizer},
};

}  // namespace

std::span<const DeathRule> DeathRules() {
  return kRules;
}

bool MatchesInOrder(std::string_view line, std::string_view pattern) {
  while (!pattern.empty()) {
    const size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    const size_t at = line.find(part);
    if (at == std::string_view::npos) return false;
    line.remove_prefix(at + part.size());
    pattern.remove_prefix(star == std::string_view::npos ? pattern.size() : star + 1);
  }
  return true;
}

}  // namespace assay::runner
