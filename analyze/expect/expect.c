// Rows to calls, which of these are replayed, and what the rest follows from.
#include "expect_impl.h"

#include "array.h"
#include "measured_range.h"
#include "network_open.h"
#include "order.h"
#include "stop.h"
#include "units.h"
#include "value_list.h"
#include "workers.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Messages that all calls of collective operations together have replayed, and one of
// them, unless all sizes are asked for: about 3 us each on one core.
#define TRANSFERS_OF_ALL   2000000
#define TRANSFERS_OF_ONE   600000
#define TRANSFERS_OF_FEWER 150000

#define SIZES		  "1K..1G x4" // of an operation, unless others are asked for
#define OPERATION_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// expect_note adds a sentence without full stop, once.
TB_PRINTF(2, 3)
static int expect_note(struct tb_expect *expect, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return TB_ENOMEM;
	bool is_there = false;
	for (size_t i = 0; i < expect->n_notes; i++)
		is_there |= strcmp(expect->notes[i], text) == 0;
	int status = is_there ? TB_OK : TB_ARRAY_MORE(expect, notes);
	if (is_there || status != TB_OK)
		free(text);
	else
		expect->notes[expect->n_notes++] = text;
	return status;
}

void tb_expect_free(struct tb_expect *expect)
{
	if (!expect)
		return;
	for (size_t i = 0; i < expect->n_networks; i++)
		expect_network_fini(&expect->networks[i]);
	for (size_t i = 0; i < expect->n_notes; i++)
		free(expect->notes[i]);
	free(expect->notes);
	free(expect->networks);
	free(expect->setups);
	free(expect->calls);
	free(expect->series);
	free(expect->rows);
	free(expect->shown);
	free(expect->reasons);
	tb_benchmark_close(expect->benchmark);
	free(expect);
}

int expect_network_find(struct tb_expect *expect, const char *name, size_t *number,
	struct tb_error *error)
{
	struct expect_network made = {0};
	for (size_t i = 0; i < expect->n_networks; i++)
		if (strcmp(expect->networks[i].name, name) == 0) {
			*number = i;
			return TB_OK;
		}
	int status = expect_network_init(&made, name, expect->options, error);
	if (status == TB_OK && TB_ARRAY_MORE(expect, networks) != TB_OK)
		status = tb_fail_memory(error, "a network");
	if (status != TB_OK) {
		expect_network_fini(&made);
		return status;
	}
	expect->networks[expect->n_networks] = made;
	*number = expect->n_networks++;
	return TB_OK;
}

// What is taken of a tool's tables: the class of its library, the library whose
// algorithms collective calls have, and the network's host library. The last row is that
// of tools that are not listed.
static const struct expect_tool {
	const char *name, *family, *library, *host;
} expect_tools[] = {
	{"nccl-tests", "nccl", "nccl", "nccl"},
	{"rccl-tests", "nccl", "rccl", "nccl"},
	{"perftest", "verbs", "openmpi", "none"},
	{"IMB", "mpi", "mpich", "mpi"},
	{NULL, "mpi", "openmpi", "mpi"},
};

// find_with finds a network with changes; `host` may be NULL.
static int find_with(struct tb_expect *expect, const char *network, const char *rails,
	const char *host, size_t *number, struct tb_error *error)
{
	char *name = NULL;
	if (asprintf(&name, "%s%s%s%s", network, rails, host ? ",host=" : "",
		    host ? host : "") < 0)
		return tb_fail_memory(error, "a network");
	int status = expect_network_find(expect, name, number, error);
	free(name);
	return status;
}

// set_up_network opens the network of a table, with the host's library of its tool.
static int set_up_network(struct tb_expect *expect, struct expect_setup *setup,
	const struct expect_tool *tool, struct tb_error *error)
{
	const struct tb_expect_options *options = expect->options;
	bool chosen = strstr(options->network, ",host=") != NULL;
	const char *host = options->host ? options->host : chosen ? NULL : tool->host;
	// A tool of verbs uses one adapter.
	const char *rails = strcmp(setup->family, "verbs") == 0 &&
					    !strstr(options->network, ",rails=1,")
				    ? ",rails=1"
				    : "";
	struct tb_error of_host;
	int status = find_with(
		expect, options->network, rails, host, &setup->network, &of_host);
	// A fabric has the rails that it has.
	if (status && *rails)
		status = find_with(
			expect, options->network, "", host, &setup->network, &of_host);
	if (status == TB_OK)
		return TB_OK;
	// What is wrong with that library other than that the network lacks it, as hosts
	// with unequal adapters, is no reason to compare with another.
	status = expect_network_find(expect, options->network, &setup->network, error);
	if (status == TB_OK && (options->host || of_host.code != TB_EUSAGE)) {
		*error = of_host;
		return of_host.code;
	}
	if (status == TB_OK && expect_note(expect,
				       "%s has no library %s: its own is taken for "
				       "tables of %s",
				       options->network, host ? host : "none",
				       setup->table->tool) != TB_OK)
		status = tb_fail_memory(error, "notes");
	return status;
}

