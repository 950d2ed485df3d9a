// The hosts against closed forms: what the libraries of QsNetII cost, how messages lie on
// rails, a node's memory.
#include "engine.h"
#include "host.h"

#include "../support/replay_script.h"
#include "network_open.h"
#include "preset.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

// The switch of papers 002 to 004: one Elite4 with all its links down.
#define QS8A "qsnet2,arity=8,levels=1"

enum { NICS_MOST = 32 };

struct outcome {
	struct tally tally;
	struct tb_engine_stats stats;
	uint32_t n_links;
	uint64_t injected[NICS_MOST]; // wire bytes, by NIC
	uint64_t ejected[NICS_MOST];
	uint64_t wait_ps; // of all links
};

static void replay(
	const char *preset, struct line *lines, size_t n, struct outcome *outcome)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_preset(&params, preset, &error) != TB_OK ||
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error) != TB_OK)
		fail_msg("%s", error.text);
	*outcome = (struct outcome){.n_links = tb_network_n_links(net)};
	struct script script = {lines, n, 0};
	struct tb_source source = script_source(&script);
	struct tb_observer observer = tally_observer(&outcome->tally, outcome->n_links);
	struct tb_host *host = NULL;
	struct tb_engine *engine = NULL;
	assert_int_equal(
		tb_host_new(&host, net, &source, &observer, tb_engine_ideal_ps, &error),
		0);
	struct tb_source nics = tb_host_source(host);
	struct tb_observer told = tb_host_observer(host);
	struct tb_engine_options options = {.seed = 1};
	int status = tb_engine_new(&engine, net, &nics, &told, &options, &error);
	while (status >= 0 && (status = tb_engine_run(engine, 1000, &error)) > 0)
		;
	if (status == TB_OK)
		status = tb_engine_finish(engine, &error);
	if (status != TB_OK)
		fail_msg("%s", error.text);
	outcome->stats = tb_engine_stats_of(engine);
	tb_host_stats(host, &outcome->stats);
	for (uint32_t id = 0; id < outcome->n_links; id++) {
		struct tb_link_info link = tb_network_link(net, (struct tb_link){id});
		outcome->wait_ps += outcome->tally.links[id].came_by_ps;
		if (link.kind == TB_LINK_INJECTION && link.from < NICS_MOST)
			outcome->injected[link.from] = outcome->tally.links[id].bytes;
		if (link.kind == TB_LINK_EJECTION && link.to < NICS_MOST)
			outcome->ejected[link.to] = outcome->tally.links[id].bytes;
	}
	free(outcome->tally.links);
	tb_engine_free(engine);
	tb_host_free(host);
	tb_network_free(net);
}

static double latency_us(const char *preset, uint64_t bytes)
{
	struct line line = {.destination = 1, .bytes = bytes};
	struct outcome outcome;
	replay(preset, &line, 1, &outcome);
	// A copied message is sent before it is acknowledged.
	assert_true(outcome.stats.now_ps >= line.sent &&
		    outcome.stats.now_ps >= line.delivered);
	return (double)line.delivered / 1e6;
}

// rate streams messages from node 0 to node 1, and back if `both`; MB/s in all.
static double rate(const char *preset, uint64_t bytes, size_t n, bool both)
{
	struct line *lines = calloc(n, sizeof *lines);
	struct outcome outcome;
	assert_non_null(lines);
	for (size_t i = 0; i < n; i++)
		lines[i] = (struct line){.source = both && i % 2,
			.destination = !(both && i % 2),
			.bytes = bytes};
	replay(preset, lines, n, &outcome);
	free(lines);
	return (double)(bytes * n) / ((double)outcome.stats.now_ps / 1e6);
}

static void assert_near(double value, double published, double percent)
{
	if (fabs(value / published - 1) * 100 > percent)
		fail_msg("%.4g, published %.4g", value, published);
}

