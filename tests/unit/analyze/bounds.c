// Bounds and the parts of the run time, of jobs for which they can be counted by hand.
#include "bounds.h"
#include "recording_beside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define STORE	"unit_bounds.db"
#define JOB	"unit_bounds.goal"
#define NETWORK "ib-ndr,arity=4,levels=2"

static struct tb_run *run;
static struct tb_bounds bounds;

// replay writes a job of 8 ranks, two leaves of it, and finds its bounds.
static void replay(const char *job, const char *fault)
{
	struct tb_recording *recording = NULL;
	struct tb_recording_bound_outcome bound;
	struct tb_error error = {0};
	const char *const traces[] = {JOB};
	const struct tb_recording_options options = {
		.workload = {.traces = traces, .n_traces = 1, .seed = 1},
		.network = NETWORK,
		.output = STORE,
		.seed = 1,
		.faults = &fault,
		.n_faults = fault != NULL};
	FILE *file = fopen(JOB, "w");
	assert_non_null(file);
	fprintf(file, "num_ranks 8\n%s", job);
	assert_int_equal(fclose(file), 0);
	unlink(STORE);
	if (tb_recording_new(&recording, &options, &error) != TB_OK)
		fail_msg("%s", error.text);
	while (tb_recording_advance(recording, &error) > 0)
		;
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	assert_int_equal(tb_recording_bound(&bound, recording, &error), TB_OK);
	tb_recording_free(recording);
	if (tb_run_open(&run, STORE, 0, &error) != TB_OK ||
		tb_bounds_init(&bounds, run, &error) != TB_OK ||
		tb_bounds_routes(&bounds, run, &error) != TB_OK)
		fail_msg("%s", error.text);
}

static int forget(void **state)
{
	(void)state;
	tb_bounds_fini(&bounds);
	tb_run_free(run);
	run = NULL;
	unlink(STORE);
	unlink(JOB);
	return 0;
}

// across has the ranks of the first leaf send to those of the second.
static const char *across(void)
{
	static char text[1024];
	size_t used = 0;
	for (int i = 0; i < 4; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
			"rank %d {\nl1: send 1000000b to %d\n}\n"
			"rank %d {\nl1: recv 1000000b from %d\n}\n",
			i, i + 4, i + 4, i);
	return text;
}

static void near(tb_time_ps value, double wanted)
{
	if ((double)value < wanted - 2 || (double)value > wanted + 2)
		fail_msg("%lld is not %.0f", (long long)value, wanted);
}

// host_ps returns what a node's link takes for a message of `across`, which is about what
// its packets take: the first one has more headers.
static double host_ps(void)
{
	const struct tb_network_params *network = &tb_run_info(run)->network;
	double packets = (double)(tb_run_info(run)->n_packets / 4);
	double wire = 1e6 + packets * network->packet_overhead_bytes;
	double ps = wire / (double)network->link_bytes_per_s * 1e12;
	assert_true((double)bounds.whole.host_ps >= ps - 1);
	assert_true((double)bounds.whole.host_ps < ps * 1.0001);
	return (double)bounds.whole.host_ps;
}

static void a_whole_tree_is_no_narrower_than_its_hosts(void **state)
{
	char text[100];
	(void)state;
	replay(across(), NULL);
	double host = host_ps();
	near(bounds.whole.cut_ps, host);
	near(bounds.whole.cables_ps, host * 8 / 32);
	tb_cut_text(&bounds.cuts, &bounds.whole.host, text, sizeof text);
	assert_string_equal(text, "out of node 0");
}

static void a_dead_cable_narrows_the_cut(void **state)
{
	char text[100];
	(void)state;
	replay(across(), "link=0.0:up1");
	double host = host_ps();
	near(bounds.whole.cut_ps, host * 4 / 3);
	assert_true(bounds.split.known);
	near(bounds.split.least_ps, host * 4 / 3);
	near(bounds.split.found_ps, host * 4 / 3);
	near(bounds.whole.routes_ps, host * 2); // of four messages, two share one
	// Nor can other static routes do better, but for the headers of first packets.
	assert_true(bounds.fixed.known);
	assert_int_equal(bounds.fixed.least_ps, bounds.fixed.found_ps);
	assert_true(bounds.fixed.found_ps <= bounds.whole.routes_ps);
	assert_true((double)bounds.fixed.least_ps > host * 2 * 0.9999);
	tb_cut_text(&bounds.cuts, &bounds.whole.cut, text, sizeof text);
	assert_string_equal(text, "out of switch 0.0");
	tb_time_ps ideal = tb_run_info(run)->ideal_ps;
	assert_true(ideal > bounds.whole.host_ps && ideal < bounds.whole.cut_ps);
	assert_int_equal(bounds.parts.compute_ps + bounds.parts.hosts_ps, ideal);
	tb_time_ps quiet = bounds.quiet_ps; // of bins: less than the ideal one has
	assert_true(quiet < ideal - bounds.whole.host_ps);
	assert_int_equal(bounds.parts.capacity_ps, bounds.whole.cut_ps + quiet - ideal);
	assert_int_equal(
		bounds.parts.routes_ps, bounds.whole.routes_ps - bounds.whole.cut_ps);
}

