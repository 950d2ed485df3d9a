// Many figures, each measured several times before a change and after it, in pairs that
// have something in common: which differ by more than chance.
//
// A figure is tested by the paired t test (Student, 1908). Of many figures some look
// changed by luck, so their p are adjusted by Benjamini and Hochberg ("Controlling the
// false discovery rate", J. R. Stat. Soc. B 57, 1995): of those with q below 0.05, one in
// twenty is expected to be luck, and if nothing differs, nothing is found in 19 of 20
// comparisons. Their proof holds for figures that depend on each other positively; that
// it holds for links and flows is measured by tests/property/analyze_chance.c.
//
// From few pairs a figure may look steady by luck, above all one that counts little.
// Among TB_PAIRED_MANY figures or more, a standard error that a tenth of those that vary
// fall short of is therefore added to each figure's own, as Tusher, Tibshirani and Chu do
// ("Significance analysis of microarrays", PNAS 98, 2001). Of 150 comparisons of runs
// that differ by their seed only (uniform, hot-spot and bit-reversal traffic, adaptive
// and ecmp; 2, 3, 5 and 10 pairs), up to 87 % found something without it, with it up to 2
// %.
#ifndef TB_PAIRED_H
#define TB_PAIRED_H

#include "statistics.h"
#include "status.h"

#define TB_PAIRED_MANY 20
#define TB_PAIRED_RATE 0.05 // q below which a figure differs

struct tb_paired {
	double before, after;	   // means
	struct tb_estimate change; // of after - before
	double p, q;
};

// tb_paired_tests tests `n` figures by `n_pairs` pairs each, at least 2: those of figure
// i begin at before[i * n_pairs] and after[i * n_pairs]. Without any difference p is 1;
// when all differences of all figures are alike, 0. TB_ENOMEM. Cost: O(n (n_pairs +
// log n)).
int tb_paired_tests(struct tb_paired *tests, const double *before, const double *after,
	size_t n, size_t n_pairs, struct tb_error *error) TB_MUST_USE;

// tb_paired_differs returns whether a figure differs beyond chance.
static inline int tb_paired_differs(const struct tb_paired *test)
{
	return test->q < TB_PAIRED_RATE;
}

#endif
