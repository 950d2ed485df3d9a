// Captures of programs whose computation, path and receivers are known: what is inferred
// of their computation is right at every capture point, so it does not depend on where
// that was.
#include "../capture_writer.h"
#include "../viz_golden.h"
#include "infer.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define US     INT64_C(1000)
#define MS     INT64_C(1000000)
#define KERNEL (30 * US) // from a segment to its acknowledgement
#define MSS    1460u

static char path[] = "infer_truth_XXXXXX";

// One connection between host 1, which asks, and host 2.
struct wire {
	struct tb_random random;
	int64_t one_way_ns;
	double point;	    // of the capture: 0 at host 1, 1 at host 2
	bool has_handshake; // else the capture began later
	bool delays_acks;   // beyond the first few: 40 ms, or with the answer
	uint32_t next[2], seen[2];
	uint16_t window[2];
	unsigned n_acks[2];
	struct passed {
		int64_t at_ns;
		uint8_t frame[80];
		uint32_t bytes, wire_bytes;
	} rows[900];
	size_t n;
};

struct truth {
	int64_t computed_ns[2], closed_ns;
};

// pass sends a segment and returns when it arrives; `lost` ones pass the capture point
// only if that is at their sender.
static int64_t pass(struct wire *wire, int from, int64_t at_ns, uint8_t flags,
	uint32_t payload, bool lost)
{
	struct passed *row = &wire->rows[wire->n];
	struct capture unused = {.identification = (uint16_t)wire->n};
	double share = from == 0 ? wire->point : 1 - wire->point;
	uint32_t options = flags & 2 ? 4 : 0;
	capture_ip(&unused, row->frame, (uint8_t)(1 + from), (uint8_t)(2 - from), 6,
		20 + options + payload);
	capture_put(row->frame + 34, from == 0 ? 7777 : 80, 2);
	capture_put(row->frame + 36, from == 0 ? 80 : 7777, 2);
	capture_put(row->frame + 38, wire->next[from], 4);
	capture_put(row->frame + 42, wire->seen[from], 4);
	capture_put(row->frame + 46, (5u + options / 4) << 4, 1);
	capture_put(row->frame + 47, flags, 1);
	capture_put(row->frame + 48, wire->window[from], 2);
	if (options)
		capture_put(row->frame + 54, 0x02040000 + MSS, 4);
	row->at_ns = MS + at_ns + (int64_t)(share * (double)wire->one_way_ns);
	row->bytes = 54 + options;
	row->wire_bytes = row->bytes + payload;
	if (!lost || share == 0)
		wire->n++;
	assert_in_range(wire->n, 1, sizeof wire->rows / sizeof *wire->rows);
	if (lost)
		return 0;
	wire->next[from] += payload + (flags & 2 ? 1u : 0);
	wire->seen[1 - from] = wire->next[from];
	return at_ns + wire->one_way_ns;
}

static void wire_begin(struct wire *wire, uint64_t seed, int64_t one_way_ns, double point)
{
	memset(wire, 0, sizeof *wire);
	tb_random_init(&wire->random, seed, 0);
	wire->one_way_ns = one_way_ns;
	wire->point = point;
	wire->has_handshake = true;
	wire->window[0] = wire->window[1] = 65535;
	wire->next[0] = 1000;
	wire->next[1] = 5000;
}

// shake sets the connection up and returns when host 1 can send.
static int64_t shake(struct wire *wire, int64_t at_ns)
{
	size_t n = wire->n;
	at_ns = pass(wire, 0, at_ns, 2, 0, false) + KERNEL;
	at_ns = pass(wire, 1, at_ns, 0x12, 0, false) + KERNEL;
	pass(wire, 0, at_ns, 0x10, 0, false);
	if (!wire->has_handshake)
		wire->n = n;
	return at_ns;
}

// acknowledge sends an acknowledgement of what arrived, unless its answer, after
// `answer_ns`, takes it along.
static void acknowledge(struct wire *wire, int from, int64_t at_ns, int64_t answer_ns)
{
	bool quick = !wire->delays_acks || wire->n_acks[from] < 2;
	int64_t delay_ns = quick ? KERNEL : 40 * MS;
	if (answer_ns <= delay_ns)
		return;
	wire->n_acks[from]++;
	pass(wire, from, at_ns + delay_ns, 0x10, 0, false);
}

