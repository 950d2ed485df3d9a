// What is known of a rule's changes before any replay: what they change, what bounds
// their gain, and whether they take new hardware.
#include "advice_impl.h"
#include "critical_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What a change leaves as it is bounds its gain. A bound of the bytes (bounds.h): routes
// leave the network, and tables are static; faster links or more cables between switches
// leave the links of the nodes. Or a replay of the job: on the ideal network, in which
// packets wait for nothing but the links of nodes, or with messages that take no time.
enum gain_limit {
	LIMIT_NONE,
	LIMIT_ROUTES,
	LIMIT_STATIC_ROUTES,
	LIMIT_NODE_LINKS, // and the ideal network
	LIMIT_IDEAL,
	LIMIT_PLACES,  // the ideal network, paths as short as can be
	LIMIT_COMPUTE, // messages that take no time
};

struct change_rule {
	const char *rule;
	enum tb_change_of of;
	enum gain_limit limit;
	bool needs_hardware;
};

static const struct change_rule rules[] = {
	{"another-ascent", TB_CHANGE_WAYS, LIMIT_ROUTES, false},
	{"ascent", TB_CHANGE_WAYS, LIMIT_ROUTES, false},
	{"without-cable", TB_CHANGE_WAYS, LIMIT_ROUTES, false},
	{"routes-by-traffic", TB_CHANGE_ALONE, LIMIT_STATIC_ROUTES, false},
	{"placement", TB_CHANGE_PLACES, LIMIT_PLACES, false},
	{"ranks-by-traffic", TB_CHANGE_PLACES, LIMIT_PLACES, false},
	{"nodes-by-traffic", TB_CHANGE_PLACES, LIMIT_PLACES, false},
	{"servers-apart", TB_CHANGE_PLACES, LIMIT_PLACES, false},
	{"servers-together", TB_CHANGE_PLACES, LIMIT_PLACES, false},
	{"spread-servers", TB_CHANGE_PLACES, LIMIT_PLACES, false},
	{"separate-jobs", TB_CHANGE_PLACES, LIMIT_PLACES, false},
	{"stagger", TB_CHANGE_STARTS, LIMIT_IDEAL, false},
	{"lane", TB_CHANGE_LANES, LIMIT_IDEAL, false},
	{"algorithm", TB_CHANGE_CALLS, LIMIT_COMPUTE, false},
	{"fewer-cables", TB_CHANGE_ALONE, LIMIT_NONE, false},
	{"faster-level", TB_CHANGE_LINKS, LIMIT_NODE_LINKS, true},
	{"less-taper", TB_CHANGE_LINKS, LIMIT_NODE_LINKS, true},
	{"more-cables", TB_CHANGE_LINKS, LIMIT_NODE_LINKS, true},
	{"faster-links", TB_CHANGE_LINKS, LIMIT_COMPUTE, true},
	{"faster-node", TB_CHANGE_LINKS, LIMIT_COMPUTE, true},
	{"quicker-node", TB_CHANGE_LINKS, LIMIT_COMPUTE, true},
	{"second-rail", TB_CHANGE_LINKS, LIMIT_COMPUTE, true},
};

static const struct change_rule *find_rule(const char *rule)
{
	static const struct change_rule other = {
		NULL, TB_CHANGE_ALONE, LIMIT_NONE, false};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rule, rules[i].rule) == 0)
			return &rules[i];
	return &other;
}

enum tb_change_of tb_change_of(const struct tb_change *change)
{
	return find_rule(change->rule)->of;
}

bool tb_change_needs_hardware(const char *rule)
{
	return find_rule(rule)->needs_hardware;
}

// shorter_paths stores how much shorter messages of the critical path could be where
// their paths are as short as can be, -1 where the path is not known. A message may cross
// the network four times: a request, its answer, the data and what ends it.
static int shorter_paths(
	const struct tb_advice *advice, tb_time_ps *ps, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(advice->run);
	struct tb_critical_path path = {0};
	uint64_t n_messages = 0;
	tb_time_ps link_ps = 0;
	int status = tb_critical_path_init(&path, advice->run, error);
	for (size_t i = 0; i < path.n_shares && status == TB_OK; i++)
		if (path.shares[i].cause == TB_PATH_TRANSFER)
			n_messages = path.shares[i].n_steps;
	for (uint32_t i = 0; i < advice->info->n_links; i++)
		if (links[i].at.latency_ps > link_ps)
			link_ps = links[i].at.latency_ps;
	double shorter_ps = 8.0 * (double)n_messages * (advice->info->n_levels - 1) *
			    (double)(advice->info->network.hop_latency_ps + link_ps);
	*ps = path.n_shares && shorter_ps < 9e18 ? (tb_time_ps)shorter_ps : -1;
	tb_critical_path_fini(&path);
	return status;
}