static void libraries_take_what_was_published(void **state)
{
	(void)state;
	// Paper 004, table 2.
	assert_near(latency_us(QS8A, 4), 1.93, 1);
	assert_near(latency_us(QS8A ",host=get", 4), 3.19, 1);
	assert_near(latency_us(QS8A ",host=qdma", 4), 3.02, 1);
	assert_near(latency_us(QS8A ",host=tcp", 4), 23.92, 1);
	assert_near(rate(QS8A, 1 << 20, 32, false), 910.1, 1);
	assert_near(rate(QS8A ",host=get", 1 << 20, 32, false), 911.1, 1);
	assert_near(rate(QS8A ",host=qdma", 2048, 2000, false), 368.2, 1);
	assert_near(rate(QS8A ",host=tcp", 1 << 20, 32, false), 482.26, 1);
}

static void a_rail_more_is_a_bus_more(void **state)
{
	(void)state;
	// Paper 003, 4.1, on PCI-X of 100 MHz.
	assert_near(rate(QS8A ",bus=668MB/s", 1 << 20, 64, true), 670, 1);
	assert_near(rate(QS8A ",bus=668MB/s,rails=2", 1 << 20, 64, true), 1332, 1);
}

static void long_messages_are_split_evenly(void **state)
{
	(void)state;
	struct line line = {0, 0, 1, 3 * 512 * 10 + 2, 0, 0, 0, 0, 0};
	struct outcome outcome;
	replay(QS8A ",rails=3,levels=1", &line, 1, &outcome);
	assert_int_equal(outcome.tally.flow_messages, 1);
	assert_int_equal(outcome.tally.flow_bytes, line.bytes);
	// 5121, 5121 and 5120 bytes in 11, 11 and 10 packets.
	assert_int_equal(outcome.injected[0], 5121 + 11 * 64);
	assert_int_equal(outcome.injected[8], 5121 + 11 * 64);
	assert_int_equal(outcome.injected[16], 5120 + 10 * 64);
}

static void waits_of_all_rails_are_those_of_their_flows(void **state)
{
	(void)state;
	struct line lines[14];
	for (uint32_t i = 0; i < 14; i++)
		lines[i] = (struct line){
			.source = 1 + i / 2, .destination = 0, .bytes = 20000};
	struct outcome outcome;
	replay(QS8A ",rails=2", lines, 14, &outcome);
	assert_true(outcome.wait_ps > 0);
	assert_int_equal(outcome.tally.flow_wait_ps, outcome.wait_ps);
}

// Of a single message on an idle network, the network's part takes what the records call
// ideal.
static void the_ideal_of_a_message_is_what_it_takes_alone(void **state)
{
	(void)state;
	static const char *const hosts[] = {"", ",rails=2", ",host=get", ",host=tcp",
		",host=tcp,issue=1us,notice=30us,copy=none,largest=8K",
		",host=tcp,issue=1us,notice=1us,copy=none,largest=8K",
		",host=tcp,rails=2", ",handshake=rendezvous",
		",handshake=read,handshake_above=2048",
		",host=tports,stripe_above=0,rails=2",
		",rails=2,rails_policy=round-robin", ",rails=4,rails_policy=static",
		",rails=3,rails_policy=local,handshake=rendezvous",
		",rails=2,rails_policy=reserve", ",rails_policy=reserve",
		",rails=2,rails_policy=reserve,handshake=read,handshake_above=8",
		",handshake=rendezvous,handshake_above=2048,handshake_delay=3us,"
		"eager_copy=1GB/s",
		",host=tcp,copy=none,issue=1us,notice=1us,eager_copy=2GB/s,"
		"largest=8K",
		",launch=5us,channel_rate=200MB/s", ",rails=2,rails_policy=by-rank"};
	static const uint64_t sizes[] = {0, 8, 2048, 40001, 65537, 131072, 400000};
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			struct line line = {0, 0, 1, sizes[k], 0, 0, 0, 0, 0};
			struct outcome outcome;
			char preset[128];
			snprintf(preset, sizeof preset, QS8A "%s", hosts[i]);
			replay(preset, &line, 1, &outcome);
			const struct tally *tally = &outcome.tally;
			assert_int_equal(tally->flow_queue_ps, 0);
			if (tally->flow_ideal_ps != tally->flow_network_ps)
				fail_msg("%s, %llu bytes: %llu ps, ideal %llu", hosts[i],
					(unsigned long long)sizes[k],
					(unsigned long long)tally->flow_network_ps,
					(unsigned long long)tally->flow_ideal_ps);
		}
}

