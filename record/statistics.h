#pragma once

#include <vector>

// Descriptions of one list of numbers. What is inferred from several lists is in paired.h, prediction.h and
// score.h. An empty list has no mean: callers ask `empty()` first, and a CHECK stops those that do not.
namespace assay::record {

// numpy's default (linear interpolation at rank p/100*(n-1)); p in 0..100.
double Percentile(std::vector<double> values, double p);
double Median(std::vector<double> values);
double Mean(const std::vector<double>& values);
// n-1 in the denominator; needs two values.
double SampleStddev(const std::vector<double>& values);
// Natural logs, for values that are compared as ratios; all must be above zero.
std::vector<double> Logs(const std::vector<double>& values);

}  // namespace assay::record
