// Collectives on an idle network of one switch take what Hockney's model says (papers
// 002 and 003): so many start-ups of t_s, and so many bytes at tau each.
#include "collective.h"
#include "engine.h"
#include "host.h"
#include "network_open.h"
#include "preset.h"
#include "workload_impl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

// A closed loop, and when its last message was delivered.
struct watched {
	struct tb_source source;
	tb_time_ps end;
};

static tb_time_ps when(void *context)
{
	const struct watched *watched = context;
	return watched->source.when(watched->source.context);
}

static int take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	const struct watched *watched = context;
	return watched->source.take(watched->source.context, now, message, error);
}

static int sent(void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	const struct watched *watched = context;
	return watched->source.sent(watched->source.context, now, cookie, error);
}

static int delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct watched *watched = context;
	watched->end = now;
	return watched->source.delivered(watched->source.context, now, cookie, error);
}

static int finish(void *context, struct tb_error *error)
{
	const struct watched *watched = context;
	return watched->source.finish(watched->source.context, error);
}

// idle_switch joins n nodes by one switch, or by one for each of several rails. A node's
// bus would be shared by what it sends and receives, which Hockney's model does not know.
static struct tb_network *idle_switch(uint32_t n, uint32_t n_rails)
{
	char preset[96];
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	snprintf(preset, sizeof preset,
		"qsnet,levels=1,bus=none,link_tokens=0,arity=%u,rails=%u", n, n_rails);
	if (tb_network_preset(&params, preset, &error) != TB_OK ||
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

static void run(const struct tb_network *net, const struct tb_source *processes)
{
	struct tb_host *host = NULL;
	struct tb_engine *engine = NULL;
	struct tb_error error = {0};
	const struct tb_engine_options options = {.seed = 1};
	int status = tb_host_new(&host, net, processes, NULL, tb_engine_ideal_ps, &error);
	if (status != TB_OK)
		fail_msg("%s", error.text);
	const struct tb_source source = tb_host_source(host);
	status = tb_engine_new(&engine, net, &source, NULL, &options, &error);
	while (status >= 0 && (status = tb_engine_run(engine, 1000, &error)) > 0)
		;
	if (status == TB_OK)
		status = tb_engine_finish(engine, &error);
	if (status != TB_OK)
		fail_msg("%s", error.text);
	tb_engine_free(engine);
	tb_host_free(host);
}

// duration_s replays a job on as many nodes as it has ranks.
static double duration_s(const struct tb_job *job, uint32_t n_rails)
{
	struct tb_network *net = idle_switch(job->n_ranks, n_rails);
	uint32_t nodes[64];
	for (uint32_t i = 0; i < job->n_ranks; i++)
		nodes[i] = i;
	struct tb_closed_loop *loop = NULL;
	struct tb_error error = {0};
	if (tb_closed_loop_new(&loop, job, nodes, 0, false, &error) != TB_OK)
		fail_msg("%s", error.text);
	struct watched watched = {.source = tb_closed_loop_source(loop)};
	const struct tb_source processes = {.context = &watched,
		.when = when,
		.take = take,
		.sent = sent,
		.delivered = delivered,
		.finish = finish};
	run(net, &processes);
	tb_closed_loop_free(loop);
	tb_network_free(net);
	return (double)watched.end / (double)TB_PS_PER_S;
}

static double plan_s(struct tb_plan *plan)
{
	struct tb_job *job = NULL;
	struct tb_error error;
	const struct tb_plan_job once = {.n_repeats = 1, .pin = true};
	if (tb_plan_to_job(&job, plan, &once, &error) != TB_OK)
		fail_msg("%s", error.text);
	double duration = duration_s(job, plan->n_ports);
	tb_job_free(job);
	tb_plan_fini(plan);
	return duration;
}

// How an algorithm's rounds follow each other.
enum way {
	STREAMED,  // (N - 1) / k start-ups, each when the sender's buffers are free
	HANDED_ON, // log N start-ups, to base k + 1, each when what came before is there
	ONE_PORT,  // N - 1 of them
};

struct row {
	const char *name, *algorithm;
	enum way way;
};

static double collective_s(
	const struct row *row, uint32_t n, uint32_t n_ports, uint64_t bytes)
{
	struct tb_collective_options options = {
		.n_ranks = n, .n_ports = n_ports, .bytes = bytes};
	struct tb_plan plan;
	struct tb_error error;
	enum tb_collective_op op = TB_COLL_N;
	assert_true(tb_collective_op_find(&op, row->name));
	if (tb_algorithm_find(&options.algorithm, op, row->algorithm, &error) != TB_OK ||
		tb_collective_plan(&plan, &options, &error) != TB_OK)
		fail_msg("%s", error.text);
	return plan_s(&plan);
}

// What a message costs: ts_s + bytes * tau_s.
struct hockney {
	double ts_s, tau_s;
};

// sequence_s is what `n` messages take that a rank sends to another, each when the one
// before has arrived (handed on) or when its buffer is free.
static double sequence_s(uint32_t n, uint64_t bytes, bool handed_on)
{
	struct tb_plan plan = {.n_ranks = 2,
		.n_ports = 1,
		.order = handed_on ? TB_ORDER_DATA : TB_ORDER_SENDS,
		.n_blocks = 2,
		.unit_bytes = bytes,
		.blocks_per_unit = 1};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = handed_on ? i % 2 : 0;
		tb_plan_next_round(&plan);
		tb_plan_put(&plan,
			(struct tb_transfer){
				.from = from, .to = 1 - from, .blocks = TB_BLOCKS_PAIR});
	}
	return plan_s(&plan);
}

// Both parameters as a benchmark finds them: pings of nothing and of a megabyte.
static struct hockney measure(bool handed_on)
{
	const uint32_t n = 16;
	const uint64_t bytes = 1 << 20;
	double ts_s = sequence_s(n, 0, handed_on) / n;
	return (struct hockney){
		ts_s, (sequence_s(n, bytes, handed_on) / n - ts_s) / (double)bytes};
}

// check: n is a power of k + 1, `log` is its logarithm.
static void check(const struct row *row, const struct hockney *cost, uint32_t n,
	uint32_t k, uint32_t log)
{
	for (uint64_t bytes = 64; bytes <= 256 << 10; bytes *= 8) {
		uint32_t steps = (n - 1 + k - 1) / k;
		double theory = (row->way == HANDED_ON ? log : steps) * cost->ts_s +
				steps * (double)bytes * cost->tau_s;
		double simulated = collective_s(row, n, k, bytes);
		if (fabs(simulated / theory - 1) > 0.05)
			fail_msg("%s %s, %u ranks, %u ports, %d bytes: %.4g s, in theory "
				 "%.4g s",
				row->name, row->algorithm, n, k, (int)bytes, simulated,
				theory);
	}
}

static void an_idle_switch_costs_what_hockney_says(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"allgather", "direct", STREAMED},
		{"allgather", "exchange", HANDED_ON},
		{"allgather", "bruck", HANDED_ON},
		{"allgather", "ring", ONE_PORT},
		{"scatter", "binomial", HANDED_ON},
		{"scatter", "sequential", STREAMED},
		{"gather", "binomial", HANDED_ON},
		{"alltoall", "direct", STREAMED},
		{"alltoall", "pairwise", ONE_PORT},
	};
	const struct hockney handed_on = measure(true), streamed = measure(false);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct hockney *cost =
			rows[i].way == STREAMED ? &streamed : &handed_on;
		for (uint32_t n = 4, log = 2; n <= 32; n *= 2, log++)
			check(&rows[i], cost, n, 1, log);
		if (rows[i].way == ONE_PORT)
			continue;
		check(&rows[i], cost, 9, 2, 2);
		check(&rows[i], cost, 27, 2, 3);
		check(&rows[i], cost, 16, 3, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_switch_costs_what_hockney_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
