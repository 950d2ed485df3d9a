// Fluid networks by closed forms (docs/fluid.md): a flow alone, flows that share, the
// textbook's max-min example, what a flow loses and to whom.
#include "../support/replay_outcome.h"

#include "network_impl.h"

#include <stdio.h>

// A byte takes 40 ps on a link; there is nothing beside payload, latency and sharing.
#define FLUID                                                                            \
	"ib-hdr,switching=fluid,payload=4096,overhead=0,first_overhead=0,pcie=none,"     \
	"send_overhead=0,receive_overhead=0,fetch_delay=0,queue_pair_gap=0,"             \
	"message_gap=0,ack=0"
#define STAR	    FLUID ",levels=1,arity=8"
#define BYTE_PS	    40
#define LATENCY_PS  ((tb_time_ps)145000)
#define STAR_PS	    (2 * LATENCY_PS)
#define MEGABYTE    UINT64_C(1000000)
#define MEGABYTE_PS ((tb_time_ps)(MEGABYTE * BYTE_PS))

static struct outcome replayed(const char *preset, struct line *lines, size_t n)
{
	return replay_blamed(preset, lines, n, 1);
}

static void a_flow_alone_takes_its_bytes_and_its_latency(void **state)
{
	(void)state;
	struct line lines[1] = {{.destination = 1, .bytes = 3 * MEGABYTE}};
	struct outcome outcome = replayed(STAR, lines, 1);
	assert_int_equal(lines[0].delivered, 3 * MEGABYTE_PS + STAR_PS);
	assert_int_equal(lines[0].sent, 3 * MEGABYTE_PS + 2 * STAR_PS);
	assert_int_equal(outcome.stats.wait_ps, 0);
	assert_int_equal(outcome.tally.flow_ideal_ps, outcome.tally.flow_network_ps);
	drop(&outcome);
	// The slower host counts, and a packet is fetched before it goes.
	outcome = replayed(STAR ",pcie=10GB/s", lines, 1);
	assert_int_equal(lines[0].delivered,
		3 * MEGABYTE * 100 + STAR_PS + 4096 * (BYTE_PS + 100));
	drop(&outcome);
}

static void as_packets_tell_of_a_message_alone(void **state)
{
	(void)state;
	const char *const presets[] = {"ib-hdr,arity=4", "ib-ndr,arity=4",
		"roce-100,arity=4", "qsnet", "qsnet,arity=2,levels=2,bus=200MB/s"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		char fluid[96];
		struct line packets[1] = {{.destination = 3, .bytes = 8 * MEGABYTE}};
		struct line flow[1] = {packets[0]};
		snprintf(fluid, sizeof fluid, "%s,switching=fluid", presets[i]);
		struct tb_network *net = network_of(presets[i]);
		struct outcome outcome = replay(net, packets, 1, 1, 0);
		drop(&outcome);
		tb_network_free(net);
		outcome = replayed(fluid, flow, 1);
		drop(&outcome);
		tb_time_ps apart = flow[0].delivered - packets[0].delivered;
		if (llabs(apart) * 1000 > packets[0].delivered)
			fail_msg("%s: %lld ps, not %lld", presets[i],
				(long long)flow[0].delivered,
				(long long)packets[0].delivered);
	}
}

static void n_flows_into_one_node_take_n_times_as_long(void **state)
{
	(void)state;
	enum { N = 7 };
	struct line lines[N];
	for (uint32_t i = 0; i < N; i++)
		lines[i] = (struct line){.source = i + 1, .bytes = MEGABYTE};
	struct tb_network *net = network_of(STAR);
	struct outcome outcome = replayed(STAR, lines, N);
	for (uint32_t i = 0; i < N; i++)
		assert_true(llabs(lines[i].delivered - N * MEGABYTE_PS - STAR_PS) <= 2);
	// Each loses what the six others take, before the link to node 0.
	tb_time_ps lost_ps = (tb_time_ps)N * (N - 1) * MEGABYTE_PS;
	assert_true(llabs((tb_time_ps)outcome.stats.wait_ps - lost_ps) <= 2 * N);
	assert_int_equal(outcome.tally.worst_root.id, net->ejection[0]);
	assert_int_equal(outcome.tally.worst_root_ps, outcome.stats.wait_ps);
	for (uint32_t i = 0; i < N; i++)
		assert_true(outcome.tally.links[net->injection[i + 1]].came_by_ps + 2 >=
			    (N - 1) * (uint64_t)MEGABYTE_PS);
	drop(&outcome);
	tb_network_free(net);
}

