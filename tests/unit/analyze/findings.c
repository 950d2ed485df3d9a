// Each rule on evidence that just fulfils it, and on evidence that just does not; the
// regions behind them; and that the commands can be read by those who run them.
#include "../../support/evidence_made.h"

#include "credit_params.h"
#include "findings_impl.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_stopped_run_is_called_incomplete(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.info.complete = false;
	judge(&made);
	assert_non_null(found("incomplete"));
	made.info.complete = true;
	judge(&made);
	assert_null(found("incomplete"));
}

static void no_wait_is_no_wait(void **state)
{
	struct made made;
	(void)state;
	make(&made)->n_waiting = 0;
	made.evidence.wait_ps = 0;
	judge(&made);
	says("no-wait", "No packet waited");
	assert_null(found("where"));
	assert_null(found("little-wait"));
	made.info.input_kind = "routes";
	judge(&made);
	says("no-wait", "Nothing was simulated: the run holds what routes");
	made.info.input_kind = "job";
	made.info.n_messages = 0;
	judge(&made);
	says("no-wait", "No message was sent");
	made.info.simulated_ps = 0;
	judge(&made);
	says("no-wait", "Nothing was simulated: no message was sent");
	assert_null(found("placement"));
	make(&made);
	judge(&made);
	assert_null(found("no-wait"));
}

// A full packet takes 945 ns on a link of QsNet: 378 bytes at 400 MB/s.
static void a_wait_of_less_than_a_tenth_of_a_packet_is_little(void **state)
{
	struct made made;
	(void)state;
	make(&made)->wait_ps = 94400;
	end(&made, 3, 90, 15);
	judge(&made);
	says("little-wait", "94.40 ns a packet on average, 9.99 % of the 945 ns");
	assert_null(found("incast"));
	make(&made)->wait_ps = 94600;
	end(&made, 3, 90, 15);
	judge(&made);
	assert_null(found("little-wait"));
	assert_non_null(found("incast"));
}

static void an_incast_has_a_node_a_time_and_senders(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	struct tb_evidence_end *at = end(&made, 5, TB_FINDING_INCAST, TB_FINDING_SENDERS);
	judge(&made);
	const struct tb_finding *incast = found("incast");
	says("incast",
		"Incast at node 5: 3 nodes sent to it between 2 us and 5 us. Its link "
		"0.1 > "
		"node 5 causes 20 % of all wait: it was busy for 97 % of that "
		"time.");
	assert_int_equal(count_of(incast, "node"), 5);
	assert_int_equal(count_of(incast, "senders"), 3);
	assert_int_equal(count_of(incast, "begin_ps"), 2000000);
	assert_int_equal(count_of(incast, "end_ps"), 5000000);
	assert_null(strstr(incast->sentence, "ongestion"));
	at->busy_percent = 30;
	at->stall_percent = 20;
	judge(&made);
	says("incast", "busy for 30 % of that time and stalled for 20 %.");
	at->busy_percent = 19;
	judge(&made);
	says("incast",
		"busy for 19 % of that time and stalled for 20 %, and rested between "
		"bursts.");
	at->queue.at[1] = (struct tb_span){7000000, 9000000};
	at->queue.n = 2;
	judge(&made);
	says("incast", "sent to it between 2 us and 5 us and between 7 us and 9 us.");
	assert_int_equal(count_of(found("incast"), "end_ps"), 9000000);
	at->queue.at[1] = (struct tb_span){7000000, 7100000};
	at->queue.at_least = at->queue.within = true;
	at->queue.most_senders = 7;
	judge(&made);
	says("incast",
		"Incast at node 5: 3 to 7 nodes sent to it at some time between 2 us "
		"and "
		"5 us and at some time between 7 us and 7.100 us (within 100 ns).");
	at->queue.at_least = at->queue.within = false;
	at->queue.at_most = true;
	judge(&made);
	says("incast", "up to 3 nodes sent to it between 2 us and 5 us and between 7 us "
		       "and 7.100 us (for 100 ns).");
	tries("second-rail", "tailback replay a.goal --network qsnet,levels=2,rails=2 "
			     "--seed 1 -o rails.db");
	at->queue.at_most = false;
	at->queue.at[1] = (struct tb_span){7000001, 7000002};
	judge(&made);
	says("incast", "and 5 us and at 7.000 us (for 1 ps).");
}

static void two_senders_or_a_smaller_share_are_no_incast(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	end(&made, 5, 90, TB_FINDING_SENDERS - 1);
	judge(&made);
	assert_null(found("incast"));
	make(&made);
	end(&made, 5, TB_FINDING_INCAST - 0.1, 15);
	judge(&made);
	assert_null(found("incast"));
	assert_null(found("second-rail"));
}

