// Remedies: when each is proposed, with what command, and when it would be in vain.
#include "../../../support/evidence_made.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "findings_impl.h"
#include "synth.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void servers_on_leaves_of_their_own_are_spread_already(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	end(&made, 8, 15, 8);	      // leaf 0.2
	later(end(&made, 13, 14, 8)); // leaf 0.3
	made.evidence.n_half_ends = 2;
	judge(&made);
	assert_non_null(found("few-receivers"));
	assert_null(found("spread-servers"));
}

static void a_placement_that_is_given_is_not_spread(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	end(&made, 12, 15, 8);
	end(&made, 13, 14, 8);
	made.evidence.n_half_ends = 2;
	made.info.options =
		"--network qsnet,levels=2 --seed 1 --job a.goal,placement=cyclic";
	judge(&made);
	assert_null(found("spread-servers"));
	made.info.options = "--network qsnet,levels=2 --seed 1 --map a.map";
	judge(&made);
	assert_null(found("spread-servers"));
}

static void an_incast_that_cost_nothing_has_no_remedy(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.info.simulated_ps = 10000000;
	end(&made, 12, TB_FINDING_INCAST, TB_FINDING_SENDERS);
	judge(&made);
	assert_non_null(found("incast"));
	assert_non_null(found("second-rail"));
	made.evidence.path.n_shares = 1; // what it cost is known, and is nothing
	judge(&made);
	assert_non_null(found("incast"));
	assert_null(found("second-rail"));
	made.evidence.jobs.n = 2; // another job may have waited there
	judge(&made);
	assert_non_null(found("second-rail"));
	made.evidence.jobs.n = 1;
	struct tb_path_link held = {.culprit_destination = {12}, .sum_ps = 200000};
	made.evidence.path.links = &held;
	made.evidence.path.n_links = 1;
	judge(&made);
	assert_non_null(found("second-rail"));
}

static void what_holds_up_little_stands_behind_the_rest(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	take_time(&made, 10000000);
	struct tb_path_link held = {.culprit_destination = {12},
		.sum_ps = (tb_time_ps)(TB_FINDING_SMALL * 100000)};
	made.evidence.path.n_shares = 1;
	made.evidence.path.links = &held;
	made.evidence.path.n_links = 1;
	made.evidence.path.causes[TB_PATH_HELD_UP] = 500000;
	end(&made, 12, TB_FINDING_INCAST, TB_FINDING_SENDERS);
	made.jobs[0].queue_ps = 200;
	judge(&made);
	assert_false(found("incast")->small);
	assert_true(found("incast") < found("backlog"));
	assert_int_equal(findings.n_small, 0);
	held.sum_ps--;
	judge(&made);
	assert_true(found("incast")->small);
	assert_false(found("backlog")->small);
	assert_true(found("incast") > found("backlog"));
	assert_int_equal(findings.n_small, 1);
	assert_int_equal(findings.small_ps, held.sum_ps);
	made.evidence.jobs.n = 2; // another job may have waited there
	judge(&made);
	assert_false(found("incast")->small);
	// All waits together are small, whatever is known of one.
	made.evidence.jobs.n = 1;
	made.evidence.path.n_links = 0;
	made.evidence.path.causes[TB_PATH_HELD_UP] = 99999;
	judge(&made);
	assert_true(found("incast")->small);
	assert_int_equal(findings.small_ps, 99999);
	assert_true(found("incast") == &findings.list[findings.n - 1]);
}

static void make_full(struct made *made)
{
	make(made);
	made->evidence.busy_percent = TB_FINDING_FULL_HELD - 25;
	made->evidence.stall_percent = 25;
	root(made, link_of(TB_LINK_UP, 0), TB_FINDING_FULL_ROOT - 0.1);
}