// Two messages of one process: the second waits for the first one's issue.
static void latency_is_queue_network_and_software(void **state)
{
	(void)state;
	struct line lines[2] = {{.destination = 1, .bytes = 8192},
		{.at = 200 * TB_PS_PER_NS, .destination = 1, .bytes = 8192}};
	struct outcome outcome;
	replay(QS8A ",issue=30us,notice=2us,handshake=rendezvous", lines, 2, &outcome);
	const struct tally *tally = &outcome.tally;
	assert_int_equal(tally->flow_queue_ps, 30 * TB_PS_PER_US - 200 * TB_PS_PER_NS);
	assert_int_equal(tally->flow_network_ps, tally->flow_ideal_ps);
	// Issue, notice, and the overheads of a request, its answer and the data.
	const tb_time_ps overheads = (1060 + 110) * TB_PS_PER_NS;
	assert_int_equal(
		tally->flow_latency_ps - tally->flow_queue_ps - tally->flow_network_ps,
		2 * (30 * TB_PS_PER_US + 2 * TB_PS_PER_US + 3 * overheads));
}

static void what_is_copied_within_a_node_spends_no_time_in_the_network(void **state)
{
	(void)state;
	struct line lines[2] = {{.bytes = 8000}, {.bytes = 8000}};
	struct outcome outcome;
	replay(QS8A ",local=memory,local_latency=1us,local_rate=800MB/s", lines, 2,
		&outcome);
	assert_int_equal(outcome.tally.flow_queue_ps, 10 * TB_PS_PER_US);
	assert_int_equal(outcome.tally.flow_network_ps, 0);
	assert_int_equal(outcome.tally.flow_ideal_ps, 0);
	assert_int_equal(outcome.tally.flow_latency_ps, (11 + 21) * TB_PS_PER_US);
}

static void a_process_notices_one_message_after_another(void **state)
{
	(void)state;
	struct line lines[3];
	for (uint32_t i = 0; i < 3; i++)
		lines[i] = (struct line){.source = 1 + i, .destination = 0};
	struct outcome outcome;
	replay(QS8A ",issue=0,notice=5us", lines, 3, &outcome);
	assert_int_equal(lines[1].delivered - lines[0].delivered, 5 * TB_PS_PER_US);
	assert_int_equal(lines[2].delivered - lines[1].delivered, 5 * TB_PS_PER_US);
}

static void short_messages_take_turns(void **state)
{
	(void)state;
	struct line lines[5];
	for (size_t i = 0; i < 5; i++)
		lines[i] = (struct line){.destination = 1, .bytes = 1024};
	struct outcome outcome;
	replay(QS8A ",rails=2", lines, 5, &outcome);
	assert_int_equal(outcome.injected[0], 3 * (1024 + 2 * 64));
	assert_int_equal(outcome.injected[8], 2 * (1024 + 2 * 64));
}

static void round_robin_splits_nothing(void **state)
{
	(void)state;
	struct line lines[3];
	for (size_t i = 0; i < 3; i++)
		lines[i] = (struct line){.destination = 1, .bytes = 5120};
	struct outcome outcome;
	replay(QS8A ",rails=2,rails_policy=round-robin", lines, 3, &outcome);
	assert_int_equal(outcome.injected[0], 2 * (5120 + 10 * 64));
	assert_int_equal(outcome.injected[8], 5120 + 10 * 64);
}

// Six nodes are as many as have different halves of four rails.
static void a_static_rail_has_one_direction_at_each_node(void **state)
{
	(void)state;
	struct line lines[30];
	size_t n = 0;
	for (uint32_t source = 0; source < 6; source++)
		for (uint32_t to = 0; to < 6; to++)
			if (to != source)
				lines[n++] = (struct line){.source = source,
					.destination = to,
					.bytes = 5120};
	struct outcome outcome;
	replay(QS8A ",rails=4,rails_policy=static", lines, n, &outcome);
	for (uint32_t node = 0; node < 6; node++) {
		uint32_t n_sending = 0, n_receiving = 0;
		for (uint32_t rail = 0; rail < 4; rail++) {
			bool sends = outcome.injected[rail * 8 + node] > 0;
			bool receives = outcome.ejected[rail * 8 + node] > 0;
			assert_false(sends && receives);
			n_sending += sends;
			n_receiving += receives;
		}
		assert_int_equal(n_sending, 2);
		assert_int_equal(n_receiving, 2);
	}
}

