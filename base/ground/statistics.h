// Mean and 95 % confidence interval of a handful of independent values.
#ifndef TB_STATISTICS_H
#define TB_STATISTICS_H

#include <stddef.h>

struct tb_estimate {
	double mean;	// NaN without values, or if one of them is NaN
	double half_ci; // the interval is mean - half_ci to mean + half_ci; infinite for
			// one value
};

// tb_estimate_of estimates the mean of the distribution from which `n` independent values
// were drawn, with Student's t ("The probable error of a mean", Biometrika 6, 1908).
struct tb_estimate tb_estimate_of(const double *values, size_t n);

// tb_savings stores, by pair, what `after` saves of `before` in percent, such that their
// mean is what the mean of `after` saves of that of `before`, and their scatter that of a
// ratio of means (Cochran, Sampling Techniques, 1977, 6.4). The mean of the pairs' own
// ratios has another sign where `before` varies much: of 345, 1790 and 1841 us, 1450 us
// save -94 % by it, -9.4 % of the mean. 0 where the mean of `before` is.
void tb_savings(double *percent, const double *before, const double *after, size_t n);

// tb_student_t returns the 97.5 % quantile of Student's t distribution with n - 1 degrees
// of freedom, for a two-sided 95 % interval from n values. n is at least 2. Right to four
// decimal places.
double tb_student_t(size_t n);

// tb_student_p returns how likely a value of Student's t distribution with n - 1 degrees
// of freedom is at least as far from 0 as `t`: the two-sided p. n is at least 2. Right to
// 1e-14. Cost: linear in n. Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
double tb_student_p(double t, size_t n);

#endif
