// A replay in parts comes to what one of the whole network does, whatever the parts and
// the threads: every bin, flow, wait and message. The switching is a small one of the
// tests; the source reacts to what it is told, or does not.
#include "../support/replay_observed.h"
#include "../support/replay_wires.h"

#include "circuit_params.h"
#include "network_open.h"
#include "preset.h"
#include "random.h"
#include "windows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// So few messages that no list of the heaviest is full: what it drops depends on the
// order.
enum { PROGRAMS = 100, MESSAGES = 150 };

struct program {
	uint64_t seed;
	struct tb_network *net;
	uint32_t n_nodes, n_messages, bytes_most;
	tb_time_ps bin_ps;
	bool open_loop;
};

// A source that draws from one stream in the order in which it is told: whatever is told
// in another order makes another replay. In the open loop it posts by the clock alone.
struct told {
	const struct program *program;
	struct tb_random random;
	uint32_t n_posted, n_due;
	tb_time_ps at; // of those that are due
};

static tb_time_ps recorded_when(void *context)
{
	const struct told *told = context;
	return told->n_due ? told->at : TB_TIME_NEVER;
}

static int recorded_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	(void)error;
	struct told *told = context;
	const struct program *program = told->program;
	if (told->n_due == 0 || told->at > now)
		return 0;
	*message = (struct tb_message){.cookie = told->n_posted++,
		.source = {(uint32_t)tb_random_below(&told->random, program->n_nodes)},
		.destination = {(uint32_t)tb_random_below(
			&told->random, program->n_nodes)},
		.bytes = 300 * tb_random_below(&told->random, program->bytes_most)};
	told->n_due--;
	if (program->open_loop)
		told->at += 300000 * (tb_time_ps)tb_random_below(&told->random, 4);
	return 1;
}

static int recorded_ended(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	(void)error;
	struct told *told = context;
	// What has been told stirs the stream.
	told->random.state[0] ^= cookie * UINT64_C(0x9e3779b97f4a7c15);
	if (told->n_posted + told->n_due < told->program->n_messages &&
		tb_random_below(&told->random, 3)) {
		told->n_due++;
		told->at = now + 300000 * (tb_time_ps)tb_random_below(&told->random, 2);
	}
	return TB_OK;
}

static struct tb_source recorded_source(struct told *told, const struct program *program)
{
	*told = (struct told){.program = program};
	tb_random_init(&told->random, program->seed, 1);
	told->n_due = program->open_loop ? program->n_messages : program->n_messages / 3;
	struct tb_source source = {
		.context = told, .when = recorded_when, .take = recorded_take};
	if (!program->open_loop)
		source.sent = source.delivered = recorded_ended;
	return source;
}

struct outcome {
	struct observed observed;
	struct tb_engine_stats stats;
	tb_time_ps now_ps;
};

// put_on_grid makes all times multiples of one, so that much ends in one instant.
static void put_on_grid(struct tb_network_params *params)
{
	params->link_bytes_per_s = 1000000000;
	params->packet_payload_bytes = 300;
	params->packet_overhead_bytes = 0;
	params->hop_latency_ps = params->send_overhead_ps = 300000;
	params->receive_overhead_ps = 0;
	tb_circuit_params_mutable(params)->ack_delay_ps = 0;
	tb_circuit_params_mutable(params)->bus_bytes_per_s = 0;
}

static struct program program_of(uint64_t seed)
{
	struct tb_random random;
	struct program program = {.seed = seed};
	tb_random_init(&random, seed, 0);
	struct tb_network_params params;
	assert_int_equal(tb_network_preset(&params, "qsnet", NULL), TB_OK);
	params.arity = 2 + (uint32_t)tb_random_below(&random, 3);
	params.levels = 2 + (uint32_t)tb_random_below(&random, 2);
	tb_circuit_params_mutable(&params)->partners = 0;
	params.ascent =
		tb_random_below(&random, 2) ? TB_ASCENT_RANDOM : TB_ASCENT_DETERMINISTIC;
	params.hop_latency_ps = 1 + (tb_time_ps)tb_random_below(&random, 200000);
	params.send_overhead_ps = 1 + (tb_time_ps)tb_random_below(&random, 500000);
	params.receive_overhead_ps = (tb_time_ps)tb_random_below(&random, 2) * 300000;
	// Whole picoseconds a byte make many things happen in one instant.
	params.link_bytes_per_s = tb_random_below(&random, 2) ? 1000000000 : 333333333;
	tb_circuit_params_mutable(&params)->bus_bytes_per_s =
		tb_random_below(&random, 2) ? 0 : 900000000;
	if (tb_random_below(&random, 2))
		put_on_grid(&params);
	assert_int_equal(
		tb_network_open(&program.net,
			&(struct tb_network_description){.params = &params}, NULL),
		TB_OK);
	program.open_loop = tb_random_below(&random, 3) == 0;
	program.bin_ps = tb_random_below(&random, 2)
				 ? 0
				 : 10000 + (tb_time_ps)tb_random_below(&random, 5000000);
	program.n_nodes = tb_network_n_nodes(program.net);
	program.n_messages = MESSAGES;
	program.bytes_most = 1 + (uint32_t)tb_random_below(&random, 6);
	return program;
}