// Nodes 0 and 6 have the same directions, and both send on rails 0 and 1: the one takes
// number 0 / 6 + 6 of these, the other 6 / 6 + 0. Node 5 receives on both, and gets from
// node 0 what takes number 0 / 6 + 5.
static void of_several_static_rails_both_ends_choose_one(void **state)
{
	(void)state;
	struct line lines[3] = {{.source = 0, .destination = 6, .bytes = 100},
		{.source = 6, .destination = 0, .bytes = 300},
		{.source = 0, .destination = 5, .bytes = 200}};
	struct outcome outcome;
	replay(QS8A ",rails=4,rails_policy=static", lines, 3, &outcome);
	assert_int_equal(outcome.injected[0], 100 + 64);
	assert_int_equal(outcome.injected[8 + 6], 300 + 64);
	assert_int_equal(outcome.injected[8], 200 + 64);
}

static void a_local_choice_spares_the_busy_interface(void **state)
{
	(void)state;
	struct line lines[4] = {{.bytes = 51200}};
	for (size_t i = 0; i < 4; i++) {
		lines[i].destination = 1;
		lines[i].bytes = i == 0 ? 51200 : 512 * i;
	}
	struct outcome outcome;
	replay(QS8A ",issue=0,rails=2,rails_policy=local", lines, 4, &outcome);
	assert_int_equal(outcome.injected[0], 51200 + 100 * 64);
	assert_int_equal(outcome.injected[8], 512 * 6 + 6 * 64);
}

// What is acknowledged does not count any more: the second message finds both equal, and
// takes its turn.
static void a_local_choice_forgets_what_has_been_sent(void **state)
{
	(void)state;
	struct line lines[3] = {{.destination = 1, .bytes = 2048},
		{.at = TB_PS_PER_MS, .destination = 1, .bytes = 512},
		{.at = 2 * TB_PS_PER_MS, .destination = 1, .bytes = 1024}};
	struct outcome outcome;
	replay(QS8A ",rails=2,rails_policy=local", lines, 3, &outcome);
	assert_int_equal(outcome.injected[0], 2048 + 1024 + 6 * 64);
	assert_int_equal(outcome.injected[8], 512 + 64);
}

#define RESERVE QS8A ",issue=0,notice=0,rails_policy=reserve"

// Both ask, both are offered the other's interface; the younger refuses, and is offered
// it again when the older one has come in.
static void of_two_that_reserve_each_other_the_older_goes_first(void **state)
{
	(void)state;
	struct line lines[2] = {{.destination = 1, .bytes = 20000},
		{.source = 1, .destination = 0, .bytes = 30000}};
	struct line alone[2] = {lines[0], lines[1]};
	struct line empty = {.destination = 1};
	struct outcome outcome;
	replay(QS8A ",issue=0,notice=0", &empty, 1, &outcome);
	for (size_t i = 0; i < 2; i++)
		replay(QS8A ",issue=0,notice=0", &alone[i], 1, &outcome);
	replay(RESERVE, lines, 2, &outcome);
	assert_int_equal(lines[0].delivered, 2 * empty.delivered + alone[0].delivered);
	assert_int_equal(lines[1].delivered - lines[0].delivered,
		2 * empty.delivered + alone[1].delivered);
	// A request, an offer and the data each, a refusal and its release; the second
	// offer.
	assert_int_equal(outcome.stats.n_packets, 40 + 59 + 4 + 3);
}

static void of_a_circle_of_reservations_the_oldest_gets_through(void **state)
{
	(void)state;
	struct line lines[5], alone = {.destination = 1, .bytes = 20000};
	struct outcome outcome;
	for (uint32_t i = 0; i < 5; i++)
		lines[i] = (struct line){
			.source = i, .destination = (i + 1) % 5, .bytes = 20000};
	replay(RESERVE, &alone, 1, &outcome);
	replay(RESERVE, lines, 5, &outcome);
	assert_int_equal(lines[0].delivered, alone.delivered);
	for (size_t i = 1; i < 5; i++)
		assert_true(lines[i].delivered > 0);
}

