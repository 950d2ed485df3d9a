#include "rank_correlation.h"

#include <math.h>
#include <stdlib.h>

struct value_at {
	double value;
	size_t at;
};

static int by_value(const void *one, const void *other)
{
	const struct value_at *a = one, *b = other;
	if (a->value < b->value || a->value > b->value)
		return a->value > b->value ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

int tb_value_ranks(const double *values, size_t n, double *ranks)
{
	struct value_at *order = malloc((n + 1) * sizeof *order);
	if (!order)
		return TB_ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct value_at){values[i], i};
	qsort(order, n, sizeof *order, by_value);
	for (size_t begin = 0, end; begin < n; begin = end) {
		for (end = begin + 1; end < n; end++)
			if (order[end].value < order[begin].value)
				break;
		for (size_t i = begin; i < end; i++)
			ranks[order[i].at] = (double)(begin + end + 1) / 2;
	}
	free(order);
	return TB_OK;
}

double tb_rank_correlation(const double *a, const double *b, size_t n)
{
	double mean = ((double)n + 1) / 2, both = 0, of_a = 0, of_b = 0;
	for (size_t i = 0; i < n; i++) {
		both += (a[i] - mean) * (b[i] - mean);
		of_a += (a[i] - mean) * (a[i] - mean);
		of_b += (b[i] - mean) * (b[i] - mean);
	}
	return of_a > 0 && of_b > 0 ? both / sqrt(of_a * of_b) : (double)NAN;
}