// Bertsekas and Gallager, Data Networks, 6.5.2: a long flow gets a half of a link that
// it shares with one flow, and a third of one that it shares with two; who shares with it
// there gets what it leaves. Here links to nodes: 0 and 1 send to 4, and 1 and 2 send to
// 5, 1 to 6 as well. What 1 sends is limited to a third by its own link.
static void rates_are_max_min_fair(void **state)
{
	(void)state;
	struct line lines[5] = {{.source = 0, .destination = 4, .bytes = 2 * MEGABYTE},
		{.source = 1, .destination = 4, .bytes = MEGABYTE},
		{.source = 1, .destination = 5, .bytes = MEGABYTE},
		{.source = 1, .destination = 6, .bytes = MEGABYTE},
		{.source = 2, .destination = 5, .bytes = 2 * MEGABYTE}};
	struct outcome outcome = replayed(STAR, lines, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(llabs(lines[i].delivered - 3 * MEGABYTE_PS - STAR_PS) <= 1);
	drop(&outcome);
}

// 1 MB shares its first part with another one that begins later: half of a rate, then
// all of it.
static void a_flow_that_comes_later_takes_its_share_from_then_on(void **state)
{
	(void)state;
	struct line lines[2] = {{.source = 1, .bytes = MEGABYTE},
		{.at = MEGABYTE_PS / 2, .source = 2, .bytes = MEGABYTE / 4}};
	struct outcome outcome = replayed(STAR, lines, 2);
	assert_int_equal(lines[1].delivered, MEGABYTE_PS + STAR_PS);
	assert_int_equal(lines[0].delivered, MEGABYTE_PS * 5 / 4 + STAR_PS);
	assert_int_equal(outcome.stats.wait_ps, MEGABYTE_PS / 2);
	drop(&outcome);
}

static void links_carry_all_bytes_and_no_more(void **state)
{
	(void)state;
	enum { N = 40 };
	struct line lines[N];
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < N; i++) {
		lines[i] = (struct line){.at = i * 1234567,
			.source = i * 7 % 16,
			.destination = (i * 5 + 3) % 16,
			.bytes = 1 + i * UINT64_C(77777)};
		if (lines[i].source == lines[i].destination)
			lines[i].destination ^= 1;
		bytes += lines[i].bytes;
	}
	struct tb_network *net = network_of(FLUID ",levels=2,arity=4");
	struct outcome outcome = replayed(FLUID ",levels=2,arity=4", lines, N);
	uint64_t in = 0, out = 0;
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		const struct tb_link_sample *to = &outcome.tally.links[net->ejection[i]];
		out += outcome.tally.links[net->injection[i]].bytes;
		in += to->bytes;
		assert_int_equal(to->busy_ps, to->bytes * BYTE_PS);
	}
	assert_int_equal(out, bytes);
	assert_int_equal(in, bytes);
	assert_int_equal(outcome.stats.payload_bytes, bytes);
	drop(&outcome);
	tb_network_free(net);
}

// Messages of a queue pair follow one another; those of a node that go elsewhere share
// its link.
static void messages_of_a_queue_pair_follow_one_another(void **state)
{
	(void)state;
	struct line lines[2] = {{.destination = 1, .bytes = MEGABYTE},
		{.destination = 1, .bytes = MEGABYTE}};
	struct outcome outcome = replayed(STAR, lines, 2);
	assert_int_equal(lines[0].delivered, MEGABYTE_PS + STAR_PS);
	assert_int_equal(lines[1].delivered, 2 * MEGABYTE_PS + STAR_PS);
	assert_int_equal(outcome.stats.wait_ps, 0);
	assert_int_equal(outcome.tally.flow_queue_ps, MEGABYTE_PS);
	drop(&outcome);
	outcome = replayed(STAR ",queue_pairs=message", lines, 2);
	assert_int_equal(lines[0].delivered, 2 * MEGABYTE_PS + STAR_PS);
	assert_int_equal(lines[1].delivered, 2 * MEGABYTE_PS + STAR_PS);
	assert_int_equal(outcome.stats.wait_ps, 0);
	assert_int_equal(outcome.tally.flow_queue_ps, 2 * MEGABYTE_PS);
	drop(&outcome);
}

