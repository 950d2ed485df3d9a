// From a row to a job, and from the job to a time.
#include "calls_job.h"
#include "expect_impl.h"
#include "network_open.h"
#include "placement.h"
#include "random.h"
#include "timed.h"
#include "workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Messages under way in a stream: osu_bw's default. More of them change little.
#define WINDOW 64

// Above so many packets a call is a fluid, if its messages have so many on average:
// short messages cost a fluid more than their packets do (docs/fluid.md).
#define FLUID_PACKETS	  1e6
#define FLUID_PER_MESSAGE 8

// Of a broadcast or a reduction of nccl-tests, which do not wait for all ranks between
// calls: along a chain many are under way at once, so the mean time of a call is not that
// of a single one. So many are replayed, of 20 by default, and of long ones as many as
// ranks send so much in.
#define LOOP_CALLS     20
#define LOOP_BYTES     3e9
#define LOOP_TRANSFERS 600000.

static uint32_t expect_loop_calls(const struct expect_case *replayed)
{
	const struct expect_call *call = replayed->call;
	bool chain = call->op == TB_COLL_BROADCAST || call->op == TB_COLL_REDUCE;
	if (strcmp(replayed->setup->family, "nccl") != 0 || !chain ||
		call->kind != TB_BENCH_COLLECTIVE || call->bytes == 0)
		return 1;
	double n = LOOP_BYTES / (2.0 * (double)call->bytes * call->n_ranks);
	if (call->n_transfers && n > LOOP_TRANSFERS / (double)call->n_transfers)
		n = LOOP_TRANSFERS / (double)call->n_transfers;
	return n >= LOOP_CALLS ? LOOP_CALLS : n > 2 ? (uint32_t)n : 2;
}

// Where ranks sit, and how traces become jobs there.
struct expect_placed {
	struct tb_workload_options work;
	uint32_t *nodes;    // by rank
	const char **hosts; // by rank, of the table; NULL: in blocks
};

static const char *expect_library(const struct expect_setup *setup)
{
	return setup->versioned[0] ? setup->versioned : setup->library;
}

static const struct tb_network *expect_network_of(const struct expect_case *replayed)
{
	return replayed->network->exact;
}

static void expect_placed_fini(struct expect_placed *placed)
{
	free(placed->nodes);
	free(placed->hosts);
}

static int expect_place(struct expect_placed *placed, const struct expect_case *replayed,
	struct tb_error *error)
{
	const struct tb_benchmark_table *table = replayed->setup->table;
	uint32_t n = replayed->n_ranks_of_all ? replayed->n_ranks_of_all
					      : replayed->call->n_ranks;
	struct tb_places *places = NULL;
	struct tb_placement placement = {.per_node = replayed->setup->per_node};
	*placed = (struct expect_placed){0};
	tb_workload_take_network(
		&placed->work, tb_network_params(expect_network_of(replayed)));
	if (!replayed->setup->per_node) {
		placed->hosts = malloc(n * sizeof *placed->hosts);
		if (!placed->hosts)
			return tb_fail_memory(error, "ranks");
		for (uint32_t i = 0; i < n; i++)
			placed->hosts[i] = table->host_names[table->hosts[i]];
		placement.kind = TB_PLACE_TRACE;
		placement.trace_hosts = placed->hosts;
	}
	int status = tb_places_new(&places, expect_network_of(replayed), 1, error);
	if (status == TB_OK)
		status = tb_places_put(
			places, 0, table->file, n, &placement, &placed->nodes, error);
	tb_places_free(places);
	for (uint32_t i = 0; status == TB_OK && replayed->n_ranks_of_all &&
			     i < replayed->call->n_ranks;
		i++) {
		uint32_t from =
			i / replayed->per_host * replayed->stride * replayed->per_host +
			i % replayed->per_host;
		placed->nodes[i] = placed->nodes[from];
		if (placed->hosts)
			placed->hosts[i] = placed->hosts[from];
	}
	return status;
}

