// Jobs inferred from captures that are written here frame by frame.
#include "infer.h"
#include "../../capture_writer.h"
#include "map_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "infer_XXXXXX";
static struct tb_job *job;
static struct tb_infer_report report;

static int infer_of(bool lenient)
{
	struct tb_packets_options options = tb_infer_options(NULL);
	options.lenient = lenient;
	const char *list[] = {path};
	struct tb_packets *packets;
	struct tb_error error = {0};
	tb_job_free(job);
	job = NULL;
	assert_int_equal(tb_packets_open(&packets, list, 1, &options, &error), TB_OK);
	int status = tb_infer_job(packets, false, &job, &report, &error);
	tb_packets_free(packets);
	assert_true(status == TB_OK || error.text[0]);
	return status;
}

static int infer(void)
{
	return infer_of(false);
}

// send_of returns the send number `n`, from 0, of a rank.
static uint32_t send_of(uint32_t rank, uint32_t n)
{
	for (uint32_t op = job->first_op[rank]; op < job->first_op[rank + 1]; op++)
		if (job->ops[op].kind == TB_OP_SEND && n-- == 0)
			return op;
	fail();
	return 0;
}

static bool follows(uint32_t op, uint32_t on)
{
	for (uint32_t i = job->first_successor[on]; i < job->first_successor[on + 1]; i++)
		if ((job->successors[i] & ~TB_DEP_START) == op)
			return true;
	return false;
}

// calc_before returns the computation that a send waits for; UINT32_MAX: none.
static uint32_t calc_before(uint32_t rank, uint32_t send)
{
	for (uint32_t op = job->first_op[rank]; op < job->first_op[rank + 1]; op++)
		if (job->ops[op].kind == TB_OP_CALC && follows(send, op))
			return op;
	return UINT32_MAX;
}

#define ROUNDS 24
#define LATE   15 // the round in which node 2 is 50 ms late

// write_growing writes a ring of three nodes that send on 1 ms after what they got, each
// round a longer message.
static void write_growing(void)
{
	struct capture capture;
	capture_begin(&capture, 1);
	uint64_t at_ns = 1000;
	uint32_t next = 1000;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint8_t node = 1; node <= 3; node++) {
			uint8_t to = node == 3 ? 1 : (uint8_t)(node + 1);
			at_ns += round == LATE && node == 2 ? 50000000 : 1000000;
			capture_tcp(&capture, at_ns, node, to, 7, next, 100 + round);
		}
		next += 100 + round;
	}
	capture_end(&capture, path);
}

// write_ping_pong writes `n` requests of 100 bytes, each answered by 300 bytes after
// `answer_ns`, and asked again 5 ms later.
static void write_ping_pong(int n, uint64_t answer_ns)
{
	struct capture capture;
	capture_begin(&capture, 1);
	uint64_t at_ns = 1000;
	for (int i = 0; i < n; i++) {
		capture_tcp(&capture, at_ns, 1, 2, 7, 1000 + 100 * (uint32_t)i, 100);
		at_ns += answer_ns;
		capture_tcp(&capture, at_ns, 2, 1, 9, 5000 + 300 * (uint32_t)i, 300);
		at_ns += 5000000;
	}
	capture_end(&capture, path);
}

static void an_answer_waits_for_its_request_and_the_computation(void **state)
{
	(void)state;
	write_ping_pong(8, 2000000);
	assert_int_equal(infer(), TB_OK);
	assert_int_equal(job->n_ranks, 2);
	assert_int_equal(report.n_messages, 16);
	assert_int_equal(report.bytes, 8 * 400);
	for (uint32_t i = 1; i < 8; i++) {
		uint32_t send = send_of(1, i);
		uint32_t calc = calc_before(1, send);
		assert_int_equal(job->ops[send].amount, 300);
		assert_int_not_equal(calc, UINT32_MAX);
		// Small frames show no rate of a port: delivery is at once.
		assert_in_range(job->ops[calc].amount, 1999000, 2000000);
		calc = calc_before(0, send_of(0, i));
		assert_in_range(job->ops[calc].amount, 4999000, 5000000);
	}
}

