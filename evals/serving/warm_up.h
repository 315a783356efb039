#pragma once

#include <functional>
#include <vector>

namespace assay::evals {

inline constexpr int kMostWarmUpWaves = 16;

// True when each of the last two waves was within a tenth of the one before it.
bool IsSteady(const std::vector<double>& wave_ttft_ms);

// Sends waves until their median TTFT is steady, at most kMostWarmUpWaves. `wave` sends one and returns that
// median; a negative one (nothing came, or we were stopped) ends the warm-up. Returns the waves sent.
int WarmUpUntilSteady(const std::function<double(int index)>& wave);

}  // namespace assay::evals