// On one rail the second of two messages to one node waits for its offer until the first
// one is in; on two they do not wait for each other.
static void a_reserved_interface_receives_one_piece_at_a_time(void **state)
{
	(void)state;
	struct line lines[2] = {{.source = 1, .bytes = 20000},
		{.at = 10 * TB_PS_PER_US, .source = 2, .bytes = 20000}},
		    both[2] = {lines[0], lines[1]};
	struct outcome outcome;
	replay(RESERVE, lines, 2, &outcome);
	assert_true(lines[1].delivered > lines[0].delivered + 20000 * 1000);
	replay(RESERVE ",rails=2", both, 2, &outcome);
	assert_int_equal(both[0].delivered, lines[0].delivered);
	assert_true(both[1].delivered < lines[0].delivered + 11 * TB_PS_PER_US);
	assert_true(outcome.ejected[0] > 20000 && outcome.ejected[8] > 20000);
}

static void a_process_issues_one_message_after_another(void **state)
{
	(void)state;
	struct line lines[4];
	for (size_t i = 0; i < 4; i++)
		lines[i] = (struct line){.destination = 1 + (uint32_t)i};
	struct outcome outcome;
	replay(QS8A ",issue=5us,notice=0", lines, 4, &outcome);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(
			lines[i].delivered - lines[i - 1].delivered, 5 * TB_PS_PER_US);
}

static void one_outstanding_message_waits_for_the_acknowledgement(void **state)
{
	(void)state;
	struct line lines[2] = {{.destination = 1}, {.destination = 2}};
	struct outcome outcome;
	replay(QS8A ",issue=0,notice=0,outstanding=1", lines, 2, &outcome);
	assert_int_equal(
		lines[1].delivered - lines[0].delivered, lines[0].sent - lines[0].at);
}

static void a_handshake_crosses_the_network_first(void **state)
{
	(void)state;
	double plain = latency_us(QS8A ",issue=0,notice=0", 8);
	double empty = latency_us(QS8A ",issue=0,notice=0", 0);
	double read = latency_us(QS8A ",issue=0,notice=0,handshake=read", 8);
	double both = latency_us(QS8A ",issue=0,notice=0,handshake=rendezvous", 8);
	double under =
		latency_us(QS8A ",issue=0,notice=0,handshake=read,handshake_above=8", 8);
	assert_near(read, plain + empty, 1e-9);
	assert_near(both, plain + 2 * empty, 1e-9);
	assert_near(under, plain, 1e-9);
}

// With a rate of 1 GB/s 8 bytes take 8 ns at each end.
static void eager_messages_are_copied_at_both_ends_others_answered(void **state)
{
	(void)state;
	const char *eager = QS8A ",issue=0,notice=0,handshake=rendezvous,"
				 "handshake_above=8,handshake_delay=3us,eager_copy=1GB/s";
	double plain = latency_us(QS8A ",issue=0,notice=0", 8);
	double long_one = latency_us(QS8A ",issue=0,notice=0", 9);
	double empty = latency_us(QS8A ",issue=0,notice=0", 0);
	assert_near(latency_us(eager, 8), plain + 0.016, 1e-9);
	assert_near(latency_us(eager, 9), long_one + 2 * (empty + 3), 1e-9);
}

// What a process copies it cannot copy beside another one.
static void copies_of_eager_messages_hold_up_the_next(void **state)
{
	(void)state;
	struct line lines[2] = {
		{.destination = 1, .bytes = 4000}, {.destination = 1, .bytes = 4000}};
	struct outcome outcome;
	replay(QS8A ",issue=0,notice=0,eager_copy=100MB/s", lines, 2, &outcome);
	assert_int_equal(lines[1].delivered - lines[0].delivered, 40 * TB_PS_PER_US);
}