static void a_window_of_an_incast_counts_in_a_long_run(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	struct tb_evidence_end *at = end(&made, 5, TB_EVIDENCE_PART, 15);
	at->window_percent = TB_FINDING_INCAST_THEN;
	judge(&made);
	says("incast", "node 5 causes 5.0 % of all wait, and 50 % of the wait "
		       "in that "
		       "time: it was busy for 97 % of that time.");
	at->window_percent -= 0.1;
	judge(&made);
	assert_null(found("incast"));
	at->window_percent = 100;
	at->percent -= 0.1;
	judge(&made);
	assert_null(found("incast"));
}

static void servers_hit_at_once_are_one_incast(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	end(&made, 2, 18, 9);
	end(&made, 5, 16, 12);
	end(&made, 8, 14, 12);
	end(&made, 13, 13, 12);
	made.evidence.n_half_ends = 4;
	judge(&made);
	says("incast",
		"Incast at 4 nodes at once: node 2 (18 %), node 5 (16 %), node 8 (14 %) "
		"and node 13 (13 %). Up to 9 nodes sent to each between 2 us and 5 us; "
		"together their links cause 61 % of all wait, and were busy for 97 % "
		"of "
		"that time.");
	assert_int_equal(count_of(found("incast"), "nodes"), 4);
	assert_null(found("few-receivers"));
	size_t n = 0;
	for (size_t i = 0; i < findings.n; i++)
		n += strcmp(findings.list[i].rule, "incast") == 0;
	assert_int_equal(n, 1);
	made.evidence.n_senders = 15; // more than a quarter: all send to all
	judge(&made);
	assert_null(found("incast"));
	made.evidence.n_senders = 16;
	for (uint32_t i = 1; i < 4; i++) // one after the other
		later(&made.evidence.ends[i]);
	judge(&made);
	assert_null(found("incast"));
	later(&made.evidence.ends[0]);
	judge(&made);
	says("incast", "between 6 us and 8 us");
}

static void a_busy_share_below_that_of_the_wait_is_explained(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	end(&made, 5, 31, 9)->busy_percent = 19;
	judge(&made);
	says("incast",
		"causes 31 % of all wait: it was busy for 19 % of that time, "
		"and rested between bursts. Busy is a share of the time, wait a sum "
		"over packets: in a burst those of all senders wait at once.");
}

// make_slow makes a node with credits that is the root of 20 % and drains slowly.
static void a_stalled_root_is_a_slow_receiver_and_no_incast(void **state)
{
	struct made made;
	(void)state;
	make_slow(&made, 9);
	judge(&made);
	says("slow-receiver",
		"Slow receiver: node 5 drains more slowly than its link 0.1 > node 5 "
		"could bring the packets of 9 nodes between 2 us and 5 us. The link was "
		"busy for only 24 % of that time and stalled for 25 %; it causes 200 ns "
		"of "
		"wait, 20 % of all.");
	assert_int_equal(count_of(found("slow-receiver"), "node"), 5);
	assert_int_equal(count_of(found("slow-receiver"), "wait_ps"), 200000);
	assert_null(found("incast"));
	make_slow(&made, 1);
	made.evidence.jobs.n = 2;
	judge(&made);
	says("slow-receiver", "the packets of node 7 of melt between");
	made.evidence.ends[0].queue.senders.job = TB_ID_NONE;
	judge(&made);
	says("slow-receiver", "the packets of node 7 of several jobs between");
}

static void a_slow_receiver_says_more_than_a_hot_spot(void **state)
{
	struct made made;
	(void)state;
	make_slow(&made, 1)->percent = 60;
	made.roots[0].wait_ps = (uint64_t)(WAIT_PS * 0.6);
	made.evidence.n_half_ends = 1;
	judge(&made);
	assert_non_null(found("slow-receiver"));
	assert_null(found("hot-spot"));
	assert_null(found("few-receivers"));
	snprintf(made.info.network.switching, sizeof made.info.network.switching,
		"circuits");
	judge(&made);
	assert_null(found("slow-receiver"));
	assert_non_null(found("hot-spot"));
}