static void gaps_lie_between_messages_that_begin(void **state)
{
	(void)state;
	struct line lines[3] = {{.destination = 1, .bytes = 100},
		{.destination = 1, .bytes = 100}, {.destination = 2, .bytes = 100}};
	struct outcome outcome =
		replayed(STAR ",message_gap=100ns,queue_pair_gap=1us", lines, 3);
	assert_int_equal(lines[0].delivered, 4000 + STAR_PS);
	assert_int_equal(lines[2].delivered, 100000 + 4000 + STAR_PS);
	assert_int_equal(lines[1].delivered, 1000000 + 4000 + STAR_PS);
	drop(&outcome);
}

static void a_bus_carries_both_directions(void **state)
{
	(void)state;
	struct line lines[2] = {
		{.destination = 1, .bytes = MEGABYTE}, {.source = 1, .bytes = MEGABYTE}};
	struct outcome outcome = replayed("qsnet,switching=fluid,levels=1,payload=320,"
					  "overhead=0,bus=400MB/s,send_overhead=0,"
					  "receive_overhead=0",
		lines, 2);
	// The bus carries a megabyte each way. A packet is fetched, crosses, and is
	// drained; one of these three is counted with the bytes.
	tb_time_ps latency = 2 * 35000 + 5000 + 2 * 320 * 2500;
	tb_time_ps both = 2 * (tb_time_ps)MEGABYTE * 2500;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(lines[i].delivered, both + latency);
	assert_int_equal(outcome.stats.wait_ps + outcome.tally.flow_queue_ps, both);
	drop(&outcome);
}

// Node 0 sends to 4, as do 1, 2 and 3, and to 5, to which nobody else does. Packets for 5
// stand behind those for 4 in one queue, and so the flow to 5 is as slow as that to 4.
static void flows_of_a_node_advance_together(void **state)
{
	(void)state;
#define FIFO "ib-hdr,levels=2,arity=4,queues=fifo,input_speedup=1"
	struct line packets[5] = {{.source = 1, .destination = 4, .bytes = MEGABYTE},
		{.source = 2, .destination = 4, .bytes = MEGABYTE},
		{.source = 3, .destination = 4, .bytes = MEGABYTE},
		{.source = 0, .destination = 4, .bytes = MEGABYTE},
		{.source = 0, .destination = 5, .bytes = MEGABYTE}};
	struct line flows[5];
	memcpy(flows, packets, sizeof flows);
	struct tb_network *net = network_of(FIFO);
	struct outcome outcome = replay(net, packets, 5, 1, 0);
	drop(&outcome);
	tb_network_free(net);
	outcome =
		replayed("ib-hdr,levels=2,arity=4,queues=fifo,switching=fluid", flows, 5);
	drop(&outcome);
	for (size_t i = 0; i < 5; i++)
		assert_true(llabs(packets[i].delivered - flows[i].delivered) * 20 <
			    packets[i].delivered);
	assert_true(llabs(flows[4].delivered - flows[3].delivered) * 100 <
		    flows[3].delivered);
}

// The same with a queue by output. Packets for 5 pass those for 4 until the buffer of B
// bytes behind node 0 is full of these. Until then each flow has half of the link, C / 2,
// of which a quarter of the link to 4, C / 4, goes on: 4 B / C, in which 2 B of the flow
// to 5 have come. The rest of it goes at C / 4. All of it has come after 4 (S - B) / C. A
// message of less than B holds nothing up.
static void a_buffer_holds_nobody_up_before_it_is_full(void **state)
{
	(void)state;
	enum { B = 64 << 10 };
	for (int i = 0; i < 2; i++) {
		uint64_t bytes = i ? B / 2 : MEGABYTE;
		struct line lines[5] = {{.source = 1, .destination = 4, .bytes = bytes},
			{.source = 2, .destination = 4, .bytes = bytes},
			{.source = 3, .destination = 4, .bytes = bytes},
			{.source = 0, .destination = 4, .bytes = bytes},
			{.source = 0, .destination = 5, .bytes = bytes}};
		struct outcome outcome = replayed(STAR, lines, 5);
		drop(&outcome);
		tb_time_ps takes =
			(tb_time_ps)(i ? 2 * bytes : 4 * (bytes - B)) * BYTE_PS;
		assert_true(llabs(lines[4].delivered - takes - STAR_PS) * 1000 < takes);
		takes = (tb_time_ps)(4 * bytes) * BYTE_PS;
		for (size_t k = 0; k < 4; k++)
			assert_true(llabs(lines[k].delivered - takes - STAR_PS) * 1000 <
				    takes);
	}
}