// Each is compared from when its send starts until its receive ends.
static void recorded_messages_are_those_of_the_job(void **state)
{
	(void)state;
	write_ping_pong(8, 2000000);
	assert_int_equal(infer(), TB_OK);
	const struct tb_recorded_calls *recorded = job->recorded;
	assert_non_null(recorded);
	assert_true(recorded->on_wire);
	assert_int_equal(recorded->first[1], 8);
	assert_int_equal(recorded->first[2], 16);
	for (uint32_t i = 0; i < 16; i++) {
		const struct tb_timed_call *call = &recorded->calls[i];
		uint32_t rank = i / 8;
		assert_int_equal(call->kind, TB_TIMED_MESSAGE);
		assert_int_equal(call->enter, send_of(rank, i % 8) | TB_DEP_START);
		const struct tb_op *received = &job->ops[call->leave];
		assert_int_equal(received->kind, TB_OP_RECV);
		assert_int_equal(received->amount, rank == 0 ? 100 : 300);
		assert_in_range(call->leave, job->first_op[1 - rank],
			job->first_op[2 - rank] - 1);
	}
}

static void messages_of_many_sizes_recur_by_their_place(void **state)
{
	(void)state;
	write_growing();
	assert_int_equal(infer(), TB_OK);
	assert_int_equal(report.n_messages, 3 * ROUNDS);
	// The place is that of eight calls before: the first eight are like no other.
	assert_in_range(report.n_recurring, 3 * (ROUNDS - 8) - 3, 3 * (ROUNDS - 8));
}

static void a_delay_that_does_not_recur_is_no_computation(void **state)
{
	(void)state;
	write_growing();
	assert_int_equal(infer(), TB_OK);
	for (uint32_t i = 8; i < ROUNDS; i++) {
		uint32_t calc = calc_before(1, send_of(1, i));
		assert_int_not_equal(calc, UINT32_MAX);
		assert_in_range(job->ops[calc].amount, 999000, 1000000);
	}
}

// write_bursts writes bursts of a short segment and full ones, shaped to 10 Mbit/s with a
// bucket of `bucket` bytes.
static void write_bursts(double bucket)
{
	struct capture capture;
	capture_begin(&capture, 1);
	uint32_t next = 1000;
	for (int burst = 0; burst < 8; burst++) {
		double at_ns = 1000 + 100e6 * burst, saved = bucket;
		for (int i = 0; i < 40; i++) {
			uint32_t bytes = i == 0 ? 100 : 1460;
			double missing = 54 + bytes - saved;
			if (missing > 0) {
				at_ns += 800 * missing;
				saved += missing;
			}
			saved -= 54 + bytes;
			capture_tcp(&capture, (uint64_t)at_ns, 1, 2, 7, next, bytes);
			next += bytes;
		}
	}
	capture_end(&capture, path);
}

static void a_port_lets_pass_at_once_what_it_saved(void **state)
{
	(void)state;
	for (uint32_t bucket = 3200; bucket <= 9600; bucket *= 3) {
		write_bursts(bucket);
		assert_int_equal(infer(), TB_OK);
		assert_in_range(report.port_bytes_per_s, 1240000, 1260000);
		assert_in_range(
			report.bucket_bytes, bucket - bucket / 40, bucket + bucket / 40);
	}
}

static void nothing_but_acknowledgements_is_no_job(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 1000, 1, 2, 7, 1000, 0);
	capture_tcp(&capture, 2000, 2, 1, 9, 1000, 0);
	capture_end(&capture, path);
	assert_int_equal(infer(), TB_EFORMAT);
}

static void bytes_sent_again_are_one_message(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 1000, 1, 2, 7, 1000, 100);
	capture_tcp(&capture, 5000000, 1, 2, 7, 1000, 100);
	capture_tcp(&capture, 9000000, 1, 2, 7, 1100, 50);
	capture_end(&capture, path);
	assert_int_equal(infer(), TB_OK);
	assert_int_equal(report.n_messages, 2);
	assert_int_equal(report.n_repeated, 1);
	assert_int_equal(report.bytes, 150);
}

// write_send adds an InfiniBand send of one packet, over UDP.
static void write_send(
	struct capture *capture, uint64_t at_ns, uint32_t sequence, uint32_t payload)
{
	uint8_t frame[80];
	capture_ip(capture, frame, 1, 2, 17, 8 + 12 + payload + 4);
	capture_put(frame + 34, 700, 2);
	capture_put(frame + 36, 4791, 2);
	capture_put(frame + 38, 8 + 12 + payload + 4, 2);
	capture_put(frame + 42, 4, 1);
	capture_put(frame + 47, 17, 3);
	capture_put(frame + 51, sequence, 3);
	capture_record(capture, at_ns, frame, 54, 54 + payload + 4);
}