static int set_up(struct tb_expect *expect, struct expect_setup *setup,
	const struct tb_benchmark_table *table, struct tb_error *error)
{
	const struct tb_expect_options *options = expect->options;
	const struct expect_tool *tool = expect_tools;
	while (tool->name && strcmp(tool->name, table->tool) != 0)
		tool++;
	*setup = (struct expect_setup){.table = table,
		.family = tool->family,
		.library = options->library ? options->library : tool->library,
		.per_node = options->per_node};
	// NCCL chooses otherwise by version; RCCL's table is of one.
	unsigned major, minor;
	if (!options->library && strcmp(tool->library, "nccl") == 0 &&
		sscanf(table->version, "NCCL %2u.%2u", &major, &minor) == 2) {
		snprintf(setup->versioned, sizeof setup->versioned, "nccl@%u.%u", major,
			minor);
	}
	bool alone = strcmp(setup->family, "verbs") == 0; // two hosts, as it is run
	if (alone)
		setup->per_node = 1;
	if (!setup->per_node && (!table->hosts || !table->host_names)) {
		setup->assumed = !table->n_hosts || !table->n_ranks;
		setup->per_node = setup->assumed ? 1
						 : (table->n_ranks + table->n_hosts - 1) /
							   table->n_hosts;
	}
	int status = set_up_network(expect, setup, tool, error);
	if (status == TB_OK && setup->assumed &&
		expect_note(expect,
			"%s names no hosts: each rank is taken to be on a host of its "
			"own (--per-node)",
			expect->is_planned ? expect->options->files[0] : table->file) !=
			TB_OK)
		status = tb_fail_memory(error, "notes");
	return status;
}

