// Random jobs and captures on random variants of every preset, some with dead cables: no
// bound is above the simulated time, each is at least the one before it, and the parts of
// the run time add up to it. analyze_bounds_1000.c does the same for more runs.
#define RANDOM_RUN "analyze_bounds"
#include "../random_run.h"

#include "bounds.h"
#include "recording_beside.h"

#ifndef BOUNDS_RUNS
#define BOUNDS_RUNS 120 // at least
#endif

enum kind { RELAY, OWN_WAYS, CLOSED, OPEN, KINDS };

// replay replays a trace and returns whether there is a run.
static bool replay(const struct tb_recording_options *options)
{
	struct tb_recording *recording = NULL;
	struct tb_recording_bound_outcome bound;
	struct tb_error error = {0};
	int status;
	unlink(STORE);
	if (tb_recording_new(&recording, options, &error) != TB_OK)
		return false;
	while ((status = tb_recording_advance(recording, &error)) > 0)
		;
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	if (status == TB_OK)
		assert_int_equal(tb_recording_bound(&bound, recording, &error), TB_OK);
	tb_recording_free(recording);
	return status == TB_OK;
}

static void check_order(
	const struct tb_bound *bound, tb_time_ps most_ps, const char *what)
{
	if (bound->host_ps > bound->cut_ps || bound->cables_ps > bound->cut_ps ||
		bound->cut_ps > bound->routes_ps || bound->routes_ps > most_ps)
		fail_msg("%s: %" PRId64 " ps, bounds %" PRId64 ", %" PRId64 ", %" PRId64,
			what, most_ps, bound->host_ps, bound->cut_ps, bound->routes_ps);
}

static void check_parts(const struct tb_time_parts *parts, const char *what)
{
	tb_time_ps sum = parts->compute_ps + parts->hosts_ps + parts->capacity_ps +
			 parts->routes_ps + parts->waiting_ps + parts->unknown_ps;
	if (parts->compute_ps < 0 || parts->hosts_ps < 0 || parts->capacity_ps < 0 ||
		parts->routes_ps < 0 || parts->waiting_ps < 0 || parts->unknown_ps < 0 ||
		sum != parts->run_ps)
		fail_msg("%s: parts do not add up", what);
}

// check_split: the run's own routes are some that may be split.
static void check_split(const struct tb_bounds *bounds, const char *what)
{
	const struct tb_split *split = &bounds->split;
	if (split->known && (split->least_ps > split->found_ps ||
				    split->least_ps > bounds->whole.routes_ps + 1))
		fail_msg("%s: split %" PRId64 " to %" PRId64 " ps, own routes %" PRId64,
			what, split->least_ps, split->found_ps, bounds->whole.routes_ps);
}

// is_static returns whether the run's own routes are static ones: they choose by nodes
// alone, and no cable died in between.
static bool is_static(const struct tb_run *run)
{
	enum tb_ascent ascent = tb_run_info(run)->network.ascent;
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
		if (tb_run_links(run)[i].dead_at_ps != 0 &&
			tb_run_links(run)[i].dead_at_ps != TB_TIME_NEVER)
			return false;
	return ascent == TB_ASCENT_DETERMINISTIC || ascent == TB_ASCENT_SOURCE ||
	       ascent == TB_ASCENT_ECMP;
}

// check_fixed: static routes are some that may be split, and the run's own may be static.
static void check_fixed(const struct tb_bounds *bounds, bool own, const char *what)
{
	const struct tb_static_routes *fixed = &bounds->fixed;
	tb_time_ps own_ps = bounds->whole.routes_ps;
	if (!fixed->known)
		return;
	assert_true(bounds->split.known);
	if (fixed->least_ps < bounds->split.least_ps ||
		fixed->found_ps < bounds->split.found_ps ||
		fixed->found_ps < fixed->least_ps ||
		(own && (fixed->least_ps > own_ps + 1 || fixed->found_ps > own_ps + 1)))
		fail_msg("%s: static %" PRId64 " to %" PRId64 " ps, split %" PRId64
			 ", own routes %" PRId64,
			what, fixed->least_ps, fixed->found_ps, bounds->split.least_ps,
			own_ps);
}

// How close bounds came to the simulated time, and where they differed, over all runs.
struct seen {
	double closest;
	uint32_t n_cuts, n_routes; // above the bound before it
	uint32_t n_fixed, n_own;   // of static routes, with own ones that are
};

static void look(struct seen *seen, const struct tb_bound *bound)
{
	double share = (double)bound->routes_ps / (double)(bound->span_ps + 1);
	seen->closest = share > seen->closest ? share : seen->closest;
	seen->n_cuts += bound->cut_ps > bound->host_ps;
	seen->n_routes += bound->routes_ps > bound->cut_ps;
}

