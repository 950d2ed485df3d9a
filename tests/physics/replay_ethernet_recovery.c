// How TCP recovers from losses, by closed forms (docs/ethernet.md, E9 to E16).
//
// Frames are lost where the test wants them to be: in the queue of the sending node,
// which has room for a few, and which captured frames, never lost themselves, can fill.
#include "../support/replay_outcome.h"

#include <stdio.h>

// 100 Mbit/s over one switch; nodes cost nothing.
#define CABLE                                                                            \
	"ethernet,rate=100Mbit/s,burst=0,hop_latency=1ms,send_overhead=0,"               \
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

// window_after returns how many segments a connection from node 0 to 1 sends at once, at
// `at`, when the lines are done: the longest message that needs no acknowledgement.
static uint32_t window_after(
	const char *preset, const struct line *lines, size_t n, tb_time_ps at)
{
	struct line all[32];
	for (uint32_t k = 2; k < 100; k++) {
		for (size_t i = 0; i < n; i++)
			all[i] = lines[i];
		all[n] = (struct line){.at = at, .destination = 1, .bytes = k * FULL};
		struct outcome outcome = replay_on(preset, all, n + 1);
		drop(&outcome);
		if (all[n].delivered - at > 2 * LATENCY_PS + (k + 1) * FRAME_PS)
			return k - 1;
	}
	fail_msg("the window has no end");
	return 0;
}

// Each two segments are acknowledged, an odd one after a while; the connection opens by a
// frame there and one back.
static void every_second_segment_is_acknowledged(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 10; n++) {
		struct line line = {.destination = 1, .bytes = n * FULL};
		struct outcome outcome = replay_on(CABLE, &line, 1);
		assert_int_equal(count_frames(&outcome), 2 * (2 + n + (n + 1) / 2));
		assert_int_equal(
			line.sent, OPEN_PS + 2 * LATENCY_PS + (n + 1) * FRAME_PS);
		drop(&outcome);
	}
}

// What the other side sends within the time that an acknowledgement is put off carries
// it; later it needs a frame of its own.
static void segments_carry_acknowledgements(void **state)
{
	(void)state;
	tb_time_ps come = OPEN_PS + SEGMENT_PS;
	const tb_time_ps after[] = {0, DELAYED_PS - 1, DELAYED_PS + 1};
	for (size_t i = 0; i < 3; i++) {
		struct line lines[2] = {{.destination = 1, .bytes = FULL},
			{.at = come + after[i], .source = 1, .bytes = FULL}};
		struct outcome outcome = replay_on(CABLE, lines, 2);
		unsigned n_acks = i < 2 ? 1 : 2;
		assert_int_equal(count_frames(&outcome), 2 * (2 + 2 + n_acks));
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
			struct line line = {
				.destination = 1, .bytes = rounds * most * FULL};
			struct outcome outcome = replay_on(preset, &line, 1);
			drop(&outcome);
			assert_int_equal(line.delivered, OPEN_PS + (rounds - 1) * round +
								 2 * LATENCY_PS +
								 (most + 1) * FRAME_PS);
		}
	}
}

// A queue has room for what fits it to the byte, the frame that crosses not counted.
static void a_queue_holds_what_fits(void **state)
{
	(void)state;
	char preset[256];
	for (int short_by = 0; short_by < 2; short_by++) {
		snprintf(preset, sizeof preset, CABLE ",queue=%dB", 5 * FRAME - short_by);
		struct line line = {.destination = 1, .bytes = 10 * FULL};
		struct outcome outcome = replay_on(preset, &line, 1);
		assert_int_equal(outcome.stats.n_lost, 4 + short_by);
		assert_int_equal(outcome.stats.n_resent, 4 + short_by);
		drop(&outcome);
	}
}

// Of the first ten segments the last four are lost; the receiver has room for ten. Three
// later ones that have come show that they are lost, and they are sent again at once.
static void three_later_segments_show_a_loss(void **state)
{
	(void)state;
	const char *preset = CABLE ",queue=7570B,receive_window=14480B"; // 5 frames, 10
	tb_time_ps answered = SEGMENT_PS + FRAME_PS + ANSWER_PS; // 0 and 1; sends 10, 11
	// 12 and 13 are sent for the answer to 2 and 3; that to 12, the third behind the
	// gap, comes at once.
	tb_time_ps shown = answered + 2 * FRAME_PS + SEGMENT_PS + ANSWER_PS;
	struct line line = {.destination = 1, .bytes = 16 * FULL};
	struct outcome outcome = replay_on(preset, &line, 1);
	assert_int_equal(line.delivered, OPEN_PS + shown + 2 * LATENCY_PS + 5 * FRAME_PS);
	assert_int_equal(outcome.stats.n_lost, 4);
	assert_int_equal(outcome.stats.n_resent, 4);
	// Answers: to three pairs, to each of 10 to 15 behind the gap, to each of 6 to 9.
	assert_int_equal(count_frames(&outcome), 2 * (2 + 16 + 3 + 6 + 4));
	drop(&outcome);
}

// With but two later segments nothing shows the loss before the timer does.
static void two_later_segments_show_no_loss(void **state)
{
	(void)state;
	const char *preset = CABLE ",queue=7570B,receive_window=14480B";
	struct line line = {.destination = 1, .bytes = 12 * FULL};
	struct outcome outcome = replay_on(preset, &line, 1);
	assert_true(line.delivered > LEAST_PS);
	assert_int_equal(outcome.stats.n_resent, 4);
	drop(&outcome);
}