static int compare_series(const struct expect_call *a, const struct expect_call *b)
{
	const uint64_t keys[][2] = {{a->setup, b->setup}, {a->kind, b->kind},
		{a->op, b->op}, {a->n_ranks, b->n_ranks}, {a->first, b->first},
		{a->second, b->second}, {a->rail, b->rail}, {a->is_random, b->is_random}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return TB_ORDER(keys[i][0], keys[i][1]);
	return 0;
}

static int compare_calls(const void *one, const void *other)
{
	const struct expect_call *a = one, *b = other;
	int order = compare_series(a, b);
	return order ? order : TB_ORDER(a->bytes, b->bytes);
}

static struct expect_call call_of_row(const struct tb_benchmark_row *row)
{
	bool pairs = row->kind != TB_BENCH_COLLECTIVE;
	return (struct expect_call){.kind = row->kind,
		.op = pairs ? TB_COLL_N : row->op,
		.bytes = row->bytes,
		.printed_bytes = row->printed_bytes,
		.n_ranks = row->n_ranks ? row->n_ranks
			   : pairs	? 2
					: 0,
		.first = pairs ? row->first : UINT32_MAX,
		.second = pairs ? row->second : UINT32_MAX,
		.rail = pairs ? row->rail : UINT32_MAX,
		.is_random = row->random_neighbors,
		.setup = row->table,
		.way = TB_EXPECT_LEFT_OUT,
		.time_ns = NAN};
}

// list_calls makes the different calls of all rows, ordered, and their series.
static int list_calls(struct tb_expect *expect, struct tb_error *error)
{
	size_t n = tb_benchmark_n_rows(expect->benchmark);
	expect->calls = malloc((n + 1) * sizeof *expect->calls);
	expect->series = malloc((n + 1) * sizeof *expect->series);
	expect->rows = calloc(n + 1, sizeof *expect->rows);
	if (!expect->calls || !expect->series || !expect->rows)
		return tb_fail_memory(error, "the rows of a benchmark");
	for (size_t i = 0; i < n; i++) {
		const struct tb_benchmark_row *row =
			tb_benchmark_row(expect->benchmark, i);
		const struct tb_benchmark_table *table = expect->setups[row->table].table;
		struct expect_call call = call_of_row(row);
		bool has_hosts = !expect->setups[row->table].per_node;
		if (call.n_ranks == 0)
			return tb_fail_at(error, TB_EUSAGE, table->file, TB_PLACE_LINE,
				row->line,
				"the table does not say how many ranks there were: give "
				"--ranks");
		if ((call.first != UINT32_MAX && call.first >= call.n_ranks) ||
			(call.second != UINT32_MAX && call.second >= call.n_ranks))
			call.n_ranks =
				(call.second != UINT32_MAX && call.second > call.first
						? call.second
						: call.first) +
				1;
		if (has_hosts && call.n_ranks > table->n_ranks)
			return tb_fail_at(error, TB_EFORMAT, table->file, TB_PLACE_LINE,
				row->line,
				"a row of %" PRIu32
				" ranks, but the table names the hosts of %" PRIu32,
				call.n_ranks, table->n_ranks);
		expect->calls[expect->n_calls++] = call;
	}
	qsort(expect->calls, n, sizeof *expect->calls, compare_calls);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (kept == 0 ||
			compare_calls(&expect->calls[kept - 1], &expect->calls[i]) != 0)
			expect->calls[kept++] = expect->calls[i];
	expect->n_calls = kept;
	for (size_t i = 0; i < kept; i++) {
		if (i == 0 ||
			compare_series(&expect->calls[i - 1], &expect->calls[i]) != 0)
			expect->series[expect->n_series++] =
				(struct expect_series){.first = i};
		expect->calls[i].series = expect->n_series - 1;
		expect->series[expect->n_series - 1].n++;
	}
	return TB_OK;
}

// What is done with calls: their transfers are counted, they are replayed, or, with too
// many messages, estimated from replays of fewer hosts or smaller sizes.
enum expect_step { STEP_COUNT, STEP_REPLAY, STEP_FEWER, STEP_SMALLER };

struct expect_task {
	struct tb_expect *expect;
	size_t *calls; // numbers; NULL: all
	size_t n;
	enum expect_step step;
};

static struct expect_case case_of(
	const struct tb_expect *expect, const struct expect_call *call)
{
	const struct expect_setup *setup = &expect->setups[call->setup];
	return (struct expect_case){.network = &expect->networks[setup->network],
		.setup = setup,
		.call = call,
		.collectives = expect->options->collectives,
		.n_collectives = expect->options->n_collectives,
		.stop = expect->options->stop};
}

static void scale_loads(struct expect_loads *loads, double share)
{
	loads->adapter_ns *= share;
	loads->link_ns *= share;
	loads->compute_ns *= share;
	loads->host_bytes = (uint64_t)((double)loads->host_bytes * share);
	loads->link_bytes = (uint64_t)((double)loads->link_bytes * share);
}

// is_of_stretch returns whether calls of a series are expanded by one rule, so that what
// lies between them follows from both.
static bool is_of_stretch(const struct expect_call *a, const struct expect_call *b)
{
	return a->kind == TB_BENCH_COLLECTIVE && a->rule.algorithm && b->rule.algorithm &&
	       strcmp(a->rule.algorithm, b->rule.algorithm) == 0 &&
	       strcmp(a->rule.reason, b->rule.reason) == 0;
}

// same_protocol returns whether two rules differ in the number of hosts alone.
static bool same_protocol(const struct expect_call *a, const struct expect_call *b)
{
	const struct tb_expansion_rule *of_a = &a->rule, *of_b = &b->rule;
	return strcmp(of_a->algorithm, of_b->algorithm) == 0 &&
	       (of_a->protocol && of_b->protocol
			       ? strcmp(of_a->protocol, of_b->protocol) == 0
			       : strcmp(of_a->reason, of_b->reason) == 0);
}

// set_as_chosen sets for NCCL of fewer hosts, which might choose otherwise, what it chose
// for a call: algorithm, protocol and channels. False: it is no call of NCCL.
static bool set_as_chosen(struct expect_setup *setup, char *choice, size_t size,
	const struct expect_call *call)
{
	char library[sizeof setup->versioned], channels[64] = "";
	unsigned n;
	if (!call->rule.protocol)
		return false;
	const char *at = strstr(call->rule.reason, "fastest in its model: ");
	if (at && sscanf(at, "fastest in its model: %*[^,], %u channel", &n) == 1)
		snprintf(channels, sizeof channels,
			" NCCL_MIN_NCHANNELS=%u NCCL_MAX_NCHANNELS=%u", n, n);
	snprintf(library, sizeof library, "%s",
		setup->versioned[0] ? setup->versioned : setup->library);
	snprintf(choice, size, "%s=%s", tb_collective_op_name(call->op),
		call->rule.algorithm);
	int length = snprintf(setup->versioned, sizeof setup->versioned,
		"%s NCCL_PROTO=%s%s", library, call->rule.protocol, channels);
	return length < (int)sizeof setup->versioned;
}

// How the time of an algorithm grows with the hosts: a ring has as many more steps of as
// many bytes for each; the trees of NCCL carry the same, a level more for twice as many.
enum expect_growth { GROWS_UNKNOWN, GROWS_BY_HOST, GROWS_BY_DOUBLING };

static enum expect_growth growth_of(const struct expect_call *call)
{
	const char *name = call->rule.algorithm ? call->rule.algorithm : "";
	return strstr(name, "ring") ? GROWS_BY_HOST
	       : strcmp(name, "nccl-tree") == 0 || strcmp(name, "nccl-nvls-tree") == 0
		       ? GROWS_BY_DOUBLING
		       : GROWS_UNKNOWN;
}

// estimate_fewer finds the time of a call of many hosts from those of two smaller ones,
// by the same algorithm and protocol, with as many ranks on each host. The call is left
// out where there are no two.
static int estimate_fewer_within(const struct expect_case *replayed,
	struct expect_call *call, size_t most, struct tb_error *error)
{
	struct expect_setup setup = *replayed->setup;
	uint32_t n_hosts = setup.per_node
				   ? (call->n_ranks + setup.per_node - 1) / setup.per_node
				   : setup.table->n_hosts;
	enum expect_growth growth = growth_of(call);
	bool scales =
		growth == GROWS_BY_HOST && tb_collectives[call->op].size != TB_SIZE_BLOCK;
	struct expect_call fewer[2];
	char choice[64];
	const char *collectives[] = {choice};
	struct expect_case small = *replayed;
	const struct tb_network_params *params =
		tb_network_params(replayed->network->exact);
	// The first hosts of a tapered network show nothing of its upper levels.
	bool tapers = params->shape[0] || params->level_rates[0];
	if (growth == GROWS_UNKNOWN || !n_hosts || call->n_ranks % n_hosts ||
		(tapers && growth == GROWS_BY_DOUBLING))
		return TB_OK;
	if (set_as_chosen(&setup, choice, sizeof choice, call)) {
		small.setup = &setup;
		small.collectives = collectives;
		small.n_collectives = 1;
	}
	uint32_t hosts = n_hosts;
	int status = TB_OK, found = 0;
	// Trees of less hosts load them otherwise.
	uint32_t least = growth == GROWS_BY_DOUBLING ? 16 : 3;
	while (status == TB_OK && hosts / 2 >= least && found < 2) {
		hosts /= 2;
		fewer[found] = *call;
		fewer[found].n_ranks = call->n_ranks / n_hosts * hosts;
		fewer[found].bytes = scales ? call->bytes / n_hosts * hosts : call->bytes;
		small.call = &fewer[found];
		// Neighbours of a ring have as many switches between them as those of
		// all. Trees keep to the first hosts: at equal distances they would meet
		// on links that those of all do not share.
		if (growth == GROWS_BY_HOST) {
			small.n_ranks_of_all = call->n_ranks;
			small.per_host = call->n_ranks / n_hosts;
			small.stride = n_hosts / hosts;
		}
		status = expect_count(&small, most, &fewer[found], error);
		if (status != TB_OK || fewer[found].n_transfers == SIZE_MAX)
			continue;
		if (!same_protocol(&fewer[found], call))
			return TB_OK;
		status = expect_replay(&small, &fewer[found], error);
		found++;
	}
	if (status != TB_OK || found < 2 || fewer[0].time_ns < fewer[1].time_ns)
		return status;
	const struct expect_call *b = &fewer[0], *a = &fewer[1];
	double of_a = a->n_hosts, of_b = b->n_hosts, of_all = n_hosts;
	if (growth == GROWS_BY_DOUBLING) {
		of_a = log2(of_a);
		of_b = log2(of_b);
		of_all = log2(of_all);
	}
	call->way = TB_EXPECT_FEWER;
	call->n_hosts = n_hosts;
	call->loads = b->loads;
	call->time_ns =
		b->time_ns + (b->time_ns - a->time_ns) / (of_b - of_a) * (of_all - of_b);
	// What a host and a link carry of a ring is as much of each rank's part.
	if (growth == GROWS_BY_HOST)
		scale_loads(&call->loads, (double)call->n_ranks / b->n_ranks);
	return TB_OK;
}

// estimate_fewer takes as few messages as do.
static int estimate_fewer(const struct expect_case *replayed, struct expect_call *call,
	size_t most, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t n = TRANSFERS_OF_FEWER;
		n <= most && status == TB_OK && call->way == TB_EXPECT_LEFT_OUT; n *= 3)
		status = estimate_fewer_within(replayed, call, n, error);
	return status;
}

