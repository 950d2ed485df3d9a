// What the analysis of TCP tells of the frames of one connection, written here one by
// one.
#include "tcp_analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS	INT64_C(1000000)
#define SEGMENT 1000u

static struct tb_tcp_analysis *analysis;
static struct tb_tcp_side sides[2]; // the client and the server
static struct tb_tcp_events events;

// A frame of an end, at `at_ns`.
struct frame_said {
	int from;
	uint32_t sequence, n, acknowledged;
	uint16_t window;
	uint8_t flags; // ACK is added, but to a SYN of the client
	uint8_t scale;
};

static uint32_t say(int64_t at_ns, struct frame_said said)
{
	bool opens = said.flags & TB_TCP_SYN && said.from == 0;
	struct tb_frame frame = {.payload_bytes = said.n,
		.sequence = said.sequence,
		.acknowledged = said.acknowledged,
		.window = said.window,
		.flags = said.flags | (opens ? 0 : TB_TCP_ACK),
		.window_scale = said.scale & 15u,
		.transport = TB_TRANSPORT_TCP};
	tb_tcp_analyze(analysis, &sides[said.from], &sides[1 - said.from], &frame, at_ns,
		SEGMENT, &events);
	return events.is;
}

// shake_hands: the client's bytes begin at 1001, the server's at 5001; windows are
// multiplied by 4. The path to the server takes 6 ms and back, that to the client 2 ms.
static void shake_hands(void)
{
	say(0, (struct frame_said){.from = 0,
		       .sequence = 1000,
		       .n = 0,
		       .acknowledged = 0,
		       .window = 8000,
		       .flags = TB_TCP_SYN,
		       .scale = 3});
	say(6 * MS, (struct frame_said){.from = 1,
			    .sequence = 5000,
			    .n = 0,
			    .acknowledged = 1001,
			    .window = 8000,
			    .flags = TB_TCP_SYN,
			    .scale = 3});
	say(8 * MS, (struct frame_said){.from = 0,
			    .sequence = 1001,
			    .n = 0,
			    .acknowledged = 5001,
			    .window = 2000});
}

static uint32_t data(int64_t at_ns, uint32_t sequence)
{
	return say(at_ns, (struct frame_said){.from = 0,
				  .sequence = sequence,
				  .n = SEGMENT,
				  .acknowledged = 5001,
				  .window = 2000});
}

static uint32_t answer(int64_t at_ns, uint32_t acknowledged, uint16_t window)
{
	return say(at_ns, (struct frame_said){.from = 1,
				  .sequence = 5001,
				  .n = 0,
				  .acknowledged = acknowledged,
				  .window = window});
}

static void both_halves_of_the_handshake_are_timed(void **state)
{
	(void)state;
	say(0, (struct frame_said){.from = 0,
		       .sequence = 1000,
		       .n = 0,
		       .acknowledged = 0,
		       .window = 8000,
		       .flags = TB_TCP_SYN,
		       .scale = 3});
	assert_int_equal(events.rtt_ns, -1);
	say(6 * MS, (struct frame_said){.from = 1,
			    .sequence = 5000,
			    .n = 0,
			    .acknowledged = 1001,
			    .window = 8000,
			    .flags = TB_TCP_SYN,
			    .scale = 3});
	assert_true(events.is & TB_TCP_IS_HANDSHAKE);
	assert_int_equal(events.rtt_ns, 6 * MS);
	assert_int_equal(tb_tcp_handshake_ns(&sides[0], &sides[1]), -1);
	say(8 * MS, (struct frame_said){.from = 0,
			    .sequence = 1001,
			    .n = 0,
			    .acknowledged = 5001,
			    .window = 2000});
	assert_true(events.is & TB_TCP_IS_HANDSHAKE);
	assert_int_equal(events.rtt_ns, 2 * MS);
	assert_int_equal(tb_tcp_handshake_ns(&sides[0], &sides[1]), 8 * MS);
	assert_int_equal(events.window, 8000); // 2000 << 2
}

static void an_acknowledgement_times_the_segment_whose_end_it_names(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	data(11 * MS, 2001);
	answer(15 * MS, 3001, 8000);
	assert_int_equal(events.rtt_ns, 4 * MS);
	assert_false(events.is & TB_TCP_IS_HANDSHAKE);
	answer(16 * MS, 3001, 8000);
	assert_int_equal(events.rtt_ns, -1);
}

static void a_segment_that_was_sent_twice_times_nothing(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	data(300 * MS, 1001);
	data(301 * MS, 2001);
	answer(310 * MS, 2001, 8000);
	assert_int_equal(events.rtt_ns, -1);
	answer(311 * MS, 3001, 8000);
	assert_int_equal(events.rtt_ns, 10 * MS);
}