static void a_receiver_that_keeps_up_is_not_slow(void **state)
{
	struct made made;
	(void)state;
	make_slow(&made, 9)->stall_percent = TB_FINDING_SLOW - 0.1;
	judge(&made);
	assert_null(found("slow-receiver"));
	make_slow(&made, TB_FINDING_SENDERS)->busy_percent = TB_FINDING_SLOW;
	judge(&made);
	assert_null(found("slow-receiver"));
	says("incast",
		"stalled for 25 %. Congestion control was off."); // busy for as long
	tb_credit_params_mutable(&made.info.network)->congestion_control =
		TB_CONGESTION_DCQCN;
	judge(&made);
	says("incast", "stalled for 25 %. Congestion control was on (dcqcn).");
	tb_credit_params_mutable(&made.info.network)->congestion_control =
		TB_CONGESTION_FECN;
	judge(&made);
	says("incast", "stalled for 25 %. Congestion control was on (fecn).");
	make_slow(&made, TB_FINDING_SENDERS - 1)->busy_percent = TB_FINDING_SLOW;
	judge(&made);
	assert_non_null(found("slow-receiver"));
	make_slow(&made, 9)->percent = TB_FINDING_INCAST - 0.1;
	judge(&made);
	assert_null(found("slow-receiver"));
	make_slow(&made, 9)->queue.n = 0;
	judge(&made);
	assert_null(found("slow-receiver"));
	assert_null(found("quicker-node"));
}

static void a_slow_receiver_is_tried_as_quick_as_the_others(void **state)
{
	struct made made;
	(void)state;
	make_slow(&made, 9);
	made.info.options =
		"--network ib-hdr --slow 15=1GB/s --slow 6=1GB/s --slow 5=2GB/s --seed 1 "
		"--slow 'node 5=3GB/s'";
	judge(&made);
	tries("quicker-node",
		"tailback replay a.goal --network ib-hdr --slow 15=1GB/s --slow 6=1GB/s "
		"--seed 1 -o quicker.db");
	made.info.options = "--network ib-hdr --slow alias=2GB/s";
	judge(&made);
	tries("quicker-node", "tailback replay a.goal --network ib-hdr -o quicker.db");
	made.info.options = "--network ib-hdr,pcie=120MB/s";
	judge(&made);
	assert_null(found("quicker-node")); // nothing is known to be slow
	tb_credit_params_mutable(&made.info.network)->pcie_bytes_per_s =
		120000000; // of 400 MB/s
	judge(&made);
	tries("quicker-node", "tailback replay a.goal --network ib-hdr,pcie=480MB/s "
			      "-o quicker.db");
	says("quicker-node", "The PCIe of a node carries less than its link.");
}

static void one_link_that_is_the_root_of_half_is_a_hot_spot(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	root(&made, link_of(TB_LINK_DOWN, 2), TB_FINDING_HOT);
	judge(&made);
	says("hot-spot", "causes 50 % of all wait");
	assert_int_equal(
		count_of(found("hot-spot"), "link"), link_of(TB_LINK_DOWN, 2).id);
	make(&made);
	root(&made, link_of(TB_LINK_DOWN, 2), TB_FINDING_HOT - 0.1);
	judge(&made);
	assert_null(found("hot-spot"));
	make(&made);
	end(&made, 2, 60, 9); // an incast says more
	judge(&made);
	assert_null(found("hot-spot"));
}

static void few_receivers_of_many_senders_are_named(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	end(&made, 12, 15, 8);
	later(end(&made, 13, 14, 8));
	made.evidence.n_half_ends = 2;
	made.evidence.half_ends_percent = 52;
	judge(&made);
	says("few-receivers", "16 nodes send, and the links to 2 nodes (node 12, node "
			      "13) cause 52 % of all wait");
	assert_int_equal(count_of(found("few-receivers"), "receivers"), 2);
	assert_int_equal(count_of(found("few-receivers"), "senders"), 16);
	assert_int_equal(count_of(found("few-receivers"), "node"), 12);
	tries("spread-servers", "tailback replay --network qsnet,levels=2 --seed 1 --job "
				"a.goal,placement=cyclic -o spread.db");
	made.info.n_levels = 1; // one switch: there is no other to spread them over
	judge(&made);
	assert_non_null(found("few-receivers"));
	assert_null(found("spread-servers"));
	made.info.n_levels = 2;
	made.evidence.n_half_ends = 3; // of 16: more than one in eight
	judge(&made);
	assert_null(found("few-receivers"));
	assert_null(found("spread-servers"));
}

static void a_region_counts_when_much_waits_in_it(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.region = (struct tb_region){.level = TB_STALLED_HIGH,
		.percent = 61,
		.worst = {7},
		.n_links = 3,
		.n_of_kind = {0, 2, 1, 0},
		.stall_ps = 5,
		.wait_ps = (uint64_t)(WAIT_PS * TB_FINDING_REGION / 100)};
	made.evidence.regions = (struct tb_regions){.regions = &made.region, .n = 1};
	judge(&made);
	says("region",
		"2 links up and 1 link down are joined and about equally stalled, for 61 "
		"% of the time on average (a high share), and hold 10 % of the wait");
	made.region.wait_ps--;
	judge(&made);
	assert_null(found("region"));
}