static int by_time(const void *a, const void *b)
{
	const struct passed *x = a, *y = b;
	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

// All jobs that were inferred so far, with their bounds and notes: what is right within a
// margin is also as it was.
static uint32_t pinned = 2166136261U, n_pinned;

static void pin(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < size; i++)
		pinned = (pinned ^ bytes[i]) * 16777619U;
}

static void pin_job(const struct tb_job *job)
{
	uint32_t n_successors = job->first_successor[job->n_ops];
	for (uint32_t i = 0; i < job->n_ops; i++) {
		const struct tb_op *op = &job->ops[i];
		const uint64_t is[] = {
			op->amount, op->peer, op->tag, op->kind, op->cpu, op->closed};
		pin(is, sizeof is);
	}
	pin(job->first_op, (job->n_ranks + 1) * sizeof *job->first_op);
	pin(job->first_successor, (job->n_ops + 1) * sizeof *job->first_successor);
	pin(job->successors, n_successors * sizeof *job->successors);
	if (job->notes)
		pin(job->notes, strlen(job->notes));
	n_pinned++;
	for (size_t i = 0; job->bounds && i < job->bounds->n; i++)
		pin_job(job->bounds->jobs[i]);
}

static void inferred_jobs_are_as_they_were(void **state)
{
	char text[64];
	(void)state;
	snprintf(text, sizeof text, "%u jobs, %08x\n", n_pinned, pinned);
	assert_golden(text, "../infer_truth");
}

static struct tb_job *infer(struct wire *wire, struct tb_infer_report *report)
{
	static struct capture capture;
	const char *list[] = {path};
	struct tb_packets_options options = tb_infer_options(NULL);
	struct tb_packets *packets;
	struct tb_job *job = NULL;
	struct tb_error error = {0};
	qsort(wire->rows, wire->n, sizeof *wire->rows, by_time);
	capture_begin(&capture, 1);
	for (size_t i = 0; i < wire->n; i++)
		capture_record(&capture, (uint64_t)wire->rows[i].at_ns,
			wire->rows[i].frame, wire->rows[i].bytes,
			wire->rows[i].wire_bytes);
	capture_end(&capture, path);
	assert_int_equal(tb_packets_open(&packets, list, 1, &options, &error), TB_OK);
	assert_int_equal(tb_infer_job(packets, true, &job, report, &error), TB_OK);
	tb_packets_free(packets);
	pin_job(job);
	return job;
}

static struct truth sum_up(const struct tb_job *job)
{
	struct truth sum = {{0}, 0};
	for (uint32_t rank = 0; rank < job->n_ranks; rank++)
		for (uint32_t i = job->first_op[rank]; i < job->first_op[rank + 1]; i++) {
			const struct tb_op *op = &job->ops[i];
			if (op->kind == TB_OP_CALC && op->closed)
				sum.closed_ns += (int64_t)op->amount;
			else if (op->kind == TB_OP_CALC)
				sum.computed_ns[rank] += (int64_t)op->amount;
		}
	return sum;
}

// about returns whether a time is right but for 5 % and 100 us an event.
static bool about(const char *what, int64_t is_ns, int64_t wanted_ns, int n)
{
	bool right = llabs(is_ns - wanted_ns) <= wanted_ns / 20 + n * 100 * US;
	if (!right)
		print_error("%s: %.3f ms, but it was %.3f ms\n", what,
			(double)is_ns / 1e6, (double)wanted_ns / 1e6);
	return right;
}

static const double points[] = {0, 0.25, 0.5, 1};
static const int64_t latencies[] = {5 * US, 500 * US, 10 * MS, 90 * MS, 440 * MS};

#define EACH(list, i)                                                                    \
	size_t i = 0;                                                                    \
	i < sizeof list / sizeof *list;                                                  \
	i++

static int64_t between(struct wire *wire, int64_t least_ns, int64_t most_ns)
{
	return least_ns +
	       (int64_t)tb_random_below(&wire->random, (uint64_t)(most_ns - least_ns));
}

#define ASKED 12