static void a_full_network_that_is_tapered_can_be_wider(void **state)
{
	struct made made;
	(void)state;
	make_full(&made);
	made.info.options =
		"--network 'ib-hdr,shape=pgft(3;18,6,4;1,3,6;1,3,1)' --seed 1";
	snprintf(made.info.network.shape, sizeof made.info.network.shape,
		"pgft(3; 18,6,4; 1,3,6; 1,3,1)");
	judge(&made);
	says("less-taper", "A switch of level 0 has 18 cables down and 9 up.");
	assert_int_equal(count_of(found("less-taper"), "cables_up"), 9);
	tries("less-taper", "tailback replay a.goal --network "
			    "'ib-hdr,shape=pgft(3; 18,6,4; 1,6,6; 1,3,1)' --seed 1 "
			    "-o wider.db");
	// What is left is tapered at level 1: 18 down, 6 up.
	snprintf(made.info.network.shape, sizeof made.info.network.shape,
		"pgft(3; 18,6,4; 1,6,6; 1,3,1)");
	judge(&made);
	says("less-taper", "A switch of level 1 has 18 cables down and 6 up.");
	snprintf(made.info.network.level_rates, sizeof made.info.network.level_rates,
		"25GB/s 100GB/s");
	judge(&made);
	assert_null(found("less-taper"));
	made.evidence.busy_percent = TB_EVIDENCE_FULL;
	snprintf(made.info.network.level_rates, sizeof made.info.network.level_rates,
		"25GB/s 12.5GB/s");
	judge(&made);
	says("less-taper", "Links between switches are slower than those below them.");
	assert_non_null(
		strstr(found("less-taper")->command, "level_rates=25GB/s 25GB/s"));
	made.info.network.level_rates[0] = '\0';
	// A tree that is tapered a lot is not full: what is above it waits for nothing.
	made.evidence.busy_percent = 10;
	made.evidence.stall_percent = 20;
	for (uint32_t i = 1; i < 9; i++)
		root(&made, link_of(TB_LINK_UP, i), 6);
	judge(&made);
	assert_null(found("network-full"));
	assert_non_null(found("less-taper"));
	made.evidence.n_roots = 5;
	judge(&made);
	assert_null(found("less-taper"));
	snprintf(made.info.network.shape, sizeof made.info.network.shape,
		"pgft(2; 4,4; 1,4; 1,1)");
	judge(&made);
	assert_null(found("less-taper"));
}

static void a_full_network_is_held_all_over(void **state)
{
	struct made made;
	(void)state;
	make_full(&made);
	judge(&made);
	says("network-full", "moved bytes for 35 % of the time");
	says("network-full", "Packets hold each other up");
	made.evidence.busy_percent = TB_EVIDENCE_FULL;
	judge(&made);
	says("network-full", "The links of its routes are full");
	says("second-rail", "whether others would do");
	take_time(&made, (tb_time_ps)WAIT_PS);
	made.evidence.bounds.whole.cut_ps = made.evidence.bounds.whole.routes_ps;
	judge(&made);
	says("network-full", "The network is full");
	says("second-rail", "The traffic fills this network.");
	made.evidence.path.causes[TB_PATH_COMPUTE] = made.info.simulated_ps;
	judge(&made);
	assert_null(found("network-full")); // all is computed: nobody waits for it
	assert_null(found("second-rail"));
	make_full(&made);
	made.evidence.busy_percent += made.evidence.stall_percent;
	made.evidence.stall_percent = 0;
	judge(&made);
	says("network-full", "moved bytes for 60 % of the time. No link");
	make_full(&made);
	made.evidence.busy_percent -= 0.1;
	judge(&made);
	assert_null(found("network-full"));
	make_full(&made);
	made.evidence.n_carrying = 9; // of 40
	judge(&made);
	assert_null(found("network-full"));
	make_full(&made);
	made.roots[0].wait_ps = (uint64_t)(WAIT_PS * TB_FINDING_FULL_ROOT / 100);
	judge(&made);
	assert_null(found("network-full"));
}

