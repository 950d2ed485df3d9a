// Ethernet by closed forms (docs/ethernet.md).
#include "../support/replay_outcome.h"

#include "network_impl.h"

// 100 Mbit/s; nodes cost nothing.
#define CABLE                                                                            \
	"ethernet-shaped,rate=100Mbit/s,burst=0,hop_latency=1ms,send_overhead=0,"        \
	"receive_overhead=0"
#define SHAPER                                                                           \
	"ethernet-shaped,rate=100Mbit/s,burst=3200,hop_latency=1ms,send_overhead=0,"     \
	"receive_overhead=0"

enum { FULL = 1448, OVERHEAD = 66 };
#define BYTE_PS	   ((tb_time_ps)80000)
#define FRAME_PS   ((FULL + OVERHEAD) * BYTE_PS)
#define ACK_PS	   (OVERHEAD * BYTE_PS)
#define LATENCY_PS (TB_PS_PER_MS)
// A connection opens by a frame there and one back.
#define OPEN_PS (4 * (ACK_PS + LATENCY_PS))

static struct outcome replay_on(const char *preset, struct line *lines, size_t n)
{
	struct tb_network *net = network_of(preset);
	struct outcome outcome = replay(net, lines, n, 1, 0);
	tb_network_free(net);
	return outcome;
}

static tb_time_ps time_of(const char *preset, uint64_t bytes)
{
	struct line line = {.destination = 1, .bytes = bytes};
	struct outcome outcome = replay_on(preset, &line, 1);
	drop(&outcome);
	return line.delivered;
}

static void a_frame_is_stored_and_forwarded(void **state)
{
	(void)state;
	assert_int_equal(time_of(CABLE, FULL), OPEN_PS + 2 * (FRAME_PS + LATENCY_PS));
	// What carries no bytes takes one.
	assert_int_equal(
		time_of(CABLE, 0), OPEN_PS + 2 * (ACK_PS + BYTE_PS + LATENCY_PS));
	struct line line = {.destination = 3, .bytes = FULL};
	struct outcome outcome = replay_on(CABLE ",levels=2,arity=2", &line, 1);
	assert_int_equal(line.delivered, 2 * OPEN_PS + 4 * (FRAME_PS + LATENCY_PS));
	drop(&outcome);
}

// Of two that write at one instant the lower node opens their connection, whoever posts
// first: the other one sends when it has the first segment.
static void the_lower_node_opens_of_two(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < 2; first++) {
		struct line lines[2] = {
			{.source = first, .destination = 1 - first, .bytes = FULL},
			{.source = 1 - first, .destination = first, .bytes = FULL}};
		struct outcome outcome = replay_on(CABLE, lines, 2);
		tb_time_ps takes = 2 * (FRAME_PS + LATENCY_PS);
		assert_int_equal(lines[first].delivered, OPEN_PS + takes);
		assert_int_equal(lines[1 - first].delivered, OPEN_PS + 2 * takes);
		drop(&outcome);
	}
}

static void a_window_of_frames_follow_each_other(void **state)
{
	(void)state;
	struct tb_network *net = network_of(CABLE);
	for (unsigned n = 1; n <= 10; n++) {
		tb_time_ps takes = time_of(CABLE, n * FULL);
		tb_time_ps ideal = tb_engine_ideal_ps(
			net, (struct tb_node){0}, (struct tb_node){1}, n * FULL);
		assert_int_equal(ideal, 2 * LATENCY_PS + (n + 1) * FRAME_PS);
		assert_int_equal(takes, OPEN_PS + ideal);
	}
	tb_network_free(net);
}

// A shaper's bucket lets two frames pass at once, and at the switch all of them, as they
// come no faster than its tokens.
static void a_burst_passes_at_once(void **state)
{
	(void)state;
	assert_int_equal(time_of(SHAPER, FULL), 6 * LATENCY_PS);
	assert_int_equal(time_of(SHAPER, 10 * FULL),
		6 * LATENCY_PS + 10 * FRAME_PS - 3200 * BYTE_PS);
	struct tb_network *net = network_of(SHAPER);
	struct line line = {.destination = 1, .bytes = 10 * FULL};
	struct outcome outcome = replay(net, &line, 1, 1, 0);
	const struct tb_link_sample *link = &outcome.tally.links[net->injection[0]];
	assert_int_equal(link->busy_ps, 10 * FRAME_PS - 3200 * BYTE_PS);
	drop(&outcome);
	tb_network_free(net);
}

