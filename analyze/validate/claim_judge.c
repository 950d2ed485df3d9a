// How a simulated figure is judged.
#include "claim.h"

#include <math.h>

#define NEAR_SHARE   0.1
#define NEAR_NOTHING 5	  // of a published 0, in the row's unit
#define TIE	     0.5  // percent
#define SLACK	     1e-9 // of the value: decimals are not exact in binary

static bool is_order(const struct tb_claim *claim)
{
	return claim->relation == TB_RELATION_FALLS ||
	       claim->relation == TB_RELATION_GROWS;
}

// nearest_published returns the published figure that is nearest to a simulated one.
static double nearest_published(const struct tb_claim *claim, double simulated)
{
	return simulated < claim->low	 ? claim->low
	       : simulated > claim->high ? claim->high
					 : simulated;
}

// factor_of returns by which factor two figures differ, 1 or more.
static double factor_of(const struct tb_claim *claim, double simulated)
{
	double ratio = simulated / claim->low;
	return ratio > 0 ? fmax(ratio, 1 / ratio) : INFINITY;
}

static bool holds(const struct tb_claim *claim, double simulated)
{
	switch (claim->relation) {
	case TB_RELATION_VALUE:
		return fabs(simulated - claim->low) <=
		       claim->rounding + SLACK * fabs(claim->low);
	case TB_RELATION_BELOW:
		return simulated < claim->high;
	case TB_RELATION_AT_MOST:
		return simulated <= claim->high;
	case TB_RELATION_AT_LEAST:
		return simulated >= claim->low;
	case TB_RELATION_RANGE:
		return simulated >= claim->low && simulated <= claim->high;
	case TB_RELATION_WITHIN:
		return factor_of(claim, simulated) <= claim->bound;
	case TB_RELATION_EVEN:
		return simulated <= claim->bound;
	case TB_RELATION_UNEVEN:
		return simulated >= claim->bound;
	case TB_RELATION_FALLS:
		return simulated < 0;
	case TB_RELATION_GROWS:
		return simulated > 0;
	}
	return false;
}

static bool is_near(const struct tb_claim *claim, double simulated)
{
	bool published = !is_order(claim) && claim->relation != TB_RELATION_EVEN &&
			 claim->relation != TB_RELATION_UNEVEN;
	double figure = nearest_published(claim, simulated);
	if (claim->relation == TB_RELATION_WITHIN)
		return factor_of(claim, simulated) <= claim->bound * claim->bound;
	double within = figure != 0 ? NEAR_SHARE * fabs(figure) : NEAR_NOTHING;
	return published && fabs(simulated - figure) <= within + SLACK * fabs(figure);
}

// reaches_over returns whether 0 is in the interval, if there is one.
static bool reaches_over(const struct tb_estimate *simulated)
{
	return isfinite(simulated->half_ci) &&
	       fabs(simulated->mean) <= simulated->half_ci;
}

static enum tb_claim_verdict judge_figure(const struct tb_claim *claim, double simulated)
{
	if (!isfinite(simulated))
		return TB_VERDICT_FAILS;
	if (holds(claim, simulated))
		return TB_VERDICT_HOLDS;
	return is_near(claim, simulated) ? TB_VERDICT_NEAR : TB_VERDICT_FAILS;
}

enum tb_claim_verdict tb_claim_judge(
	const struct tb_claim *claim, const struct tb_estimate *simulated)
{
	double size = fabs(simulated->mean);
	if (is_order(claim) && (size <= TIE || reaches_over(simulated)))
		return TB_VERDICT_TIE;
	return judge_figure(claim, simulated->mean);
}

enum tb_claim_verdict tb_claim_doubt(
	const struct tb_claim *claim, const struct tb_estimate *simulated)
{
	enum tb_claim_verdict verdict = tb_claim_judge(claim, simulated);
	if (is_order(claim) || !isfinite(simulated->half_ci) || simulated->half_ci <= 0)
		return verdict;
	double low = simulated->mean - simulated->half_ci;
	double high = simulated->mean + simulated->half_ci;
	enum tb_claim_verdict below = judge_figure(claim, low);
	enum tb_claim_verdict above = judge_figure(claim, high);
	enum tb_claim_verdict worst = below > above ? below : above;
	if (worst != verdict)
		return worst;
	// A value may lie within the interval while both ends miss it.
	double best = fmin(fmax(nearest_published(claim, simulated->mean), low), high);
	enum tb_claim_verdict there = judge_figure(claim, best);
	enum tb_claim_verdict end = below < above ? below : above;
	return there < end ? there : end;
}

double tb_claim_error(const struct tb_claim *claim, double simulated)
{
	double figure = claim->low;
	if (claim->relation == TB_RELATION_RANGE)
		figure = nearest_published(claim, simulated);
	// Words have no value: it is 0.
	return figure != 0 ? (simulated - figure) / fabs(figure) * 100 : NAN;
}

const char *tb_claim_role_name(enum tb_claim_role role)
{
	static const char *const names[TB_CLAIM_ROLES] = {[TB_CLAIM_FITTED] = "fitted",
		[TB_CLAIM_DERIVED] = "derived",
		[TB_CLAIM_CHOSEN] = "chosen",
		[TB_CLAIM_PREDICTED] = "predicted"};
	return names[role];
}

const char *tb_verdict_name(enum tb_claim_verdict verdict)
{
	static const char *const names[] = {[TB_VERDICT_HOLDS] = "holds",
		[TB_VERDICT_NEAR] = "near",
		[TB_VERDICT_TIE] = "tie",
		[TB_VERDICT_FAILS] = "fails",
		[TB_VERDICT_OUTSIDE] = "outside"};
	return names[verdict];
}
