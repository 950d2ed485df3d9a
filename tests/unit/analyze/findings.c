// Each rule on evidence that just fulfils it, and on evidence that just does not; the
// windows and regions behind them; and that the commands can be read by those who run
// them.
#include "../../analyze_fixture.h"

#include "findings.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WAIT_PS 1000000.0 // of all headers, in the evidence made here

static struct fixture fixture;
static struct tb_run *run;
static struct tb_findings findings;

static int set_up(void **state)
{
	(void)state;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_store(&fixture, 20, 7);
	return tb_run_open(&run, fixture.path, 0, &error);
}

static int tear_down(void **state)
{
	(void)state;
	tb_run_free(run);
	fixture_fini(&fixture);
	return 0;
}

// What a rule needs beside its own figures: a run that ended, of a job, with much wait.
struct made {
	struct tb_run_info info;
	struct tb_evidence_root roots[16];
	struct tb_evidence_pair pairs[4];
	struct tb_job_figures jobs[2];
	struct tb_job_times times[2];
	struct tb_region region;
	struct tb_evidence evidence;
};

static struct tb_link link_of(enum tb_link_kind kind, uint32_t nth)
{
	const struct tb_run_link *links = tb_run_links(run);
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
		if (links[i].at.kind == kind && nth-- == 0)
			return links[i].id;
	fail_msg("the network has too few links");
	return (struct tb_link){TB_ID_NONE};
}

static struct tb_evidence *make(struct made *made)
{
	*made = (struct made){.info = *tb_run_info(run)};
	made->info.input_name = "a.goal";
	made->info.input_kind = "job";
	made->info.options = "--network qsnet,levels=2 --seed 1";
	made->info.n_packets = 1;
	made->info.n_jobs = 1;
	made->jobs[0] = (struct tb_job_figures){.name = "melt",
		.n_ranks = 6,
		.n_nodes = 6,
		.latency_ps = 300,
		.queue_ps = 150,
		.network_ps = 150,
		.ideal_ps = 100};
	made->jobs[1] = (struct tb_job_figures){.name = "io",
		.n_ranks = 5,
		.n_nodes = 5,
		.latency_ps = 300,
		.queue_ps = 150,
		.network_ps = 150,
		.ideal_ps = 100};
	made->evidence = (struct tb_evidence){.run = run,
		.info = &made->info,
		.wait_ps = WAIT_PS,
		.n_waiting = 20,
		.n_carrying = 10,
		.n_used = 40,
		.n_senders = 16,
		.roots = made->roots,
		.pairs = made->pairs,
		.times = made->times,
		.jobs = {made->jobs, 1}};
	return &made->evidence;
}

static void judge(const struct made *made)
{
	tb_findings_fini(&findings);
	assert_int_equal(tb_findings_judge(&findings, &made->evidence), TB_OK);
}

static const struct tb_finding *found(const char *rule)
{
	return tb_findings_rule(&findings, rule);
}

static uint64_t count_of(const struct tb_finding *finding, const char *key)
{
	const struct tb_figure *figure = tb_finding_figure(finding, key);
	assert_non_null(figure);
	assert_true(figure->whole);
	return figure->count;
}

static void says(const char *rule, const char *words)
{
	assert_non_null(found(rule));
	if (!strstr(found(rule)->sentence, words))
		fail_msg("%s: '%s' is not in: %s", rule, words, found(rule)->sentence);
}

static void tries(const char *rule, const char *command)
{
	assert_non_null(found(rule));
	assert_true(found(rule)->remedy);
	assert_non_null(found(rule)->command);
	assert_string_equal(found(rule)->command, command);
}

static void root(struct made *made, struct tb_link link, double percent)
{
	made->roots[made->evidence.n_roots++] =
		(struct tb_evidence_root){link, (uint64_t)(WAIT_PS * percent / 100)};
}