static void a_node_that_leaves_little_of_the_run_is_full_not_the_network(void **state)
{
	struct made made;
	(void)state;
	make_full(&made);
	tb_time_ps run_ps = made.info.simulated_ps = (tb_time_ps)WAIT_PS;
	made.evidence.path.causes[TB_PATH_HELD_UP] = run_ps / 4;
	made.evidence.bounds.whole.host_ps = run_ps * 91 / 100;
	made.evidence.bounds.whole.host.into = true;
	judge(&made);
	assert_null(found("network-full"));
	says("node-full",
		"A node's own link is full: what went into node 0 took it 91 %");
	says("second-rail", "A second rail gives every node");
	assert_null(strstr(found("second-rail")->sentence, "At best"));
	made.evidence.bounds.parts.run_ps = run_ps;
	judge(&made); // two links for what took one 91 %
	says("second-rail", "with it, 54 % less.");
	made.evidence.bounds.parts.run_ps = 0;
	made.evidence.bus = (struct tb_evidence_bus){{3}, 1e9, true, 92};
	judge(&made);
	says("node-full", "that of node 3, 1 GB/s for both directions together");
	says("second-rail", "A second rail gives every node a second bus.");
	made.evidence.n_waiting = 0; // it may be the library that queues
	judge(&made);
	assert_non_null(found("node-full"));
	assert_non_null(found("second-rail"));
	made.evidence.path.causes[TB_PATH_HELD_UP] = 0; // a lone message
	judge(&made);
	assert_null(found("node-full"));
	make_full(&made);
	made.info.simulated_ps = run_ps;
	made.evidence.bounds.whole.host_ps = run_ps * 89 / 100;
	made.evidence.path.causes[TB_PATH_HELD_UP] = run_ps / 4;
	judge(&made);
	assert_null(found("node-full"));
	assert_non_null(found("network-full"));
}

static void a_second_rail_is_for_networks_of_one(void **state)
{
	struct made made;
	(void)state;
	make_full(&made);
	made.info.network.n_rails = 2;
	judge(&made);
	assert_null(found("second-rail"));
	make_full(&made);
	made.info.options = "--network qsnet --seed 1 --fault link=0.1:4";
	judge(&made);
	assert_null(found("second-rail"));
	make_full(&made);
	strcpy(made.info.network.shape, "pgft(2; 4,4; 1,4; 1,1)");
	judge(&made);
	assert_non_null(found("second-rail"));
	make_full(&made);
	strcpy(made.info.network.shape, TB_SHAPE_FABRIC);
	judge(&made);
	assert_null(found("second-rail"));
}

static void a_second_rail_helps_a_node_that_posts_more_than_its_link_carries(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.evidence.n_waiting = 0; // in the network
	made.info.simulated_ps = 1000000;
	made.jobs[0].latency_ps = 100;
	made.jobs[0].queue_ps = made.jobs[0].network_ps = made.jobs[0].ideal_ps = 50;
	made.evidence.path.causes[TB_PATH_QUEUE] = 20000; // TB_FINDING_PAYS of the run
	made.evidence.backlog =
		(struct tb_backlog){.n_nodes = 1, .n_messages = 2, .carrying_ps = 500000};
	judge(&made);
	assert_non_null(found("backlog"));
	says("second-rail", "A node's link is busy for 50 % of the run");
	made.evidence.path.causes[TB_PATH_QUEUE] = 40000; // of which the network
	made.evidence.pressed_ps = 20000;
	judge(&made);
	says("second-rail", "and the network twice the cables");
	assert_null(strstr(found("second-rail")->sentence, "twice as fast"));
	made.evidence.path.causes[TB_PATH_QUEUE] = 20000;
	made.evidence.pressed_ps = 0;
	made.evidence.backlog.carrying_ps = 499999; // less than half of it
	judge(&made);
	assert_null(found("second-rail"));
	made.evidence.backlog.carrying_ps = 500000;
	made.evidence.path.causes[TB_PATH_QUEUE] = 19999;
	judge(&made);
	assert_null(found("second-rail"));
}

