// How TCP recovers from losses, by closed forms (docs/ethernet.md, E9 to E16).
//
// Frames are lost where the test wants them to be: before the switch's link to the
// receiver, which captured frames of other nodes, never lost themselves, fill at once.
#include "../support/replay_outcome.h"

#include <stdio.h>

// 100 Mbit/s over one switch; nodes cost nothing.
#define CABLE                                                                            \
	"ethernet-shaped,rate=100Mbit/s,burst=0,hop_latency=1ms,send_overhead=0,"        \
	"receive_overhead=0"

enum { FULL = 1448, OVERHEAD = 66, FRAME = FULL + OVERHEAD };
#define BYTE_PS	   ((tb_time_ps)80000)
#define FRAME_PS   (FRAME * BYTE_PS)
#define ACK_PS	   (OVERHEAD * BYTE_PS)
#define LATENCY_PS (TB_PS_PER_MS)
// A frame alone, from the queue of its node until it has come.
#define SEGMENT_PS (2 * (FRAME_PS + LATENCY_PS))
#define ANSWER_PS  (2 * (ACK_PS + LATENCY_PS))
#define OPEN_PS	   (2 * ANSWER_PS)
#define DELAYED_PS (40 * TB_PS_PER_MS)
#define LEAST_PS   (200 * TB_PS_PER_MS)

static struct outcome replay_on(const char *preset, struct line *lines, size_t n)
{
	struct tb_network *net = network_of(preset);
	struct outcome outcome = replay(net, lines, n, 1, 0);
	tb_network_free(net);
	return outcome;
}

static uint64_t count_frames(const struct outcome *outcome)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < outcome->n_links; i++)
		n += outcome->tally.links[i].n_packets;
	return n;
}

// smooth is what RFC 6298 makes of the smoothed round trip; the first is taken as it is.
static tb_time_ps smooth(tb_time_ps smoothed, tb_time_ps took)
{
	return smoothed + (took - smoothed) / 8;
}

// The first 16 segments are acknowledged one by one, then each two, and the end of the
// message; the connection opens by a frame there and one back.
static void every_second_segment_is_acknowledged(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 40; n++) {
		struct line line = {.destination = 1, .bytes = n * FULL};
		struct outcome outcome = replay_on(CABLE, &line, 1);
		unsigned n_acks = n <= 16 ? n : 16 + (n - 16 + 1) / 2;
		assert_int_equal(count_frames(&outcome), 2 * (2 + n + n_acks));
		if (n <= 10)
			assert_int_equal(line.delivered,
				OPEN_PS + 2 * LATENCY_PS + (n + 1) * FRAME_PS);
		drop(&outcome);
	}
}

// Behind 40 segments, four are acknowledged by two, or one by one after a gap longer than
// the timeout.
static void a_new_beginning_is_acknowledged_quickly(void **state)
{
	(void)state;
	static const struct {
		tb_time_ps gap;
		unsigned n_acks;
	} cases[] = {{100 * TB_PS_PER_MS, 2}, {TB_PS_PER_S, 4}};
	for (int i = 0; i < 2; i++) {
		struct line lines[2] = {{.destination = 1, .bytes = 40 * FULL},
			{.at = cases[i].gap, .destination = 1, .bytes = 4 * FULL}};
		struct outcome outcome = replay_on(CABLE, lines, 2);
		assert_int_equal(
			count_frames(&outcome), 2 * (2 + 44 + 16 + 12 + cases[i].n_acks));
		drop(&outcome);
	}
}

// A program goes on when the send buffer has the end of its message: that of one segment
// more when the first answer is there. At first it has ten times twice what a segment's
// buffer takes, 2048 and 256 bytes, or 4096 and 256 with more room for headers.
static void a_message_is_sent_when_its_end_is_in_the_buffer(void **state)
{
	(void)state;
	const tb_time_ps answered = OPEN_PS + SEGMENT_PS + ANSWER_PS;
	static const struct {
		const char *preset;
		unsigned most;
	} cases[] = {{CABLE, 46080 / FULL}, {CABLE ",header_room=320B", 87040 / FULL}};
	for (int i = 0; i < 2; i++)
		for (unsigned more = 0; more < 2; more++) {
			struct line line = {
				.destination = 1, .bytes = (cases[i].most + more) * FULL};
			struct outcome outcome = replay_on(cases[i].preset, &line, 1);
			assert_int_equal(line.sent, more ? answered : 0);
			drop(&outcome);
		}
}