static struct tb_evidence_end *end(
	struct made *made, uint32_t nth, double percent, uint32_t senders)
{
	struct tb_link link = link_of(TB_LINK_EJECTION, nth);
	struct tb_evidence_end *at = &made->evidence.ends[made->evidence.n_ends++];
	root(made, link, percent);
	*at = (struct tb_evidence_end){.node = {tb_run_links(run)[link.id].at.to},
		.link = link,
		.percent = percent,
		.times = {{2000000, 5000000}},
		.n_times = 1,
		.senders = {.n = senders, .first_ps = 2000000, .last_ps = 5000000},
		.busy_percent = 97};
	return at;
}

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
	says("no-wait", "No header waited");
	assert_null(found("where"));
	assert_null(found("little-wait"));
	made.info.input_kind = "routes";
	judge(&made);
	says("no-wait", "Nothing was simulated");
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
		"node 5 was busy for 97 % of that time and is the root of 20 % of all "
		"wait.");
	assert_int_equal(count_of(incast, "node"), 5);
	assert_int_equal(count_of(incast, "senders"), 3);
	assert_int_equal(count_of(incast, "begin_ps"), 2000000);
	assert_int_equal(count_of(incast, "end_ps"), 5000000);
	at->times[1].begin_ps = 7000000;
	at->times[1].end_ps = 9000000;
	at->n_times = 2;
	judge(&made);
	says("incast", "sent to it between 2 us and 5 us and between 7 us and 9 us.");
	assert_int_equal(count_of(found("incast"), "end_ps"), 9000000);
	tries("second-rail", "tailback replay a.goal --network qsnet,levels=2,rails=2 "
			     "--seed 1 -o rails.db");
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

// make_slow makes a node with credits that is the root of 20 % and drains slowly.
static struct tb_evidence_end *make_slow(struct made *made, uint32_t senders)
{
	make(made);
	struct tb_evidence_end *at = end(made, 5, TB_FINDING_INCAST, senders);
	snprintf(made->info.network.switching, sizeof made->info.network.switching,
		"credits");
	at->busy_percent = TB_FINDING_SLOW - 1;
	at->stall_percent = TB_FINDING_SLOW;
	at->senders.first.id = 7;
	return at;
}