static void an_ascent_without_regard_to_the_load_may_be_the_cause(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.info.network.ascent = TB_ASCENT_DETERMINISTIC;
	made.info.options =
		"--network qsnet,ascent=deterministic --seed 1 --routes r.lft";
	root(&made, link_of(TB_LINK_UP, 1), TB_FINDING_INSIDE / 2);
	root(&made, link_of(TB_LINK_DOWN, 1), TB_FINDING_INSIDE / 2);
	judge(&made);
	tries("another-ascent",
		"tailback replay a.goal --network qsnet,ascent=adaptive --seed 1 -o "
		"adaptive.db");
	made.info.network.ascent = TB_ASCENT_ADAPTIVE;
	judge(&made);
	assert_null(found("another-ascent"));
	// By destination no link between switches takes longer than a node's.
	made.evidence.digits = (struct tb_evidence_digits){1000, 1000, 1000, 850};
	made.evidence.bounds.parts.run_ps = made.info.simulated_ps;
	made.evidence.bounds.parts.waiting_ps =
		(tb_time_ps)(TB_FINDING_ROUTES / 100 * (double)made.info.simulated_ps +
			     1);
	judge(&made);
	says("another-ascent", "no link between switches for longer than a node's own");
	tries("another-ascent",
		"tailback replay a.goal --network "
		"qsnet,ascent=deterministic --seed 1 -o deterministic.db");
	made.evidence.bounds.parts.waiting_ps -= 2;
	judge(&made);
	assert_null(found("another-ascent"));
	made.evidence.bounds.parts.waiting_ps += 2;
	made.evidence.digits.up_ps = 1001; // uneven
	judge(&made);
	assert_null(found("another-ascent"));
	made.evidence.digits.up_ps = 333;
	judge(&made);
	assert_non_null(found("another-ascent"));
	made.evidence.digits.inside_ps = 1001;
	judge(&made);
	assert_null(found("another-ascent"));
	strcpy(made.info.network.switching, "ethernet");
	made.info.network.ascent = TB_ASCENT_ECMP;
	judge(&made);
	assert_null(found("another-ascent")); // TCP takes what overtakes for lost
	strcpy(made.info.network.switching, "circuits");
	made.info.network.ascent = TB_ASCENT_RANDOM;
	made.roots[1].link = link_of(TB_LINK_EJECTION, 1);
	judge(&made);
	assert_null(found("another-ascent"));
}

// Other ways down to the leaf of an incast lead to the same link.
static void of_a_capture_what_an_incast_spills_is_no_matter_of_ways(void **state)
{
	const struct tb_run_link *links = tb_run_links(run);
	struct made made;
	(void)state;
	make(&made);
	made.info.network.ascent = TB_ASCENT_DETERMINISTIC;
	struct tb_evidence_end *at = end(&made, 12, 15, 8);
	uint32_t nth = 0;
	while (links[link_of(TB_LINK_DOWN, nth).id].at.to != links[at->link.id].at.from)
		nth++;
	root(&made, link_of(TB_LINK_DOWN, nth), TB_FINDING_INSIDE);
	judge(&made);
	assert_non_null(found("another-ascent"));
	made.info.input_kind = "packets";
	judge(&made);
	assert_null(found("another-ascent"));
	at->receives_more = false;
	judge(&made);
	assert_non_null(found("another-ascent"));
}

static void where_there_is_one_way_no_other_ascent_is_proposed(void **state)
{
	(void)state;
	struct made made;
	make(&made);
	made.info.network.ascent = TB_ASCENT_DETERMINISTIC;
	root(&made, link_of(TB_LINK_UP, 1), TB_FINDING_INSIDE);
	judge(&made);
	assert_non_null(found("another-ascent"));
	made.evidence.has_ways = false;
	judge(&made);
	assert_null(found("another-ascent"));
}

