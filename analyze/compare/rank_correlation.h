// Rank correlation: whether two lists order their items alike.
#ifndef TB_RANK_CORRELATION_H
#define TB_RANK_CORRELATION_H

#include "status.h"

#include <stddef.h>

// A value and its place.
struct tb_value_at {
	double value;
	size_t at;
};

// tb_order_values is for qsort: the largest first, equal ones by place.
int tb_order_values(const void *one, const void *other);

// tb_value_ranks writes the rank of each value, 1 for the largest; equal values share the
// mean of their ranks. TB_ENOMEM. Cost: n log n.
int tb_value_ranks(const double *values, size_t n, double *ranks) TB_MUST_USE;

// tb_rank_correlation returns Pearson's correlation of two lists of ranks, which is
// Spearman's of their values ("The proof and measurement of association between two
// things", Am. J. Psychol. 15, 1904), with ties too: -1 to 1; NaN when all of a list are
// equal.
double tb_rank_correlation(const double *a, const double *b, size_t n);

#endif
