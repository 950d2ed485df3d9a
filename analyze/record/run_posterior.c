#include "run_posterior.h"

#include "order.h"

#include <math.h>

// Measured times of one program scatter by about so much, TCP's losses included.
#define SCATTER 0.065
// By how much of the captured run the part that does not scale with the rate is missed.
#define SHARE_MISSED 0.05
// A hypothesis that misses the captured time by so much counts half: of that time, or,
// where it takes longer than there, of what it takes.
#define CHECK_MISSED 0.1
#define TAIL	     0.015 // left out at each end
// No job scales exactly, and what was captured is one run of several.
#define LAW_PART 0.2
// Rates that differ less give no slope.
#define SLOPE_FROM 1.05
#define STEPS	   50 // of a bisection

struct tb_posterior tb_arithmetic_bounds(const struct tb_posterior_evidence *evidence)
{
	struct tb_posterior range = {evidence->compute_ps, 0, INFINITY};
	const struct tb_captured_run *runs = evidence->captures;
	for (size_t i = 0; i < evidence->n_captures; i++) {
		double scaled_ps = runs[i].took_ps * runs[i].slower;
		bool is_slower = runs[i].slower > 1;
		double least_ps =
			is_slower && evidence->is_like ? runs[i].took_ps : scaled_ps;
		range.least_ps = tb_max_double(
			range.least_ps, is_slower && !evidence->is_like ? 0 : least_ps);
		if (evidence->is_like)
			range.most_ps = tb_min_double(
				range.most_ps, is_slower ? scaled_ps : runs[i].took_ps);
	}
	if (evidence->n_captures < 2 || !evidence->is_like)
		return range;
	// The line through both times, in units of the time of a byte that is asked for.
	int slow = runs[1].slower < runs[0].slower;
	double at[2] = {1 / runs[0].slower, 1 / runs[1].slower};
	if (at[slow] < at[!slow] * SLOPE_FROM)
		return range;
	double line_ps =
		runs[!slow].took_ps + (runs[slow].took_ps - runs[!slow].took_ps) *
					      (1 - at[!slow]) / (at[slow] - at[!slow]);
	if (1 > at[!slow] && 1 < at[slow])
		range.most_ps = tb_min_double(range.most_ps, line_ps);
	else
		range.least_ps = tb_max_double(range.least_ps, line_ps);
	return range;
}

// scaled returns what a captured time becomes: of a quicker network the ratio is more
// certain, of a slower one the difference, as the bytes on the longest path are.
static double scaled(const struct tb_hypothesis_replayed *hypothesis,
	const struct tb_posterior_evidence *evidence, size_t capture)
{
	double recorded_ps = evidence->captures[capture].took_ps;
	double was_ps = hypothesis->captured_ps[capture];
	return hypothesis->took_ps <= was_ps ? hypothesis->took_ps * recorded_ps / was_ps
					     : recorded_ps + hypothesis->took_ps - was_ps;
}

// missed_part returns by what part of it a hypothesis misses a captured time.
static double missed_part(double was_ps, double recorded_ps)
{
	return was_ps > recorded_ps ? was_ps / recorded_ps - 1 : recorded_ps / was_ps - 1;
}

// Less does not show which hypothesis is closer: runs of a program scatter by more.
#define ALIKE_MISSED 0.02

size_t tb_closest_hypothesis(const struct tb_posterior_evidence *evidence)
{
	const struct tb_hypothesis_replayed *last = &evidence->list[evidence->n - 1];
	size_t preferred = last->simpler ? (size_t)(last->simpler - evidence->list)
					 : evidence->n - 1;
	size_t closest = evidence->n - 1;
	double least = INFINITY;
	for (size_t k = 0; k <= evidence->n; k++) {
		size_t i = k == 0 ? preferred : evidence->n - k;
		double missed = 0;
		for (size_t c = 0; c < evidence->n_captures; c++)
			missed += evidence->list[i].captured_ps[c] > 0
					  ? missed_part(evidence->list[i].captured_ps[c],
						    evidence->captures[c].took_ps)
					  : INFINITY;
		if (missed + ALIKE_MISSED < least) {
			closest = i;
			least = missed;
		}
	}
	return closest;
}

// weight_of returns how much a hypothesis counts by what it misses of the captured times.
static double weight_of(const struct tb_hypothesis_replayed *hypothesis,
	const struct tb_posterior_evidence *evidence)
{
	double weight = 1;
	for (size_t i = 0; i < evidence->n_captures; i++) {
		const struct tb_captured_run *run = &evidence->captures[i];
		double was_ps = hypothesis->captured_ps[i];
		if (was_ps <= 0)
			continue;
		double part = missed_part(was_ps, run->took_ps);
		if (hypothesis->took_ps > was_ps)
			part = (was_ps - run->took_ps) / hypothesis->took_ps;
		part /= CHECK_MISSED;
		weight /= 1 + part * part;
	}
	return weight;
}