// is_support returns whether lines may go through a call: it lies on none itself.
static bool is_support(const struct expect_call *call)
{
	return call->way == TB_EXPECT_PACKETS || call->way == TB_EXPECT_FLUID ||
	       call->way == TB_EXPECT_FEWER;
}

// follow_call finds the time of a call that was not replayed on the line through two of
// its stretch that were: around it, or, where `beyond`, both smaller.
static void follow_call(struct expect_call *calls, size_t n, size_t at, bool beyond)
{
	struct expect_call *call = &calls[at];
	const struct expect_call *before[2] = {NULL, NULL}, *behind = NULL;
	for (size_t i = at; i-- > 0 && is_of_stretch(&calls[i], call) && !before[1];)
		if (is_support(&calls[i]))
			before[before[0] != NULL] = &calls[i];
	for (size_t i = at + 1; i < n && is_of_stretch(&calls[i], call) && !behind; i++)
		if (is_support(&calls[i]))
			behind = &calls[i];
	const struct expect_call *a = before[0], *b = behind   ? behind
						      : beyond ? before[1]
							       : NULL;
	if (!a || !b)
		return;
	call->n_hosts = a->n_hosts;
	call->way = behind ? TB_EXPECT_BETWEEN : TB_EXPECT_BEYOND;
	double size = (double)call->bytes - (double)a->bytes;
	call->time_ns = a->time_ns + (b->time_ns - a->time_ns) * size /
					     ((double)b->bytes - (double)a->bytes);
	call->loads = a->loads;
	scale_loads(&call->loads, (double)call->bytes / (double)a->bytes);
}

// estimate_smaller finds the time of a call from those of half its size, a quarter and so
// on, the first two that the library expands alike and that have at most so many
// messages.
static int estimate_smaller(const struct expect_case *replayed, struct expect_call *call,
	size_t most, struct tb_error *error)
{
	struct expect_call calls[3] = {{0}, {0}, *call}; // by size
	size_t first = 2;
	int status = TB_OK;
	for (uint64_t bytes = call->bytes / 2; status == TB_OK && bytes > 0 && first > 0;
		bytes /= 2) {
		struct expect_call *smaller = &calls[first - 1];
		struct expect_case small = *replayed;
		*smaller = *call;
		smaller->bytes = bytes;
		small.call = smaller;
		status = expect_count(&small, most, smaller, error);
		if (status != TB_OK || !is_of_stretch(smaller, call))
			break;
		if (smaller->n_transfers == SIZE_MAX)
			continue;
		first--;
	}
	for (size_t i = first; status == TB_OK && first == 0 && i < 2; i++) {
		struct expect_case small = *replayed;
		small.call = &calls[i];
		status = expect_replay(&small, &calls[i], error);
	}
	if (status == TB_OK && first == 0) {
		follow_call(calls, 3, 2, true);
		*call = calls[2];
	}
	return status;
}