// Where a program has replied, the next end of a message is not acknowledged at once:
// what it sends within the time that the acknowledgement is put off carries it; later it
// needs a frame of its own.
static void segments_carry_acknowledgements(void **state)
{
	(void)state;
	const tb_time_ps at = 100 * TB_PS_PER_MS, come = at + SEGMENT_PS;
	const tb_time_ps after[] = {0, DELAYED_PS - 1, DELAYED_PS + 1};
	for (size_t i = 0; i < 3; i++) {
		struct line lines[4] = {{.destination = 1, .bytes = FULL},
			{.at = 20 * TB_PS_PER_MS, .source = 1, .bytes = FULL},
			{.at = at, .destination = 1, .bytes = FULL},
			{.at = come + after[i], .source = 1, .bytes = FULL}};
		struct outcome outcome = replay_on(CABLE, lines, 4);
		unsigned n_acks = i < 2 ? 3 : 4;
		assert_int_equal(count_frames(&outcome), 2 * (2 + 4 + n_acks));
		drop(&outcome);
	}
}

// A receiver with room for n segments has n sent in a round trip.
static void the_receivers_window_limits_what_is_under_way(void **state)
{
	(void)state;
	char preset[256];
	tb_time_ps round = SEGMENT_PS + FRAME_PS + ANSWER_PS; // to its first answer
	for (unsigned most = 2; most <= 8; most += 2) {
		snprintf(preset, sizeof preset, CABLE ",receive_window=%uB", most * FULL);
		for (unsigned rounds = 1; rounds <= 4; rounds++) {
			// Behind others, as the first are acknowledged one by one.
			const tb_time_ps at = 100 * TB_PS_PER_MS;
			struct line lines[2] = {{.destination = 1, .bytes = 16 * FULL},
				{.at = at,
					.destination = 1,
					.bytes = rounds * most * FULL}};
			struct outcome outcome = replay_on(preset, lines, 2);
			drop(&outcome);
			assert_int_equal(lines[1].delivered,
				at + (rounds - 1) * round + 2 * LATENCY_PS +
					(most + 1) * FRAME_PS);
		}
	}
}

// A node's queue has room for what fits it to the byte, the frame that crosses not
// counted. What does not fit stays with its connection, whose window of ten becomes
// seven.
static void what_does_not_fit_the_own_queue_is_not_lost(void **state)
{
	(void)state;
	char preset[256];
	tb_time_ps at_once = OPEN_PS + 2 * LATENCY_PS + 11 * FRAME_PS;
	for (int short_by = 0; short_by < 2; short_by++) {
		snprintf(preset, sizeof preset, CABLE ",queue=%dB", 9 * FRAME - short_by);
		struct line line = {.destination = 1, .bytes = 10 * FULL};
		struct outcome outcome = replay_on(preset, &line, 1);
		assert_int_equal(outcome.stats.n_lost, 0);
		assert_int_equal(outcome.stats.n_resent, 0);
		if (short_by)
			assert_true(line.delivered > at_once);
		else
			assert_int_equal(line.delivered, at_once);
		drop(&outcome);
	}
}

#define ROOM ",queue=30280B" // 20 frames
enum { OTHERS_MOST = 40 };

// replay_behind replays a message from node 0 to node 1 of which the first `n_before`
// segments come to the switch before captured frames of so many other nodes do, all at
// once.
static struct outcome replay_behind(
	struct line *line, unsigned n_segments, unsigned n_before, unsigned n_others)
{
	struct line lines[OTHERS_MOST + 1] = {
		{.destination = 1, .bytes = n_segments * FULL}};
	for (uint32_t i = 1; i <= n_others; i++)
		lines[i] =
			(struct line){.at = OPEN_PS + n_before * FRAME_PS - FRAME_PS / 2,
				.source = 1 + i,
				.destination = 1,
				.bytes = FRAME,
				.source_rank = CAPTURED};
	struct outcome outcome = replay_on(CABLE ROOM, lines, n_others + 1);
	*line = lines[0];
	return outcome;
}

// Of ten segments 2 to 4 are lost, as 23, 22 and 21 frames are before them. 5 to 7, which
// come behind 20 others, show that, and they are sent again at once.
static void three_later_segments_show_a_loss(void **state)
{
	(void)state;
	struct line line;
	struct outcome outcome = replay_behind(&line, 10, 2, 23);
	tb_time_ps come = OPEN_PS + 6 * FRAME_PS + LATENCY_PS; // 5, at the switch
	tb_time_ps shown = come + (21 + 2) * FRAME_PS + LATENCY_PS + ANSWER_PS;
	assert_int_equal(outcome.stats.n_lost, 3);
	assert_int_equal(outcome.stats.n_resent, 3);
	assert_int_equal(line.delivered, shown + SEGMENT_PS + 2 * FRAME_PS);
	drop(&outcome);
}

