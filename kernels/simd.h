#pragma once

// Included before hwy/foreach_target.h by every *_cpu.cc: which instruction sets are compiled and chosen from
// at run time. The plain baseline, AVX2 and AVX-512; SSE-only machines take the baseline.
#include <hwy/detect_targets.h>
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