int expect_estimate(const struct expect_case *replayed, size_t most,
	struct expect_call *call, struct tb_error *error)
{
	int status = estimate_fewer(replayed, call, most, error);
	if (status == TB_OK && call->way == TB_EXPECT_LEFT_OUT)
		status = estimate_smaller(replayed, call, most, error);
	return status;
}

static int do_call(void *context, size_t index, struct tb_error *error)
{
	const struct expect_task *task = context;
	const struct tb_expect *expect = task->expect;
	struct expect_call *call =
		&task->expect->calls[task->calls ? task->calls[index] : index];
	const struct expect_case replayed = case_of(expect, call);
	if (tb_stop_asked(expect->options->stop))
		return tb_fail(error, TB_ESTOPPED, "stopped");
	if (task->step == STEP_REPLAY)
		return expect_replay(&replayed, call, error);
	if (task->step == STEP_FEWER)
		return estimate_fewer(&replayed, call, TRANSFERS_OF_ALL, error);
	if (task->step == STEP_SMALLER) {
		static const size_t most[] = {TRANSFERS_OF_ONE, TRANSFERS_OF_ALL};
		int status = TB_OK;
		for (int i = 0;
			i < 2 && status == TB_OK && call->way == TB_EXPECT_LEFT_OUT; i++)
			status = estimate_smaller(&replayed, call, most[i], error);
		return status;
	}
	return call->kind == TB_BENCH_COLLECTIVE
		       ? expect_count(&replayed, TRANSFERS_OF_ALL, call, error)
		       : TB_OK;
}

static void watch_calls(void *context, size_t n_done)
{
	const struct expect_task *task = context;
	const struct tb_expect_options *options = task->expect->options;
	if (options->watch)
		options->watch(options->context, n_done, task->n);
}

static int do_calls(struct tb_expect *expect, size_t *calls, size_t n,
	enum expect_step step, struct tb_error *error)
{
	struct expect_task task = {expect, calls, n, step};
	const struct tb_work work = {
		.context = &task, .n_tasks = n, .task = do_call, .watch = watch_calls};
	return n ? tb_workers_run(&work, expect->options->n_workers, error) : TB_OK;
}

static int by_cost(const void *one, const void *other)
{
	const struct expect_call *a = *(const struct expect_call *const *)one,
				 *b = *(const struct expect_call *const *)other;
	if (a->anchor != b->anchor)
		return b->anchor - a->anchor;
	return a->n_transfers != b->n_transfers ? TB_ORDER(a->n_transfers, b->n_transfers)
						: TB_ORDER(a, b);
}

// has_few returns whether a call has not too many messages for one that is replayed
// beside others.
static bool has_few(const struct expect_call *call)
{
	return call->n_transfers <= TRANSFERS_OF_ONE;
}

// choose_anchors marks of a stretch the first and the last call that has not too many
// messages. Where all have, and no replay on fewer hosts may do, it is the first and the
// last of all.
static void choose_anchors(struct expect_call *calls, size_t n)
{
	bool any = growth_of(calls) == GROWS_BY_HOST;
	for (size_t i = 0; i < n; i++)
		any |= has_few(&calls[i]);
	for (size_t i = 0; i < n; i++)
		calls[i].anchor =
			(any ? has_few(&calls[i]) : true) &&
			(i == 0 || i + 1 == n || (any && !has_few(&calls[i + 1])));
}

// choose_calls marks the calls that are replayed: the anchors of each stretch, then the
// cheapest.
static int choose_calls(struct tb_expect *expect, size_t *chosen, size_t *n_chosen)
{
	bool all = expect->options->every_size;
	size_t n = expect->n_calls, total = 0;
	struct expect_call **order = malloc((n + 1) * sizeof *order);
	if (!order)
		return TB_ENOMEM;
	for (size_t s = 0; s < expect->n_series; s++) {
		struct expect_call *calls = &expect->calls[expect->series[s].first];
		for (size_t i = 0, end; i < expect->series[s].n; i = end) {
			for (end = i + 1; end < expect->series[s].n &&
					  is_of_stretch(&calls[end - 1], &calls[end]);)
				end++;
			choose_anchors(calls + i, end - i);
		}
	}
	for (size_t i = 0; i < n; i++)
		order[i] = &expect->calls[i];
	qsort(order, n, sizeof *order, by_cost);
	*n_chosen = 0;
	for (size_t i = 0; i < n; i++) {
		size_t cost = order[i]->n_transfers;
		bool fits =
			cost != SIZE_MAX &&
			(order[i]->anchor ||
				(has_few(order[i]) && total + cost <= TRANSFERS_OF_ALL));
		order[i]->anchor = all || fits;
		total += fits ? cost : 0;
	}
	// The longest first: the others fill the threads beside them.
	for (size_t i = n; i-- > 0;)
		if (order[i]->anchor)
			chosen[(*n_chosen)++] = (size_t)(order[i] - expect->calls);
	free(order);
	return TB_OK;
}

// expect_total_bytes returns the bytes of a collective call that its algorithm bandwidth
// is of (doc/PERFORMANCE.md of nccl-tests).
static double expect_total_bytes(const struct expect_call *call)
{
	bool blocks = tb_collectives[call->op].size == TB_SIZE_BLOCK;
	return (double)call->bytes * (blocks ? call->n_ranks : 1);
}

