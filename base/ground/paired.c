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

static void estimate_shift(struct tb_paired *test, const double *before,
	const double *after, size_t n_pairs, double *differences)
{
	test->before = tb_estimate_of(before, n_pairs).mean;
	test->after = tb_estimate_of(after, n_pairs).mean;
	for (size_t k = 0; k < n_pairs; k++)
		differences[k] = after[k] - before[k];
	test->change = tb_estimate_of(differences, n_pairs);
}

static void judge_differences(struct tb_paired *test, double doubt, size_t n_pairs)
{
	test->change.half_ci += doubt;
	double error = test->change.half_ci / tb_student_t(n_pairs);
	if (error > 0)
		test->p = tb_student_p(test->change.mean / error, n_pairs);
	else
		test->p = test->change.mean == 0;
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
	for (size_t i = 0; i < n; i++)
		estimate_shift(&tests[i], before + i * n_pairs, after + i * n_pairs,
			n_pairs, differences);
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
	for (size_t i = 0; i < n; i++)
		judge_differences(&tests[i], doubt, n_pairs);
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
