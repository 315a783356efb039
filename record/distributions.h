#pragma once

#include <cstdint>

// The distributions behind every verdict. Boost.Math computes them; nothing else includes it.
namespace assay::record {

double NormalQuantile(double p);
double NormalCdf(double z);
double StudentQuantile(double p, double degrees_of_freedom);
double StudentCdf(double t, double degrees_of_freedom);
// The shift of a t statistic, in standard errors, with which it exceeds `critical` with this chance, or
// more: the noncentrality of Student's t. What a test with few degrees of freedom detects.
double StudentShiftForPower(double critical, double degrees_of_freedom, double power);
double ChiSquaredQuantile(double p, double degrees_of_freedom);
double BetaQuantile(double p, double a, double b);
double IncompleteBeta(double x, double a, double b);      // regularised, I_x(a, b)
int64_t BinomialQuantile(double q, int64_t n, double p);  // the least k with P(X <= k) >= q
double BinomialCdf(int64_t k, int64_t n, double p);       // P(X <= k)
double BinomialPdf(int64_t k, int64_t n, double p);       // P(X = k)

}  // namespace assay::record