static void an_ascent_is_no_cause_where_any_routes_take_as_long(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	struct tb_bounds *bounds = &made.evidence.bounds;
	made.info.network.ascent = TB_ASCENT_DETERMINISTIC;
	made.info.input_kind = "job";
	take_time(&made, 1000000);
	root(&made, link_of(TB_LINK_UP, 1), TB_FINDING_INSIDE);
	bounds->whole.routes_ps = 400000 + (tb_time_ps)(TB_FINDING_ROUTES * 10000);
	judge(&made);
	assert_non_null(found("another-ascent"));
	bounds->whole.routes_ps--;
	judge(&made);
	assert_null(found("another-ascent"));
	// Even in all, but not in either of its phases.
	bounds->n_phases = 2;
	bounds->phases[0].routes_ps = (tb_time_ps)(TB_FINDING_ROUTES * 5000);
	bounds->phases[1].routes_ps = (tb_time_ps)(TB_FINDING_ROUTES * 5000);
	judge(&made);
	assert_non_null(found("another-ascent"));
	bounds->phases[1].cut_ps = 1;
	judge(&made);
	assert_null(found("another-ascent"));
	// With several jobs it may be another link that one of them waits for.
	made.evidence.jobs.n = 2;
	bounds->n_phases = 0;
	bounds->whole.routes_ps = 400000 + (tb_time_ps)(TB_FINDING_PAYS * 10000);
	judge(&made);
	assert_non_null(found("another-ascent"));
	bounds->whole.routes_ps--;
	judge(&made);
	assert_null(found("another-ascent"));
}

// On a wider tree static routes that meet may meet again.
static void a_taper_is_no_cause_where_routes_cost_more(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	struct tb_bounds *bounds = &made.evidence.bounds;
	snprintf(made.info.network.shape, sizeof made.info.network.shape,
		"pgft(3; 18,6,4; 1,3,6; 1,3,1)");
	for (uint32_t i = 0; i < 10; i++)
		root(&made, link_of(TB_LINK_UP, i), TB_FINDING_HOT / 10);
	take_time(&made, 1000000);
	bounds->whole.routes_ps = 799999;
	judge(&made);
	assert_non_null(found("less-taper"));
	bounds->whole.routes_ps = 800000;
	judge(&made);
	assert_null(found("less-taper"));
	// The nodes' links take nearly as long as the cables of the tree.
	bounds->whole.routes_ps = 400000;
	bounds->whole.host_ps = 400000 - (tb_time_ps)(TB_FINDING_ROOM * 10000);
	judge(&made);
	assert_non_null(found("less-taper"));
	bounds->whole.host_ps++;
	judge(&made);
	assert_null(found("less-taper"));
}

static void rates_are_written_in_the_largest_unit_that_holds_them(void **state)
{
	static const uint64_t rates[] = {
		50000000000, 57200000000, 3125000000, 400000000, 12345678901, 1500, 999};
	char text[TB_RATES_SIZE];
	(void)state;
	assert_string_equal(tb_rates_text(rates, 7, text),
		"50GB/s 57.2GB/s 3.125GB/s 400MB/s 12.345678901GB/s "
		"1.5kB/s 999B/s");
	assert_string_equal(tb_rates_text(rates, 1, text), "50GB/s");
}

static void servers_whose_links_take_all_the_time_are_not_spread(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	take_time(&made, 1000000);
	end(&made, 12, 15, 8);
	later(end(&made, 13, 14, 8));
	made.evidence.n_half_ends = 2;
	made.evidence.bounds.whole.host_ps =
		1000000 - (tb_time_ps)(TB_FINDING_ROOM * 10000);
	judge(&made);
	assert_non_null(found("spread-servers"));
	// Nodes of an all-to-all receive as much as any other.
	made.evidence.ends[1].receives_more = false;
	judge(&made);
	assert_null(found("spread-servers"));
	made.evidence.ends[1].receives_more = true;
	made.evidence.bounds.whole.host_ps++;
	judge(&made);
	assert_null(found("spread-servers"));
}