// ask asks host 2 and thinks about its answers, each time another while.
static struct truth ask(struct wire *wire, int64_t most_ns)
{
	struct truth truth = {{0}, 0};
	int64_t at_ns = shake(wire, 0);
	for (int i = 0; i < ASKED; i++) {
		int64_t thinks_ns = between(wire, most_ns / 2, most_ns);
		int64_t serves_ns = between(wire, most_ns / 2, most_ns);
		if (i > 0)
			acknowledge(wire, 0, at_ns, thinks_ns);
		at_ns = pass(wire, 0, at_ns + thinks_ns, 0x18,
			100 + (uint32_t)between(wire, 0, 300), false);
		acknowledge(wire, 1, at_ns, serves_ns);
		at_ns = pass(wire, 1, at_ns + serves_ns, 0x18,
			500 + (uint32_t)between(wire, 0, 900), false);
		if (i > 0 || wire->has_handshake)
			truth.computed_ns[0] += thinks_ns;
		truth.computed_ns[1] += serves_ns;
	}
	return truth;
}

static void computation_does_not_depend_on_the_capture_point(void **state)
{
	(void)state;
	unsigned n_wrong = 0;
	for (unsigned seed = 0; seed < 16; seed++)
		for (EACH(latencies, l))
			for (EACH(points, p)) {
				static struct wire wire;
				struct tb_infer_report report;
				wire_begin(&wire, seed, latencies[l], points[p]);
				wire.has_handshake = seed & 1;
				wire.delays_acks = seed & 2;
				int64_t most_ns = seed & 4 ? 100 * MS : 5 * MS;
				const struct truth truth = ask(&wire, most_ns);
				struct tb_job *job = infer(&wire, &report);
				const struct truth is = sum_up(job);
				bool right = about("host 1", is.computed_ns[0],
					truth.computed_ns[0], ASKED);
				right &= about("host 2", is.computed_ns[1],
					truth.computed_ns[1], ASKED);
				if (!right)
					print_error("seed %u, %.3f ms, at %.2f\n", seed,
						(double)latencies[l] / 1e6, points[p]);
				n_wrong += !right;
				tb_job_free(job);
			}
	assert_int_equal(n_wrong, 0);
}

// fill sends 64 KiB at a time to host 2, which takes each of them after a while.
static struct truth fill(struct wire *wire, int n)
{
	struct truth truth = {{0}, 0};
	int64_t at_ns = shake(wire, 0), arrived_ns = 0;
	for (int i = 0; i < n; i++) {
		for (uint32_t sent = 0; sent < 65535; sent += MSS, at_ns += 12 * US) {
			uint32_t bytes = 65535 - sent < MSS ? 65535 - sent : MSS;
			arrived_ns = pass(
				wire, 0, at_ns, bytes < MSS ? 0x18 : 0x10, bytes, false);
		}
		wire->window[1] = 0;
		pass(wire, 1, arrived_ns + KERNEL, 0x10, 0, false);
		int64_t closed_ns = between(wire, 20 * MS, 800 * MS);
		wire->window[1] = 65535;
		at_ns = pass(wire, 1, arrived_ns + closed_ns, 0x10, 0, false) + KERNEL;
		truth.closed_ns += i + 1 < n ? closed_ns : 0;
	}
	return truth;
}

static void a_closed_window_is_the_receivers(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++)
		for (EACH(latencies, l))
			for (EACH(points, p)) {
				static struct wire wire;
				struct tb_infer_report report;
				wire_begin(&wire, seed, latencies[l], points[p]);
				const struct truth truth = fill(&wire, 8);
				struct tb_job *job = infer(&wire, &report);
				const struct truth is = sum_up(job);
				assert_true(about(
					"closed", is.closed_ns, truth.closed_ns, 8));
				assert_in_range(is.computed_ns[0] + is.computed_ns[1], 0,
					truth.closed_ns / 20);
				tb_job_free(job);
			}
}

// lose sends requests of which every second one is lost, and sent again after a time-out.
static struct truth lose(struct wire *wire, int n)
{
	struct truth truth = {{0}, 0};
	int64_t at_ns = shake(wire, 0);
	for (int i = 0; i < n; i++) {
		int64_t thinks_ns = between(wire, 5 * MS, 50 * MS);
		int64_t serves_ns = between(wire, 5 * MS, 50 * MS);
		at_ns += thinks_ns;
		if (i % 2) {
			pass(wire, 0, at_ns, 0x18, 300, true);
			at_ns += 200 * MS + 2 * wire->one_way_ns;
		}
		at_ns = pass(wire, 0, at_ns, 0x18, 300, false);
		acknowledge(wire, 1, at_ns, serves_ns);
		at_ns = pass(wire, 1, at_ns + serves_ns, 0x18,
			500 + (uint32_t)between(wire, 0, 900), false);
		acknowledge(wire, 0, at_ns, 5 * MS);
		truth.computed_ns[0] += thinks_ns;
		truth.computed_ns[1] += serves_ns;
	}
	return truth;
}

