// Between what a run time lies, by hypotheses of the job that was captured: rules L16 and
// L17 of infer.h. Private to analyze/record/.
#ifndef TB_RUN_POSTERIOR_H
#define TB_RUN_POSTERIOR_H

#include <stdbool.h>
#include <stddef.h>

#define TB_CAPTURES_MAX 2 // of one program

// A job that the captures allow: how long it takes on the network in question, and on
// those on which it was captured.
struct tb_hypothesis_replayed {
	double took_ps;
	double captured_ps[TB_CAPTURES_MAX]; // 0: not replayed there
	// That supposes less, of the list: this one counts as far as that misses what was
	// captured; NULL: none.
	const struct tb_hypothesis_replayed *simpler;
};

// What was captured: how long it took, and the time of a byte at the ports in question
// over that at the captured ones.
struct tb_captured_run {
	double took_ps, slower;
};

struct tb_posterior_evidence {
	const struct tb_hypothesis_replayed *list;
	size_t n;
	struct tb_captured_run captures[TB_CAPTURES_MAX];
	size_t n_captures;
	double compute_ps; // that is certain
	double missed;	   // part of its time by which a replay without capture misses
	bool is_like;	   // the network is the captured one but for its rate
};

struct tb_posterior {
	double least_ps, middle_ps, most_ps;
};

// tb_arithmetic_bounds returns between what the measured times put the run: no slower on
// a faster network, no faster than the ratio of the rates allows, no less than
// computation. With two times, also
// what a longest path allows, which is convex in the time of a byte. Unless the network
// `is_like` the captured one only the ratio holds.
struct tb_posterior tb_arithmetic_bounds(const struct tb_posterior_evidence *evidence);

// tb_closest_hypothesis returns which comes closest to the captured times: what is
// simpler than the last, or else the last, unless another misses them by 2 % less.
size_t tb_closest_hypothesis(const struct tb_posterior_evidence *evidence);

// tb_run_posterior returns the range and its median. There is at least one hypothesis, of
// times above 0. Cost: a few thousand steps a hypothesis.
struct tb_posterior tb_run_posterior(const struct tb_posterior_evidence *evidence);

#endif