static void a_process_copies_one_message_after_another(void **state)
{
	(void)state;
	struct line lines[2] = {{.source = 3, .destination = 3, .bytes = 8000},
		{.source = 3, .destination = 3, .bytes = 800}};
	struct outcome outcome;
	replay(QS8A ",local=memory,local_latency=1us,local_rate=800MB/s", lines, 2,
		&outcome);
	assert_int_equal(lines[0].sent, 10 * TB_PS_PER_US);
	assert_int_equal(lines[0].delivered, 11 * TB_PS_PER_US);
	assert_int_equal(lines[1].delivered, 12 * TB_PS_PER_US);
	assert_int_equal(outcome.stats.n_packets, 0);
	assert_int_equal(outcome.stats.payload_bytes, 8800);
	assert_int_equal(outcome.stats.now_ps, 12 * TB_PS_PER_US);
}

#define MEMORY ",local=memory,local_latency=1us,local_rate=800MB/s"

// pairs_of fills lines for n pairs of processes of node 3 that send 8000 bytes at once.
static void pairs_of(struct line *lines, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		lines[i] = (struct line){.source = 3,
			.destination = 3,
			.bytes = 8000,
			.source_rank = 2 * i,
			.destination_rank = 2 * i + 1};
}

static void disjoint_pairs_copy_side_by_side(void **state)
{
	(void)state;
	struct line lines[3];
	struct outcome outcome;
	pairs_of(lines, 3);
	replay(QS8A MEMORY ",memory_rate=none", lines, 3, &outcome);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(lines[i].delivered, 11 * TB_PS_PER_US);
	assert_int_equal(outcome.tally.flow_queue_ps, 0);
}

static void copies_share_the_memory_evenly(void **state)
{
	(void)state;
	struct line lines[3];
	struct outcome outcome;
	pairs_of(lines, 3);
	lines[2].bytes = 4000;
	replay(QS8A MEMORY ",memory_rate=1200MB/s", lines, 3, &outcome);
	// Each gets 400 MB/s until the short one is done, then 600.
	assert_int_equal(lines[2].sent, 10 * TB_PS_PER_US);
	assert_in_range(lines[0].sent, 50 * TB_PS_PER_US / 3, 50 * TB_PS_PER_US / 3 + 2);
	assert_int_equal(lines[1].sent, lines[0].sent);
}

static void a_copy_that_begins_later_slows_those_before_it(void **state)
{
	(void)state;
	struct line lines[2];
	struct outcome outcome;
	pairs_of(lines, 2);
	lines[1].at = 5 * TB_PS_PER_US;
	replay(QS8A MEMORY ",memory_rate=800MB/s", lines, 2, &outcome);
	assert_int_equal(lines[0].sent, 15 * TB_PS_PER_US);
	assert_int_equal(lines[1].sent, 20 * TB_PS_PER_US);
	replay(QS8A MEMORY ",memory_rate=1600MB/s", lines, 2, &outcome);
	assert_int_equal(lines[0].sent, 10 * TB_PS_PER_US);
	assert_int_equal(lines[1].sent, 15 * TB_PS_PER_US);
}

// With a library that copies short messages, the sender issues and copies them, one after
// another, before their receivers do.
static void senders_copy_short_messages_within_a_node_too(void **state)
{
	(void)state;
	struct line lines[2];
	struct outcome outcome;
	pairs_of(lines, 2);
	lines[1].source_rank = 0;
	replay(QS8A MEMORY ",memory_rate=none,issue=2us,eager_copy=1GB/s", lines, 2,
		&outcome);
	assert_int_equal(lines[0].sent, 20 * TB_PS_PER_US);
	assert_int_equal(lines[1].sent, 30 * TB_PS_PER_US);
	assert_int_equal(lines[1].delivered, 31 * TB_PS_PER_US);
	assert_int_equal(outcome.tally.flow_queue_ps, 10 * TB_PS_PER_US);
	assert_int_equal(outcome.tally.flow_network_ps, 0);
}

static void receivers_find_long_messages_within_a_node_later(void **state)
{
	(void)state;
	struct line lines[2];
	struct outcome outcome;
	pairs_of(lines, 2);
	lines[1].source_rank = 0;
	replay(QS8A MEMORY ",memory_rate=none,issue=2us,eager_copy=1GB/s,"
			   "handshake=rendezvous,handshake_above=7999,"
			   "handshake_delay=3us",
		lines, 2, &outcome);
	assert_int_equal(lines[0].sent, 15 * TB_PS_PER_US);
	assert_int_equal(lines[1].sent, 17 * TB_PS_PER_US);
}