static void a_stalled_root_is_a_slow_receiver_and_no_incast(void **state)
{
	struct made made;
	(void)state;
	make_slow(&made, 9);
	judge(&made);
	says("slow-receiver",
		"Slow receiver: node 5 drains more slowly than its link 0.1 > node 5 "
		"could bring the packets of 9 nodes between 2 us and 5 us. The link was "
		"busy for only 24 % of that time and stalled for 25 %; it is the root of "
		"200 ns of wait, 20 % of all.");
	assert_int_equal(count_of(found("slow-receiver"), "node"), 5);
	assert_int_equal(count_of(found("slow-receiver"), "wait_ps"), 200000);
	assert_null(found("incast"));
	make_slow(&made, 1);
	made.evidence.jobs.n = 2;
	judge(&made);
	says("slow-receiver", "the packets of node 7 of melt between");
	made.evidence.ends[0].senders.job = TB_ID_NONE;
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
	assert_non_null(found("incast")); // busy for as long: their number, too
	make_slow(&made, TB_FINDING_SENDERS - 1)->busy_percent = TB_FINDING_SLOW;
	judge(&made);
	assert_non_null(found("slow-receiver"));
	make_slow(&made, 9)->percent = TB_FINDING_INCAST - 0.1;
	judge(&made);
	assert_null(found("slow-receiver"));
	make_slow(&made, 9)->n_times = 0;
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
	made.info.network.credits.pcie_bytes_per_s = 120000000; // of 400 MB/s
	judge(&made);
	tries("quicker-node", "tailback replay a.goal --network ib-hdr,pcie=0.48GB/s "
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
	says("hot-spot", "is the root of 50 % of all wait");
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
	end(&made, 13, 14, 8);
	made.evidence.n_half_ends = 2;
	made.evidence.half_ends_percent = 52;
	judge(&made);
	says("few-receivers", "16 nodes send, and the links to 2 nodes (node 12, node "
			      "13) are the roots "
			      "of 52 % of all wait");
	tries("spread-servers", "tailback replay --network qsnet,levels=2 --seed 1 --job "
				"a.goal,placement=cyclic -o spread.db");
	made.evidence.n_half_ends = 3; // of 16: more than one in eight
	judge(&made);
	assert_null(found("few-receivers"));
	assert_null(found("spread-servers"));
}

static void servers_on_leaves_of_their_own_are_spread_already(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	end(&made, 8, 15, 8);  // leaf 0.2
	end(&made, 13, 14, 8); // leaf 0.3
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
	assert_non_null(found("second-rail"));
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
	made.info.network.ascent = TB_ASCENT_RANDOM;
	made.roots[1].link = link_of(TB_LINK_EJECTION, 1);
	judge(&made);
	assert_null(found("another-ascent"));
}

static void make_jobs(struct made *made, double percent)
{
	make(made);
	made->info.input_name = "a.goal, b.goal";
	made->info.options = "--network qsnet,levels=2 --seed 1 --job "
			     "b.goal,placement=cyclic,name=io";
	made->evidence.jobs.n = 2;
	made->pairs[0] = (struct tb_evidence_pair){
		0, 0, (uint64_t)(WAIT_PS * (100 - percent) / 100)};
	made->pairs[1] =
		(struct tb_evidence_pair){0, 1, (uint64_t)(WAIT_PS * percent / 100)};
	made->evidence.n_pairs = 2;
	made->evidence.worst_pair_leaves = 1;
}

static void jobs_that_share_leaves_can_be_moved_apart(void **state)
{
	struct made made;
	(void)state;
	make_jobs(&made, TB_FINDING_OTHERS);
	judge(&made);
	says("whose",
		"5.0 % of the wait is that of one job for another; most of it is melt "
		"waiting for io: 50 ns in all, 5.0 % of the wait.");
	assert_int_equal(count_of(found("whose"), "victim_job"), 0);
	assert_int_equal(count_of(found("whose"), "culprit_job"), 1);
	// Six ranks fill two leaves of four, so that the next job begins at node 8.
	tries("separate-jobs", "tailback replay --network qsnet,levels=2 --seed 1 --job "
			       "a.goal,nodes=0-5 "
			       "--job b.goal,name=io,nodes=8-12 -o apart.db");
	make_jobs(&made, TB_FINDING_OTHERS - 0.1);
	judge(&made);
	assert_null(found("separate-jobs"));
	make_jobs(&made, 50);
	made.evidence.worst_pair_leaves = 0;
	judge(&made);
	assert_null(found("separate-jobs"));
	make_jobs(&made, 50);
	made.jobs[1].n_ranks = made.jobs[1].n_nodes = 9; // 8 nodes are left
	judge(&made);
	assert_null(found("separate-jobs"));
}

// swap_leaves joins two nodes to each other's leaf switches.
static void swap_leaves(uint32_t one, uint32_t other)
{
	struct tb_run_link *links = (struct tb_run_link *)(uintptr_t)tb_run_links(run);
	struct tb_run_link *first = &links[link_of(TB_LINK_EJECTION, one).id];
	struct tb_run_link *second = &links[link_of(TB_LINK_EJECTION, other).id];
	uint32_t leaf = first->at.from;
	first->at.from = second->at.from;
	second->at.from = leaf;
}

static void leaves_whose_nodes_lie_apart_cannot_be_dealt_out(void **state)
{
	struct made made;
	(void)state;
	make_jobs(&made, TB_FINDING_OTHERS);
	swap_leaves(1, 6);
	judge(&made);
	assert_null(found("separate-jobs"));
	swap_leaves(1, 6);
	judge(&made);
	assert_non_null(found("separate-jobs"));
}

static void what_jobs_cost_each_other_takes_replays_of_each(void **state)
{
	struct made made;
	(void)state;
	make_jobs(&made, TB_FINDING_OTHERS);
	judge(&made);
	tries("alone", "tailback replay a.goal --network qsnet,levels=2 --seed 1 --job "
		       "b.goal,placement=cyclic,name=io --alone -o alone.db");
	make_jobs(&made, TB_FINDING_OTHERS - 0.1);
	judge(&made);
	assert_null(found("alone"));
	make_jobs(&made, 50);
	made.info.options = "--network qsnet --seed 1 --job b.goal --alone";
	judge(&made);
	assert_null(found("alone"));
}

static void jobs_that_wait_for_themselves_alone_are_told_so(void **state)
{
	struct made made;
	(void)state;
	make_jobs(&made, 0);
	judge(&made);
	says("whose", "No job waited for another.");
	make(&made);
	judge(&made);
	assert_null(found("whose"));
}

static void a_capture_that_shows_nothing_has_another_time_scale(void **state)
{
	struct made made;
	(void)state;
	make(&made)->wait_ps = 94400;
	made.info.input_kind = "packets";
	made.info.input_name = "a.pcap";
	made.evidence.has_capture = true;
	made.evidence.capture.busiest_share = 0.0099;
	made.evidence.capture.half_scale = 0.0198;
	judge(&made);
	says("time-scale", "shows nothing to speak of");
	assert_string_equal(found("time-scale")->command,
		"tailback replay a.pcap --network qsnet,levels=2 --seed 1 --time-scale "
		"0.0198 -o scaled.db");
	assert_null(found("little-wait"));
	made.evidence.capture.busiest_share = 0.0101;
	judge(&made);
	assert_null(found("time-scale"));
	assert_non_null(found("little-wait"));
}

static void a_capture_that_asks_for_too_much_is_slowed_down(void **state)
{
	struct made made;
	(void)state;
	make(&made)->has_capture = true;
	made.info.input_kind = "packets";
	made.evidence.capture.busiest_share = 1.01;
	made.evidence.capture.half_scale = 2.02;
	judge(&made);
	says("slower-scale", "asks for 101 % of what its link carries");
	tries("slower-scale",
		"tailback replay a.goal --network qsnet,levels=2 --seed 1 --time-scale "
		"2.02 -o slower.db");
	made.evidence.capture.busiest_share = 1;
	judge(&made);
	assert_null(found("slower-scale"));
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
	make(&made);
	judge(&made);
	assert_null(found("dead-links"));
	assert_null(found("without-faults"));
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
		"2 links up and 1 link down are stalled alike, for 61 % of the time on "
		"average (high), and hold 10 % of the wait");
	made.region.wait_ps--;
	judge(&made);
	assert_null(found("region"));
}