static void what_was_tried_and_does_not_help_is_no_remedy(void **state)
{
	struct made made;
	struct tb_run_tried tried = {
		.command = "tailback replay a.goal --network qsnet,ascent=adaptive "
			   "--seed 1 -o new.db",
		.title = "ascent=adaptive",
		.verdict = "helps",
		.of = "run time",
		.job = TB_ID_NONE,
		.n_seeds = 3,
		.gain_percent = 5,
		.half_percent = 1};
	(void)state;
	make(&made);
	made.info.network.ascent = TB_ASCENT_DETERMINISTIC;
	made.info.options = "--network qsnet --seed 1";
	made.evidence.tries = (struct tb_run_tries){.list = &tried, .n = 1};
	root(&made, link_of(TB_LINK_UP, 1), 40);
	judge(&made);
	assert_true(found("another-ascent")->remedy);
	assert_true(tb_finding_is_change(found("another-ascent")));
	assert_true(tb_finding_is_tried(found("another-ascent")));
	says("another-ascent", "Try adaptive routing. Tried, this helps: run time -5.0");
	tried.verdict = "harms";
	tried.gain_percent = -5;
	judge(&made);
	assert_false(found("another-ascent")->remedy);
	assert_null(found("another-ascent")->command);
	says("another-ascent",
		"No remedy: ascent=adaptive. Tried, this harms: run time +5.0 % +- 1.0");
	assert_false(tb_finding_is_change(found("another-ascent")));
	tried.verdict = "unclear";
	judge(&made);
	assert_true(tb_finding_is_change(found("another-ascent")));
	tried.verdict = "no difference";
	judge(&made);
	assert_false(tb_finding_is_change(found("another-ascent")));
	says("another-ascent", "No remedy: ascent=adaptive. Tried, this makes no diff");
}

static void a_try_that_needs_files_says_what_writes_them(void **state)
{
	struct made made;
	struct tb_run_tried tried = {
		.command = "tailback replay --job a.goal,map=FOLDER/ranks.map -o new.db",
		.title = "ranks by traffic",
		.verdict = "helps",
		.of = "run time",
		.job = TB_ID_NONE,
		.n_seeds = 3,
		.gain_percent = 5,
		.half_percent = 1};
	(void)state;
	make(&made);
	made.info.network.ascent = TB_ASCENT_DETERMINISTIC;
	made.info.options = "--network qsnet --seed 1";
	made.evidence.tries = (struct tb_run_tries){.list = &tried, .n = 1};
	root(&made, link_of(TB_LINK_UP, 1), 40);
	judge(&made);
	assert_true(tb_finding_is_change(found("another-ascent")));
	assert_false(tb_finding_is_tried(found("another-ascent")));
	assert_false(tb_finding_is_change(found("best-tried")));
	assert_true(tb_finding_is_tried(found("best-tried")));
	says("best-tried", "'tailback advise --write FOLDER' makes the FOLDER of this "
			   "command, with the files that it needs.");
}

static void a_narrow_bus_speaks_for_a_rail_rather_than_faster_links(void **state)
{
	struct made made;
	struct tb_network_params *network = &made.info.network;
	(void)state;
	make(&made);
	end(&made, 5, 90, TB_FINDING_SENDERS);
	tb_circuit_params_mutable(network)->bus_bytes_per_s = 0;
	tb_credit_params_mutable(network)->pcie_bytes_per_s =
		TB_SYNTH_RATE_BYTES_PER_S / 4 * 5;
	judge(&made);
	reals("second-rail", "faster_links_percent", 20);
	says("second-rail",
		"Links twice as fast would save 20 % of the time on them at most: a "
		"node's bus carries 423.3 MB/s.");
	tb_credit_params_mutable(network)->pcie_bytes_per_s =
		2 * TB_SYNTH_RATE_BYTES_PER_S;
	judge(&made);
	assert_non_null(found("second-rail"));
	assert_null(strstr(found("second-rail")->sentence, "twice as fast"));
}