// Two later ones show it when they are a quarter of the least round trip, or an eighth of
// the smoothed one, ahead: long before the timeout.
static void two_later_segments_show_it_soon(void **state)
{
	(void)state;
	struct line line;
	struct outcome outcome = replay_behind(&line, 7, 2, 23);
	tb_time_ps come = OPEN_PS + 6 * FRAME_PS + LATENCY_PS;
	tb_time_ps known = come + (21 + 1) * FRAME_PS + LATENCY_PS + ANSWER_PS;
	assert_int_equal(outcome.stats.n_resent, 3);
	tb_time_ps least = known + SEGMENT_PS + 2 * FRAME_PS;
	assert_true(line.delivered > least && line.delivered <= least + OPEN_PS / 4);
	drop(&outcome);
}

// Nothing comes behind the last four of ten: two round trips and 2 ms later the last one
// is sent again, and its answer shows what else is lost.
static void a_lost_tail_is_probed(void **state)
{
	(void)state;
	struct line line;
	tb_time_ps answered = OPEN_PS + SEGMENT_PS + ANSWER_PS;
	tb_time_ps smoothed = OPEN_PS;
	for (int i = 0; i < 6; i++)
		smoothed = smooth(smoothed, answered + i * FRAME_PS - OPEN_PS);
	struct outcome outcome = replay_behind(&line, 10, 6, 40);
	tb_time_ps probed = answered + 5 * FRAME_PS + 2 * smoothed + 2 * TB_PS_PER_MS;
	assert_int_equal(outcome.stats.n_lost, 4);
	assert_int_equal(outcome.stats.n_resent, 4);
	assert_int_equal(line.delivered,
		probed + SEGMENT_PS + ANSWER_PS + SEGMENT_PS + 2 * FRAME_PS);
	drop(&outcome);
}

// The timeout doubles for each time that nothing comes: captured frames of two nodes keep
// the queue before the receiver full for longer than three of them.
static void the_timeout_doubles(void **state)
{
	(void)state;
	enum { N_CAPTURED = 12000 };
	struct line *lines = calloc(N_CAPTURED + 2, sizeof *lines);
	assert_non_null(lines);
	tb_time_ps at = 100 * TB_PS_PER_MS;
	lines[0] = (struct line){.destination = 1, .bytes = FULL};
	for (uint32_t i = 1; i <= N_CAPTURED; i++)
		lines[i] = (struct line){.at = at - 10 * TB_PS_PER_MS,
			.source = 2 + i % 2,
			.destination = 1,
			.bytes = FRAME,
			.source_rank = CAPTURED};
	lines[N_CAPTURED + 1] = (struct line){.at = at, .destination = 1, .bytes = FULL};
	tb_time_ps smoothed = smooth(OPEN_PS, SEGMENT_PS + ANSWER_PS);
	tb_time_ps timeout = smoothed + LEAST_PS;
	tb_time_ps full_until = at - 10 * TB_PS_PER_MS + (N_CAPTURED - 5) * FRAME_PS;
	unsigned n = 0;
	tb_time_ps sent = at;
	for (; sent < full_until; n++)
		sent += timeout << n;
	assert_in_range(n, 3, 4);
	struct outcome outcome = replay_on(CABLE ",queue=7570B", lines, N_CAPTURED + 2);
	assert_int_equal(outcome.stats.n_lost, n);
	assert_int_equal(outcome.stats.n_resent, n);
	assert_int_equal(lines[N_CAPTURED + 1].delivered, sent + SEGMENT_PS);
	drop(&outcome);
	free(lines);
}