static void the_cost_is_the_networks_part_of_latency(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	judge(&made);
	says("cost", "messages took 1.50 times as long as on an idle one");
	says("backlog", "spent 50 % of the time behind others of their own node");
	made.jobs[0].network_ps = 100;
	judge(&made);
	says("cost", "messages took no longer than on an idle one");
	made.jobs[0].queue_ps--;
	judge(&made);
	assert_null(found("backlog"));
	made.jobs[0].ideal_ps = 0;
	judge(&made);
	assert_null(found("cost"));
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
	says("traffic",
		"At least 51 % of the wait is that of traffic to node 3 for other "
		"such traffic.");
	made.evidence.grain = TB_EVIDENCE_FLOWS;
	made.evidence.traffic_is_exact = true;
	made.evidence.traffic[0].victim[0].id = 2;
	made.evidence.traffic[1] = made.evidence.traffic[0];
	made.evidence.traffic[1].culprit[0].id = 2;
	made.evidence.n_traffic = 2;
	judge(&made);
	says("traffic", "51 % of the wait is that of node 2 > node 3 for node 3 > node 3 "
			"(51 %) and node 2 > node 3 for itself (51 %).");
	made.evidence.grain = TB_EVIDENCE_SOURCE_LEAVES;
	made.evidence.traffic[1].culprit_leaf = 1;
	judge(&made);
	says("traffic", "traffic from leaf 0.0 for traffic from leaf 0.1 (51 %)");
	made.evidence.grain = TB_EVIDENCE_NO_GRAIN;
	judge(&made);
	assert_null(found("traffic"));
}

static struct tb_job_time time_of(tb_time_ps run_ps, double mean_latency_ps)
{
	return (struct tb_job_time){true, run_ps, 1, mean_latency_ps};
}