// A full link is shared by input, whatever flows come by each: of nodes 1 to 4, of which
// 1 sends three messages to 0 and the others one each, each gets a fourth.
static void a_full_link_is_shared_by_input(void **state)
{
	(void)state;
	struct line lines[6] = {{.source = 1, .bytes = MEGABYTE},
		{.source = 1, .bytes = MEGABYTE}, {.source = 1, .bytes = MEGABYTE},
		{.source = 2, .bytes = MEGABYTE}, {.source = 3, .bytes = MEGABYTE},
		{.source = 4, .bytes = MEGABYTE}};
	struct outcome outcome = replayed(STAR ",queue_pairs=message", lines, 6);
	for (size_t i = 3; i < 6; i++)
		assert_true(llabs(lines[i].delivered - 4 * MEGABYTE_PS - STAR_PS) <= 2);
	// Of node 1 a third each has gone by then; the rest has the link to itself.
	for (size_t i = 0; i < 3; i++)
		assert_true(llabs(lines[i].delivered - 6 * MEGABYTE_PS - STAR_PS) <= 2);
	drop(&outcome);
}

// 0 and 1 send over one link up, 0 to 4 and 1 to 10; 8 sends to 4 by another, and 5
// beside it. The link to 4 is full: the link down to it gets a half, of which the two
// links up get one each. Behind the first one 1 waits as long as 0, before a link that is
// not full.
static void a_full_link_holds_back_those_behind_others(void **state)
{
	(void)state;
	struct line lines[4] = {{.source = 0, .destination = 4, .bytes = MEGABYTE},
		{.source = 1, .destination = 10, .bytes = MEGABYTE},
		{.source = 8, .destination = 4, .bytes = MEGABYTE},
		{.source = 5, .destination = 4, .bytes = MEGABYTE}};
	// Even destinations are all behind the first of two cores.
	const char *tree =
		FLUID ",queues=fifo,shape=pgft(2;4,3;1,2;1,1),ascent=deterministic";
	struct tb_network *net = network_of(tree);
	struct outcome outcome = replayed(tree, lines, 4);
	assert_true(llabs(lines[3].delivered - 2 * MEGABYTE_PS - STAR_PS) <= 1);
	for (size_t i = 0; i < 3; i++)
		assert_true(
			llabs(lines[i].delivered - 3 * MEGABYTE_PS - 2 * STAR_PS) <= 4);
	assert_int_equal(outcome.tally.worst_root.id, net->ejection[4]);
	assert_true(outcome.tally.links[net->injection[1]].came_by_ps >=
		    (uint64_t)MEGABYTE_PS * 3 / 2);
	drop(&outcome);
	tb_network_free(net);
}

// Two nodes that send to each other with circuits: of what crosses a link, the other way
// carries tokens.
static void tokens_take_a_part_of_the_other_way(void **state)
{
	(void)state;
	struct line one[1] = {{.destination = 1, .bytes = MEGABYTE}};
	struct line both[2] = {one[0], {.source = 1, .bytes = MEGABYTE}};
	const char *ascents[] = {"levels=1", "levels=1,ascent=deterministic", "levels=2",
		"levels=2,slice=0"};
	for (size_t i = 0; i < sizeof ascents / sizeof *ascents; i++) {
		char preset[160];
		snprintf(preset, sizeof preset,
			"qsnet,switching=fluid,link_tokens=0.25,%s", ascents[i]);
		struct outcome outcome = replayed(preset, one, 1);
		drop(&outcome);
		outcome = replayed(preset, both, 2);
		drop(&outcome);
		for (size_t k = 0; k < 2; k++)
			if (llabs(both[k].delivered * 4 - one[0].delivered * 5) >=
				one[0].delivered / 50)
				fail_msg("%s: %lld, alone %lld", ascents[i],
					(long long)both[k].delivered,
					(long long)one[0].delivered);
	}
}

