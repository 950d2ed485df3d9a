// What differs beyond chance between runs with several seeds before a change and as many
// after it: run time, latency and wait of the whole, and the figures of jobs, links,
// roots of congestion and flows, each tested by itself over the pairs and adjusted for
// how many are tested (base/ground/paired.h).
//
// Of links and roots those are tested that together have TB_CHANCE_LINKS of the wait of
// all runs, hottest first: which these are does not depend on whether they differ, and of
// the others a wait is so rare that it is chance (Bourgon, Gentleman and Huber,
// "Independent filtering increases detection power for high-throughput experiments", PNAS
// 107, 2010).
//
// Links that a differing cable concerns (tb_compare_predict) are expected to change. They
// are a family of tests of their own, so that the many others do not take their power;
// either family then has half of the error rate: each q is twice its family's, and of all
// that are found one in twenty is expected to be luck, as without families.
#ifndef TB_CHANCE_H
#define TB_CHANCE_H

#include "compare.h"
#include "paired.h"
#include "seeds.h"

#define TB_CHANCE_LINKS 0.99
enum { TB_CHANCE_UNSURE = 3 };

enum tb_chance_kind {
	TB_CHANCE_RUN,
	TB_CHANCE_JOB,
	TB_CHANCE_LINK,
	TB_CHANCE_ROOT,
	TB_CHANCE_FLOW,
	TB_CHANCE_KINDS
};

enum tb_chance_total {
	TB_CHANCE_WAIT,
	TB_CHANCE_TIME,
	TB_CHANCE_LATENCY,
	TB_CHANCE_TOTALS
};

struct tb_chance_row {
	enum tb_chance_kind kind;
	const char *figure; // "wait", "run time" or "latency"
	uint32_t at;	    // total, job of the comparison, pair of links, flow
	char name[640];
	struct tb_paired test; // in picoseconds
	bool differs;
};

struct tb_chance {
	size_t n_pairs;
	// Totals and jobs, then what differs, most first, and of other links and roots
	// TB_CHANCE_UNSURE that changed most.
	struct tb_chance_row *rows;
	size_t n, room;
	bool is_split; // into two families, of links or roots
	size_t n_tested[TB_CHANCE_KINDS], n_differing[TB_CHANCE_KINDS];
};

// tb_differ_by_seed returns whether nothing else differs. The width of bins follows from
// how long a run took.
bool tb_differ_by_seed(const struct tb_run_info *a, const struct tb_run_info *b);

// tb_chance_gather reads the pairs, at least two of the same work, and tests them; the
// first pair is that of the comparison. Where the seed decided nothing on either side,
// `chance` stays as it is: equal runs are no sample. Of links, roots and flows at most
// each `top` rows, 0: all. TB_EUSAGE when the pairs differ in their links or groups of
// flows, or not all carried the same messages.
int tb_chance_gather(struct tb_chance *chance, const struct tb_compare *compare,
	const struct tb_seeds seeds[2], uint32_t top, struct tb_error *error) TB_MUST_USE;
void tb_chance_fini(struct tb_chance *chance);

#endif