static void two_duplicate_acknowledgements_make_a_retransmission_fast(void **state)
{
	(void)state;
	shake_hands();
	for (uint32_t i = 0; i < 4; i++)
		data(10 * MS, 1001 + i * SEGMENT);
	answer(15 * MS, 2001, 8000);
	assert_int_equal(answer(16 * MS, 2001, 8000), TB_TCP_IS_DUPLICATE_ACK);
	assert_int_equal(answer(17 * MS, 2001, 8000), TB_TCP_IS_DUPLICATE_ACK);
	assert_int_equal(data(18 * MS, 2001), TB_TCP_IS_FAST);
	assert_int_equal(data(38 * MS, 2001), TB_TCP_IS_TIMEOUT); // 20 ms later
}

static void a_changed_window_is_no_duplicate(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	answer(15 * MS, 2001, 8000);
	assert_int_equal(answer(16 * MS, 2001, 9000), TB_TCP_IS_WINDOW_UPDATE);
	assert_int_equal(answer(17 * MS, 2001, 9000), TB_TCP_IS_DUPLICATE_ACK);
}

static void silence_makes_a_retransmission_one_by_time_out(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	assert_int_equal(data(210 * MS, 1001), TB_TCP_IS_TIMEOUT);
	assert_int_equal(events.silent_ns, 200 * MS);
	assert_int_equal(data(211 * MS, 1001), TB_TCP_IS_AGAIN);
}

static void what_was_acknowledged_is_sent_again_in_vain(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	answer(15 * MS, 2001, 8000);
	assert_int_equal(data(210 * MS, 1001), TB_TCP_IS_SPURIOUS);
}

static void a_late_segment_that_fills_a_hole_is_out_of_order(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	data(11 * MS, 3001);
	assert_int_equal(data(12 * MS, 2001), TB_TCP_IS_OUT_OF_ORDER);
	data(30 * MS, 5001);
	// Later than a round trip, which the handshake tells.
	assert_true(data(38 * MS, 4001) & TB_TCP_IS_RETRANSMISSION);
}

static void keep_alives_are_not_retransmissions(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	answer(15 * MS, 2001, 8000);
	uint32_t is = say(9000 * MS, (struct frame_said){.from = 0,
					     .sequence = 2000,
					     .n = 1,
					     .acknowledged = 5001,
					     .window = 2000});
	assert_int_equal(is, TB_TCP_IS_KEEP_ALIVE);
	assert_int_equal(answer(9010 * MS, 2001, 8000), TB_TCP_IS_KEEP_ALIVE_ACK);
}

static void a_window_of_zero_lasts_until_it_opens(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	assert_true(answer(15 * MS, 2001, 0) & TB_TCP_IS_ZERO_WINDOW);
	assert_int_equal(events.closed_ns, 0);
	assert_int_equal(events.window, 0);
	assert_int_equal(say(215 * MS, (struct frame_said){.from = 0,
					       .sequence = 2001,
					       .n = 1,
					       .acknowledged = 5001,
					       .window = 2000}),
		TB_TCP_IS_WINDOW_PROBE);
	assert_int_equal(events.peer_closed_ns, 200 * MS);
	assert_int_equal(
		answer(216 * MS, 2001, 0), TB_TCP_IS_ZERO_WINDOW | TB_TCP_IS_PROBE_ACK);
	assert_int_equal(events.closed_ns, 1 * MS);
	answer(300 * MS, 2001, 8000);
	assert_int_equal(events.closed_ns, 84 * MS);
	data(301 * MS, 2001);
	assert_int_equal(events.closed_ns + events.peer_closed_ns, 0);
}

static void a_reset_ends_a_window_of_zero(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	answer(15 * MS, 2001, 0);
	uint32_t is = say(20 * MS, (struct frame_said){.from = 1,
					   .sequence = 5001,
					   .n = 0,
					   .acknowledged = 2001,
					   .window = 0,
					   .flags = TB_TCP_RST});
	assert_int_equal(is, 0);
	assert_int_equal(events.closed_ns, 5 * MS);
	say(90 * MS, (struct frame_said){.from = 0,
			     .sequence = 2001,
			     .n = 0,
			     .acknowledged = 5001,
			     .window = 2000});
	assert_int_equal(events.peer_closed_ns, 0);
}

static void a_full_window_limits_its_sender_until_there_is_room(void **state)
{
	(void)state;
	shake_hands();
	answer(9 * MS, 1001, 500); // 2000 bytes
	assert_int_equal(data(10 * MS, 1001), 0);
	assert_int_equal(data(10 * MS, 2001), TB_TCP_IS_WINDOW_FULL);
	answer(16 * MS, 2001, 500);
	data(17 * MS, 3001);
	assert_int_equal(events.limited_ns, 6 * MS);
	assert_int_equal(events.limited_from_ns, 10 * MS);
	// Then the sender has nothing to send: that is no wait for the window.
	answer(22 * MS, 4001, 500);
	data(90 * MS, 4001);
	assert_int_equal(events.limited_ns, 0);
}

static void a_window_without_its_handshake_is_unknown(void **state)
{
	(void)state;
	answer(0, 1001, 500);
	assert_int_equal(events.window, TB_TCP_WINDOW_UNKNOWN);
	assert_int_equal(data(1 * MS, 1001), 0);
	assert_int_equal(data(2 * MS, 501) & TB_TCP_IS_WINDOW_FULL, 0);
	answer(3 * MS, 2001, 0);
	assert_int_equal(events.window, 0);
}