// is_rank_per_node: no message stays within a node, so that none does elsewhere.
static bool is_rank_per_node(const struct tb_advice *advice)
{
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	for (uint32_t i = 0; i < jobs->n; i++)
		if (jobs->jobs[i].n_ranks != jobs->jobs[i].n_nodes)
			return false;
	return !tb_advice_has_option(advice, "per-node");
}

// Why a run cannot take less than a time.
struct least {
	tb_time_ps ps;
	const char *why; // "the run takes 2 us, and `why` 1.99 us"
};

static void raise_least(struct least *least, tb_time_ps ps, const char *why)
{
	if (ps > least->ps)
		*least = (struct least){ps, why};
}

// least_run_time returns the time that the run takes at least with such a change.
static struct least least_run_time(
	const struct tb_advice *advice, enum gain_limit limit, tb_time_ps shorter_ps)
{
	const struct tb_bounds *bounds = &advice->evidence.bounds;
	tb_time_ps ideal_ps = advice->info->has_bound ? advice->info->ideal_ps : 0;
	struct least least = {0, ""};
	if (limit == LIMIT_ROUTES || limit == LIMIT_STATIC_ROUTES)
		raise_least(&least, bounds->whole.cut_ps,
			"no routes carry its bytes on this network in less than");
	if (limit == LIMIT_ROUTES)
		raise_least(&least, bounds->split.least_ps,
			"no routes carry its bytes on this network in less than");
	if (limit == LIMIT_STATIC_ROUTES)
		raise_least(&least, bounds->fixed.least_ps,
			"no static routes carry its bytes on this network in less than");
	if (limit == LIMIT_NODE_LINKS)
		raise_least(&least, bounds->whole.host_ps,
			"the links of its nodes carry no such bytes in less than");
	if (limit != LIMIT_COMPUTE && limit != LIMIT_PLACES)
		raise_least(&least, ideal_ps, "on an ideal network it would take");
	if (limit == LIMIT_PLACES && shorter_ps >= 0 && is_rank_per_node(advice))
		raise_least(&least, ideal_ps - shorter_ps,
			"on an ideal network with the shortest paths at least");
	if (limit == LIMIT_COMPUTE && advice->info->has_bound)
		raise_least(&least, advice->info->compute_ps,
			"with messages that take no time it would take");
	return least;
}

// rule_out leaves a change out when the run can take hardly less with it.
static void rule_out(
	const struct tb_advice *advice, struct tb_change *change, tb_time_ps shorter_ps)
{
	tb_time_ps run_ps = advice->info->simulated_ps;
	enum gain_limit limit = find_rule(change->rule)->limit;
	char least_text[48], taken[48];
	if (limit == LIMIT_NONE)
		return;
	// A level of links that are the nodes' is faster for these, too.
	struct least least = least_run_time(
		advice, change->is_for_nodes ? LIMIT_COMPUTE : limit, shorter_ps);
	if (100 * (double)(run_ps - least.ps) >= TB_ADVICE_MATTERS * (double)run_ps)
		return;
	change->verdict = TB_VERDICT_CANNOT;
	snprintf(change->why, sizeof change->why, "the run takes %s, and %s %s",
		tb_format_time(run_ps, taken, sizeof taken), least.why,
		tb_format_time(least.ps, least_text, sizeof least_text));
}

int tb_advice_limit(struct tb_advice *advice, struct tb_error *error)
{
	tb_time_ps shorter_ps;
	bool any_live = false;
	if (advice->by != TB_ADVICE_BY_RUN || advice->info->simulated_ps <= 0)
		return TB_OK;
	int status = shorter_paths(advice, &shorter_ps, error);
	if (status != TB_OK)
		return status;
	for (size_t i = 1; i < advice->n; i++) {
		rule_out(advice, &advice->changes[i], shorter_ps);
		any_live |= advice->changes[i].verdict != TB_VERDICT_CANNOT &&
			    strcmp(advice->changes[i].rule, "fewer-cables") != 0;
	}
	// What fewer cables would cost nobody asks where nothing else is replayed.
	for (size_t i = 1; i < advice->n && !any_live; i++) {
		struct tb_change *change = &advice->changes[i];
		if (change->verdict == TB_VERDICT_CANNOT)
			continue;
		change->verdict = TB_VERDICT_CANNOT;
		snprintf(change->why, sizeof change->why,
			"it only saves cables; nothing can make the run shorter");
	}
	return TB_OK;
}