// Channels send 128 KiB at a time, each of which is issued by itself.
static void channels_send_so_much_at_a_time(void **state)
{
	(void)state;
	struct outcome outcome;
	tb_time_ps ends[3];
	for (uint64_t i = 0; i < 3; i++) {
		struct line line = {.destination = 1, .bytes = (i + 1) << 17};
		replay(QS8A ",issue=500us,notice=0,channel_rate=100MB/s", &line, 1,
			&outcome);
		ends[i] = line.delivered;
	}
	assert_int_equal(ends[1] - ends[0], 500 * TB_PS_PER_US);
	assert_int_equal(ends[2] - ends[1], 500 * TB_PS_PER_US);
}

static void a_receiver_of_two_senders_copies_in_turn(void **state)
{
	(void)state;
	struct line lines[2];
	struct outcome outcome;
	pairs_of(lines, 2);
	lines[1].destination_rank = lines[0].destination_rank;
	replay(QS8A MEMORY ",memory_rate=none", lines, 2, &outcome);
	assert_int_equal(lines[0].sent, 10 * TB_PS_PER_US);
	assert_int_equal(lines[1].sent, 20 * TB_PS_PER_US);
	assert_int_equal(outcome.tally.flow_queue_ps, 10 * TB_PS_PER_US);
}

static void processes_with_links_copy_at_once_but_each_in_turn(void **state)
{
	(void)state;
	struct line lines[3] = {{.source = 3, .destination = 3, .bytes = 8000},
		{.source = 3, .destination = 3, .bytes = 800},
		{.source = 3,
			.destination = 3,
			.bytes = 4000,
			.source_rank = 1,
			.destination_rank = 2}};
	struct outcome outcome;
	replay(QS8A ",local=links,local_latency=1us,local_rate=800MB/s", lines, 3,
		&outcome);
	assert_int_equal(lines[0].sent, 10 * TB_PS_PER_US);
	assert_int_equal(lines[1].delivered, 12 * TB_PS_PER_US);
	assert_int_equal(lines[2].sent, 5 * TB_PS_PER_US);
	assert_int_equal(lines[2].delivered, 6 * TB_PS_PER_US);
	assert_int_equal(outcome.stats.n_packets, 0);
}

// Two links into one process, which takes in what one carries; a third link is free.
static void what_comes_to_a_process_over_links_comes_in_turn(void **state)
{
	(void)state;
	struct line lines[3];
	for (uint32_t i = 0; i < 3; i++)
		lines[i] = (struct line){.source = 3,
			.destination = 3,
			.bytes = 8000,
			.source_rank = i,
			.destination_rank = i == 2 ? 4 : 3};
	struct outcome outcome;
	replay(QS8A ",local=links,local_latency=1us,local_rate=800MB/s", lines, 3,
		&outcome);
	assert_int_equal(lines[0].delivered, 11 * TB_PS_PER_US);
	assert_int_equal(lines[1].delivered, 21 * TB_PS_PER_US);
	assert_int_equal(lines[2].delivered, 11 * TB_PS_PER_US);
}

// In an all-to-all by distance each link is busy all the time, in whatever order
// processes post.
static void links_carry_an_all_to_all_without_a_gap(void **state)
{
	(void)state;
	struct line lines[12];
	for (uint32_t i = 0; i < 12; i++)
		lines[i] = (struct line){.source = 3,
			.destination = 3,
			.bytes = 8000,
			.source_rank = i / 3,
			.destination_rank = (i / 3 + 1 + i % 3) % 4};
	struct outcome outcome;
	replay(QS8A ",local=links,local_latency=1us,local_rate=800MB/s", lines, 12,
		&outcome);
	assert_int_equal(outcome.stats.now_ps, 31 * TB_PS_PER_US);
}

#define BY_RANK QS8A ",issue=0,notice=0,rails=4,rails_policy=by-rank"