static void a_job_pays_for_the_others_and_for_the_network(void **state)
{
	struct made made;
	(void)state;
	make_jobs(&made, 50);
	judge(&made);
	assert_null(found("others-cost")); // not replayed by themselves
	assert_null(found("network-cost"));
	made.times[0] = (struct tb_job_times){
		time_of(10100000, 0), time_of(10000000, 0), time_of(5000000, 0)};
	made.times[1] = (struct tb_job_times){
		time_of(12300000, 0), time_of(10000000, 0), time_of(9000000, 0)};
	judge(&made);
	says("others-cost", "The other jobs cost io most: it takes 12.30 us with them "
			    "and 10 us alone, "
			    "23 % longer.");
	assert_int_equal(count_of(found("others-cost"), "job"), 1);
	says("network-cost",
		"melt would take 5 us; by itself on this one it takes 10 us, "
		"100 % longer");
	made.times[1].run.run_ps = 10199000;
	made.times[0].ideal.run_ps = 9900000;
	made.times[1].ideal.run_ps = 9900000;
	judge(&made);
	says("others-cost",
		"The jobs cost each other less than 2 %; most they cost io: it takes "
		"10.20 us with the others and 10 us alone.");
	says("network-cost",
		"would take 9.900 us; by itself on this one it takes 10 us: the network "
		"costs no job 2 % or more.");
	made.times[0].run.run_ps = 10000000;
	made.times[1].run.run_ps = 9000000; // sooner with the others
	made.times[0].ideal.run_ps = 10000000;
	made.times[1].ideal.run_ps = 10000000;
	judge(&made);
	says("others-cost", "none would be quicker by itself");
	says("network-cost", "this one costs it nothing");
}

static void a_message_of_a_capture_pays_by_its_latency(void **state)
{
	struct made made;
	(void)state;
	make_jobs(&made, 50);
	made.info.input_kind = "packets";
	made.times[0] = (struct tb_job_times){time_of(10000000, 2000000),
		time_of(10000000, 1000000), time_of(10000000, 500000)};
	judge(&made);
	says("others-cost",
		"cost melt most: a message of it takes 2 us with them and 1 us "
		"alone, 100 % longer");
	says("network-cost", "a message of melt would take 500 ns");
}

// Windows: 20 bins of 1 us, the last of 0.7 us.
static struct tb_wait_windows windows_of(const uint64_t *waits, uint64_t n)
{
	struct tb_wait_windows windows;
	assert_int_equal(tb_wait_windows_find(&windows, waits, n), TB_OK);
	return windows;
}

static void few_windows_hold_most_of_the_wait(void **state)
{
	(void)state;
	uint64_t waits[100] = {0};
	assert_int_equal(windows_of(waits, 100).n, 0);
	waits[10] = 40;
	waits[11] = 39;
	waits[50] = 1;
	waits[90] = 20;
	struct tb_wait_windows windows = windows_of(waits, 100);
	assert_int_equal(windows.n, 2); // 79 is not enough, 99 is
	assert_int_equal(windows.at[0].first_bin, 10);
	assert_int_equal(windows.at[0].end_bin, 12);
	assert_int_equal(windows.at[1].first_bin, 90);
	assert_int_equal(windows.at[1].end_bin, 91);
	assert_int_equal(windows.n_bins, 3);
	assert_true(windows.percent > 98.9 && windows.percent < 99.1);
	waits[10] = 41; // with 80 of 101 it is not yet enough, with 81 of 101 it is
	waits[11] = 40;
	waits[90] = 19;
	assert_int_equal(windows_of(waits, 100).n, 1);
}

static void the_widest_gaps_stay_open(void **state)
{
	(void)state;
	uint64_t waits[100] = {0};
	waits[5] = waits[8] = waits[30] = waits[60] = waits[64] = waits[99] = 10;
	struct tb_wait_windows windows = windows_of(waits, 100);
	// Five bins are enough (the first ones of equals): 5, 8, 30, 60, 64.
	assert_int_equal(windows.n, 3);
	assert_int_equal(windows.at[0].first_bin, 5);
	assert_int_equal(windows.at[0].end_bin, 9);
	assert_int_equal(windows.at[1].first_bin, 30);
	assert_int_equal(windows.at[2].first_bin, 60);
	assert_int_equal(windows.at[2].end_bin, 65);
	memset(waits, 0, sizeof waits);
	waits[20] = waits[22] = 10; // a gap of one bin in a hundred is no pause
	assert_int_equal(windows_of(waits, 100).n, 1);
	memset(waits, 0, sizeof waits);
	waits[20] = waits[23] = 10; // one of two is
	assert_int_equal(windows_of(waits, 100).n, 2);
}