// Of two messages of a node with circuits one goes to a full node. They take turns, so
// the other one, although nobody is in its way, takes as long as the first one does by
// then.
// With TCP a message is sent when the send buffer has all of it: at once while that has
// room, and a long one when all but what the buffer holds is acknowledged.
static void a_message_is_sent_when_the_send_buffer_has_it(void **state)
{
	(void)state;
	const uint64_t sizes[] = {60000, 400000, MEGABYTE, 8 * MEGABYTE, 20 * MEGABYTE};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct line packets[2] = {{.destination = 1, .bytes = sizes[i]},
			{.destination = 1, .bytes = sizes[i]}};
		struct line flows[2] = {packets[0], packets[1]};
		struct outcome outcome = replayed("ethernet", packets, 2);
		drop(&outcome);
		outcome = replayed("ethernet,switching=fluid", flows, 2);
		drop(&outcome);
		for (size_t l = 0; l < 2; l++) {
			tb_time_ps apart = llabs(flows[l].sent - packets[l].sent);
			assert_true(apart * 8 <= packets[l].delivered);
			assert_true((flows[l].sent < TB_PS_PER_MS) ==
				    (packets[l].sent < TB_PS_PER_MS));
		}
	}
}

// A connection opens with a round trip before the first message of either direction.
static void a_connection_opens_with_a_round_trip(void **state)
{
	(void)state;
	const tb_time_ps pause = 20 * TB_PS_PER_MS;
	struct line packets[4] = {{.destination = 1, .bytes = 1},
		{.at = TB_PS_PER_US, .source = 1, .destination = 0, .bytes = 1},
		{.at = pause, .destination = 1, .bytes = 1},
		{.at = 2 * pause, .source = 1, .destination = 0, .bytes = 1}};
	struct line flows[4];
	memcpy(flows, packets, sizeof flows);
	struct outcome outcome = replayed("ethernet", packets, 4);
	drop(&outcome);
	outcome = replayed("ethernet,switching=fluid", flows, 4);
	drop(&outcome);
	for (size_t i = 0; i < 4; i++)
		if (llabs(flows[i].delivered - packets[i].delivered) > 2 * TB_PS_PER_US)
			fail_msg("%zu: %lld ps, not %lld", i,
				(long long)flows[i].delivered,
				(long long)packets[i].delivered);
	assert_true(flows[0].delivered > flows[2].delivered - pause + 40 * TB_PS_PER_US);
}

// Of two connections into one node the one with the larger window has the larger share,
// until the other one's has grown; of two out of one node likewise.
static void a_window_is_a_share_of_a_full_link(void **state)
{
	(void)state;
	for (uint32_t out = 0; out < 2; out++) {
		struct line packets[2] = {
			{.source = 1 - out, .destination = out, .bytes = 4 * MEGABYTE},
			{.at = 20 * TB_PS_PER_MS,
				.source = out ? 0 : 2,
				.destination = out ? 2 : 0,
				.bytes = MEGABYTE / 2}};
		struct line flows[2] = {packets[0], packets[1]};
		struct outcome outcome = replayed("ethernet", packets, 2);
		drop(&outcome);
		outcome = replayed("ethernet,switching=fluid", flows, 2);
		drop(&outcome);
		tb_time_ps took = packets[1].delivered - packets[1].at;
		tb_time_ps takes = flows[1].delivered - flows[1].at;
		if (llabs(takes - took) * 4 > took)
			fail_msg("%u: %lld ps, not %lld", out, (long long)takes,
				(long long)took);
	}
}

static void messages_take_turns_with_circuits(void **state)
{
	(void)state;
	struct line lines[4] = {{.source = 0, .destination = 1, .bytes = MEGABYTE},
		{.source = 0, .destination = 2, .bytes = MEGABYTE},
		{.source = 3, .destination = 1, .bytes = 4 * MEGABYTE}};
	struct outcome outcome =
		replayed("qsnet,switching=fluid,levels=1,ascent=deterministic", lines, 3);
	tb_time_ps alone = (tb_time_ps)MEGABYTE * 2500 / 320 * 378;
	// A round is a slice at half of the rate and one at all of it.
	for (size_t i = 0; i < 2; i++)
		assert_true(llabs(lines[i].delivered - 3 * alone) < alone / 10);
	drop(&outcome);
}

