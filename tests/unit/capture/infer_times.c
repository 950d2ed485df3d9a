// When an inferred job posts each message: captures written here frame by frame, in which
// it is known what the program computed between, and what it waited for. On a network
// without delay a chain of messages is posted when it was captured, but for a nanosecond
// per message (a delivery lies one behind the frame).
#include "../../capture_writer.h"
#include "../../support/job_posts.h"
#include "infer.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS	  UINT64_C(1000000)
#define BEGIN_NS  1000 // of every capture
#define POSTS_MAX 400

static char path[] = "times_XXXXXX";
static struct capture capture;
static struct tb_job *job;
static struct tb_infer_report report;

// The sends of a job by the time at which they are posted.
struct post {
	uint64_t at_ns, bytes;
	uint32_t from, to;
};
static struct post posts[POSTS_MAX];
static size_t n_posts;

static void begin(void)
{
	capture_begin(&capture, 1);
}

static int compare(const void *a, const void *b)
{
	const struct post *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

// list_posts lists the sends of a job.
static void list_posts(const struct tb_job *of_job)
{
	uint64_t *at_ns = posts_ns(of_job);
	n_posts = 0;
	for (uint32_t rank = 0; rank < of_job->n_ranks; rank++)
		for (uint32_t op = of_job->first_op[rank];
			op < of_job->first_op[rank + 1]; op++) {
			const struct tb_op *of = &of_job->ops[op];
			if (of->kind != TB_OP_SEND)
				continue;
			assert_true(n_posts < POSTS_MAX);
			posts[n_posts++] =
				(struct post){at_ns[op], of->amount, rank, of->peer};
		}
	free(at_ns);
	qsort(posts, n_posts, sizeof *posts, compare);
}

// infer ends the capture and lists the sends of its job.
static void infer(void)
{
	struct tb_packets_options options = tb_infer_options(NULL);
	const char *list[] = {path};
	struct tb_packets *packets;
	struct tb_error error = {0};
	capture_end(&capture, path);
	tb_job_free(job);
	job = NULL;
	assert_int_equal(tb_packets_open(&packets, list, 1, &options, &error), TB_OK);
	if (tb_infer_job(packets, true, &job, &report, &error) != TB_OK)
		fail_msg("%s", error.text);
	tb_packets_free(packets);
	list_posts(job);
}

// assert_post checks the i-th send of the job, in the order of time.
static void assert_post(
	size_t i, uint64_t at_ns, uint32_t from, uint32_t to, uint64_t bytes)
{
	assert_true(i < n_posts);
	const struct post *post = &posts[i];
	if (post->at_ns != at_ns || post->from != from || post->to != to ||
		post->bytes != bytes)
		fail_msg("send %zu: %" PRIu64 " B from %u to %u at %" PRIu64
			 " ns, not %" PRIu64 " B from %u to %u at %" PRIu64,
			i, post->bytes, post->from, post->to, post->at_ns, bytes, from,
			to, at_ns);
}

// A connection of one node to another.
struct connection {
	uint8_t from, to;
	uint32_t next;
};

// put writes a segment; `push`: its writer had no more bytes.
static void put(struct connection *of, uint64_t at_ns, uint32_t payload, bool push)
{
	uint8_t frame[80];
	capture_segment(&capture, frame, of->from, of->to, 7, of->next, payload);
	if (push)
		capture_put(frame + 46, 0x8018, 2);
	capture_record(&capture, BEGIN_NS + at_ns, frame, 66, 66 + payload);
	of->next += payload;
}

// Requests of 100 bytes are answered after 2 ms with 300, and asked again 5 ms later.
static void a_chain_is_posted_when_it_was_captured(void **state)
{
	(void)state;
	struct connection ask = {1, 2, 1000}, answer = {2, 1, 9000};
	begin();
	for (uint64_t i = 0; i < 8; i++) {
		put(&ask, 7 * MS * i, 100, true);
		put(&answer, 7 * MS * i + 2 * MS, 300, true);
	}
	infer();
	assert_int_equal(n_posts, 16);
	for (uint64_t i = 0; i < 8; i++) {
		assert_post(2 * i, 7 * MS * i - 2 * i, 0, 1, 100);
		assert_post(2 * i + 1, 7 * MS * i + 2 * MS - 2 * i - 1, 1, 0, 300);
	}
	assert_int_equal(report.span_ps, 51 * MS * 1000);
	assert_int_equal(report.n_first, 1);
	assert_int_equal(report.n_recurring, 15);
	assert_int_equal(report.n_nearest, 0);
	assert_int_equal(report.n_hidden, 0);
	// Nothing is hidden, so nothing is doubtful: the bounds are the job.
	for (size_t b = 0; b < job->bounds->n; b++) {
		list_posts(job->bounds->jobs[b]);
		assert_int_equal(n_posts, 16);
		for (uint64_t i = 0; i < 8; i++) {
			assert_post(2 * i, 7 * MS * i - 2 * i, 0, 1, 100);
			assert_post(
				2 * i + 1, 7 * MS * i + 2 * MS - 2 * i - 1, 1, 0, 300);
		}
	}
}

// Behind a message of 19 full frames and a short one, at 100 ns a byte, stands another:
// it was called for at once, or when it left, or between. 10 ms after it has left comes a
// third: that much computation is certain, and what the queue hid may be more.
static void a_hidden_call_lies_between_its_bounds(void **state)
{
	(void)state;
	const uint64_t full_ns = 151400, short_ns = 106600, third_ns = 16600;
	const uint64_t left_ns =
		18 * full_ns + short_ns; // the first frame was begun before
	struct connection first = {1, 2, 1000}, second = {1, 3, 1000};
	begin();
	for (uint64_t i = 0; i < 19; i++)
		put(&first, i * full_ns, 1448, false);
	put(&first, left_ns, 1000, true);
	put(&second, left_ns + third_ns, 100, true);
	put(&second, left_ns + 10 * MS + third_ns, 100, true);
	infer();
	assert_int_equal(job->bounds->n, 2);
	assert_int_equal(job->bounds->n_calls, 3);
	assert_int_equal(job->bounds->n_hidden, 1);
	list_posts(job->bounds->jobs[0]);
	assert_int_equal(posts[1].at_ns, 0);
	assert_int_equal(posts[2].at_ns, 10 * MS - third_ns);
	// So few show nothing that is regular.
	list_posts(job->bounds->jobs[1]);
	assert_int_equal(posts[1].at_ns, 0);
	assert_int_equal(posts[2].at_ns, 10 * MS - third_ns);
}

// post_to returns when the only message to a rank is posted.
static uint64_t post_to(uint32_t rank)
{
	for (size_t i = 0; i < n_posts; i++)
		if (posts[i].to == rank)
			return posts[i].at_ns;
	fail_msg("nothing is sent to rank %u", rank);
	return 0;
}

// While it sends a long message, a node gets a request; its answer leaves behind the
// message. It may have computed since then, or have waited for its own message to leave.
static void a_node_may_wait_for_what_it_sends(void **state)
{
	(void)state;
	const uint64_t full_ns = 151400;
	struct connection out = {1, 2, 1000}, ask = {2, 1, 9000}, back = {1, 3, 1000};
	begin();
	for (uint64_t i = 0; i < 39; i++) {
		put(&out, i * full_ns, 1448, false);
		if (i == 19)
			put(&ask, i * full_ns + 1000, 100, true);
	}
	put(&out, 39 * full_ns, 1000, true);
	put(&back, 50 * full_ns, 100, true);
	infer();
	list_posts(job->bounds->jobs[0]);
	// From when the last frame of the message was through.
	assert_int_equal(post_to(2), 50 * full_ns - 16600 - 39 * full_ns);
	list_posts(job);
	assert_in_range(post_to(2), 20 * full_ns, 50 * full_ns);
}

// answer_after writes exchanges whose answers take so many microseconds; n of them.
static void answer_after(const uint64_t *us, size_t n)
{
	struct connection ask = {1, 2, 1000}, answer = {2, 1, 9000};
	uint64_t at_ns = 0;
	begin();
	for (size_t i = 0; i < n; i++) {
		put(&ask, at_ns, 100, true);
		put(&answer, at_ns += us[i] * 1000, 300, true);
		at_ns += 5 * MS;
	}
	infer();
	assert_int_equal(n_posts, 2 * n);
}

// answer_us returns how long the i-th answer takes, with the nanosecond of its delivery.
static uint64_t answer_us(size_t i)
{
	assert_int_equal(posts[2 * i + 1].from, 1);
	return (posts[2 * i + 1].at_ns - posts[2 * i].at_ns + 1) / 1000;
}

static void computation_is_as_long_as_it_was_each_time(void **state)
{
	(void)state;
	static const uint64_t us[] = {2000, 2100, 1900, 2050, 2000, 1950, 2150, 2000};
	answer_after(us, 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(answer_us(i), us[i]);
}

// Half as long again as the median and 100 us are the limit.
// computed_us returns how long a rank of a job computes in all.
static uint64_t computed_us(const struct tb_job *of_job, uint32_t rank)
{
	uint64_t sum_ns = 0;
	for (uint32_t op = of_job->first_op[rank]; op < of_job->first_op[rank + 1]; op++)
		if (of_job->ops[op].kind == TB_OP_CALC)
			sum_ns += of_job->ops[op].amount;
	return sum_ns / 1000;
}

// An answer takes 2 ms, but three times something else comes in its middle.
static void regular_computation_is_what_nothing_comes_into(void **state)
{
	(void)state;
	struct connection ask = {1, 2, 1000}, answer = {2, 1, 9000}, other = {3, 2, 500};
	begin();
	for (uint64_t i = 0; i < 12; i++) {
		put(&ask, 7 * MS * i, 100, true);
		if (i % 4 == 1)
			put(&other, 7 * MS * i + MS, 50, true);
		put(&answer, 7 * MS * i + 2 * MS, 300, true);
	}
	infer();
	assert_in_range(computed_us(job->bounds->jobs[0], 1), 20900, 21100);
	assert_in_range(computed_us(job->bounds->jobs[1], 1), 23900, 24100);
}

static void what_differs_each_time_is_not_regular(void **state)
{
	(void)state;
	static const uint64_t us[] = {2000, 2000, 2900, 3000, 2000, 6000, 2000, 2000};
	struct connection ask = {1, 2, 1000}, answer = {2, 1, 9000}, other = {3, 2, 500};
	uint64_t sum_us = 0;
	begin();
	for (uint64_t i = 0; i < 8; i++) {
		put(&ask, 10 * MS * i, 100, true);
		if (i == 3)
			put(&other, 10 * MS * i + MS, 50, true);
		put(&answer, 10 * MS * i + us[i] * 1000, 300, true);
		sum_us += us[i];
	}
	infer();
	// What came before the other message may have been a wait for it.
	assert_in_range(
		computed_us(job->bounds->jobs[1], 1), sum_us - 1001, sum_us - 999);
}

// An answer needs what a third node sends, of another length each time, and takes 2 ms
// from there; every other time something else comes in the middle of that.
static void what_is_not_regular_waits_for_the_last_delivery(void **state)
{
	(void)state;
	static const uint64_t late_ms[] = {10, 14, 11, 17, 12, 19, 13, 16};
	struct connection ask = {1, 2, 1000}, answer = {2, 1, 9000}, third = {3, 2, 500},
			  other = {4, 2, 500};
	begin();
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t at_ns = 40 * MS * i + late_ms[i] * MS;
		put(&ask, 40 * MS * i, 100, true);
		put(&third, at_ns, 51 + 10 * (uint32_t)i, true);
		if (i % 2)
			put(&other, at_ns + MS, 200 + 10 * (uint32_t)i, true);
		put(&answer, at_ns + 2 * MS, 300, true);
	}
	infer();
	assert_true(computed_us(job, 1) > 100000);
	assert_in_range(computed_us(job->bounds->jobs[1], 1), 11000, 16500);
	list_posts(job->bounds->jobs[1]);
	uint64_t asked_ns = 0, i = 0;
	for (size_t k = 0; k < n_posts; k++) {
		asked_ns = posts[k].bytes == 100 ? posts[k].at_ns : asked_ns;
		if (posts[k].bytes == 300)
			assert_int_equal(
				(posts[k].at_ns - asked_ns + 10) / MS, late_ms[i++] + 2);
	}
	assert_int_equal(i, 8);
}

static void what_takes_far_longer_once_takes_the_median(void **state)
{
	(void)state;
	static const uint64_t us[] = {
		2000, 2000, 2000, 2990, 2000, 2000, 9000, 2000, 3110};
	answer_after(us, 9);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(answer_us(i), i == 3 ? 2990 : 2000);
}

static void three_repetitions_are_too_few_for_a_median(void **state)
{
	(void)state;
	static const uint64_t us[] = {2000, 2000, 9000};
	answer_after(us, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(answer_us(i), us[i]);
}

// Node 3 sends on when it has heard from both others, which are 1 and 4 ms late in turn.
static void a_message_waits_for_all_that_always_comes_before(void **state)
{
	(void)state;
	struct connection one = {1, 3, 1000}, two = {2, 3, 5000}, back = {3, 1, 9000},
			  on = {3, 2, 13000};
	begin();
	for (uint64_t i = 0; i < 12; i++) {
		uint64_t at_ns = 20 * MS * i;
		uint64_t first_ns = at_ns + (i % 2 ? 1 : 4) * MS;
		uint64_t second_ns = at_ns + (i % 2 ? 4 : 1) * MS;
		if (i % 2) {
			put(&one, first_ns, 100, true);
			put(&two, second_ns, 200, true);
		} else {
			put(&two, second_ns, 200, true);
			put(&one, first_ns, 100, true);
		}
		put(&back, at_ns + 7 * MS, 50, true);
		put(&on, at_ns + 7 * MS + 500000, 60, true);
	}
	infer();
	assert_int_equal(n_posts, 48);
	uint32_t n_both = 0;
	for (uint32_t op = job->first_op[2]; op < job->first_op[3]; op++) {
		// The computation of 3 ms waits for both receives of its round.
		if (job->ops[op].kind != TB_OP_CALC ||
			job->ops[op].amount / MS != 2 + (job->ops[op].amount % MS == 0))
			continue;
		n_both += job->n_predecessors[op] >= 2;
	}
	assert_in_range(n_both, 10, 12);
}

static void a_short_segment_that_is_pushed_ends_a_message(void **state)
{
	(void)state;
	struct connection of = {1, 2, 1000};
	begin();
	put(&of, 0, 1460, false);
	put(&of, 20000, 700, true); // 2160 bytes
	put(&of, 30 * MS, 1460, false);
	put(&of, 30 * MS + 20000, 1460, false);
	put(&of, 30 * MS + 40000, 90, true); // 3010
	put(&of, 90 * MS, 50, true);
	infer();
	assert_int_equal(n_posts, 3);
	assert_post(0, 0, 0, 1, 2160);
	assert_int_equal(posts[1].bytes, 3010);
	assert_int_equal(posts[2].bytes, 50);
	assert_int_equal(report.bytes, 2160 + 3010 + 50);
}

// Without a push, bytes are one message until a pause of a millisecond.
static void a_pause_ends_a_message(void **state)
{
	(void)state;
	static const uint64_t pauses_ns[] = {800000, 40 * MS};
	for (size_t i = 0; i < 2; i++) {
		struct connection of = {1, 2, 1000};
		begin();
		put(&of, 0, 1000, false);
		put(&of, pauses_ns[i], 1000, false);
		infer();
		assert_int_equal(n_posts, i + 1);
		assert_int_equal(posts[0].bytes, i ? 1000 : 2000);
	}
}

// Two nodes exchange 5000 bytes every 40 ms, each asked for with 40 bytes and allowed
// with
// 64. Every second time node 2 answers before it asks itself, so that its round, not the
// order, decides: 22 ms after the last data, as it was, node 1 asks again. That both are
// `late_ns` late in the tenth round does not recur, and is no computation.
static void check_rendezvous(uint64_t late_ns)
{
	struct connection one = {1, 2, 1000}, two = {2, 1, 90000};
	begin();
	for (uint64_t i = 0; i < 16; i++) {
		uint64_t at_ns = 40 * MS * i + (i > 8 ? late_ns : 0);
		put(&one, at_ns, 40, true);
		put(&two, at_ns + 9 * MS, i % 2 ? 40 : 64, true);
		put(&two, at_ns + 9 * MS + 100000, i % 2 ? 64 : 40, true);
		put(&one, at_ns + 12 * MS, 64, true);
		put(&one, at_ns + 15 * MS, 5000, true);
		put(&two, at_ns + 18 * MS, 5000, true);
	}
	infer();
	assert_int_equal(n_posts, 96);
	for (uint64_t i = 0; i < 16; i++) {
		uint64_t of_one = i ? 31 * MS + 1 + 34 * MS * (i - 1) : 0;
		uint64_t of_two = 9 * MS + 34 * MS * i;
		uint32_t n = 0;
		for (size_t k = 0; k < n_posts; k++) {
			const struct post *post = &posts[k];
			uint64_t at_ns = post->bytes == 40 && post->from == 0 ? of_one
					 : post->bytes == 5000 ? of_two + 1 + post->from
							       : of_two + !post->from;
			n += post->at_ns == at_ns;
		}
		assert_int_equal(n, 6);
	}
}

static void a_rendezvous_waits_for_its_round(void **state)
{
	(void)state;
	check_rendezvous(0);
	check_rendezvous(30 * MS);
}

#define FRAME_NS  1220800 // 1460 bytes and 66 of headers at 10 Mbit/s
#define ANSWER_NS 60800	  // 10 and 66

static void a_line_of_jumbo_frames_has_no_bucket(void **state)
{
	(void)state;
	struct connection one = {1, 2, 1000}, two = {2, 1, 90000};
	begin();
	for (uint64_t i = 0; i < 6; i++) {
		for (uint64_t k = 0; k < 40; k++) // 8960 bytes and 66 at 10 Mbit/s
			put(&one, 1000 * MS * i + 7220800 * k, 8960, k == 39);
		put(&two, 1000 * MS * i + 600 * MS, 10, true);
	}
	infer();
	assert_in_range(report.port_bytes_per_s, 1252000, 1255000);
	assert_int_equal(report.bucket_bytes, 0);
}

// Node 1 sends 40 full frames as quickly as its port of 10 Mbit/s lets it. The last one
// stands in the port of node 2 for as long again; what node 2 then computes ends at 60
// ms.
static void computation_begins_when_the_port_has_delivered(void **state)
{
	(void)state;
	struct connection one = {1, 2, 1000}, two = {2, 1, 90000};
	begin();
	for (uint64_t i = 0; i < 6; i++) {
		uint64_t at_ns = 100 * MS * i;
		for (uint64_t k = 0; k < 40; k++)
			put(&one, at_ns + FRAME_NS * k, 1460, k == 39);
		put(&two, at_ns + 60 * MS, 10, true);
	}
	infer();
	assert_int_equal(n_posts, 12);
	// A cable: each frame has 24 bytes more than were captured.
	assert_in_range(report.port_bytes_per_s, 1268500, 1271000);
	assert_int_equal(report.bucket_bytes, 0);
	for (uint64_t i = 0; i < 6; i++) {
		assert_int_equal(posts[2 * i].bytes, 58400);
		// A capture sees a frame when its last byte has left the sender's port.
		uint64_t called_ns = 60 * MS - ANSWER_NS, delivered_ns = 40 * FRAME_NS;
		assert_int_equal(posts[2 * i + 1].at_ns - posts[2 * i].at_ns,
			called_ns - delivered_ns);
		if (i > 0)
			assert_int_equal(posts[2 * i].at_ns - posts[2 * i - 1].at_ns,
				100 * MS - FRAME_NS - (60 * MS + ANSWER_NS));
	}
}

// Eight messages of 100 bytes, and 300 that left together: three of them, of which the
// later ones follow at once.
static void messages_that_ran_together_are_cut(void **state)
{
	(void)state;
	struct connection of = {1, 2, 1000};
	begin();
	for (uint64_t i = 0; i < 8; i++)
		put(&of, 10 * MS * i, 100, true);
	put(&of, 80 * MS, 300, true);
	infer();
	assert_int_equal(report.n_split, 2);
	assert_int_equal(n_posts, 11);
	for (size_t i = 0; i < n_posts; i++)
		assert_int_equal(posts[i].bytes, 100);
	assert_int_equal(posts[10].at_ns, posts[8].at_ns);
}

// Two sizes in turn have computation of their own before them.
static void events_of_different_sizes_have_gaps_of_their_own(void **state)
{
	(void)state;
	struct connection ask = {1, 2, 1000}, answer = {2, 1, 9000};
	begin();
	for (uint64_t i = 0; i < 12; i++) {
		put(&ask, 20 * MS * i, i % 2 ? 100 : 170, true);
		put(&answer, 20 * MS * i + (i % 2 ? 2 : 9) * MS, i % 2 ? 300 : 440, true);
	}
	infer();
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(answer_us(i), i % 2 ? 2000 : 9000);
}

// Node 2 answers every third request only, 4 ms after it.
static void what_is_rarer_waits_for_the_last_in_step(void **state)
{
	(void)state;
	struct connection ask = {1, 2, 1000}, answer = {2, 1, 9000};
	begin();
	for (uint64_t i = 0; i < 30; i++) {
		put(&ask, 10 * MS * i, 100, true);
		if (i % 3 == 2)
			put(&answer, 10 * MS * i + 4 * MS, 300, true);
	}
	infer();
	assert_int_equal(n_posts, 40);
	for (uint64_t i = 0; i < 10; i++) {
		const struct post *post = &posts[4 * i + 3];
		assert_int_equal(post->bytes, 300);
		assert_int_equal(post->at_ns - posts[4 * i + 2].at_ns, 4 * MS - 1);
	}
}

// Frames in any order, which are then written in the order of time.
struct framed {
	uint64_t at_ns;
	struct connection *of;
	uint32_t first, payload, acked;
	bool push;
};
static struct framed framed[700];
static size_t n_framed;
static uint32_t noise, byte_ns;

// jitter returns up to `most` nanoseconds by a generator of its own.
static uint64_t jitter(uint64_t most)
{
	noise = noise * 1664525 + 1013904223;
	return most * (noise >> 8) >> 24;
}

// send puts a message at a time, in full frames one behind the other and a rest that is
// pushed; it returns when the last one left. `back` acknowledges, if it is not NULL.
static uint64_t send_at(struct connection *of, const struct connection *back,
	uint64_t at_ns, uint32_t bytes)
{
	while (bytes > 0) {
		uint32_t payload = bytes < 1460 ? bytes : 1460;
		bytes -= payload;
		at_ns += (payload + UINT64_C(66)) * byte_ns;
		assert_true(n_framed < sizeof framed / sizeof *framed);
		framed[n_framed++] = (struct framed){
			at_ns, of, of->next, payload, back ? back->next : 1, bytes == 0};
		of->next += payload;
	}
	return at_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct framed *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->of->from < y->of->from ? -1 : x->of->from > y->of->from;
}

static void write_frames(void)
{
	uint8_t frame[80];
	begin();
	qsort(framed, n_framed, sizeof *framed, by_time);
	for (size_t i = 0; i < n_framed; i++) {
		const struct framed *of = &framed[i];
		capture_segment(&capture, frame, of->of->from, of->of->to, 7, of->first,
			of->payload);
		capture_put(frame + 42, of->acked, 4);
		if (of->push)
			capture_put(frame + 46, 0x8018, 2);
		capture_record(
			&capture, BEGIN_NS + of->at_ns, frame, 66, 66 + of->payload);
	}
}

// The posts and the report as one number.
static uint64_t digest(void)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	const uint64_t figures[] = {report.n_messages, report.n_split, report.n_recurring,
		report.n_nearest, report.n_first, report.n_hidden, report.n_acknowledged,
		report.n_repeated, report.port_bytes_per_s, report.bucket_bytes};
	for (size_t i = 0; i < n_posts; i++) {
		const uint64_t words[] = {
			posts[i].at_ns, posts[i].bytes, posts[i].from, posts[i].to};
		for (size_t k = 0; k < 4; k++)
			hash = (hash ^ words[k]) * UINT64_C(1099511628211);
	}
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		hash = (hash ^ figures[i]) * UINT64_C(1099511628211);
	return hash;
}

// Long messages from 1 to 2, an answer to each, and a short one before some.
static void write_long(void)
{
	static struct connection one = {1, 2, 1000}, two = {2, 1, 900000};
	for (uint64_t i = 0; i < 24; i++) {
		uint64_t at_ns = 60 * MS * i + jitter(MS);
		if (i % 3 == 1)
			at_ns = send_at(&one, &two, at_ns, 90) + 50000;
		at_ns = send_at(&one, &two, at_ns, 1460 * (9 + (uint32_t)i % 4) + 300);
		send_at(&two, i % 2 ? &one : NULL, at_ns + 5 * MS + jitter(MS), 40);
	}
}

// A ring of four whose messages have eleven sizes, late now and then.
static void write_ring(void)
{
	static struct connection of[4] = {
		{1, 2, 1000}, {2, 3, 2000}, {3, 4, 3000}, {4, 1, 4000}};
	uint64_t at_ns = 0;
	for (uint64_t i = 0; i < 96; i++) {
		at_ns += MS + jitter(200000) + (i % 29 == 13 ? 20 * MS : 0);
		at_ns = send_at(
			&of[i % 4], NULL, at_ns, 100 + 37 * (uint32_t)(i / 4 % 11));
	}
}

// Messages of 100 and 260 bytes, of which several run together, to two nodes that answer
// when each has as many.
static void write_together(void)
{
	static struct connection a = {1, 2, 1000}, b = {1, 3, 7000},
				 back = {2, 1, 900000}, other = {3, 1, 70000};
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at_ns = 20 * MS * i + jitter(300000);
		send_at(&a, NULL, at_ns, i % 5 == 4 ? 460 : i % 7 == 6 ? 300 : 100);
		send_at(&b, NULL, at_ns + 400000, i % 6 == 5 ? 260 : 100);
		if (i % 2)
			send_at(&back, &a, at_ns + 6 * MS + jitter(500000), 50);
		if (i % 4 == 3)
			send_at(&other, &b, at_ns + 9 * MS, 70);
	}
}