static void remedies_have_the_figures_that_they_rest_on(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.info.network.ascent = TB_ASCENT_DETERMINISTIC;
	root(&made, link_of(TB_LINK_UP, 1), 20);
	root(&made, link_of(TB_LINK_DOWN, 1), 12.5);
	root(&made, link_of(TB_LINK_EJECTION, 1), 40);
	// What stands behind the last is no root.
	root(&made, link_of(TB_LINK_UP, 2), 10);
	made.evidence.n_roots--;
	judge(&made);
	reals("another-ascent", "inside_percent", 32.5);
	for (enum tb_ascent ascent = TB_ASCENT_ADAPTIVE_LOWEST;
		ascent <= TB_ASCENT_ADAPTIVE_ROUND_ROBIN; ascent++) {
		made.info.network.ascent = ascent;
		judge(&made);
		assert_null(found("another-ascent"));
	}
	make_full(&made);
	snprintf(made.info.network.shape, sizeof made.info.network.shape,
		"pgft(3; 18,6,4; 1,3,6; 1,3,1)");
	judge(&made);
	assert_int_equal(count_of(found("less-taper"), "level"), 0);
	assert_int_equal(count_of(found("less-taper"), "cables_down"), 18);
}

static void routes_and_faults_bind_a_run_to_its_network(void **state)
{
	static const char *const bound[] = {
		"--network qsnet --routes r.lft", "--network qsnet --fault link=0.1:4"};
	struct made made;
	(void)state;
	for (int i = 0; i < 2; i++) {
		make_full(&made);
		snprintf(made.info.network.shape, sizeof made.info.network.shape,
			"pgft(3; 18,6,4; 1,3,6; 1,3,1)");
		judge(&made);
		assert_non_null(found("less-taper"));
		assert_non_null(found("second-rail"));
		made.info.options = bound[i];
		judge(&made);
		assert_null(found("less-taper"));
		assert_null(found("second-rail"));
	}
	make_full(&made);
	made.info.network.broadcast = true;
	judge(&made);
	assert_null(found("second-rail"));
}

// Half of the wait has its roots between switches, and no node or link stands out.
static void a_network_is_crowded_from_half_of_the_wait_on(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	snprintf(made.info.network.shape, sizeof made.info.network.shape,
		"pgft(3; 18,6,4; 1,3,6; 1,3,1)");
	for (uint32_t i = 0; i < 10; i++)
		root(&made, link_of(TB_LINK_UP, i), TB_FINDING_HOT / 10);
	judge(&made);
	assert_non_null(found("less-taper"));
	made.roots[9].wait_ps--;
	judge(&made);
	assert_null(found("less-taper"));
}

static void only_nodes_at_ends_are_made_quicker(void **state)
{
	struct made made;
	(void)state;
	make_slow(&made, 9);
	// What stands behind the last end is none: node 6 stays slow.
	made.evidence.ends[1] = made.evidence.ends[0];
	made.evidence.ends[1].node.id = 6;
	made.info.options = "--network ib-hdr --slow 6=1GB/s --slow 5=2GB/s";
	judge(&made);
	tries("quicker-node", "tailback replay a.goal --network ib-hdr --slow 6=1GB/s -o "
			      "quicker.db");
	made.info.options = "--network ib-hdr,pcie=100MB/s";
	tb_credit_params_mutable(&made.info.network)->pcie_bytes_per_s =
		100000000; // of 400 MB/s
	judge(&made);
	tries("quicker-node", "tailback replay a.goal --network ib-hdr,pcie=400MB/s -o "
			      "quicker.db");
	tb_credit_params_mutable(&made.info.network)->pcie_bytes_per_s =
		400000000; // as its link
	judge(&made);
	assert_null(found("quicker-node"));
}

static void faults_can_be_left_out(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.info.n_undelivered = 1;
	made.info.n_retries = 2;
	made.info.options = "--network qsnet --seed 1 --fault 'link=node 5'";
	judge(&made);
	says("dead-links", "1 message was given up, and 2 packets were sent again.");
	tries("without-faults",
		"tailback replay a.goal --network qsnet --seed 1 -o whole.db");
	made.info.n_undelivered = made.info.n_retries = 0; // it ended before
	judge(&made);
	assert_null(found("without-faults"));
	make(&made);
	judge(&made);
	assert_null(found("dead-links"));
	assert_null(found("without-faults"));
}