// expect_call_job makes the job of a collective call, or of several.
static int expect_call_job(const struct expect_case *replayed, uint32_t n_calls,
	const struct expect_placed *placed, struct tb_job **job, struct tb_error *error)
{
	const struct expect_call *call = replayed->call;
	const struct tb_call made = {.kind = TB_CALL_COLLECTIVE,
		.op = (uint8_t)call->op,
		.bytes = call->bytes};
	const struct tb_reading reading = {.library = expect_library(replayed->setup),
		.collectives = replayed->collectives,
		.n_collectives = replayed->n_collectives,
		.per_node = placed->hosts ? 0 : replayed->setup->per_node,
		.node = &placed->work.node,
		.work = placed->work.work,
		.sends_wait = placed->work.sends_wait,
		.stop = replayed->stop};
	struct tb_calls *calls = NULL;
	int status = tb_calls_new(&calls, call->n_ranks, error);
	for (uint32_t i = 0; status == TB_OK && i < call->n_ranks; i++) {
		if (placed->hosts)
			tb_calls_host(calls, i, placed->hosts[i]);
		for (uint32_t k = 0; k < n_calls; k++)
			tb_calls_add(calls, i, &made);
	}
	if (status == TB_OK)
		status = tb_calls_job(calls, replayed->setup->table->file,
			expect_library(replayed->setup), &reading, job, error);
	tb_calls_free(calls);
	return status;
}

struct expect_messages {
	struct tb_job_builder *builder;
	const struct expect_call *call;
	uint8_t nic;
};

// expect_put adds a send and its receive, each on the processor of its direction, and
// stores their places within the ranks.
static void expect_put(struct expect_messages *to, uint32_t from, uint32_t at,
	uint32_t tag, uint32_t places[2])
{
	const struct tb_op send = {.kind = TB_OP_SEND,
		.amount = to->call->bytes,
		.peer = at,
		.tag = tag,
		.nic = to->nic};
	const struct tb_op recv = {.kind = TB_OP_RECV,
		.amount = to->call->bytes,
		.peer = from,
		.tag = tag,
		.cpu = 1,
		.nic = to->nic};
	places[0] = tb_job_add(to->builder, from, &send);
	places[1] = tb_job_add(to->builder, at, &recv);
}

static void expect_put_pair(struct expect_messages *to, uint32_t a, uint32_t b)
{
	enum tb_benchmark_kind kind = to->call->kind;
	uint32_t there[2], back[2];
	if (kind == TB_BENCH_LATENCY) {
		expect_put(to, a, b, 0, there);
		expect_put(to, b, a, 1, back);
		tb_job_depend(to->builder, b, back[0], there[1], false);
		return;
	}
	for (uint32_t i = 0; i < WINDOW; i++) {
		expect_put(to, a, b, i, there);
		if (kind == TB_BENCH_BOTH_WAYS)
			expect_put(to, b, a, WINDOW + i, back);
	}
}

// expect_message_job makes the job of a benchmark between ranks.
static int expect_message_job(struct expect_call *call, uint32_t n_rails,
	struct tb_job **job, struct tb_error *error)
{
	bool pins = call->rail < n_rails && n_rails > 1;
	struct expect_messages to = {
		.call = call, .nic = (uint8_t)(pins ? call->rail : 0)};
	uint32_t n = call->n_ranks, places[2];
	int status = tb_job_builder_new(&to.builder, n, error);
	if (status != TB_OK)
		return status;
	double streams = 0;
	bool around = call->kind == TB_BENCH_NEIGHBORS || call->kind == TB_BENCH_EXCHANGE;
	uint32_t *ring = malloc(n * sizeof *ring); // by place: the rank
	if (!ring) {
		tb_job_builder_free(to.builder);
		return tb_fail_memory(error, "ranks");
	}
	struct tb_random random;
	tb_random_init(&random, 1, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at =
			call->is_random ? (uint32_t)tb_random_below(&random, i + 1) : i;
		ring[i] = ring[at];
		ring[at] = i;
	}
	if (around) {
		for (uint32_t i = 0; i < n && n > 1; i++) {
			uint32_t next = ring[(i + 1) % n];
			expect_put(&to, ring[i], next, 0, places);
			if (call->kind == TB_BENCH_EXCHANGE)
				expect_put(&to, next, ring[i], 1, places);
		}
	} else if (call->first != UINT32_MAX && call->second != UINT32_MAX &&
		   call->first != call->second) {
		expect_put_pair(&to, call->first, call->second);
		streams = 1;
	} else {
		for (uint32_t i = 0; i < n / 2; i++)
			expect_put_pair(&to, i, i + n / 2);
		streams = n / 2;
	}
	if (call->kind == TB_BENCH_BOTH_WAYS)
		streams *= 2;
	call->bytes_moved = streams * WINDOW * (double)call->bytes;
	free(ring);
	status = tb_job_finish(to.builder, "benchmark", job, error);
	// A job whose messages all name the first interface names none otherwise.
	if (status == TB_OK && pins && (*job)->n_nics == 1)
		(*job)->n_nics = 2;
	tb_job_builder_free(to.builder);
	return status;
}

