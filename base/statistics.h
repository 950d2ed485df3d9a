// What a handful of independent runs says: mean and 95 % confidence interval.
#ifndef TB_STATISTICS_H
#define TB_STATISTICS_H

#include <stddef.h>

struct tb_estimate {
	double mean;	// NaN without values, or when one of them is NaN
	double half_ci; // the interval is mean - half_ci to mean + half_ci; infinite for
			// one value
};

// tb_estimate_of estimates the mean of the distribution that `n` independent values were
// drawn from, by Student's t ("The probable error of a mean", Biometrika 6, 1908).
struct tb_estimate tb_estimate_of(const double *values, size_t n);

// tb_student_t is the t that n values' mean exceeds with probability 2.5 %, n - 1 degrees
// of freedom. n is at least 2.
double tb_student_t(size_t n);

#endif
