// What is found of jobs, and of what they cost each other; of captures, and of their time
// scale.
#include "../../support/evidence_made.h"

#include "findings.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
	says("time-scale", "asks for little of this network: at most 0.99 % of");
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
	const struct tb_finding *slower = found("slower-scale");
	assert_true(tb_finding_figure(slower, "busiest_percent")->real == 101);
	assert_true(tb_finding_figure(slower, "time_scale")->real == 2.02);
	made.evidence.capture.busiest_share = 1;
	judge(&made);
	assert_null(found("slower-scale"));
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

static void try_ascent(struct made *made)
{
	make(made);
	made->info.network.ascent = TB_ASCENT_DETERMINISTIC;
	made->evidence.n_roots = 1;
	made->roots[0] = (struct tb_evidence_root){
		link_of(TB_LINK_UP, 0), {TB_ID_NONE}, (uint64_t)(WAIT_PS / 2)};
}

static void wait_that_does_not_matter_has_no_remedy(void **state)
{
	struct made made;
	(void)state;
	try_ascent(&made);
	take_time(&made, (tb_time_ps)(WAIT_PS * 50));
	judge(&made);
	assert_non_null(found("another-ascent"));
	made.info.simulated_ps++; // more than 50 times the wait
	judge(&made);
	assert_null(found("another-ascent"));
	made.info.n_lost = 1;
	judge(&made);
	assert_non_null(found("another-ascent"));
	made.info.n_lost = 0;
	made.info.input_kind = "packets"; // the capture decides how long it takes
	judge(&made);
	assert_non_null(found("another-ascent"));
	try_ascent(&made);
	made.jobs[0].network_ps = made.jobs[0].ideal_ps;
	judge(&made);
	assert_null(found("another-ascent"));
}

static void an_incast_that_is_over_at_once_has_no_remedy(void **state)
{
	struct made made;
	(void)state;
	make(&made);
	made.info.simulated_ps = (tb_time_ps)WAIT_PS * 40;
	made.evidence.n_ends = 1;
	made.evidence.ends[0] = (struct tb_evidence_end){.node = {5},
		.link = link_of(TB_LINK_EJECTION, 5),
		.percent = 60,
		.queue = {.at = {{0, (tb_time_ps)WAIT_PS * 2}},
			.n = 1,
			.senders = {.n = 9},
			.span_ps = (uint64_t)WAIT_PS * 2},
		.busy_percent = 30,
		.stall_percent = 10};
	judge(&made);
	assert_non_null(found("second-rail")); // 0.8 of 40: 2 %
	made.evidence.ends[0].busy_percent = 29.9;
	// Neither another span of time nor another end is one before it is counted.
	made.evidence.ends[0].queue.at[1].to_ps = (tb_time_ps)WAIT_PS * 30;
	made.evidence.ends[1] = made.evidence.ends[0];
	judge(&made);
	assert_non_null(found("incast"));
	assert_null(found("second-rail"));
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
	assert_int_equal(count_of(found("others-cost"), "taken_ps"), 12300000);
	assert_int_equal(count_of(found("others-cost"), "better_ps"), 10000000);
	assert_int_equal(count_of(found("network-cost"), "job"), 0);
	says("network-cost",
		"melt would take 5 us; by itself on this one it takes 10 us, "
		"100 % longer");
	made.times[0].run.run_ps = 12300000; // as much as io: the first is named
	judge(&made);
	says("others-cost", "The other jobs cost melt most");
	made.times[0].run.run_ps = 10100000;
	made.times[1].run.run_ps = 10200000; // just 2 %
	judge(&made);
	says("others-cost", "The other jobs cost io most");
	assert_non_null(found("separate-jobs"));
	made.times[1].run.run_ps = 10199000;
	made.times[0].ideal.run_ps = 9900000;
	made.times[1].ideal.run_ps = 9900000;
	judge(&made);
	says("others-cost",
		"The jobs cost each other less than 2 %. io pays most: it takes "
		"10.20 us with the others and 10 us alone.");
	assert_null(found("separate-jobs"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_share_leaves_can_be_moved_apart),
		cmocka_unit_test(leaves_whose_nodes_lie_apart_cannot_be_dealt_out),
		cmocka_unit_test(what_jobs_cost_each_other_takes_replays_of_each),
		cmocka_unit_test(jobs_that_wait_for_themselves_alone_are_told_so),
		cmocka_unit_test(a_capture_that_shows_nothing_has_another_time_scale),
		cmocka_unit_test(a_capture_that_asks_for_too_much_is_slowed_down),
		cmocka_unit_test(the_cost_is_the_networks_part_of_latency),
		cmocka_unit_test(wait_that_does_not_matter_has_no_remedy),
		cmocka_unit_test(an_incast_that_is_over_at_once_has_no_remedy),
		cmocka_unit_test(a_job_pays_for_the_others_and_for_the_network),
		cmocka_unit_test(a_message_of_a_capture_pays_by_its_latency),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