// expect_load finds what the busiest host, link and processor have to do.
static int expect_load(const struct tb_job *job, const struct expect_placed *placed,
	const struct tb_network *network, struct expect_loads *loads)
{
	const struct tb_network_params *params = tb_network_params(network);
	uint32_t n_nodes = tb_network_n_hosts(network);
	double adapters =
		(double)tb_network_payload_rate(params) * (double)params->n_rails;
	double link = (double)params->host.local_bytes_per_s;
	uint64_t *hosts = calloc(2 * (size_t)n_nodes, sizeof *hosts);
	if (!hosts)
		return TB_ENOMEM;
	*loads = (struct expect_loads){0};
	for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
		uint64_t local = 0, computed[256] = {0};
		uint32_t node = placed->nodes[rank] % n_nodes;
		for (uint32_t i = job->first_op[rank]; i < job->first_op[rank + 1]; i++) {
			const struct tb_op *op = &job->ops[i];
			if (op->kind == TB_OP_CALC)
				computed[op->cpu] += op->amount;
			if (op->kind == TB_OP_CALC)
				continue;
			bool sends = op->kind == TB_OP_SEND;
			if (placed->nodes[op->peer] % n_nodes != node)
				hosts[2 * node + sends] += op->amount;
			else if (sends)
				local += op->amount;
		}
		for (int i = 0; i < 256; i++)
			loads->compute_ns = fmax(loads->compute_ns, (double)computed[i]);
		loads->link_bytes = local > loads->link_bytes ? local : loads->link_bytes;
	}
	for (size_t i = 0; i < 2 * (size_t)n_nodes; i++)
		loads->host_bytes =
			hosts[i] > loads->host_bytes ? hosts[i] : loads->host_bytes;
	free(hosts);
	loads->adapter_ns = (double)loads->host_bytes / adapters * 1e9;
	loads->link_ns = link > 0 ? (double)loads->link_bytes / link * 1e9 : 0;
	return TB_OK;
}

// expect_is_fluid returns whether a job is simulated as a fluid.
static bool expect_is_fluid(
	const struct tb_job *job, const struct tb_network_params *params)
{
	double packets = 0, messages = 0;
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_SEND) {
			packets += (double)(job->ops[i].amount /
						    params->packet_payload_bytes +
					    1);
			messages++;
		}
	return packets > FLUID_PACKETS && packets > FLUID_PER_MESSAGE * messages;
}

static int expect_count_hosts(uint32_t *n_hosts, const struct expect_placed *placed,
	uint32_t n, uint32_t n_nodes)
{
	bool *has_ranks = calloc(n_nodes + 1u, sizeof *has_ranks);
	if (!has_ranks)
		return TB_ENOMEM;
	*n_hosts = 0;
	for (uint32_t i = 0; i < n; i++) {
		*n_hosts += !has_ranks[placed->nodes[i]];
		has_ranks[placed->nodes[i]] = true;
	}
	free(has_ranks);
	return TB_OK;
}