static void messages_without_bytes_are_messages(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	for (uint32_t i = 0; i < 4; i++)
		write_send(&capture, 1000 + 5000000 * (uint64_t)i, i, 0);
	write_send(&capture, 30000000, 4, 64);
	capture_end(&capture, path);
	assert_int_equal(infer(), TB_OK);
	assert_int_equal(report.n_messages, 5);
	assert_int_equal(report.n_split, 0);
	assert_int_equal(report.bytes, 64);
}

static void the_notes_say_what_was_inferred(void **state)
{
	(void)state;
	write_ping_pong(8, 2000000);
	assert_int_equal(infer(), TB_OK);
	assert_non_null(strstr(job->notes, "16 messages"));
	assert_non_null(strstr(job->notes, "in every repetition"));
	assert_string_equal(job->endpoints[0], "10.77.0.1");
}

// Two messages of node 1, the first with a hole of 100 bytes, one of node 2, which no
// segment ends either, and a datagram.
static void write_open(void)
{
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 1000, 1, 2, 7, 1000, 100);
	capture_tcp(&capture, 2000, 1, 2, 7, 1200, 100);
	capture_tcp(&capture, 60000000, 2, 1, 9, 5000, 40);
	capture_tcp(&capture, 90000000, 1, 2, 7, 1300, 50);
	capture_udp(&capture, 95000000, 1, 2, 8);
	capture_end(&capture, path);
}

static void what_is_not_whole_is_counted_and_said(void **state)
{
	(void)state;
	write_open();
	assert_int_equal(infer(), TB_OK);
	assert_int_equal(report.n_records, 5);
	assert_int_equal(report.n_messages, 4);
	assert_int_equal(report.n_unfinished, 2);
	assert_int_equal(report.n_missing, 1);
	assert_int_equal(report.missing_bytes, 100);
	assert_int_equal(report.n_unnumbered, 1);
	assert_int_equal(report.bytes, 300 + 50 + 40 + 8);
	assert_false(report.is_cut);
	assert_non_null(strstr(job->notes,
		"2 messages (50 %) were not known to be whole when the capture ended"));
	assert_non_null(
		strstr(job->notes, "1 message (25 %) has bytes that were not captured"));
	assert_non_null(strstr(
		job->notes, "1 message (25 %) is a datagram, taken for a message"));
	assert_null(strstr(job->notes, "breaks off"));
}

// Two jobs in one capture: what is counted by message stands in the notes of its own.
static void each_job_of_a_capture_has_its_own_counts(void **state)
{
	(void)state;
	static const char *const addresses[] = {
		"10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.4"};
	struct capture capture;
	struct tb_map_file *map;
	struct tb_packets *packets;
	struct tb_job *jobs[2] = {NULL, NULL};
	struct tb_error error = {0};
	const char *list[] = {path};
	capture_begin(&capture, 1);
	capture_tcp(&capture, 1000, 1, 2, 7, 1000, 100);
	capture_tcp(&capture, 2000, 3, 4, 7, 1200, 100);
	capture_udp(&capture, 3000, 3, 4, 8);
	capture_end(&capture, path);
	assert_int_equal(tb_map_file_new(&map, &error), TB_OK);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(tb_map_file_add(map, addresses[i], (struct tb_node){i},
					 i < 2 ? "a" : "b", &error),
			TB_OK);
	struct tb_packets_options options = tb_infer_options(NULL);
	options.map = map;
	assert_int_equal(tb_packets_open(&packets, list, 1, &options, &error), TB_OK);
	assert_int_equal(tb_packets_n_jobs(packets), 2);
	assert_int_equal(tb_infer_jobs(packets, false, jobs, &error), TB_OK);
	assert_non_null(strstr(jobs[0]->notes, "1 message of 100 B was inferred"));
	assert_non_null(strstr(jobs[0]->notes, "1 message (100 %) was not known to be"));
	assert_null(strstr(jobs[0]->notes, "datagram"));
	assert_non_null(strstr(jobs[1]->notes, "2 messages of 108 B in all were"));
	assert_non_null(strstr(jobs[1]->notes, "1 message (50 %) was not known to be"));
	assert_non_null(strstr(jobs[1]->notes, "1 message (50 %) is a datagram"));
	tb_packets_free(packets);
	tb_map_file_free(map);
	tb_job_free(jobs[0]);
	tb_job_free(jobs[1]);
}