// Each of 16 nodes exchanges four messages with those whose numbers differ in one digit:
// they send in step, and all links of nodes are full both ways. Nobody falls out of step
// by rounding, after which they would meet at one another's partners.
static void nodes_in_step_stay_in_step(void **state)
{
	(void)state;
	static const uint32_t digits[] = {1, 2, 4, 8};
	const char *ascents[] = {"adaptive", "deterministic"};
	for (size_t i = 0; i < 2; i++) {
		struct line lines[16 * 4 * 4];
		size_t n = 0;
		tb_time_ps last = 0;
		for (uint32_t turn = 0; turn < 4; turn++)
			for (uint32_t node = 0; node < 16; node++)
				for (size_t d = 0; d < 4; d++)
					lines[n++] = (struct line){.source = node,
						.destination = node ^ digits[d],
						.bytes = 1 << 18};
		char preset[160];
		snprintf(preset, sizeof preset,
			"qsnet,switching=fluid,levels=2,link_tokens=0.25,ascent=%s",
			ascents[i]);
		struct outcome outcome = replayed(preset, lines, n);
		drop(&outcome);
		for (size_t k = 0; k < n; k++)
			last = tb_time_later(last, lines[k].delivered);
		double least = 16. * (1 << 18) * 2500 * 378 / 320 * 1.25;
		if ((double)last > least * 1.01)
			fail_msg("%s: %.2f times as long", ascents[i],
				(double)last / least);
	}
}

// Where routes do not depend on loads, each link carries what it carries of packets.
static void routes_are_those_of_packets(void **state)
{
	(void)state;
	enum { N = 48 };
	const char *const ascents[] = {"deterministic", "source", "ecmp"};
	const char *const networks[] = {"ib-hdr,levels=2,arity=4", "qsnet,levels=2"};
	for (size_t i = 0; i < 6; i++) {
		char preset[120];
		struct line lines[N];
		struct outcome outcomes[2];
		for (int fluid = 0; fluid < 2; fluid++) {
			for (uint32_t k = 0; k < N; k++)
				lines[k] = (struct line){.source = k % 16,
					.destination = (k % 16 + k / 16 * 5 + 3) % 16,
					.bytes = 10000 + k};
			snprintf(preset, sizeof preset, "%s,ascent=%s%s", networks[i % 2],
				ascents[i / 2], fluid ? ",switching=fluid" : "");
			struct tb_network *net = network_of(preset);
			outcomes[fluid] = replay(net, lines, N, 7, 0);
			tb_network_free(net);
		}
		assert_int_equal(outcomes[0].n_links, outcomes[1].n_links);
		for (uint32_t l = 0; l < outcomes[0].n_links; l++) {
			const struct tb_link_sample *packets =
				&outcomes[0].tally.links[l];
			const struct tb_link_sample *flows = &outcomes[1].tally.links[l];
			assert_int_equal(packets->n_packets, flows->n_packets);
			if (i % 2 == 0) // of qsnet tokens are counted, too
				assert_int_equal(packets->bytes, flows->bytes);
		}
		drop(&outcomes[0]);
		drop(&outcomes[1]);
	}
}

// Flows that begin one after another, from one leaf to others, spread over all links up.
static void adaptive_ascents_take_the_link_with_the_fewest_flows(void **state)
{
	(void)state;
	const char *const ascents[] = {
		"adaptive", "adaptive-lowest", "adaptive-round-robin"};
	for (size_t i = 0; i < sizeof ascents / sizeof *ascents; i++) {
		char preset[320];
		struct line lines[4];
		for (uint32_t k = 0; k < 4; k++)
			lines[k] = (struct line){.source = k,
				.destination = 4 + 4 * (k % 3),
				.bytes = MEGABYTE};
		lines[3].destination = 5;
		snprintf(preset, sizeof preset, FLUID ",levels=2,arity=4,ascent=%s",
			ascents[i]);
		struct outcome outcome = replayed(preset, lines, 4);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(lines[k].delivered, MEGABYTE_PS + 2 * STAR_PS);
		drop(&outcome);
	}
}

static const char *const splitting[] = {
	"adaptive", "adaptive-lowest", "adaptive-round-robin", "random"};
enum { N_SPLITTING = sizeof splitting / sizeof *splitting, N_ADAPTIVE = 3 };