static void a_rank_bound_to_a_rail_uses_no_other(void **state)
{
	(void)state;
	struct line lines[4];
	for (uint32_t i = 0; i < 4; i++)
		lines[i] = (struct line){.destination = 1,
			.bytes = 100000,
			.source_rank = 5,
			.destination_rank = 5};
	struct outcome outcome;
	replay(BY_RANK, lines, 4, &outcome);
	for (uint32_t nic = 0; nic < 32; nic += 8)
		assert_true(nic == 8 ? outcome.injected[nic] > 400000
				     : outcome.injected[nic] < 10000);
}

// PXN: by NVLink to the rail of the receiver, whose NIC begins with the first 512 KiB.
static void a_message_to_another_rail_takes_a_link_first(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {8, 100000, UINT64_C(4) << 20};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct line same = {.destination = 1,
				    .bytes = sizes[i],
				    .source_rank = 2,
				    .destination_rank = 2},
			    other = same;
		struct outcome outcome;
		other.source_rank = 1;
		replay(BY_RANK ",local=links,local_latency=1us,local_rate=10GB/s", &same,
			1, &outcome);
		assert_int_equal(outcome.injected[8], 0);
		replay(BY_RANK ",local=links,local_latency=1us,local_rate=10GB/s", &other,
			1, &outcome);
		assert_int_equal(outcome.injected[8], 0);
		assert_true(outcome.injected[16] >= sizes[i]);
		uint64_t slot = sizes[i] < 1 << 19 ? sizes[i] : 1 << 19;
		assert_near((double)(other.delivered - same.delivered),
			(double)TB_PS_PER_US + (double)slot * 100, .01);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_take_what_was_published),
		cmocka_unit_test(disjoint_pairs_copy_side_by_side),
		cmocka_unit_test(copies_share_the_memory_evenly),
		cmocka_unit_test(a_copy_that_begins_later_slows_those_before_it),
		cmocka_unit_test(senders_copy_short_messages_within_a_node_too),
		cmocka_unit_test(receivers_find_long_messages_within_a_node_later),
		cmocka_unit_test(channels_send_so_much_at_a_time),
		cmocka_unit_test(a_receiver_of_two_senders_copies_in_turn),
		cmocka_unit_test(processes_with_links_copy_at_once_but_each_in_turn),
		cmocka_unit_test(what_comes_to_a_process_over_links_comes_in_turn),
		cmocka_unit_test(links_carry_an_all_to_all_without_a_gap),
		cmocka_unit_test(a_rank_bound_to_a_rail_uses_no_other),
		cmocka_unit_test(a_message_to_another_rail_takes_a_link_first),
		cmocka_unit_test(a_rail_more_is_a_bus_more),
		cmocka_unit_test(long_messages_are_split_evenly),
		cmocka_unit_test(waits_of_all_rails_are_those_of_their_flows),
		cmocka_unit_test(the_ideal_of_a_message_is_what_it_takes_alone),
		cmocka_unit_test(latency_is_queue_network_and_software),
		cmocka_unit_test(
			what_is_copied_within_a_node_spends_no_time_in_the_network),
		cmocka_unit_test(a_process_notices_one_message_after_another),
		cmocka_unit_test(short_messages_take_turns),
		cmocka_unit_test(round_robin_splits_nothing),
		cmocka_unit_test(a_static_rail_has_one_direction_at_each_node),
		cmocka_unit_test(of_several_static_rails_both_ends_choose_one),
		cmocka_unit_test(a_local_choice_spares_the_busy_interface),
		cmocka_unit_test(a_local_choice_forgets_what_has_been_sent),
		cmocka_unit_test(of_two_that_reserve_each_other_the_older_goes_first),
		cmocka_unit_test(of_a_circle_of_reservations_the_oldest_gets_through),
		cmocka_unit_test(a_reserved_interface_receives_one_piece_at_a_time),
		cmocka_unit_test(a_process_issues_one_message_after_another),
		cmocka_unit_test(one_outstanding_message_waits_for_the_acknowledgement),
		cmocka_unit_test(a_handshake_crosses_the_network_first),
		cmocka_unit_test(eager_messages_are_copied_at_both_ends_others_answered),
		cmocka_unit_test(copies_of_eager_messages_hold_up_the_next),
		cmocka_unit_test(a_process_copies_one_message_after_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