// run_windows runs windows, and pauses wherever a bin ends: that changes nothing.
static int run_windows(const struct program *program, struct tb_windows *windows,
	struct tb_replay *whole, struct tb_error *error)
{
	tb_time_ps step = program->bin_ps ? program->bin_ps : 700000;
	if (whole->pause_at == TB_TIME_NEVER)
		whole->pause_at = step;
	int status = tb_windows_run(windows, 7, error);
	if (status != TB_ENGINE_PAUSED)
		return status;
	whole->pause_at += step;
	return 1;
}

static void run(const struct program *program, struct tb_replay *whole,
	struct outcome *outcome, unsigned n_threads)
{
	struct tb_windows *windows = NULL;
	struct tb_error error = {0};
	int status = 1;
	if (whole->side)
		assert_int_equal(
			tb_windows_new(&windows, whole, &wires_model, n_threads, NULL),
			TB_OK);
	while (status == 1)
		status = windows ? run_windows(program, windows, whole, &error)
				 : wires_run(whole, 100, &error);
	if (status == TB_OK)
		status = windows ? tb_windows_finish(windows, &error)
				 : tb_clock_finish(whole, &wires_model, &error);
	if (status != TB_OK)
		fail_msg("seed %" PRIu64 ": %s", program->seed, error.text);
	outcome->stats = windows ? tb_windows_stats(windows) : whole->stats;
	outcome->stats.wait_ps = windows ? tb_joint_records_waits(whole->side->records)
					 : whole->records.wait_ps;
	outcome->now_ps = windows ? tb_windows_now(windows) : whole->now;
	tb_windows_free(windows);
}

static struct outcome replay(
	const struct program *program, uint32_t n_parts, unsigned n_threads)
{
	struct told told;
	struct tb_source source = recorded_source(&told, program);
	struct outcome outcome = {0};
	struct tb_observer observer = observer_of(&outcome.observed);
	const struct tb_engine_options options = {
		.seed = program->seed, .bin_ps = program->bin_ps, .n_parts = n_parts};
	struct tb_replay *whole = NULL;
	const char *undivided = NULL;
	assert_int_equal(tb_switching_make(&whole, &wires_model, program->net, &source,
				 &observer, &options, &undivided),
		TB_OK);
	if (n_parts > 1)
		assert_non_null(whole->side);
	run(program, whole, &outcome, n_threads);
	tb_switching_free(whole, &wires_model);
	return outcome;
}

static void compare(const struct program *program, struct outcome *one, uint32_t n_parts,
	unsigned n_threads)
{
	struct outcome cut = replay(program, n_parts, n_threads);
	struct difference difference;
	if (heaviest_differ(&cut.observed.blame, &one->observed.blame, &difference) ||
		observed_differ(&cut.observed, &one->observed, &difference))
		fail_msg("seed %" PRIu64 ", %u parts, %u threads: %s", program->seed,
			n_parts, n_threads, difference.text);
	assert_true(cut.now_ps == one->now_ps);
	assert_true(cut.stats.wait_ps == one->stats.wait_ps);
	assert_true(cut.stats.n_events == one->stats.n_events);
	assert_true(cut.stats.n_packets == one->stats.n_packets);
	assert_true(cut.stats.n_hops == one->stats.n_hops);
	assert_true(cut.stats.n_posted == one->stats.n_posted);
	assert_true(cut.stats.n_delivered == one->stats.n_delivered);
	assert_true(cut.stats.payload_bytes == one->stats.payload_bytes);
	assert_int_equal(cut.stats.n_in_flight, 0);
	observed_free(&cut.observed);
}

static void parts_and_threads_change_nothing(void **state)
{
	(void)state;
	uint64_t n_waits = 0;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct program program = program_of(seed);
		struct outcome one = replay(&program, 1, 1);
		n_waits += one.stats.wait_ps > 0;
		compare(&program, &one, 2, 1);
		compare(&program, &one, 2, 2);
		compare(&program, &one, 3, 2);
		compare(&program, &one, 5, 8);
		compare(&program, &one, 16, 3);
		observed_free(&one.observed);
		tb_network_free(program.net);
	}
	assert_true(n_waits > PROGRAMS * 3 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_and_threads_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
