#include "statistics.h"

#include <math.h>

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

struct tb_estimate tb_estimate_of(const double *values, size_t n)
{
	struct tb_estimate estimate = {NAN, INFINITY};
	if (n == 0)
		return estimate;
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	estimate.mean = sum / (double)n;
	if (n < 2)
		return estimate;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - estimate.mean) * (values[i] - estimate.mean);
	double variance = squares / (double)(n - 1);
	estimate.half_ci = tb_student_t(n) * sqrt(variance / (double)n);
	return estimate;
}
