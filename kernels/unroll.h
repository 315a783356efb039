#pragma once

// Before a loop over register tiles, which only live in registers when the loop is gone.
#if defined(__clang__)
#define ASSAY_UNROLL _Pragma("unroll")
#else
#define ASSAY_UNROLL _Pragma("GCC unroll 32")
#endif