static void a_node_that_posts_more_than_its_link_carries_is_named(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.jobs[0].queue_ps = 30;
	made.evidence.backlog = (struct tb_backlog){.n_nodes = 1,
		.node = {3},
		.n_messages = 4,
		.bytes = 4096,
		.latency_ps = 400000000,
		.queue_ps = 240000000,
		.posting_ps = 2000000,
		.carrying_ps = 12100000};
	judge(&made);
	says("backlog",
		"spent 10 % of the time behind others of their own node. The longest "
		"backlog is that of node 3, which asks for more than its link gives: its "
		"messages stood 60 us of their 100 us there on average. It posted 4 KiB "
		"within 2 us; to carry that takes the link 12.10 us.");
	assert_int_equal(count_of(found("backlog"), "node"), 3);
	assert_int_equal(count_of(found("backlog"), "nodes"), 1);
	assert_int_equal(count_of(found("backlog"), "posted_bytes"), 4096);
	assert_int_equal(count_of(found("backlog"), "posting_ps"), 2000000);
	reals("backlog", "carrying_ps", 12100000);
	reals("backlog", "mean_queue_ps", 60000000);
	reals("backlog", "mean_latency_ps", 100000000);
	reals("backlog", "queue_percent", 10);
	made.evidence.backlog.n_nodes = 3;
	made.evidence.backlog.posting_ps = 12100000;
	judge(&made);
	says("backlog", "more than its link gives, in bursts: its messages");
	says("backlog", "2 other nodes have one too.");
}

static void few_pairs_of_traffic_are_named(void **state)
{
	struct made made;
	(void)state;
	make(&made)->grain = TB_EVIDENCE_DESTINATIONS;
	made.evidence.traffic[0] = (struct tb_evidence_traffic){
		.victim = {{3}, {3}}, .culprit = {{3}, {3}}, .percent = 51};
	made.evidence.n_traffic = 1;
	made.evidence.traffic_percent = 51;
	judge(&made);
	says("traffic", "At least 51 % of the wait is of traffic to node 3 for other "
			"traffic to it.");
	assert_int_equal(count_of(found("traffic"), "node"), 3);
	assert_int_equal(count_of(found("traffic"), "pairs"), 1);
	reals("traffic", "percent_of_wait", 51);
	made.evidence.grain = TB_EVIDENCE_FLOWS;
	made.evidence.traffic_is_exact = true;
	made.evidence.traffic[0].victim[0].id = 2;
	made.evidence.traffic[1] = made.evidence.traffic[0];
	made.evidence.traffic[1].culprit[0].id = 2;
	made.evidence.n_traffic = 2;
	judge(&made);
	says("traffic", "51 % of the wait is of node 2 > node 3 for node 3 > node 3 "
			"(51 %) and node 2 > node 3 for its own packets (51 %).");
	// Of what no digit shows no pair is named; a sentence begins with a capital.
	made.evidence.traffic_percent = 99.9;
	made.evidence.traffic[1].percent = TB_FINDING_TOLD - 0.01;
	judge(&made);
	says("traffic", "More than 99 % of the wait is of node 2 > node 3 for node 3 > "
			"node 3.");
	assert_int_equal(count_of(found("traffic"), "pairs"), 1);
	made.evidence.traffic[1].percent = TB_FINDING_TOLD;
	judge(&made);
	assert_int_equal(count_of(found("traffic"), "pairs"), 2);
	made.evidence.traffic[1].percent = 51;
	made.evidence.grain = TB_EVIDENCE_SOURCE_LEAVES;
	made.evidence.traffic[1].culprit_leaf = 1;
	judge(&made);
	says("traffic", "traffic from leaf 0.0 for traffic from leaf 0.1 (51 %)");
	assert_null(tb_finding_figure(found("traffic"), "node"));
	made.evidence.grain = TB_EVIDENCE_NO_GRAIN;
	judge(&made);
	assert_null(found("traffic"));
}

// seat makes the evidence of a job of `ranks` ranks on `nodes` nodes, at `leaves` leaf
// switches, that was placed as `placement`; of 16 nodes.
static struct tb_job_figures *seat(struct made *made, struct tb_job_seat *seats,
	char *placement, uint32_t ranks, uint32_t nodes, uint32_t leaves)
{
	make(made)->seats = seats;
	seats[0] = (struct tb_job_seat){
		.n_leaves = leaves, .bytes = 1000, .local_bytes = 870};
	made->jobs[0].placement = placement;
	made->jobs[0].n_ranks = ranks;
	made->jobs[0].n_nodes = nodes;
	return &made->jobs[0];
}