static void a_new_connection_on_the_same_ports_repeats_nothing(void **state)
{
	(void)state;
	shake_hands();
	data(10 * MS, 1001);
	say(500 * MS, (struct frame_said){.from = 0,
			      .sequence = 900,
			      .n = 0,
			      .acknowledged = 0,
			      .window = 8000,
			      .flags = TB_TCP_SYN,
			      .scale = 0});
	assert_int_equal(events.is, 0);
	say(506 * MS, (struct frame_said){.from = 1,
			      .sequence = 77,
			      .n = 0,
			      .acknowledged = 901,
			      .window = 8000,
			      .flags = TB_TCP_SYN,
			      .scale = 3});
	assert_int_equal(events.rtt_ns, 6 * MS);
	say(507 * MS, (struct frame_said){.from = 0,
			      .sequence = 901,
			      .n = 0,
			      .acknowledged = 78,
			      .window = 3000});
	assert_int_equal(events.window, 3000); // one end did not ask for scaling
}

// spent adds up, in ms, where the time of the client's data went, over all frames said.
static int64_t spent[TB_FLOW_TIME_N];

static void spend(uint32_t is)
{
	(void)is;
	for (int i = 0; i < TB_FLOW_TIME_N; i++)
		spent[i] += events.spent_ns[i] + events.peer_spent_ns[i];
}

static void assert_spent(const int64_t ms[TB_FLOW_TIME_N])
{
	for (int i = 0; i < TB_FLOW_TIME_N; i++)
		assert_int_equal(spent[i], ms[i] * MS);
}

static void each_moment_of_a_flow_went_somewhere(void **state)
{
	(void)state;
	memset(spent, 0, sizeof spent);
	shake_hands();
	spend(data(10 * MS, 1001));
	spend(answer(16 * MS, 2001, 8000)); // 6 ms under way
	spend(data(50 * MS, 2001));	    // 2 ms for the way to the client, 32 idle
	spend(data(51 * MS, 3001));	    // lost, and after it nothing
	spend(answer(56 * MS, 3001, 8000));
	spend(data(300 * MS, 3001)); // 244 ms until the timer
	assert_true(events.is & TB_TCP_IS_TIMEOUT);
	spend(answer(306 * MS, 4001, 250)); // 6 ms of recovery; a window of one segment
	spend(data(308 * MS, 4001));	    // 2 ms
	spend(answer(314 * MS, 5001, 0));   // held from here, and before: it was full
	spend(answer(414 * MS, 5001, 8000));
	spend(data(416 * MS, 5001)); // goes on within a round trip
	assert_spent((int64_t[]){[TB_FLOW_TIMEOUTS] = 244,
		[TB_FLOW_RECOVERY] = 6,
		[TB_FLOW_WINDOW] = 106,
		[TB_FLOW_IDLE] = 32,
		[TB_FLOW_SENDING] = 18});
}

static void an_answer_with_the_acknowledgement_was_waited_for(void **state)
{
	(void)state;
	memset(spent, 0, sizeof spent);
	shake_hands();
	spend(data(10 * MS, 1001));
	say(46 * MS, (struct frame_said){.from = 1,
			     .sequence = 5001,
			     .n = 100,
			     .acknowledged = 2001,
			     .window = 8000});
	spend(0);
	assert_spent((int64_t[]){[TB_FLOW_IDLE] = 30, [TB_FLOW_SENDING] = 6});
}

static int fresh_connection(void **state)
{
	(void)state;
	sides[0] = sides[1] = (struct tb_tcp_side){.begun = false};
	return tb_tcp_analysis_new(&analysis);
}

static int forget_connection(void **state)
{
	(void)state;
	tb_tcp_analysis_free(analysis);
	return 0;
}

#define CLAIM(claim)                                                                     \
	cmocka_unit_test_setup_teardown(claim, fresh_connection, forget_connection)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(both_halves_of_the_handshake_are_timed),
		CLAIM(an_acknowledgement_times_the_segment_whose_end_it_names),
		CLAIM(a_segment_that_was_sent_twice_times_nothing),
		CLAIM(two_duplicate_acknowledgements_make_a_retransmission_fast),
		CLAIM(a_changed_window_is_no_duplicate),
		CLAIM(silence_makes_a_retransmission_one_by_time_out),
		CLAIM(what_was_acknowledged_is_sent_again_in_vain),
		CLAIM(a_late_segment_that_fills_a_hole_is_out_of_order),
		CLAIM(keep_alives_are_not_retransmissions),
		CLAIM(a_window_of_zero_lasts_until_it_opens),
		CLAIM(a_reset_ends_a_window_of_zero),
		CLAIM(a_full_window_limits_its_sender_until_there_is_room),
		CLAIM(a_window_without_its_handshake_is_unknown),
		CLAIM(a_new_connection_on_the_same_ports_repeats_nothing),
		CLAIM(each_moment_of_a_flow_went_somewhere),
		CLAIM(an_answer_with_the_acknowledgement_was_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