static void a_time_out_is_the_losss(void **state)
{
	(void)state;
	for (EACH(latencies, l)) {
		static struct wire wire;
		struct tb_infer_report report;
		wire_begin(&wire, 3, latencies[l], 0);
		const struct truth truth = lose(&wire, 8);
		struct tb_job *job = infer(&wire, &report);
		const struct truth is = sum_up(job);
		assert_true(about("host 1", is.computed_ns[0], truth.computed_ns[0], 8));
		assert_true(about("host 2", is.computed_ns[1], truth.computed_ns[1], 8));
		tb_job_free(job);
	}
}

// Two writes of one message: the second part waits for the delayed acknowledgement of the
// first, and the answer for both.
static void what_waits_for_an_acknowledgement_is_not_computed(void **state)
{
	(void)state;
	for (EACH(points, p)) {
		static struct wire wire;
		struct tb_infer_report report;
		struct truth truth = {{0}, 0};
		wire_begin(&wire, 1, MS, points[p]);
		int64_t at_ns = shake(&wire, 0);
		for (int i = 0; i < 12; i++) {
			int64_t thinks_ns = between(&wire, MS, 3 * MS);
			int64_t serves_ns = between(&wire, MS, 3 * MS);
			at_ns = pass(&wire, 0, at_ns + thinks_ns, 0x18, 100, false);
			at_ns = pass(&wire, 1, at_ns + 40 * MS, 0x10, 0, false);
			at_ns = pass(&wire, 0, at_ns + KERNEL, 0x18, 200, false);
			at_ns = pass(&wire, 1, at_ns + serves_ns, 0x18, 700, false);
			acknowledge(&wire, 0, at_ns, MS);
			truth.computed_ns[0] += thinks_ns;
			truth.computed_ns[1] += serves_ns;
		}
		struct tb_job *job = infer(&wire, &report);
		const struct truth is = sum_up(job);
		assert_true(about("host 1", is.computed_ns[0], truth.computed_ns[0], 12));
		assert_true(about("host 2", is.computed_ns[1], truth.computed_ns[1], 12));
		tb_job_free(job);
	}
}

// One way, of writes of any length after pauses of any length: whether the program paused
// or the path varied is decided, and pinned.
static void writes_without_answers_end_where_they_did(void **state)
{
	(void)state;
	for (EACH(points, p))
		for (EACH(latencies, l)) {
			static struct wire wire;
			struct tb_infer_report report;
			int64_t pause_ns = latencies[l] / 8 + 200 * US;
			wire_begin(&wire, 7 + l, latencies[l], points[p]);
			wire.has_handshake = p % 2;
			int64_t at_ns = shake(&wire, 0), acked_ns = 0;
			for (int i = 0; i < 40; i++) {
				int n = 1 + (int)between(&wire, 0, 5);
				for (int k = 0; k < n; k++, at_ns += 12 * US)
					acked_ns = pass(&wire, 0, at_ns, 0x10,
						k + 1 < n ? MSS
							  : 1 + (uint32_t)between(
									&wire, 0, MSS),
						false);
				if (between(&wire, 0, 3))
					acknowledge(&wire, 1, acked_ns, 5 * MS);
				at_ns += between(&wire, 0, 3 * pause_ns);
			}
			tb_job_free(infer(&wire, &report));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computation_does_not_depend_on_the_capture_point),
		cmocka_unit_test(a_closed_window_is_the_receivers),
		cmocka_unit_test(a_time_out_is_the_losss),
		cmocka_unit_test(what_waits_for_an_acknowledgement_is_not_computed),
		cmocka_unit_test(writes_without_answers_end_where_they_did),
		cmocka_unit_test(inferred_jobs_are_as_they_were), // the last one
	};
	int file = mkstemp(path);
	if (file < 0)
		return 1;
	close(file);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
