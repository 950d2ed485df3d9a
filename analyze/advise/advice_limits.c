// What a bound rules out: changes whose run can take hardly less whatever they do.
#include "advice_impl.h"

#include <stdio.h>
#include <string.h>

// What a change leaves as it is, and so what bounds it (bounds.h): routes leave the
// network, and tables are static; faster links or more cables between switches leave the
// links of the nodes.
enum limit { NO_LIMIT, BY_ROUTES, BY_STATIC_ROUTES, BY_HOSTS, LIMITS };

static const char *const reasons[LIMITS] = {
	[BY_ROUTES] = "no routes carry its bytes on this network",
	[BY_STATIC_ROUTES] = "no static routes carry its bytes on this network",
	[BY_HOSTS] = "the links of its nodes carry no such bytes"};

static const struct {
	const char *rule;
	enum limit limit;
} limits[] = {
	{"another-ascent", BY_ROUTES},
	{"ascent", BY_ROUTES},
	{"routes-by-traffic", BY_STATIC_ROUTES},
	{"faster-level", BY_HOSTS},
	{"less-taper", BY_HOSTS},
	{"more-cables", BY_HOSTS},
};

static enum limit limit_of(const struct tb_change *change)
{
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (strcmp(change->rule, limits[i].rule) == 0)
			return limits[i].limit;
	return NO_LIMIT;
}

// least_of returns the time that the bytes of the run take at least.
static tb_time_ps least_of(const struct tb_bounds *bounds, enum limit limit)
{
	tb_time_ps least_ps =
		limit == BY_HOSTS ? bounds->whole.host_ps : bounds->whole.cut_ps;
	if (limit == BY_ROUTES && bounds->split.least_ps > least_ps)
		least_ps = bounds->split.least_ps;
	if (limit == BY_STATIC_ROUTES && bounds->fixed.least_ps > least_ps)
		least_ps = bounds->fixed.least_ps;
	return least_ps;
}

void tb_advice_limit(struct tb_advice *advice)
{
	tb_time_ps run_ps = advice->info->simulated_ps;
	char least[48], taken[48];
	if (advice->by != TB_ADVICE_BY_RUN || run_ps <= 0)
		return;
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		enum limit limit = limit_of(change);
		tb_time_ps least_ps = least_of(&advice->evidence.bounds, limit);
		double most = 100 * (double)(run_ps - least_ps) / (double)run_ps;
		if (limit == NO_LIMIT || change->is_for_nodes ||
			most >= TB_ADVICE_MATTERS)
			continue;
		change->verdict = TB_VERDICT_CANNOT;
		snprintf(change->why, sizeof change->why,
			"the run takes %s, and %s in less than %s",
			tb_format_time(run_ps, taken, sizeof taken), reasons[limit],
			tb_format_time(least_ps, least, sizeof least));
	}
}