static void a_placement_that_uses_little_comes_first(void **state)
{
	char none[] = "", trace[] = "trace", apart[] = "apart";
	struct tb_job_seat seats[2] = {{0}};
	struct made made;
	(void)state;
	seat(&made, seats, trace, 16, 2, 2);
	judge(&made);
	assert_string_equal(findings.list[0].rule, "placement");
	says("placement",
		"The 16 ranks sit on 2 of 16 nodes, as in the trace: 87 % of the bytes "
		"stay within a node");
	reals("placement", "percent_within", 87);
	assert_non_null(strstr(found("placement")->command, "placement=block"));
	made.info.network.host.local = TB_LOCAL_LINKS; // as GPUs have: not torn apart
	judge(&made);
	says("placement", "87 % of the bytes stay within a node");
	assert_null(found("placement")->command);
	seat(&made, seats, trace, 8, 1, 1);
	judge(&made);
	says("placement", "All 8 ranks sit on one node of 16, as in the trace: none");
	seat(&made, seats, trace, 17, 2, 2);
	judge(&made);
	assert_null(found("placement")->command); // one more than there are nodes
	seat(&made, seats, none, 2, 2, 1);
	judge(&made);
	says("placement", "The 2 ranks sit on 2 of 16 nodes, all at one leaf switch");
	assert_null(found("placement")->command); // spread it would gain nothing
	seat(&made, seats, apart, 8, 8, 2);
	judge(&made);
	says("placement", "The 8 ranks ran on one host");
	assert_non_null(strstr(found("placement")->command, "placement=trace"));
	seat(&made, seats, none, 2, 2, 2); // at leaves of their own
	judge(&made);
	assert_null(found("placement"));
	seat(&made, seats, none, 3, 3, 1); // more than an eighth of the nodes
	judge(&made);
	assert_null(found("placement"));
	seat(&made, seats, trace, 16, 16, 4);
	judge(&made);
	assert_null(found("placement"));
}

static void a_placement_that_was_chosen_is_looked_at_no_more(void **state)
{
	char trace[] = "trace", block[] = "block, 4 a node";
	struct tb_job_seat seats[2] = {{0}};
	struct made made;
	(void)state;
	seat(&made, seats, trace, 8, 2, 2);
	assert_true(tb_placement_may_decide(&made.evidence, 0));
	seat(&made, seats, block, 8, 2, 2);
	assert_false(tb_placement_may_decide(&made.evidence, 0));
	seat(&made, seats, trace, 8, 2, 2);
	made.info.options = "--network qsnet --map a.map";
	assert_false(tb_placement_may_decide(&made.evidence, 0));
	made.info.options = "--network qsnet --closed-loop";
	assert_false(tb_placement_may_decide(&made.evidence, 0));
	seat(&made, seats, trace, 8, 2, 2);
	made.info.input_kind = "packets";
	assert_false(tb_placement_may_decide(&made.evidence, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_placement_that_uses_little_comes_first),
		cmocka_unit_test(a_placement_that_was_chosen_is_looked_at_no_more),
		cmocka_unit_test(a_stopped_run_is_called_incomplete),
		cmocka_unit_test(no_wait_is_no_wait),
		cmocka_unit_test(a_wait_of_less_than_a_tenth_of_a_packet_is_little),
		cmocka_unit_test(an_incast_has_a_node_a_time_and_senders),
		cmocka_unit_test(two_senders_or_a_smaller_share_are_no_incast),
		cmocka_unit_test(a_window_of_an_incast_counts_in_a_long_run),
		cmocka_unit_test(servers_hit_at_once_are_one_incast),
		cmocka_unit_test(a_busy_share_below_that_of_the_wait_is_explained),
		cmocka_unit_test(a_stalled_root_is_a_slow_receiver_and_no_incast),
		cmocka_unit_test(a_slow_receiver_says_more_than_a_hot_spot),
		cmocka_unit_test(a_receiver_that_keeps_up_is_not_slow),
		cmocka_unit_test(a_slow_receiver_is_tried_as_quick_as_the_others),
		cmocka_unit_test(one_link_that_is_the_root_of_half_is_a_hot_spot),
		cmocka_unit_test(few_receivers_of_many_senders_are_named),
		cmocka_unit_test(a_region_counts_when_much_waits_in_it),
		cmocka_unit_test(a_node_that_posts_more_than_its_link_carries_is_named),
		cmocka_unit_test(few_pairs_of_traffic_are_named),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