// expect_least_ns returns what the adapters of a host need for what any algorithm that
// adds up in hosts sends or receives through them.
double expect_least_ns(const struct tb_expect *expect, const struct expect_call *call)
{
	const struct expect_setup *setup = &expect->setups[call->setup];
	const struct tb_network_params *params =
		tb_network_params(expect->networks[setup->network].exact);
	double rate = (double)tb_network_payload_rate(params) * params->n_rails;
	double bytes = expect_total_bytes(call) * tb_bus_share(call->op, call->n_hosts);
	// Every rank of a host sends to those of all others.
	if (call->op == TB_COLL_ALLTOALL)
		bytes *= (double)call->n_ranks / call->n_hosts;
	return call->n_hosts > 1 ? bytes / rate * 1e9 : 0;
}

static bool is_estimate(const struct expect_call *call)
{
	return call->way == TB_EXPECT_BETWEEN || call->way == TB_EXPECT_BEYOND ||
	       call->way == TB_EXPECT_FEWER;
}

// drop_impossible takes back the estimates that are shorter than the adapters allow, that
// a larger size undercuts, or that a smaller one exceeds: of two estimates neither is
// known.
static void drop_impossible(
	const struct tb_expect *expect, struct expect_call *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		calls[i].is_dropped =
			is_estimate(&calls[i]) &&
			calls[i].time_ns < expect_least_ns(expect, &calls[i]);
	for (int both = 0; both < 2; both++)
		for (size_t i = 0; i < n; i++)
			for (size_t k = i + 1; k < n; k++) {
				bool one = is_estimate(&calls[i]),
				     other = is_estimate(&calls[k]);
				if ((both ? one && other : one != other) &&
					calls[i].time_ns > calls[k].time_ns) {
					calls[i].is_dropped |= one;
					calls[k].is_dropped |= other;
				}
			}
	for (size_t i = 0; i < n; i++)
		if (calls[i].is_dropped) {
			calls[i].way = TB_EXPECT_LEFT_OUT;
			calls[i].time_ns = NAN;
		}
}

// note_ways says how many sizes were not replayed by packets, each a call.
static int note_ways(struct tb_expect *expect)
{
	static const struct {
		enum tb_expect_way least, most;
		const char *text;
	} ways[] = {
		{TB_EXPECT_FLUID, TB_EXPECT_FLUID,
			"are replayed as a fluid, without packets (docs/fluid.md)"},
		{TB_EXPECT_BETWEEN, TB_EXPECT_BEYOND,
			"are not replayed: they lie on lines through two sizes of the "
			"same algorithm that are (--every-size replays all)"},
		{TB_EXPECT_FEWER, TB_EXPECT_FEWER,
			"have many messages: they are replayed on fewer hosts, and grow "
			"with each host (rings) or each doubling of the hosts (trees) by "
			"as much (--every-size replays all)"},
		{TB_EXPECT_LEFT_OUT, TB_EXPECT_LEFT_OUT,
			"are not known: they have more messages than are replayed, and "
			"nothing that was replayed tells their time (--every-size "
			"replays them)"},
	};
	int status = TB_OK;
	for (size_t w = 0; w < sizeof ways / sizeof *ways && status == TB_OK; w++) {
		size_t n = 0;
		for (size_t i = 0; i < expect->n_calls; i++)
			n += expect->calls[i].way >= ways[w].least &&
			     expect->calls[i].way <= ways[w].most;
		if (n)
			status = expect_note(expect, "%zu of %zu sizes %s", n,
				expect->n_calls, ways[w].text);
	}
	return status;
}

// is_end_or_other returns whether a call is the first or the last of its stretch, or was
// not beside the one chosen before it: what lies between follows from these.
static bool is_end_or_other(const struct tb_expect *expect, size_t i, size_t chosen)
{
	const struct expect_call *call = &expect->calls[i];
	bool is_first = i == 0 || call[-1].series != call->series ||
			!is_of_stretch(call - 1, call);
	return is_first || chosen != i + 1 || call[1].series != call->series ||
	       !is_of_stretch(call, call + 1);
}

static int replay_calls(struct tb_expect *expect, struct tb_error *error)
{
	size_t n_chosen = 0;
	size_t *chosen = malloc((expect->n_calls + 1) * sizeof *chosen);
	if (!chosen)
		return tb_fail_memory(error, "calls");
	int status = do_calls(expect, NULL, expect->n_calls, STEP_COUNT, error);
	if (status == TB_OK && choose_calls(expect, chosen, &n_chosen) != TB_OK)
		status = tb_fail_memory(error, "calls");
	if (status == TB_OK)
		status = do_calls(expect, chosen, n_chosen, STEP_REPLAY, error);
	for (int beyond = 0; beyond < 2 && status == TB_OK; beyond++) {
		for (size_t s = 0; s < expect->n_series; s++) {
			struct expect_call *calls =
				&expect->calls[expect->series[s].first];
			for (size_t i = 0; i < expect->series[s].n; i++)
				if (calls[i].way == TB_EXPECT_LEFT_OUT)
					follow_call(
						calls, expect->series[s].n, i, beyond);
		}
		n_chosen = 0;
		for (size_t i = expect->n_calls; i-- > 0;)
			if (expect->calls[i].way == TB_EXPECT_LEFT_OUT &&
				(beyond || is_end_or_other(expect, i,
						   n_chosen ? chosen[n_chosen - 1]
							    : SIZE_MAX)))
				chosen[n_chosen++] = i;
		// Fewer hosts are nearer to a call than sizes far below its own.
		enum expect_step step = beyond ? STEP_SMALLER : STEP_FEWER;
		status = do_calls(expect, chosen, n_chosen, step, error);
	}
	free(chosen);
	for (size_t s = 0; status == TB_OK && s < expect->n_series; s++)
		drop_impossible(expect, &expect->calls[expect->series[s].first],
			expect->series[s].n);
	if (status == TB_OK && note_ways(expect) != TB_OK)
		status = TB_ENOMEM;
	return status == TB_ENOMEM ? tb_fail_memory(error, "calls") : status;
}