// Segments that stand in their node's queue for longer than the timeout are not lost:
// the first answer is to a copy that was sent before it, and so the rest is not sent
// again. One was, by a probe, and one by the timeout.
static void an_early_timeout_is_taken_back(void **state)
{
	(void)state;
	enum { N_CAPTURED = 3000 }; // 363 ms
	struct line *lines = calloc(N_CAPTURED + 2, sizeof *lines);
	assert_non_null(lines);
	tb_time_ps at = 100 * TB_PS_PER_MS;
	lines[0] = (struct line){.destination = 1, .bytes = FULL};
	for (uint32_t i = 1; i <= N_CAPTURED; i++)
		lines[i] = (struct line){.at = at,
			.destination = 2,
			.bytes = FRAME,
			.source_rank = CAPTURED};
	lines[N_CAPTURED + 1] =
		(struct line){.at = at, .destination = 1, .bytes = 3 * FULL};
	struct outcome outcome = replay_on(CABLE ",queue=5MB", lines, N_CAPTURED + 2);
	assert_int_equal(outcome.stats.n_lost, 0);
	assert_int_equal(outcome.stats.n_resent, 2);
	assert_int_equal(lines[N_CAPTURED + 1].delivered,
		at + (N_CAPTURED + 4) * FRAME_PS + 2 * LATENCY_PS);
	drop(&outcome);
	free(lines);
}

// Two nodes send alike to one whose queue holds a quarter of what they send, one of them
// a part of a frame later (a frame takes 242 us), or in the same instants. Who comes
// first is drawn each time: if one always did, all of the other's window would be lost,
// and only its timeout would end that (Floyd and Jacobson, On traffic phase effects in
// packet-switched gateways, 1992).
static void senders_in_step_do_not_lock_one_another_out(void **state)
{
	(void)state;
	// Linux takes 88 to 90 and 175 ms.
	static const struct {
		uint64_t bytes;
		tb_time_ps most;
	} cases[] = {{262144, 95 * TB_PS_PER_MS}, {524288, 185 * TB_PS_PER_MS}};
	static const tb_time_ps offsets[] = {
		0, 1, 20 * TB_PS_PER_US, 100 * TB_PS_PER_US, 200 * TB_PS_PER_US};
	const char *preset = "ethernet-shaped,rate=50Mbit/s,queue=64KiB,tcp=reno";
	struct tb_network *net = network_of(preset);
	for (size_t k = 0; k < 2 * sizeof offsets / sizeof *offsets; k++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			struct line lines[2] = {
				{.source = 1, .bytes = cases[k % 2].bytes},
				{.at = offsets[k / 2],
					.source = 2,
					.bytes = cases[k % 2].bytes}};
			struct outcome outcome = replay(net, lines, 2, seed, 0);
			for (size_t i = 0; i < 2; i++)
				assert_true(lines[i].delivered < cases[k % 2].most);
			assert_true(outcome.stats.n_resent > 0);
			drop(&outcome);
		}
	tb_network_free(net);
}

// Sixteen nodes send to one another over two levels, each segment by a way of its own.
// Segments come late, and none is lost: RACK learns how late they may be.
static void late_segments_are_waited_for(void **state)
{
	(void)state;
	enum { N = 16 };
	static const char *const ways[] = {"adaptive", "random"};
	for (int k = 0; k < 2; k++) {
		static struct line lines[N];
		char preset[96];
		snprintf(preset, sizeof preset,
			"ethernet,arity=4,levels=2,tcp=reno,ascent=%s", ways[k]);
		for (uint32_t i = 0; i < N; i++)
			lines[i] = (struct line){
				.source = i, .destination = N - 1 - i, .bytes = 16000000};
		struct outcome outcome = replay_on(preset, lines, N);
		tb_time_ps end = 0;
		for (uint32_t i = 0; i < N; i++)
			end = lines[i].delivered > end ? lines[i].delivered : end;
		print_message("%s: %.1f ms, %llu sent again\n", ways[k],
			(double)end / (double)TB_PS_PER_MS,
			(unsigned long long)outcome.stats.n_resent);
		assert_int_equal(outcome.stats.n_lost, 0);
		assert_true(outcome.stats.n_resent < (k == 0 ? 2u : 1000u));
		drop(&outcome);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_second_segment_is_acknowledged),
		cmocka_unit_test(a_new_beginning_is_acknowledged_quickly),
		cmocka_unit_test(segments_carry_acknowledgements),
		cmocka_unit_test(the_receivers_window_limits_what_is_under_way),
		cmocka_unit_test(a_message_is_sent_when_its_end_is_in_the_buffer),
		cmocka_unit_test(what_does_not_fit_the_own_queue_is_not_lost),
		cmocka_unit_test(three_later_segments_show_a_loss),
		cmocka_unit_test(two_later_segments_show_it_soon),
		cmocka_unit_test(a_lost_tail_is_probed),
		cmocka_unit_test(the_timeout_doubles),
		cmocka_unit_test(an_early_timeout_is_taken_back),
		cmocka_unit_test(senders_in_step_do_not_lock_one_another_out),
		cmocka_unit_test(late_segments_are_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
