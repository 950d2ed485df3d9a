// What a bound rules out: changes whose run can take hardly less whatever they do.
#include "advice_impl.h"

#include <stdio.h>
#include <string.h>

// What a change leaves as it is, and so what bounds it (bounds.h): routes leave the
// network, faster links or more cables between switches the links of the nodes.
enum limit { NO_LIMIT, BY_CUTS, BY_HOSTS };

static const struct {
	const char *rule;
	enum limit limit;
} limits[] = {
	{"another-ascent", BY_CUTS},
	{"ascent", BY_CUTS},
	{"routes-by-traffic", BY_CUTS},
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

void tb_advice_limit(struct tb_advice *advice)
{
	const struct tb_bound *whole = &advice->evidence.bounds.whole;
	tb_time_ps run_ps = advice->info->simulated_ps;
	char least[48], taken[48];
	for (size_t i = 1; advice->by == TB_ADVICE_BY_RUN && i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		enum limit limit = limit_of(change);
		tb_time_ps least_ps = limit == BY_CUTS ? whole->cut_ps : whole->host_ps;
		double most = 100 * (double)(run_ps - least_ps) / (double)run_ps;
		if (limit == NO_LIMIT || change->is_for_nodes ||
			most >= TB_ADVICE_MATTERS)
			continue;
		change->verdict = TB_VERDICT_CANNOT;
		snprintf(change->why, sizeof change->why,
			"the run takes %s, and %s in less than %s",
			tb_format_time(run_ps, taken, sizeof taken),
			limit == BY_CUTS ? "no routes carry its bytes on this network"
					 : "the links of its nodes carry no such bytes",
			tb_format_time(least_ps, least, sizeof least));
	}
}