// A hypothesis as a part of the posterior: a hill of this middle and half width.
struct hill {
	double middle_ps, half_ps, weight;
};

static struct hill hill_of(const struct tb_hypothesis_replayed *hypothesis,
	const struct tb_posterior_evidence *evidence, struct tb_posterior law)
{
	struct hill hill = {hypothesis->took_ps, 0, weight_of(hypothesis, evidence)};
	double missed_ps = hypothesis->took_ps * evidence->missed;
	// What each capture makes of it, and how far its rate is, in times of a byte.
	double at_ps[TB_CAPTURES_MAX], far[TB_CAPTURES_MAX];
	size_t near = TB_CAPTURES_MAX, other = TB_CAPTURES_MAX;
	for (size_t i = 0; i < evidence->n_captures; i++) {
		const struct tb_captured_run *run = &evidence->captures[i];
		if (hypothesis->captured_ps[i] <= 0)
			continue;
		at_ps[i] = scaled(hypothesis, evidence, i);
		far[i] = fabs(1 - 1 / run->slower);
		if (near == TB_CAPTURES_MAX || far[i] < far[near]) {
			other = near;
			near = i;
		} else {
			other = i;
		}
	}
	if (near < TB_CAPTURES_MAX && hypothesis->simpler) {
		double missed = 1 - weight_of(hypothesis->simpler, evidence);
		hill.weight *= missed * missed;
	}
	if (near < TB_CAPTURES_MAX) {
		const struct tb_captured_run *run = &evidence->captures[near];
		hill.middle_ps = at_ps[near];
		missed_ps = SHARE_MISSED * run->took_ps * fabs(1 - run->slower);
		if (other < TB_CAPTURES_MAX && far[near] + far[other] > 0 &&
			(run->slower > 1) != (evidence->captures[other].slower > 1))
			hill.middle_ps =
				(at_ps[near] * far[other] + at_ps[other] * far[near]) /
				(far[near] + far[other]);
	}
	hill.middle_ps = tb_max_double(hill.middle_ps, law.least_ps);
	hill.middle_ps =
		tb_min_double(hill.middle_ps, tb_max_double(law.most_ps, law.least_ps));
	double scatter_ps = hill.middle_ps * SCATTER;
	// The half width of a parabola is the root of five times its variance.
	hill.half_ps = sqrt(5 * (missed_ps * missed_ps + scatter_ps * scatter_ps));
	return hill;
}

// below returns what part of the posterior is below a time, not divided by its weight.
static double below(
	const struct tb_posterior_evidence *evidence, struct tb_posterior law, double ps)
{
	double sum = 0;
	for (size_t i = 0; i < evidence->n; i++) {
		struct hill hill = hill_of(&evidence->list[i], evidence, law);
		double at = (ps - hill.middle_ps) / hill.half_ps;
		at = tb_min_double(1, tb_max_double(-1, at));
		sum += hill.weight * (0.5 + 0.75 * at - 0.25 * at * at * at);
	}
	return sum;
}

static double quantile(const struct tb_posterior_evidence *evidence,
	struct tb_posterior law, double part)
{
	double least_ps = INFINITY, most_ps = 0, all = 0;
	for (size_t i = 0; i < evidence->n; i++) {
		struct hill hill = hill_of(&evidence->list[i], evidence, law);
		least_ps = tb_min_double(least_ps, hill.middle_ps - hill.half_ps);
		most_ps = tb_max_double(most_ps, hill.middle_ps + hill.half_ps);
		all += hill.weight;
	}
	for (int i = 0; i < STEPS; i++) {
		double middle_ps = (least_ps + most_ps) / 2;
		if (below(evidence, law, middle_ps) < part * all)
			least_ps = middle_ps;
		else
			most_ps = middle_ps;
	}
	return most_ps;
}

struct tb_posterior tb_run_posterior(const struct tb_posterior_evidence *evidence)
{
	struct tb_posterior law = tb_arithmetic_bounds(evidence);
	struct tb_posterior range = {quantile(evidence, law, TAIL),
		quantile(evidence, law, 0.5), quantile(evidence, law, 1 - TAIL)};
	range.least_ps = tb_max_double(range.least_ps, law.least_ps * (1 - LAW_PART));
	range.most_ps = tb_min_double(
		range.most_ps, tb_max_double(law.most_ps, law.least_ps) * (1 + LAW_PART));
	range.middle_ps = tb_min_double(
		range.most_ps, tb_max_double(range.least_ps, range.middle_ps));
	return range;
}