// The first segment is acknowledged after a round trip; from then on each acknowledgement
// lets two go, and the sender's link is never idle again.
static void slow_start_costs_a_round_trip(void **state)
{
	(void)state;
	tb_time_ps acknowledged = 4 * LATENCY_PS + 2 * FRAME_PS + 2 * ACK_PS;
	for (unsigned n = 11; n <= 30; n++)
		assert_int_equal(time_of(CABLE, n * FULL),
			OPEN_PS + acknowledged + 2 * LATENCY_PS +
				(n - 10 + 1) * FRAME_PS);
}

// The window doubles in every round trip: 2 to 6 segments do not fill it, so each round
// begins when the last acknowledgement of the one before it has come.
static void the_window_doubles_each_round(void **state)
{
	(void)state;
	const char *small = CABLE ",initial_window=2,hop_latency=100ms";
	tb_time_ps latency = 100 * TB_PS_PER_MS;
	tb_time_ps round = 4 * latency + 2 * FRAME_PS + 2 * ACK_PS;
	tb_time_ps open = 4 * (latency + ACK_PS);
	for (unsigned rounds = 0, sent = 2; rounds < 4; rounds++) {
		// The first segment of a round opens it; the rest follow one by one.
		unsigned last = 2u << rounds;
		assert_int_equal(time_of(small, sent * FULL),
			open + rounds * round + 2 * latency + (last + 1) * FRAME_PS);
		sent += last * 2;
	}
}

static void two_senders_queue_for_their_receiver(void **state)
{
	(void)state;
	struct line lines[2] = {{.source = 1, .destination = 0, .bytes = 10 * FULL},
		{.source = 2, .destination = 0, .bytes = 10 * FULL}};
	struct outcome outcome = replay_on(CABLE, lines, 2);
	tb_time_ps end = OPEN_PS + 2 * LATENCY_PS + 21 * FRAME_PS;
	bool first = lines[0].delivered < lines[1].delivered;
	assert_int_equal(lines[first].delivered, end);
	assert_int_equal(lines[!first].delivered, end - FRAME_PS);
	assert_int_equal(outcome.tally.flow_wait_ps, outcome.stats.wait_ps);
	assert_int_equal(outcome.tally.blame_ps, outcome.stats.wait_ps);
	// The second opens its connection behind the first, and is one short frame later
	// from then on. Of frames 0 to 9 frame i of the first stands behind i others, of
	// the second behind one more.
	assert_int_equal(outcome.stats.wait_ps, (45 + 55) * FRAME_PS - (10 - 1) * ACK_PS);
	// When the last of them comes, 10 of the 20 frames stand before the receiver's
	// link; nothing stands anywhere else in the network.
	struct tb_network *net = network_of(CABLE);
	for (uint32_t i = 0; i < outcome.n_links; i++) {
		struct tb_link_info info = tb_network_link(net, (struct tb_link){i});
		bool last = info.kind == TB_LINK_EJECTION && info.to == 0;
		assert_int_equal(outcome.tally.links[i].largest_queue_bytes,
			last ? 10 * (FULL + OVERHEAD) : 0);
	}
	tb_network_free(net);
	drop(&outcome);
}

static void what_is_dropped_is_sent_again(void **state)
{
	(void)state;
	struct line lines[8];
	for (uint32_t i = 0; i < 8; i++)
		lines[i] = (struct line){
			.source = i + 1, .destination = 0, .bytes = 100 * FULL};
	struct outcome outcome = replay_on(CABLE ",queue=16KB", lines, 8);
	uint64_t carried = 0;
	for (uint32_t i = 0; i < outcome.n_links; i++)
		carried += outcome.tally.links[i].n_packets;
	assert_int_equal(outcome.tally.flow_bytes, 800 * FULL);
	assert_true(carried > 2 * 800 + 2 * 400);
	// Only segments meet a full queue here, and each is sent again.
	assert_true(outcome.stats.n_lost > 0);
	assert_true(outcome.stats.n_resent >= outcome.stats.n_lost);
	for (uint32_t i = 0; i < 8; i++) // no link is faster than it is
		assert_true(lines[i].delivered > 100 * FRAME_PS);
	drop(&outcome);
}