// Three nodes ask each other before they send 6000 bytes, in an order that varies.
static void write_asking(void)
{
	static struct connection of[3][3];
	for (uint8_t a = 0; a < 3; a++)
		for (uint8_t b = 0; b < 3; b++)
			of[a][b] = (struct connection){(uint8_t)(a + 1), (uint8_t)(b + 1),
				1000 + 100000u * (3u * a + b)};
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at_ns = 80 * MS * i;
		for (uint8_t a = 0; a < 3; a++) {
			uint8_t b = (uint8_t)((a + 1) % 3);
			uint64_t asked = at_ns + a * MS + jitter(4 * MS);
			uint64_t answered = asked + 2 * MS + jitter(4 * MS);
			send_at(&of[a][b], NULL, asked, 40);
			send_at(&of[b][a], NULL, answered, 64);
			send_at(&of[a][b], NULL, answered + 3 * MS + jitter(MS), 6000);
		}
	}
}

// The times of captures with a bit of everything are pinned: a change of a rule shows
// here. Look at what `tailback convert --closed-loop` makes of a capture before you
// accept it.
static void mixed_captures_keep_their_times(void **state)
{
	(void)state;
	static const struct {
		void (*write)(void);
		uint32_t byte_ns;
		uint64_t n_messages, digest;
	} cases[] = {
		{write_long, 800, 56, UINT64_C(0xee13494cbbcb33ba)},
		{write_ring, 800, 96, UINT64_C(0x4daf12cfbce93cfc)},
		{write_together, 800, 118, UINT64_C(0x3cca5a52436f77c0)},
		{write_asking, 80, 180, UINT64_C(0x6aae4ec48245342f)},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		n_framed = 0;
		noise = 7;
		byte_ns = cases[i].byte_ns;
		cases[i].write();
		write_frames();
		infer();
		if (report.n_messages != cases[i].n_messages ||
			digest() != cases[i].digest)
			fail_msg("capture %zu: %" PRIu64 " messages, digest %#" PRIx64, i,
				report.n_messages, digest());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_posted_when_it_was_captured),
		cmocka_unit_test(a_hidden_call_lies_between_its_bounds),
		cmocka_unit_test(a_node_may_wait_for_what_it_sends),
		cmocka_unit_test(computation_is_as_long_as_it_was_each_time),
		cmocka_unit_test(regular_computation_is_what_nothing_comes_into),
		cmocka_unit_test(what_differs_each_time_is_not_regular),
		cmocka_unit_test(what_is_not_regular_waits_for_the_last_delivery),
		cmocka_unit_test(what_takes_far_longer_once_takes_the_median),
		cmocka_unit_test(three_repetitions_are_too_few_for_a_median),
		cmocka_unit_test(a_message_waits_for_all_that_always_comes_before),
		cmocka_unit_test(a_short_segment_that_is_pushed_ends_a_message),
		cmocka_unit_test(a_pause_ends_a_message),
		cmocka_unit_test(a_rendezvous_waits_for_its_round),
		cmocka_unit_test(computation_begins_when_the_port_has_delivered),
		cmocka_unit_test(a_line_of_jumbo_frames_has_no_bucket),
		cmocka_unit_test(messages_that_ran_together_are_cut),
		cmocka_unit_test(events_of_different_sizes_have_gaps_of_their_own),
		cmocka_unit_test(what_is_rarer_waits_for_the_last_in_step),
		cmocka_unit_test(mixed_captures_keep_their_times),
	};
	int fd = mkstemp(path);
	if (fd >= 0)
		close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tb_job_free(job);
	unlink(path);
	return failed;
}