static void a_capture_that_breaks_off_counts_until_there(void **state)
{
	(void)state;
	write_open();
	FILE *file = fopen(path, "rb");
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	long end = ftell(file);
	fclose(file);
	assert_int_equal(truncate(path, end - 3), 0);
	assert_int_equal(infer(), TB_EFORMAT);
	assert_int_equal(infer_of(true), TB_OK);
	assert_true(report.is_cut);
	assert_int_equal(report.n_records, 4);
	assert_int_equal(report.n_messages, 3);
	assert_non_null(strstr(
		job->notes, "the capture breaks off: the 4 records before that count"));
}

// push writes a segment after which its writer had no more bytes.
static void push(struct capture *capture, uint64_t at_ns, uint8_t source,
	uint8_t destination, uint32_t *sequence, uint32_t payload)
{
	uint8_t frame[80];
	capture_segment(capture, frame, source, destination, 7, *sequence, payload);
	capture_put(frame + 46, 0x8018, 2); // PSH
	capture_record(capture, at_ns, frame, 66, 66 + payload);
	*sequence += payload;
}

// write_rendezvous writes 16 exchanges of 5000 bytes both ways, each asked for with 40
// bytes and allowed with 64. Every second time node 2 answers before it asks itself.
static void write_rendezvous(void)
{
	struct capture capture;
	capture_begin(&capture, 1);
	uint32_t one = 1000, two = 90000;
	for (uint64_t i = 0; i < 16; i++) {
		uint64_t at_ns = 1000 + i * 40000000;
		bool early = i % 2 == 0;
		push(&capture, at_ns, 1, 2, &one, 40);
		push(&capture, at_ns + 9000000, 2, 1, &two, early ? 64 : 40);
		push(&capture, at_ns + 9100000, 2, 1, &two, early ? 40 : 64);
		push(&capture, at_ns + 12000000, 1, 2, &one, 64);
		push(&capture, at_ns + 15000000, 1, 2, &one, 5000);
		push(&capture, at_ns + 18000000, 2, 1, &two, 5000);
	}
	capture_end(&capture, path);
}

static void an_answer_waits_for_its_request_and_not_for_its_place(void **state)
{
	(void)state;
	write_rendezvous();
	assert_int_equal(infer(), TB_OK);
	uint32_t n_answers = 0;
	for (uint32_t op = job->first_op[1]; op < job->first_op[2]; op++) {
		if (job->ops[op].kind != TB_OP_SEND || job->ops[op].amount != 64)
			continue;
		uint32_t n_calcs = 0;
		for (uint32_t on = job->first_op[1]; on < job->first_op[2]; on++)
			n_calcs += job->ops[on].kind == TB_OP_CALC &&
				   job->ops[on].cpu == 0 && follows(op, on);
		assert_int_equal(n_calcs, 2); // its round's, and the look at its request
		n_answers++;
	}
	assert_int_equal(n_answers, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_waits_for_its_request_and_not_for_its_place),
		cmocka_unit_test(an_answer_waits_for_its_request_and_the_computation),
		cmocka_unit_test(recorded_messages_are_those_of_the_job),
		cmocka_unit_test(messages_of_many_sizes_recur_by_their_place),
		cmocka_unit_test(a_delay_that_does_not_recur_is_no_computation),
		cmocka_unit_test(a_port_lets_pass_at_once_what_it_saved),
		cmocka_unit_test(nothing_but_acknowledgements_is_no_job),
		cmocka_unit_test(bytes_sent_again_are_one_message),
		cmocka_unit_test(messages_without_bytes_are_messages),
		cmocka_unit_test(the_notes_say_what_was_inferred),
		cmocka_unit_test(what_is_not_whole_is_counted_and_said),
		cmocka_unit_test(each_job_of_a_capture_has_its_own_counts),
		cmocka_unit_test(a_capture_that_breaks_off_counts_until_there),
	};
	int fd = mkstemp(path);
	if (fd >= 0)
		close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tb_job_free(job);
	unlink(path);
	return failed;
}