// lost_tail makes a message of ten segments of which the last four are lost in the queue
// of their node, and returns when the answer to the sixth is there. `smoothed` is the
// smoothed round trip then.
static tb_time_ps lost_tail(struct line *line, tb_time_ps *smoothed)
{
	*line = (struct line){.destination = 1, .bytes = 10 * FULL};
	tb_time_ps answered = OPEN_PS + SEGMENT_PS + FRAME_PS + ANSWER_PS;
	*smoothed = OPEN_PS;
	for (int pair = 0; pair < 3; pair++) // each by the first segment of a pair
		*smoothed = smooth(*smoothed, answered + pair * 2 * FRAME_PS - OPEN_PS);
	return answered + 4 * FRAME_PS;
}

// Then nothing more comes: after the timeout, the smoothed round trip and `rto_min`, the
// first is sent again by itself. Its answer, put off, lets two go, and theirs the last.
static void a_lost_tail_waits_for_the_timer(void **state)
{
	(void)state;
	struct line line;
	tb_time_ps smoothed, answered = lost_tail(&line, &smoothed);
	tb_time_ps again = answered + smoothed + LEAST_PS;
	struct outcome outcome = replay_on(CABLE ",queue=7570B", &line, 1);
	assert_int_equal(outcome.stats.n_lost, 4);
	assert_int_equal(outcome.stats.n_resent, 4);
	assert_int_equal(line.delivered,
		again + SEGMENT_PS + DELAYED_PS + ANSWER_PS + // 6
			SEGMENT_PS + FRAME_PS + ANSWER_PS +   // 7, 8
			SEGMENT_PS);			      // 9
	drop(&outcome);
}

// The timeout doubles for each time that nothing comes: captured frames keep the queue
// full for longer than three of them.
static void the_timeout_doubles(void **state)
{
	(void)state;
	enum { N_CAPTURED = 12000 };
	struct line *lines = calloc(N_CAPTURED + 2, sizeof *lines);
	assert_non_null(lines);
	tb_time_ps at = 100 * TB_PS_PER_MS;
	lines[0] = (struct line){.destination = 1, .bytes = FULL};
	for (uint32_t i = 1; i <= N_CAPTURED; i++)
		lines[i] = (struct line){.at = at,
			.destination = 2,
			.bytes = FRAME,
			.source_rank = CAPTURED};
	lines[N_CAPTURED + 1] = (struct line){.at = at, .destination = 1, .bytes = FULL};
	tb_time_ps smoothed = smooth(OPEN_PS, SEGMENT_PS + DELAYED_PS + ANSWER_PS);
	tb_time_ps timeout = smoothed + LEAST_PS;
	tb_time_ps full_until = at + (N_CAPTURED - 5) * FRAME_PS;
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
// when the first answer to what was not sent again comes, the rest is not sent again.
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
	assert_int_equal(outcome.stats.n_resent, 1);
	assert_int_equal(lines[N_CAPTURED + 1].delivered,
		at + (N_CAPTURED + 4) * FRAME_PS + 2 * LATENCY_PS);
	drop(&outcome);
	free(lines);
}

// A loss leaves seven tenths of the window, once for all that were lost of it. When the
// connection is open ten segments are sent, and captured frames leave room for six. The
// answers to three pairs let the window grow to 16; then three later segments show that
// the last four were lost, and 11 are left.
static void a_recovery_leaves_seven_tenths(void **state)
{
	(void)state;
	enum { N_CAPTURED = 8 };		    // one of them crosses
	const char *preset = CABLE ",queue=19682B"; // 13 frames
	struct line lines[N_CAPTURED + 1] = {{.destination = 1, .bytes = 13 * FULL}};
	for (uint32_t i = 1; i <= N_CAPTURED; i++)
		lines[i] = (struct line){.at = OPEN_PS - 1,
			.destination = 2,
			.bytes = FRAME,
			.source_rank = CAPTURED};
	struct outcome outcome = replay_on(preset, lines, N_CAPTURED + 1);
	assert_int_equal(outcome.stats.n_lost, 4);
	assert_int_equal(outcome.stats.n_resent, 4);
	drop(&outcome);
	assert_true(lines[0].delivered < 20 * TB_PS_PER_MS);
	tb_time_ps at = 100 * TB_PS_PER_MS;
	assert_int_equal(window_after(preset, lines, N_CAPTURED + 1, at), 11);
	// Without a loss all 13 grow it.
	assert_int_equal(window_after(CABLE, lines, N_CAPTURED + 1, at), 23);
}

// A timeout leaves seven tenths as the threshold, and a window of one, which grows again
// by what is acknowledged.
static void a_timeout_leaves_one_segment(void **state)
{
	(void)state;
	struct line line;
	tb_time_ps smoothed;
	(void)lost_tail(&line, &smoothed);
	// The window was 16, so the threshold is 11; 6, then 7 and 8, then 9 grow it.
	assert_int_equal(
		window_after(CABLE ",queue=7570B", &line, 1, 400 * TB_PS_PER_MS), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_second_segment_is_acknowledged),
		cmocka_unit_test(segments_carry_acknowledgements),
		cmocka_unit_test(the_receivers_window_limits_what_is_under_way),
		cmocka_unit_test(a_queue_holds_what_fits),
		cmocka_unit_test(three_later_segments_show_a_loss),
		cmocka_unit_test(two_later_segments_show_no_loss),
		cmocka_unit_test(a_lost_tail_waits_for_the_timer),
		cmocka_unit_test(the_timeout_doubles),
		cmocka_unit_test(an_early_timeout_is_taken_back),
		cmocka_unit_test(a_recovery_leaves_seven_tenths),
		cmocka_unit_test(a_timeout_leaves_one_segment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