// All nodes of one leaf send to another one: messages of many packets, which each choose
// an ascent by load, share all links up and down alike, and nobody waits.
static void a_message_of_many_packets_takes_all_ascents(void **state)
{
	(void)state;
	enum { PACKETS = 245 };
	for (size_t i = 0; i < N_ADAPTIVE; i++) {
		char preset[320];
		struct line lines[4];
		for (uint32_t k = 0; k < 4; k++)
			lines[k] = (struct line){
				.source = k, .destination = 4 + k, .bytes = MEGABYTE};
		snprintf(preset, sizeof preset, FLUID ",levels=2,arity=4,ascent=%s",
			splitting[i]);
		struct tb_network *net = network_of(preset);
		struct outcome outcome = replayed(preset, lines, 4);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(lines[k].delivered, MEGABYTE_PS + 2 * STAR_PS);
		assert_int_equal(outcome.stats.wait_ps, 0);
		assert_int_equal(outcome.stats.n_hops, 4 * 4 * PACKETS);
		uint64_t n_up = 0, n_crossed = 0;
		for (uint32_t l = 0; l < net->n_links; l++) {
			const struct tb_link_sample *link = &outcome.tally.links[l];
			n_crossed += link->n_packets;
			n_up += net->links[l].kind == TB_LINK_UP ? link->n_packets : 0;
			if (link->n_packets == 0)
				continue;
			assert_int_equal(link->bytes, MEGABYTE);
			assert_true(link->n_packets >= 4 * (PACKETS / 4) &&
				    link->n_packets <= 4 * (PACKETS / 4 + 1));
		}
		assert_int_equal(n_up, 4 * PACKETS);
		assert_int_equal(n_crossed, 4 * 4 * PACKETS);
		drop(&outcome);
		tb_network_free(net);
	}
}

// Nodes of one leaf send to two others. By which links they come down is drawn: two meet
// there, but no more.
static void packets_that_choose_meet_on_their_way_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SPLITTING; i++) {
		char preset[320];
		struct line lines[16];
		tb_time_ps last = 0;
		for (uint32_t k = 0; k < 16; k++)
			lines[k] = (struct line){.source = k,
				.destination = (k + 6) % 16,
				.bytes = MEGABYTE};
		snprintf(preset, sizeof preset, FLUID ",levels=2,arity=4,ascent=%s",
			splitting[i]);
		struct outcome outcome = replayed(preset, lines, 16);
		drop(&outcome);
		for (uint32_t k = 0; k < 16; k++)
			last = tb_time_later(last, lines[k].delivered);
		assert_true(last > MEGABYTE_PS * 21 / 20 && last < MEGABYTE_PS * 3 / 2);
	}
}

// A message has no more ways than times that its packets choose anew.
static void a_message_of_few_packets_takes_few_ascents(void **state)
{
	(void)state;
	const uint32_t n_ways[2][5] = {{1, 1, 2, 2, 3}, {1, 2, 3, 4, 4}};
	for (size_t i = 0; i < N_SPLITTING * 5; i++) {
		char preset[320];
		uint32_t n_packets = (uint32_t)(i / N_SPLITTING) + 1, n_up = 0;
		struct line line = {.destination = 15, .bytes = n_packets * 4096};
		snprintf(preset, sizeof preset, FLUID ",levels=2,arity=4,ascent=%s",
			splitting[i % N_SPLITTING]);
		struct tb_network *net = network_of(preset);
		struct outcome outcome = replayed(preset, &line, 1);
		for (uint32_t l = 0; l < net->n_links; l++)
			n_up += net->links[l].kind == TB_LINK_UP &&
				outcome.tally.links[l].n_packets > 0;
		bool is_random = i % N_SPLITTING >= N_ADAPTIVE;
		assert_in_range(n_up, 1, n_ways[is_random][n_packets - 1]);
		assert_int_equal(
			line.delivered, line.bytes * BYTE_PS + (uint64_t)(2 * STAR_PS));
		drop(&outcome);
		tb_network_free(net);
	}
}

// Each of four nodes sends 1 MB to each of four others at one leaf: 4 MB go into each
// node, which limits, and each message loses three quarters of the time to the others.
static void split_messages_lose_time_where_they_meet(void **state)
{
	(void)state;
	enum { N = 16 };
	for (size_t i = 0; i < N_ADAPTIVE; i++) {
		char preset[320];
		struct line lines[N];
		for (uint32_t k = 0; k < N; k++)
			lines[k] = (struct line){.source = k % 4,
				.destination = 4 + k / 4,
				.bytes = MEGABYTE};
		snprintf(preset, sizeof preset, FLUID ",levels=2,arity=4,ascent=%s",
			splitting[i]);
		struct outcome outcome = replayed(preset, lines, N);
		for (uint32_t k = 0; k < N; k++)
			assert_int_equal(
				lines[k].delivered, 4 * MEGABYTE_PS + 2 * STAR_PS);
		assert_int_equal(outcome.stats.wait_ps + outcome.tally.flow_queue_ps,
			N * 3 * MEGABYTE_PS);
		drop(&outcome);
	}
}