// expect_class_range finds the range of a row's class: figures stay NAN where none was
// measured.
static void expect_class_range(struct expect_row *row)
{
	struct tb_measured_range range;
	// Several streams at once are of the class of one.
	const char *operation = row->row->kind == TB_BENCH_PAIRS ? "stream"
				: row->row->kind == TB_BENCH_BOTH_WAYS
					? "both-ways"
					: tb_benchmark_operation(row->row);
	if (!tb_measured_range_of(&range, operation, row->row->printed_bytes,
		    row->setup->family, row->call->n_hosts > 1))
		return;
	row->n_rows = range.n_rows;
	row->n_clusters = range.n_clusters;
	row->low = range.low;
	row->high = range.high;
}

static void fill_names(struct expect_row *row)
{
	const struct tb_benchmark_row *of = row->row;
	char whose[32] = "";
	if (of->rail != UINT32_MAX)
		snprintf(whose, sizeof whose, " rail %" PRIu32, of->rail);
	else if (of->first != UINT32_MAX && of->second != UINT32_MAX)
		snprintf(whose, sizeof whose, " %" PRIu32 "-%" PRIu32, of->first,
			of->second);
	else if (of->first != UINT32_MAX)
		snprintf(whose, sizeof whose, " rank %" PRIu32, of->first);
	snprintf(row->what, sizeof row->what, "%s%s", tb_benchmark_operation(of), whose);
}

// expect_ratio returns measured speed over expected speed: by times, else by rates.
static double expect_ratio(const struct expect_row *row)
{
	double of_times = row->expected_us / row->measured_us;
	return isnan(of_times) ? row->measured_rate / row->expected_rate : of_times;
}

static void fill_figures(struct expect_row *row)
{
	const struct tb_benchmark_row *of = row->row;
	const struct expect_call *call = row->call;
	bool collective = of->kind == TB_BENCH_COLLECTIVE;
	bool streams = !collective && of->kind != TB_BENCH_LATENCY &&
		       of->kind != TB_BENCH_NEIGHBORS && of->kind != TB_BENCH_EXCHANGE;
	double total = collective		       ? expect_total_bytes(call)
		       : of->kind == TB_BENCH_EXCHANGE ? 2. * (double)call->bytes // sent
						       : (double)call->bytes;
	double share = collective ? tb_bus_share(of->op, call->n_ranks) : NAN;
	row->measured_us = of->time_ns / 1e3;
	// What a tool prints of rates is rounded to 0 for short messages.
	row->measured_rate = of->time_ns > 0 && total > 0 ? total / of->time_ns * 1e9
							  : of->algorithm_rate;
	row->measured_bus = of->time_ns > 0 || isnan(of->bus_rate)
				    ? row->measured_rate * share
				    : of->bus_rate;
	row->expected_us = streams ? NAN : call->time_ns / 1e3;
	row->expected_rate = streams	 ? call->bytes_moved / call->time_ns * 1e9
			     : total > 0 ? total / call->time_ns * 1e9
					 : NAN;
	row->expected_bus = row->expected_rate * share;
	// Nothing is called where nothing is moved.
	bool empty = collective && call->bytes == 0 && of->op != TB_COLL_BARRIER;
	row->ratio = empty ? NAN : expect_ratio(row);
}

// What is off by more fits no expectation, however wide the range of its class.
#define FITS_LOW  0.5
#define FITS_HIGH 2.0

static void judge_row(struct expect_row *row)
{
	row->low = row->high = row->n_rows = row->n_clusters = NAN;
	expect_class_range(row);
	row->verdict = row->row->n_wrong	? TB_EXPECT_WRONG
		       : !(row->ratio > 0)	? TB_EXPECT_UNJUDGED
		       : isinf(row->ratio)	? TB_EXPECT_UNJUDGED
		       : isnan(row->low)	? TB_EXPECT_UNMEASURED
		       : row->ratio < row->low	? TB_EXPECT_SLOWER
		       : row->ratio > row->high ? TB_EXPECT_FASTER
		       : row->ratio < FITS_LOW	? TB_EXPECT_WIDE
		       : row->ratio > FITS_HIGH ? TB_EXPECT_WIDE
						: TB_EXPECT_FITS;
}

static void fill_rows(struct tb_expect *expect)
{
	expect->n_rows = tb_benchmark_n_rows(expect->benchmark);
	for (size_t i = 0; i < expect->n_rows; i++) {
		struct expect_row *row = &expect->rows[i];
		row->row = tb_benchmark_row(expect->benchmark, i);
		row->setup = &expect->setups[row->row->table];
		struct expect_call call = call_of_row(row->row);
		// Ranks that a pair's row names may be beyond those that it counts.
		for (uint32_t most = 0; most < 2; most++) {
			row->call = bsearch(&call, expect->calls, expect->n_calls,
				sizeof *expect->calls, compare_calls);
			if (row->call)
				break;
			call.n_ranks =
				(call.second != UINT32_MAX && call.second > call.first
						? call.second
						: call.first) +
				1;
		}
		fill_names(row);
		fill_figures(row);
		judge_row(row);
	}
}

