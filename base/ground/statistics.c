#include "statistics.h"

#include <math.h>
#include <stdbool.h>

double tb_student_t(size_t n)
{
	static const double quantiles[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
		2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
		2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687,
		2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
	if (n - 2 < sizeof quantiles / sizeof *quantiles)
		return quantiles[n - 2];
	// Beyond the table: Cornish and Fisher's expansion around the normal quantile. At
	// 31 degrees of freedom it is right to four decimal places.
	const double z = 1.959964;
	double freedom = (double)(n - 1);
	return z + (z * z * z + z) / (4 * freedom) +
	       (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) /
		       (96 * freedom * freedom);
}

double tb_student_p(double t, size_t n)
{
	if (isnan(t))
		return NAN;
	size_t freedom = n - 1;
	double angle = atan(fabs(t) / sqrt((double)freedom));
	double squared = cos(angle) * cos(angle);
	bool odd = freedom % 2;
	// The series of 1, 2/3, 2 4/(3 5), ... or of 1, 1/2, 1 3/(2 4), ...
	double term = 1, sum = 0;
	for (size_t k = odd ? 3 : 2; k <= freedom; k += 2) {
		sum += term;
		term *= squared * (double)(k - 1) / (double)k;
	}
	double within =
		odd ? (angle + sin(angle) * cos(angle) * sum) * M_2_PI : sin(angle) * sum;
	return within < 1 ? 1 - within : 0;
}

struct tb_estimate tb_estimate_of(const double *values, size_t n)
{
	struct tb_estimate estimate = {NAN, INFINITY};
	if (n == 0)
		return estimate;
	double sum = 0, squares = 0;
	bool alike = true;
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
		alike = alike && values[i] == values[0];
	}
	// The rounding of a sum is no scatter.
	estimate.mean = alike ? values[0] : sum / (double)n;
	if (n < 2)
		return estimate;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - estimate.mean) * (values[i] - estimate.mean);
	double variance = squares / (double)(n - 1);
	estimate.half_ci = tb_student_t(n) * sqrt(variance / (double)n);
	return estimate;
}

void tb_savings(double *percent, const double *before, const double *after, size_t n)
{
	const double mean = tb_estimate_of(before, n).mean;
	const double mean_after = tb_estimate_of(after, n).mean;
	const double ratio = mean_after / mean;
	for (size_t i = 0; i < n; i++) {
		// Differences to the means leave no rounding where nothing varies.
		double residual = after[i] - mean_after - ratio * (before[i] - mean);
		percent[i] = mean > 0 ? 100 * (1 - ratio) - 100 * residual / mean : 0;
	}
}