int expect_replay(const struct expect_case *replayed, struct expect_call *call,
	struct tb_error *error)
{
	const struct tb_engine_options options = {.seed = 1, .without_blame = true};
	struct expect_placed placed;
	struct tb_job *job = NULL;
	tb_time_ps end = 0;
	uint32_t n_calls = expect_loop_calls(replayed);
	int status = expect_place(&placed, replayed, error);
	if (status == TB_OK)
		status =
			call->kind == TB_BENCH_COLLECTIVE
				? expect_call_job(replayed, n_calls, &placed, &job, error)
				: expect_message_job(call,
					  tb_network_n_rails(expect_network_of(replayed)),
					  &job, error);
	const struct tb_network *network = expect_network_of(replayed);
	if (status == TB_OK) {
		call->way =
			replayed->network->fluid &&
					expect_is_fluid(job, tb_network_params(network))
				? TB_EXPECT_FLUID
				: TB_EXPECT_PACKETS;
		if (call->way == TB_EXPECT_FLUID)
			network = replayed->network->fluid;
		if (job->placed && job->placed->first[1] > 0 &&
			job->placed->calls[0].algorithm)
			call->rule.algorithm =
				job->placed->algorithms[job->placed->calls[0].algorithm];
		if (expect_count_hosts(&call->n_hosts, &placed, call->n_ranks,
			    tb_network_n_hosts(network)) != TB_OK ||
			expect_load(job, &placed, expect_network_of(replayed),
				&call->loads) != TB_OK)
			status = tb_fail_memory(error, "hosts");
		call->loads.adapter_ns /= n_calls;
		call->loads.link_ns /= n_calls;
		call->loads.compute_ns /= n_calls;
		call->loads.host_bytes /= n_calls;
		call->loads.link_bytes /= n_calls;
	}
	if (status == TB_OK)
		status = tb_timed_job(&end, job, placed.nodes, network, &options,
			replayed->stop, error);
	if (status == TB_OK) {
		call->time_ns = (double)end / (double)TB_PS_PER_NS /
				(call->kind == TB_BENCH_LATENCY ? 2 : n_calls);
	}
	tb_job_free(job);
	expect_placed_fini(&placed);
	return status;
}

int expect_count(const struct expect_case *replayed, size_t most,
	struct expect_call *call, struct tb_error *error)
{
	struct tb_collective_choices choices = {0};
	const struct tb_library *library = NULL;
	struct expect_placed placed;
	struct tb_plan plan;
	uint32_t n = call->n_ranks;
	int status = expect_place(&placed, replayed, error);
	uint64_t *bytes = malloc(n * sizeof *bytes);
	uint32_t *hosts = malloc(n * sizeof *hosts);
	for (uint32_t i = 0; bytes && hosts && status == TB_OK && i < n; i++) {
		bytes[i] = call->bytes;
		hosts[i] = placed.nodes[i];
	}
	if (status == TB_OK && !(bytes && hosts))
		status = tb_fail_memory(error, "ranks");
	if (status == TB_OK)
		status = tb_library_read(
			&library, &choices, expect_library(replayed->setup), error);
	for (size_t i = 0; status == TB_OK && i < replayed->n_collectives; i++)
		status = tb_collective_choices_add(
			&choices, replayed->collectives[i], error);
	if (status == TB_OK) {
		const struct tb_collective_call made = {.op = call->op,
			.n = n,
			.n_local = n,
			.bytes = bytes,
			.hosts = hosts,
			.node = &placed.work.node,
			.most_transfers = most};
		status = tb_library_expand(
			library, &choices, &made, &plan, &call->rule, error);
		if (status != TB_EUSAGE &&
			expect_count_hosts(&call->n_hosts, &placed, n,
				tb_network_n_hosts(expect_network_of(replayed))) != TB_OK)
			status = tb_fail_memory(error, "hosts");
		if (status == TB_OK) {
			call->n_transfers = plan.n_transfers;
			tb_plan_fini(&plan);
		} else if (status == TB_ECAPACITY && call->rule.algorithm) {
			call->n_transfers = SIZE_MAX;
			status = TB_OK;
		}
	}
	free(bytes);
	free(hosts);
	expect_placed_fini(&placed);
	return status;
}

int expect_network_init(struct expect_network *network, const char *name,
	const struct tb_expect_options *options, struct tb_error *error)
{
	char *fluid = NULL;
	struct tb_error of_fluid;
	struct tb_network_description description = {
		.name = name, .n_nodes = options->n_nodes, .stop = options->stop};
	*network = (struct expect_network){.name = strdup(name)};
	if (!network->name)
		return tb_fail_memory(error, "a network");
	if (asprintf(&fluid, "%s,switching=fluid", name) < 0) {
		expect_network_fini(network);
		return tb_fail_memory(error, "a network");
	}
	int status = tb_network_open(&network->exact, &description, error);
	description.name = fluid;
	// What cannot be a fluid is replayed by packets.
	if (status == TB_OK &&
		tb_network_open(&network->fluid, &description, &of_fluid) != TB_OK)
		network->fluid = NULL;
	free(fluid);
	if (status != TB_OK) {
		expect_network_fini(network);
		*network = (struct expect_network){0};
	}
	return status;
}

void expect_network_fini(struct expect_network *network)
{
	tb_network_free(network->exact);
	tb_network_free(network->fluid);
	free(network->name);
}