static void what_dies_takes_a_shorter_timer_or_another_way(void **state)
{
	struct made made;
	struct tb_path_timeout timeout = {.source = {1},
		.destination = {2},
		.n = 8,
		.sum_ps = 536870912000,
		.lost = link_of(TB_LINK_UP, 0)};
	(void)state;
	make(&made);
	made.info.n_retries = 2;
	made.info.simulated_ps = 538000000000;
	made.info.network.retries = 7;
	made.info.network.ascent = TB_ASCENT_ECMP;
	made.info.network.retry_delay_ps = 67108864000;
	made.info.options = "--network roce-100 --seed 1 --fault link=0.0:4@5us";
	made.evidence.has_ways = true;
	made.evidence.path.timeouts = &timeout;
	made.evidence.path.n_timeouts = made.evidence.path.n_shares = 1;
	made.evidence.path.causes[TB_PATH_TIMEOUT] = timeout.sum_ps;
	judge(&made);
	tries("shorter-timer", // 2^9: not below the rest of the run
		"tailback replay a.goal --network roce-100,retry_delay=2097152ns --seed "
		"1 --fault link=0.0:4@5us -o timer.db");
	tries("another-ascent",
		"tailback replay a.goal --network roce-100,ascent=adaptive --seed 1 "
		"--fault link=0.0:4@5us -o adaptive.db");
	assert_true(found("without-faults") > found("another-ascent"));
	timeout.lost = link_of(TB_LINK_EJECTION, 0); // there is no other way
	made.info.network.retry_delay_ps = 4000000000;
	judge(&made);
	assert_null(found("shorter-timer"));
	assert_null(found("another-ascent"));
	assert_non_null(found("without-faults"));
}

static void a_run_that_cannot_be_replayed_again_has_no_commands(void **state)
{
	struct made made;
	(void)state;
	make_full(&made);
	made.info.input_name = "-";
	judge(&made);
	assert_non_null(found("network-full"));
	for (size_t i = 0; i < findings.n; i++)
		assert_null(findings.list[i].command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_on_leaves_of_their_own_are_spread_already),
		cmocka_unit_test(rates_are_written_in_the_largest_unit_that_holds_them),
		cmocka_unit_test(a_placement_that_is_given_is_not_spread),
		cmocka_unit_test(an_incast_that_cost_nothing_has_no_remedy),
		cmocka_unit_test(what_holds_up_little_stands_behind_the_rest),
		cmocka_unit_test(a_full_network_that_is_tapered_can_be_wider),
		cmocka_unit_test(a_full_network_is_held_all_over),
		cmocka_unit_test(
			a_node_that_leaves_little_of_the_run_is_full_not_the_network),
		cmocka_unit_test(a_second_rail_is_for_networks_of_one),
		cmocka_unit_test(
			a_second_rail_helps_a_node_that_posts_more_than_its_link_carries),
		cmocka_unit_test(an_ascent_without_regard_to_the_load_may_be_the_cause),
		cmocka_unit_test(where_there_is_one_way_no_other_ascent_is_proposed),
		cmocka_unit_test(of_a_capture_what_an_incast_spills_is_no_matter_of_ways),
		cmocka_unit_test(an_ascent_is_no_cause_where_any_routes_take_as_long),
		cmocka_unit_test(a_taper_is_no_cause_where_routes_cost_more),
		cmocka_unit_test(servers_whose_links_take_all_the_time_are_not_spread),
		cmocka_unit_test(what_was_tried_and_does_not_help_is_no_remedy),
		cmocka_unit_test(a_narrow_bus_speaks_for_a_rail_rather_than_faster_links),
		cmocka_unit_test(a_try_that_needs_files_says_what_writes_them),
		cmocka_unit_test(remedies_have_the_figures_that_they_rest_on),
		cmocka_unit_test(routes_and_faults_bind_a_run_to_its_network),
		cmocka_unit_test(a_network_is_crowded_from_half_of_the_wait_on),
		cmocka_unit_test(only_nodes_at_ends_are_made_quicker),
		cmocka_unit_test(faults_can_be_left_out),
		cmocka_unit_test(what_dies_takes_a_shorter_timer_or_another_way),
		cmocka_unit_test(a_run_that_cannot_be_replayed_again_has_no_commands),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