static void a_connection_restarts_after_an_idle_time(void **state)
{
	(void)state;
	struct line lines[2] = {{.destination = 1, .bytes = 100 * FULL},
		{.at = 10 * TB_PS_PER_S, .destination = 1, .bytes = 30 * FULL}};
	struct outcome outcome = replay_on(CABLE, lines, 2);
	tb_time_ps restarted = lines[1].delivered - lines[1].at;
	drop(&outcome);
	outcome = replay_on(CABLE ",idle_restart=no", lines, 2);
	tb_time_ps warm = lines[1].delivered - lines[1].at;
	drop(&outcome);
	assert_int_equal(restarted, time_of(CABLE, 30 * FULL) - OPEN_PS);
	assert_int_equal(warm, 2 * LATENCY_PS + 31 * FRAME_PS);
}

// Behind a window of ten segments wait four messages of half a segment: two segments have
// them, in whole.
static void segments_hold_bytes_of_several_messages(void **state)
{
	(void)state;
	struct line lines[5] = {{.destination = 1, .bytes = 10 * FULL}};
	for (int i = 1; i < 5; i++)
		lines[i] = (struct line){.destination = 1, .bytes = FULL / 2};
	struct outcome outcome = replay_on(CABLE, lines, 5);
	uint64_t n_frames = 0;
	for (uint32_t i = 0; i < outcome.n_links; i++)
		n_frames += outcome.tally.links[i].n_packets;
	assert_int_equal(n_frames, 2 * (2 + 12 + 12)); // each is acknowledged
	assert_int_equal(lines[1].delivered, lines[2].delivered);
	assert_int_equal(lines[3].delivered, lines[4].delivered);
	assert_int_equal(lines[4].delivered - lines[2].delivered, FRAME_PS);
	drop(&outcome);
}

// Two connections that were opened behind data send batches of two segments, two of them
// at a time, whatever their windows allow; so each gets its turns.
static void connections_of_long_round_trips_take_turns(void **state)
{
	(void)state;
	struct line lines[2] = {{.source = 0, .destination = 1, .bytes = 10 * FULL},
		{.source = 0, .destination = 2, .bytes = 10 * FULL}};
	struct outcome outcome = replay_on(CABLE ",hop_latency=10ms", lines, 2);
	// Fours of both in turn, then twos: the last of the first leaves two before the
	// last of the second.
	assert_int_equal(lines[1].delivered - lines[0].delivered, 2 * FRAME_PS);
	drop(&outcome);
	// A round trip below half a millisecond: all of the first go first.
	outcome = replay_on(CABLE ",hop_latency=100us", lines, 2);
	assert_int_equal(lines[1].delivered - lines[0].delivered, 10 * FRAME_PS);
	drop(&outcome);
}

// Of eight messages that are written in turn to two nodes the first goes at once; what
// follows to the same node waits until it takes more than what of it stands in the queue:
// two messages, which pass the other node's second one.
static void small_writes_wait_for_more(void **state)
{
	(void)state;
	enum { N = 8 };
	struct line lines[2 + N] = {
		{.destination = 1, .bytes = FULL}, {.destination = 2, .bytes = FULL}};
	for (uint32_t i = 0; i < N; i++)
		lines[2 + i] = (struct line){.at = 100 * TB_PS_PER_MS,
			.destination = 1 + i % 2,
			.bytes = 2 * FULL};
	struct outcome outcome = replay_on(CABLE, lines, 2 + N);
	static const int order[] = {0, 1, 2, 4, 3, 5};
	for (int i = 1; i < 6; i++)
		assert_int_equal(
			lines[2 + order[i]].delivered - lines[2 + order[i - 1]].delivered,
			2 * FRAME_PS);
	drop(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_stored_and_forwarded),
		cmocka_unit_test(the_lower_node_opens_of_two),
		cmocka_unit_test(a_window_of_frames_follow_each_other),
		cmocka_unit_test(a_burst_passes_at_once),
		cmocka_unit_test(slow_start_costs_a_round_trip),
		cmocka_unit_test(the_window_doubles_each_round),
		cmocka_unit_test(two_senders_queue_for_their_receiver),
		cmocka_unit_test(what_is_dropped_is_sent_again),
		cmocka_unit_test(segments_hold_bytes_of_several_messages),
		cmocka_unit_test(connections_of_long_round_trips_take_turns),
		cmocka_unit_test(a_connection_restarts_after_an_idle_time),
		cmocka_unit_test(small_writes_wait_for_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
