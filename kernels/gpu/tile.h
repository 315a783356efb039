#pragma once

// `Tile`, the matrix instruction of the chip that this is compiled for. Here vendors differ; elsewhere they
// do not.
#if defined(ASSAY_GPU_HIP)
#include "kernels/gpu/tile_amd.h"
#else
#include "kernels/gpu/tile_nvidia.h"
#endif