static void links_of_other_rates_take_other_times(void **state)
{
	uint64_t rates[64] = {0};
	struct tb_bound faster;
	struct tb_error error = {0};
	(void)state;
	replay(across(), NULL);
	double host = host_ps();
	const struct tb_run_link *links = tb_run_links(run);
	assert_true(tb_run_info(run)->n_links <= 64);
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION ||
			links[i].at.kind == TB_LINK_EJECTION)
			rates[i] = 4 * links[i].at.bytes_per_s;
	assert_int_equal(tb_bounds_at(&faster, run, rates, &error), TB_OK);
	near(faster.host_ps, host / 4);
	near(faster.cut_ps, host);
	rates[0] = 0;
	assert_int_equal(tb_bounds_at(&faster, run, rates, &error), TB_OK);
	near(faster.host_ps, host);
}

static void compute_is_the_longest_chain(void **state)
{
	(void)state;
	replay("rank 0 {\nl1: calc 70000\nl2: send 10b to 1\nl2 requires l1\n"
	       "l3: recv 10b from 1\n}\n"
	       "rank 1 {\nl1: recv 10b from 0\nl2: calc 50000\nl2 requires l1\n"
	       "l3: send 10b to 0\nl3 requires l2\nl4: calc 90000\nl4 requires l3\n}\n",
		NULL);
	assert_true(bounds.parts.has_compute);
	// Also what is computed after the last message.
	assert_int_equal(bounds.parts.compute_ps, 210 * TB_PS_PER_US);
	assert_int_equal(bounds.parts.compute_ps + bounds.parts.hosts_ps,
		tb_run_info(run)->simulated_ps);
}

static void phases_lie_apart(void **state)
{
	(void)state;
	replay("rank 0 {\nl1: send 300000b to 1\nl2: recv 300000b from 1\n}\n"
	       "rank 1 {\nl1: recv 300000b from 0\nl2: calc 900000\nl2 requires l1\n"
	       "l3: send 300000b to 0\nl3 requires l2\n}\n",
		NULL);
	assert_int_equal(bounds.n_phases, 2);
	assert_true(bounds.quiet_ps > 800 * TB_PS_PER_US);
	near(bounds.phases[0].host_ps, (double)bounds.phases[1].host_ps);
	near(bounds.whole.host_ps, (double)bounds.phases[0].host_ps); // out of one each
}

static void sentences_leave_out_what_is_nothing(void **state)
{
	(void)state;
	char text[400];
	struct tb_time_parts parts = {.has_compute = true,
		.run_ps = 64 * TB_PS_PER_S / 10,
		.compute_ps = 2 * TB_PS_PER_S,
		.hosts_ps = 11 * TB_PS_PER_S / 10,
		.capacity_ps = 9 * TB_PS_PER_S / 10,
		.routes_ps = 6 * TB_PS_PER_S / 10,
		.waiting_ps = 18 * TB_PS_PER_S / 10};
	assert_string_equal(tb_time_parts_text(&parts, text, sizeof text),
		"Of 6.400 s, 2 s are computation, 1.100 s an ideal network takes too, "
		"0.900 s are owed to this one's capacity, 0.600 s are owed to its "
		"routes, 1.800 s were held up or waiting for others.");
	parts = (struct tb_time_parts){.has_compute = true,
		.is_capture = true,
		.run_ps = TB_PS_PER_MS,
		.compute_ps = TB_PS_PER_MS};
	assert_string_equal(tb_time_parts_text(&parts, text, sizeof text),
		"Packets were sent when they were captured, over 1 ms.");
	parts.compute_ps -= parts.waiting_ps = TB_PS_PER_MS / 4;
	assert_string_equal(tb_time_parts_text(&parts, text, sizeof text),
		"Packets were sent when they were captured, over 750 us; the last "
		"arrived 250 us after it was sent.");
}

// The messages that a dead spine stops go on when all others have long arrived. On the
// ideal network all of them cross at once.
static void a_spine_that_dies_later_leaves_the_ideal_as_it_is(void **state)
{
	(void)state;
	replay(across(), NULL);
	tb_time_ps ideal = tb_run_info(run)->ideal_ps;
	forget(NULL);
	replay(across(), "switch=1.0@5us");
	assert_true(bounds.n_phases > 1);
	assert_true(bounds.parts.run_ps > 10 * ideal);
	assert_int_equal(tb_run_info(run)->ideal_ps, ideal);
	assert_int_equal(bounds.parts.compute_ps + bounds.parts.hosts_ps, ideal);
	assert_int_equal(bounds.parts.capacity_ps, 0);
	forget(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spine_that_dies_later_leaves_the_ideal_as_it_is),
		cmocka_unit_test_teardown(
			a_whole_tree_is_no_narrower_than_its_hosts, forget),
		cmocka_unit_test_teardown(a_dead_cable_narrows_the_cut, forget),
		cmocka_unit_test_teardown(links_of_other_rates_take_other_times, forget),
		cmocka_unit_test_teardown(compute_is_the_longest_chain, forget),
		cmocka_unit_test_teardown(phases_lie_apart, forget),
		cmocka_unit_test(sentences_leave_out_what_is_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