static void quiet_slices_part_the_windows(void **state)
{
	(void)state;
	struct tb_wait_windows windows;
	uint64_t waits[100] = {0};
	waits[9] = 4; // less than a twentieth of the worst
	waits[10] = 5;
	waits[11] = 100;
	waits[40] = 50;
	assert_int_equal(tb_wait_windows_above(&windows, waits, 100, 5), TB_OK);
	assert_int_equal(windows.n, 2);
	assert_int_equal(windows.at[0].first_bin, 10);
	assert_int_equal(windows.at[0].end_bin, 12);
	assert_int_equal(windows.at[1].first_bin, 40);
	memset(waits, 0, sizeof waits);
	assert_int_equal(tb_wait_windows_above(&windows, waits, 100, 5), TB_OK);
	assert_int_equal(windows.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_run_is_called_incomplete),
		cmocka_unit_test(no_wait_is_no_wait),
		cmocka_unit_test(a_wait_of_less_than_a_tenth_of_a_packet_is_little),
		cmocka_unit_test(an_incast_has_a_node_a_time_and_senders),
		cmocka_unit_test(two_senders_or_a_smaller_share_are_no_incast),
		cmocka_unit_test(a_stalled_root_is_a_slow_receiver_and_no_incast),
		cmocka_unit_test(a_slow_receiver_says_more_than_a_hot_spot),
		cmocka_unit_test(a_receiver_that_keeps_up_is_not_slow),
		cmocka_unit_test(a_slow_receiver_is_tried_as_quick_as_the_others),
		cmocka_unit_test(one_link_that_is_the_root_of_half_is_a_hot_spot),
		cmocka_unit_test(few_receivers_of_many_senders_are_named),
		cmocka_unit_test(servers_on_leaves_of_their_own_are_spread_already),
		cmocka_unit_test(a_placement_that_is_given_is_not_spread),
		cmocka_unit_test(a_full_network_that_is_tapered_can_be_wider),
		cmocka_unit_test(a_full_network_is_held_all_over),
		cmocka_unit_test(a_second_rail_is_for_networks_of_one),
		cmocka_unit_test(an_ascent_without_regard_to_the_load_may_be_the_cause),
		cmocka_unit_test(jobs_that_share_leaves_can_be_moved_apart),
		cmocka_unit_test(leaves_whose_nodes_lie_apart_cannot_be_dealt_out),
		cmocka_unit_test(what_jobs_cost_each_other_takes_replays_of_each),
		cmocka_unit_test(jobs_that_wait_for_themselves_alone_are_told_so),
		cmocka_unit_test(a_capture_that_shows_nothing_has_another_time_scale),
		cmocka_unit_test(a_capture_that_asks_for_too_much_is_slowed_down),
		cmocka_unit_test(faults_can_be_left_out),
		cmocka_unit_test(a_run_that_cannot_be_replayed_again_has_no_commands),
		cmocka_unit_test(a_region_counts_when_much_waits_in_it),
		cmocka_unit_test(the_cost_is_the_networks_part_of_latency),
		cmocka_unit_test(a_node_that_posts_more_than_its_link_carries_is_named),
		cmocka_unit_test(a_job_pays_for_the_others_and_for_the_network),
		cmocka_unit_test(a_message_of_a_capture_pays_by_its_latency),
		cmocka_unit_test(few_pairs_of_traffic_are_named),
		cmocka_unit_test(few_windows_hold_most_of_the_wait),
		cmocka_unit_test(the_widest_gaps_stay_open),
		cmocka_unit_test(quiet_slices_part_the_windows),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