bool tb_expect_operation(
	enum tb_collective_op *op, const struct tb_expect_options *options)
{
	// Also as nccl-tests call it, all_reduce; what has a dot or slash is a file.
	const char *name = options->n_files == 1 ? options->files[0] : "";
	return strspn(name, OPERATION_LETTERS) == strlen(name) &&
	       (tb_collective_op_find(op, name) ||
		       tb_collective_op_in(op, name, strlen(name))) &&
	       access(name, F_OK) != 0;
}

// has_library returns whether a network has a host library, which its name may choose.
static bool has_library(const char *network, const char *library)
{
	struct tb_network_params params;
	char *name = NULL;
	if (asprintf(&name, "%s,host=%s", network, library) < 0)
		return false;
	bool has = tb_network_open_params(&params, NULL, name, NULL) == TB_OK;
	free(name);
	return has;
}

// plan_benchmark makes the rows of an operation, as NCCL's where hosts send with it,
// unless another library was asked for.
static int plan_benchmark(
	struct tb_expect *expect, enum tb_collective_op op, struct tb_error *error)
{
	const struct tb_expect_options *options = expect->options;
	const char *host = strstr(options->network, ",host=");
	const char *asked = options->host      ? options->host
			    : host	       ? host + strlen(",host=")
			    : options->library ? options->library
					       : NULL;
	bool mpi =
		asked ? strncmp(asked, "nccl", 4) != 0 && strncmp(asked, "rccl", 4) != 0
		      : !has_library(options->network, "nccl");
	if (options->n_ranks == 0)
		return tb_fail(error, TB_EUSAGE,
			"%s: of how many ranks? Give --ranks, and --per-node",
			options->files[0]);
	const char *text = options->sizes	   ? options->sizes
			   : op == TB_COLL_BARRIER ? "0"
						   : SIZES;
	struct tb_value_list list = {0};
	int status = tb_value_list_parse(&list, TB_VALUE_SIZE, text, error);
	uint64_t *sizes = calloc(list.n + 1, sizeof *sizes);
	if (status == TB_OK && !sizes)
		status = tb_fail_memory(error, "sizes");
	for (size_t i = 0; i < list.n && status == TB_OK; i++)
		if (tb_parse_size(list.texts[i], &sizes[i]) != TB_OK)
			status = tb_fail(error, TB_EUSAGE,
				"--size: '%s' is no size, such as 1M", list.texts[i]);
		else if (sizes[i] == 0 && op != TB_COLL_BARRIER)
			status = tb_fail(error, TB_EUSAGE,
				"--size: %s of 0 bytes sends nothing: expected 1 or more",
				options->files[0]);
	if (status == TB_OK)
		status = tb_benchmark_plan(&expect->benchmark, mpi, op, sizes, list.n,
			options->n_ranks, error);
	free(sizes);
	tb_value_list_fini(&list);
	return status;
}

static int expect_all(struct tb_expect *expect, struct tb_error *error)
{
	const struct tb_expect_options *options = expect->options;
	enum tb_collective_op op;
	expect->is_planned = tb_expect_operation(&op, options);
	int status = expect->is_planned
			     ? plan_benchmark(expect, op, error)
			     : tb_benchmark_read(&expect->benchmark, options->files,
				       options->n_files, options->n_ranks, error);
	if (status != TB_OK)
		return status;
	const char *left_out = tb_benchmark_note(expect->benchmark);
	if (left_out && expect_note(expect, "%s", left_out) != TB_OK)
		return tb_fail_memory(error, "notes");
	size_t n = tb_benchmark_n_tables(expect->benchmark);
	expect->setups = calloc(n + 1, sizeof *expect->setups);
	if (!expect->setups)
		return tb_fail_memory(error, "tables");
	for (size_t i = 0; status == TB_OK && i < n; i++)
		status = set_up(expect, &expect->setups[i],
			tb_benchmark_table(expect->benchmark, i), error);
	if (status == TB_OK)
		status = list_calls(expect, error);
	if (status == TB_OK)
		status = replay_calls(expect, error);
	if (status != TB_OK)
		return status;
	fill_rows(expect);
	if (expect_choose_shown(expect) != TB_OK)
		return tb_fail_memory(error, "rows");
	return expect_explain(expect, error);
}

int tb_expect_new(struct tb_expect **expect, const struct tb_expect_options *options,
	struct tb_error *error)
{
	struct tb_expect *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "a benchmark");
	made->options = options;
	int status = expect_all(made, error);
	if (status == TB_OK)
		*expect = made;
	else
		tb_expect_free(made);
	return status;
}

size_t tb_expect_n_slower(const struct tb_expect *expect, size_t *n_judged)
{
	size_t n = 0;
	*n_judged = 0;
	for (size_t i = 0; i < expect->n_rows; i++) {
		n += expect->rows[i].verdict == TB_EXPECT_SLOWER;
		*n_judged += expect->rows[i].verdict <= TB_EXPECT_FASTER;
	}
	return n;
}