static void check_run(struct seen *seen, const char *what, enum kind kind)
{
	struct tb_run *run = NULL;
	struct tb_bounds bounds = {0};
	struct tb_error error = {0};
	if (tb_run_open(&run, STORE, 0, &error) != TB_OK ||
		tb_bounds_init(&bounds, run, &error) != TB_OK ||
		tb_bounds_routes(&bounds, run, &error) != TB_OK)
		fail_msg("%s: %s", what, error.text);
	const struct tb_run_info *info = tb_run_info(run);
	check_order(&bounds.whole, info->simulated_ps, what);
	tb_time_ps phases_ps = bounds.quiet_ps;
	for (uint32_t i = 0; i < bounds.n_phases; i++) {
		check_order(&bounds.phases[i], bounds.phases[i].span_ps, what);
		phases_ps += bounds.phases[i].span_ps;
	}
	assert_int_equal(phases_ps, info->simulated_ps);
	assert_int_equal(bounds.parts.run_ps, info->simulated_ps);
	check_parts(&bounds.parts, what);
	check_split(&bounds, what);
	check_fixed(&bounds, is_static(run), what);
	seen->n_fixed += bounds.fixed.known;
	seen->n_own += bounds.fixed.known && is_static(run);
	look(seen, &bounds.whole);
	if (info->n_undelivered == 0 && info->n_messages > 0 && kind != OPEN)
		assert_true(bounds.parts.has_compute);
	tb_bounds_fini(&bounds);
	tb_run_free(run);
}

// try_one draws and replays; false when the network refuses it.
static bool try_one(struct seen *seen, uint64_t seed, size_t preset, enum kind kind)
{
	struct tb_random random;
	char network[TEXT], what[TEXT + 80], fault[40];
	bool captured = kind == CLOSED || kind == OPEN;
	static const char *const traces[] = {CAPTURE};
	static const char *const jobs[] = {
		JOB ",placement=block", JOB ",placement=cyclic", JOB ",placement=random"};
	const char *faults[] = {fault};
	tb_random_init(&random, seed, preset * KINDS + kind + 5000);
	if (captured)
		draw_capture(&random);
	else
		draw_job(&random, kind == RELAY);
	draw_network(&random, preset, network);
	if (captured && below(&random, 2))
		draw_fabric(&random, preset, network);
	snprintf(fault, sizeof fault, "link=0.0:up%u%s", below(&random, 2),
		below(&random, 2) ? "" : "@30us");
	const struct tb_recording_options options = {
		.workload = {.traces = traces,
			.n_traces = captured,
			.jobs = &jobs[below(&random, 3)],
			.n_jobs = !captured,
			.per_node = captured ? 0 : 1 + below(&random, 3),
			.closed_loop = kind == CLOSED,
			.unbounded = true,
			.seed = seed},
		.network = network,
		.output = STORE,
		.seed = seed,
		.faults = faults,
		.n_faults = below(&random, 4) == 0};
	snprintf(what, sizeof what, "seed %" PRIu64 ", kind %d, %s%s%s", seed, kind,
		network, options.n_faults ? ", " : "", options.n_faults ? fault : "");
	if (!replay(&options))
		return false;
	check_run(seen, what, kind);
	return true;
}

static void no_bound_is_above_the_simulated_time(void **state)
{
	(void)state;
	struct seen seen = {0};
	uint32_t n = 0, n_tried = 0;
	for (uint64_t seed = 1; n < BOUNDS_RUNS; seed++) {
		for (size_t i = 0; tb_network_preset_name(i); i++, n_tried++)
			n += try_one(&seen, seed, i, (enum kind)((seed + i) % KINDS));
		assert_true(2 * n > n_tried);
	}
	print_message("%u runs, %u refused; closest %.3f, cuts above hosts %u, routes "
		      "above cuts %u, static routes of %u, own ones of %u\n",
		n, n_tried - n, seen.closest, seen.n_cuts, seen.n_routes, seen.n_fixed,
		seen.n_own);
	assert_true(seen.closest > 0.8);
	assert_true(20 * seen.n_cuts > n && 20 * seen.n_routes > n);
	assert_true(5 * seen.n_fixed > n && 20 * seen.n_own > n);
	unlink(STORE);
	unlink(JOB);
	unlink(CAPTURE);
	unlink(FABRIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_bound_is_above_the_simulated_time),
	};
	return cmocka_run_group_tests(tests, own_folder, leave_folder);
}
