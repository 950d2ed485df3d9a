#include "paired.h"
#include "order.h"

#include <math.h>
#include <stdlib.h>

struct ranked_figure {
	double value;
	size_t at;
};

static int order_ranked(const void *left, const void *right)
{
	const struct ranked_figure *a = left, *b = right;
	if (a->value < b->value || a->value > b->value)
		return a->value < b->value ? -1 : 1;
	return TB_ORDER(a->at, b->at);
}

int tb_paired_tests(struct tb_paired *tests, const double *before, const double *after,
	size_t n, size_t n_pairs, struct tb_error *error)
{
	struct ranked_figure *ranked = calloc(n + 1, sizeof *ranked);
	double *differences = calloc(n_pairs, sizeof *differences);
	if (!ranked || !differences) {
		free(ranked);
		free(differences);
		return tb_fail_memory(error, "a comparison");
	}
	for (size_t i = 0; i < n; i++, before += n_pairs, after += n_pairs) {
		tests[i].before = tb_estimate_of(before, n_pairs).mean;
		tests[i].after = tb_estimate_of(after, n_pairs).mean;
		for (size_t k = 0; k < n_pairs; k++)
			differences[k] = after[k] - before[k];
		tests[i].change = tb_estimate_of(differences, n_pairs);
	}
	// Half interval that a tenth of those that vary fall short of; 0 among few
	// figures.
	double doubt = 0;
	size_t n_varying = 0;
	for (size_t i = 0; i < n; i++)
		if (tests[i].change.half_ci > 0)
			ranked[n_varying++] =
				(struct ranked_figure){tests[i].change.half_ci, i};
	if (n >= TB_PAIRED_MANY && n_varying != 0) {
		qsort(ranked, n_varying, sizeof *ranked, order_ranked);
		doubt = ranked[n_varying / 10].value;
	}
	for (size_t i = 0; i < n; i++) {
		struct tb_paired *test = &tests[i];
		test->change.half_ci += doubt;
		double standard_error = test->change.half_ci / tb_student_t(n_pairs);
		if (standard_error > 0)
			test->p =
				tb_student_p(test->change.mean / standard_error, n_pairs);
		else
			test->p = test->change.mean == 0;
	}
	// Set q: the least p n / rank of this figure and of those with a larger p.
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked_figure){tests[i].p, i};
	qsort(ranked, n, sizeof *ranked, order_ranked);
	double least = 1;
	for (size_t i = n; i-- > 0;) {
		double q = ranked[i].value * (double)n / (double)(i + 1);
		least = q < least ? q : least;
		tests[ranked[i].at].q = least;
	}
	free(ranked);
	free(differences);
	return TB_OK;
}