// The three share an ascent in the network; in the ideal one only what two send to one
// node waits. Slower links inside hold up nobody.
static void on_the_ideal_network_only_nodes_links_limit(void **state)
{
	(void)state;
	enum { N = 4 };
	const struct tb_engine_options ideal = {.seed = 1, .ideal = true};
	const struct line asked[N] = {{.source = 1, .destination = 4, .bytes = MEGABYTE},
		{.source = 2, .destination = 8, .bytes = MEGABYTE},
		{.source = 3, .destination = 12, .bytes = MEGABYTE},
		{.source = 5, .destination = 12, .bytes = MEGABYTE}};
	struct line lines[N];
	struct tb_network *net = network_of(FLUID ",levels=2,arity=4");
	memcpy(lines, asked, sizeof lines);
	struct outcome outcome = replay(net, lines, N, 1, 0);
	drop(&outcome);
	tb_time_ps path_ps = 2 * STAR_PS;
	assert_true(lines[0].delivered > 2 * MEGABYTE_PS);
	for (uint32_t slower = 1; slower <= 2; slower++) {
		for (uint32_t i = 0; i < net->n_links; i++)
			if (net->links[i].kind == TB_LINK_UP ||
				net->links[i].kind == TB_LINK_DOWN)
				net->links[i].bytes_per_s /= slower;
		memcpy(lines, asked, sizeof lines);
		outcome = outcome_by(BY_ENGINE, net, lines, N, &ideal);
		assert_int_equal(outcome.tally.blame_ps, outcome.stats.wait_ps);
		drop(&outcome);
		for (uint32_t i = 0; i < N; i++) {
			tb_time_ps takes = (1 + (i >= 2)) * MEGABYTE_PS + path_ps;
			assert_true(llabs(lines[i].delivered - takes) <= 1000);
		}
	}
	tb_network_free(net);
}

static void a_run_is_the_same_again(void **state)
{
	(void)state;
	enum { N = 300 };
	struct line lines[N];
	uint64_t hashes[2];
	struct tb_network *net =
		network_of("ib-hdr,switching=fluid,levels=2,arity=4,ascent=adaptive");
	for (int i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < N; k++)
			lines[k] = (struct line){.at = k / 7 * 1000000,
				.source = k * 11 % 16,
				.destination = (k * 3 + k / 16) % 16,
				.bytes = k * UINT64_C(3001) % 65536};
		struct outcome outcome = replay(net, lines, N, 5, 0);
		hashes[i] = outcome.tally.hash;
		drop(&outcome);
	}
	assert_true(hashes[0] == hashes[1]);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_alone_takes_its_bytes_and_its_latency),
		cmocka_unit_test(as_packets_tell_of_a_message_alone),
		cmocka_unit_test(n_flows_into_one_node_take_n_times_as_long),
		cmocka_unit_test(rates_are_max_min_fair),
		cmocka_unit_test(a_flow_that_comes_later_takes_its_share_from_then_on),
		cmocka_unit_test(links_carry_all_bytes_and_no_more),
		cmocka_unit_test(messages_of_a_queue_pair_follow_one_another),
		cmocka_unit_test(gaps_lie_between_messages_that_begin),
		cmocka_unit_test(a_bus_carries_both_directions),
		cmocka_unit_test(flows_of_a_node_advance_together),
		cmocka_unit_test(a_buffer_holds_nobody_up_before_it_is_full),
		cmocka_unit_test(a_full_link_is_shared_by_input),
		cmocka_unit_test(a_full_link_holds_back_those_behind_others),
		cmocka_unit_test(tokens_take_a_part_of_the_other_way),
		cmocka_unit_test(a_message_is_sent_when_the_send_buffer_has_it),
		cmocka_unit_test(a_connection_opens_with_a_round_trip),
		cmocka_unit_test(a_window_is_a_share_of_a_full_link),
		cmocka_unit_test(messages_take_turns_with_circuits),
		cmocka_unit_test(nodes_in_step_stay_in_step),
		cmocka_unit_test(routes_are_those_of_packets),
		cmocka_unit_test(adaptive_ascents_take_the_link_with_the_fewest_flows),
		cmocka_unit_test(a_message_of_many_packets_takes_all_ascents),
		cmocka_unit_test(packets_that_choose_meet_on_their_way_down),
		cmocka_unit_test(a_message_of_few_packets_takes_few_ascents),
		cmocka_unit_test(split_messages_lose_time_where_they_meet),
		cmocka_unit_test(on_the_ideal_network_only_nodes_links_limit),
		cmocka_unit_test(a_run_is_the_same_again)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
