// Why rows are as they are: what limits them, which changes of the network or of the
// algorithm would explain what was measured, each tried by replay, and which host, rank
// or rail falls behind the others.
#include "expect_impl.h"

#include "algorithms.h"
#include "array.h"
#include "credit_params.h"
#include "log_changes.h"
#include "map.h"
#include "order.h"
#include "stop.h"
#include "workers.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LIMITS	     0.6    // share of the time from which a load is what limits
#define EXPLAINS     1.15   // within that factor of what was measured
#define OFF	     1.25   // rows so far off are explained, whatever their range
#define SERIES_MOST  6	    // are explained
#define LARGEST_TRY  400000 // transfers of a call that is tried
#define BEHIND	     0.9    // of the median of others
#define BEHIND_LEAST 3	    // rows that are compared
#define FILE_NAME    96

static int reason_add(struct tb_expect *expect, const char *kind, const char *what,
	double ratio, const char *format, ...) TB_PRINTF(5, 6);

static int reason_add(struct tb_expect *expect, const char *kind, const char *what,
	double ratio, const char *format, ...)
{
	if (TB_ARRAY_MORE(expect, reasons) != TB_OK)
		return TB_ENOMEM;
	struct expect_reason *reason = &expect->reasons[expect->n_reasons];
	*reason = (struct expect_reason){.ratio = ratio, .kind = kind};
	snprintf(reason->what, sizeof reason->what, "%s", what);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(reason->text, sizeof reason->text, format, arguments);
	va_end(arguments);
	// Tables of several groups of hosts repeat each other.
	for (size_t i = 0; i < expect->n_reasons; i++)
		if (strcmp(expect->reasons[i].what, reason->what) == 0 &&
			strcmp(expect->reasons[i].text, reason->text) == 0)
			return TB_OK;
	expect->n_reasons++;
	return TB_OK;
}

// whose_file writes "tue.log: ", of several files.
static const char *whose_file(const struct tb_expect *expect,
	const struct tb_benchmark_table *table, char name[FILE_NAME])
{
	snprintf(name, FILE_NAME, "%.80s: ", table->file);
	return expect->options->n_files > 1 ? name : "";
}

static void what_of(const struct tb_expect *expect, const struct expect_row *row,
	char what[EXPECT_WHAT])
{
	char bytes[24], file[FILE_NAME];
	snprintf(what, EXPECT_WHAT, "%s%s, %" PRIu32 " ranks on %" PRIu32 " host%s, %s",
		whose_file(expect, row->setup->table, file), row->what,
		row->call->n_ranks, row->call->n_hosts,
		row->call->n_hosts == 1 ? "" : "s",
		tb_format_size(row->row->printed_bytes, bytes, sizeof bytes));
}

// add_bound names what limits a row as it is expected.
static int add_bound(struct tb_expect *expect, const struct expect_row *row)
{
	const struct expect_call *call = row->call;
	const struct expect_network *network = &expect->networks[row->setup->network];
	const struct tb_network_params *params = tb_network_params(network->exact);
	const struct expect_loads *loads = &call->loads;
	// Of a ping-pong loads are of one way, and so is the time.
	double whole = call->time_ns;
	char what[EXPECT_WHAT], time[24], of[24], bytes[24], rate[24];
	what_of(expect, row, what);
	tb_format_time((tb_time_ps)(whole * 1e3), of, sizeof of);
	bool links = params->host.local == TB_LOCAL_LINKS;
	if (loads->adapter_ns >= LIMITS * whole && loads->adapter_ns >= loads->link_ns) {
		const struct tb_credit_params *credit = tb_credit_params(params);
		bool pcie = credit->pcie_bytes_per_s &&
			    tb_network_payload_rate(params) == credit->pcie_bytes_per_s;
		return reason_add(expect, "bound", what, NAN,
			"the adapters limit: %s through %" PRIu32
			" of a host at %s each%s take %s of %s",
			tb_format_size(loads->host_bytes, bytes, sizeof bytes),
			params->n_rails,
			tb_format_rate((double)tb_network_payload_rate(params), rate,
				sizeof rate),
			pcie ? ", which is their PCIe," : "",
			tb_format_time(
				(tb_time_ps)(loads->adapter_ns * 1e3), time, sizeof time),
			of);
	}
	if (loads->link_ns >= LIMITS * whole)
		return reason_add(expect, "bound", what, NAN,
			"%s limit%s: %s from a rank to others of its host at %s take %s "
			"of %s",
			links ? "the GPUs' links (NVLink)" : "copies within a host", "",
			tb_format_size(loads->link_bytes, bytes, sizeof bytes),
			tb_format_rate((double)params->host.local_bytes_per_s, rate,
				sizeof rate),
			tb_format_time(
				(tb_time_ps)(loads->link_ns * 1e3), time, sizeof time),
			of);
	if (loads->compute_ns >= LIMITS * whole &&
		strcmp(row->setup->family, "nccl") != 0)
		return reason_add(expect, "bound", what, NAN,
			"the core that combines and copies limits: it is busy for %s of "
			"%s",
			tb_format_time(
				(tb_time_ps)(loads->compute_ns * 1e3), time, sizeof time),
			of);
	double most = fmax(loads->adapter_ns, loads->link_ns);
	return reason_add(expect, "bound", what, NAN,
		"the latency of its steps limits%s%s: links are busy for %.0f %% of %s "
		"at "
		"most",
		call->rule.algorithm ? ", as " : "",
		call->rule.algorithm ? call->rule.algorithm : "", 100 * most / whole, of);
}

// add_unknown says of a row that was not replayed what bounds it.
static int add_unknown(struct tb_expect *expect, const struct expect_row *row)
{
	char what[EXPECT_WHAT], time[24];
	double least_ns = expect_least_ns(expect, row->call);
	what_of(expect, row, what);
	if (least_ns <= 0)
		return reason_add(expect, "bound", what, NAN,
			"not known: it has more messages than are replayed "
			"(--every-size)");
	return reason_add(expect, "bound", what, NAN,
		"not known: it has more messages than are replayed (--every-size); at "
		"least %s by the adapters of a host",
		tb_format_time((tb_time_ps)(least_ns * 1e3), time, sizeof time));
}

// What a change that would explain a ratio is of, and `n` and `of` with it.
enum expect_change_kind {
	CHANGE_LESS,	 // n adapters fewer
	CHANGE_TIMES,	 // n times, by of, as many adapters
	CHANGE_ADAPTERS, // n adapters, as hosts often have, where that is more than twice
	CHANGE_PCIE,
	CHANGE_RATE, // 1 of n
	// Without GPU direct what a GPU sends is copied over its PCIe into the host's
	// memory first, from where the adapter fetches it over its own.
	CHANGE_MEMORY,
	CHANGE_LINKS
};

static const struct expect_change {
	const char *text;
	bool gains; // explains what is faster than expected, too
	enum expect_change_kind kind;
	uint32_t n, of;
} changes[] = {
	{"with half of the adapters", false, CHANGE_TIMES, 1, 2},
	{"with one adapter of each host down", false, CHANGE_LESS, 1, 1},
	{"with PCIe of half the width (x8 for x16) at each adapter", false, CHANGE_PCIE,
		1, 2},
	{"with links at half their rate", false, CHANGE_RATE, 1, 2},
	{"with links at a quarter of their rate", false, CHANGE_RATE, 1, 4},
	{"with buffers in host memory, without GPU direct", false, CHANGE_MEMORY, 1, 2},
	{"without NVLink between the GPUs of a host", false, CHANGE_LINKS, 1, 1},
	{"with twice the adapters", true, CHANGE_TIMES, 2, 1},
	{"with 4 adapters a host (rails=4)", true, CHANGE_ADAPTERS, 4, 1},
	{"with 8 adapters a host (rails=8)", true, CHANGE_ADAPTERS, 8, 1},
};
enum { N_CHANGES = sizeof changes / sizeof *changes };

// put_change writes what stands behind the network's name with a change; false: it does
// not apply to a row.
static bool put_change(FILE *to, const struct expect_change *change,
	const struct tb_network_params *params, const struct expect_row *row)
{
	uint64_t pcie = tb_credit_params(params)->pcie_bytes_per_s;
	uint32_t rails = params->n_rails, other = rails * change->n / change->of;
	bool leaves = row->call->n_hosts > 1;
	switch (change->kind) {
	case CHANGE_LESS:
		other = rails - change->n;
		return leaves && rails > 2 && fprintf(to, ",rails=%" PRIu32, other) > 0;
	case CHANGE_TIMES:
		return leaves && other > 0 && other <= 64 &&
		       fprintf(to, ",rails=%" PRIu32, other) > 0;
	case CHANGE_ADAPTERS:
		return leaves && 2 * rails < change->n &&
		       fprintf(to, ",rails=%" PRIu32, change->n) > 0;
	case CHANGE_PCIE:
		return leaves && pcie &&
		       fprintf(to, ",pcie=%" PRIu64 "B/s", pcie / change->of) > 0;
	case CHANGE_RATE:
		return leaves && !params->level_rates[0] && !params->shape[0] &&
		       fprintf(to, ",rate=%" PRIu64 "B/s",
			       params->link_bytes_per_s / change->of) > 0;
	case CHANGE_MEMORY:
		return leaves && pcie && strcmp(row->setup->family, "nccl") == 0 &&
		       fprintf(to, ",copy=%" PRIu64 "B/s,pcie=%" PRIu64 "B/s", pcie,
			       pcie / change->of) > 0;
	case CHANGE_LINKS:
		break;
	}
	return params->host.local == TB_LOCAL_LINKS &&
	       row->call->n_ranks > row->call->n_hosts &&
	       fprintf(to, ",local=network") > 0;
}

// A replay with a change, or with another algorithm.
struct expect_try {
	const struct expect_row *row;
	char text[96];
	char *network;		 // its name
	char choice[64];	 // "" or "allreduce=ring"
	struct expect_call call; // with the time that it takes then
	bool done, is_too_large;
};

struct expect_tries {
	struct tb_expect *expect;
	struct expect_try *of;
	size_t n, room;
};

static int tries_add(struct expect_tries *tries, const struct expect_row *row,
	const char *text, const char *network, const char *choice)
{
	if (TB_ARRAY_NEXT(tries, of) != TB_OK)
		return TB_ENOMEM;
	struct expect_try *made = &tries->of[tries->n];
	*made = (struct expect_try){.row = row, .call = *row->call};
	made->network = strdup(network);
	if (!made->network)
		return TB_ENOMEM;
	tries->n++;
	snprintf(made->text, sizeof made->text, "%s", text);
	snprintf(made->choice, sizeof made->choice, "%s", choice);
	return TB_OK;
}

static enum tb_library_id library_id(const char *library)
{
	if (strncmp(library, "nccl", 4) == 0 || strncmp(library, "rccl", 4) == 0)
		return TB_LIBRARY_NCCL;
	return strcmp(library, "mpich") == 0 || strcmp(library, "intelmpi") == 0
		       ? TB_LIBRARY_MPICH
		       : TB_LIBRARY_OPENMPI;
}

// add_algorithms adds the other algorithms that the library has of the operation.
static int add_algorithms(struct expect_tries *tries, const struct expect_row *row)
{
	const struct expect_network *network =
		&tries->expect->networks[row->setup->network];
	enum tb_library_id library = library_id(row->setup->library);
	const char *now = row->call->rule.algorithm;
	int status = TB_OK;
	for (const struct tb_algorithm *a = tb_algorithms;
		a->name && status == TB_OK && now; a++) {
		char text[96], choice[64];
		if (a->op != row->row->op || !a->names[library] ||
			strcmp(a->name, now) == 0)
			continue;
		snprintf(text, sizeof text, "with %s in place of %s", a->name, now);
		snprintf(choice, sizeof choice, "%s=%s", tb_collective_op_name(a->op),
			a->name);
		status = tries_add(tries, row, text, network->name, choice);
	}
	return status;
}

static int add_changes(struct expect_tries *tries, const struct expect_row *row)
{
	const struct expect_network *network =
		&tries->expect->networks[row->setup->network];
	int status = TB_OK;
	for (size_t i = 0; i < N_CHANGES && status == TB_OK; i++) {
		char *name = NULL;
		size_t size = 0;
		FILE *stream = open_memstream(&name, &size);
		if (!stream)
			return TB_ENOMEM;
		fputs(network->name, stream);
		bool applies = (row->ratio < 1) != changes[i].gains &&
			       put_change(stream, &changes[i],
				       tb_network_params(network->exact), row);
		if (fclose(stream) != 0)
			status = TB_ENOMEM;
		else if (applies)
			status = tries_add(tries, row, changes[i].text, name, "");
		free(name);
	}
	if (status == TB_OK && row->row->kind == TB_BENCH_COLLECTIVE)
		status = add_algorithms(tries, row);
	return status;
}

// do_try replays a change. What the network or the algorithm refuses is not tried.
static int do_try(void *context, size_t index, struct tb_error *error)
{
	struct expect_tries *tries = context;
	struct expect_try *one = &tries->of[index];
	const struct tb_expect_options *options = tries->expect->options;
	struct expect_network *own = &tries->expect->networks[one->row->setup->network];
	struct expect_network changed = {0};
	const char *collectives[2] = {one->choice};
	if (tb_stop_asked(options->stop))
		return tb_fail(error, TB_ESTOPPED, "stopped");
	struct tb_error refused;
	bool same = strcmp(one->network, own->name) == 0;
	if (!same &&
		expect_network_init(&changed, one->network, options, &refused) != TB_OK)
		return TB_OK;
	const struct expect_case replayed = {.network = same ? own : &changed,
		.setup = one->row->setup,
		.call = &one->call,
		.collectives = one->choice[0] ? collectives : options->collectives,
		.n_collectives = one->choice[0] ? 1 : options->n_collectives,
		.stop = options->stop};
	int status = TB_OK;
	bool few = true;
	if (one->row->row->kind == TB_BENCH_COLLECTIVE) {
		status = expect_count(&replayed, LARGEST_TRY, &one->call, &refused);
		few = one->call.n_transfers != SIZE_MAX;
	}
	one->call.way = TB_EXPECT_LEFT_OUT;
	if (status == TB_OK)
		status = few ? expect_replay(&replayed, &one->call, &refused)
			     : expect_estimate(
				       &replayed, LARGEST_TRY, &one->call, &refused);
	one->done = status == TB_OK && one->call.way != TB_EXPECT_LEFT_OUT;
	one->is_too_large = status == TB_OK && !one->done;
	expect_network_fini(&changed);
	if (status == TB_ESTOPPED || status == TB_ENOMEM) {
		*error = refused;
		return status;
	}
	return TB_OK;
}

static double speed_with(const struct expect_try *one)
{
	return one->row->ratio * one->call.time_ns / one->row->call->time_ns;
}

static int percent_of_expected(const struct expect_row *row)
{
	return (int)(fmin(row->ratio, 1e6) * 100 + .5);
}

// by_need: what is slower than measured clusters allow comes first, and the slowest.
static int by_need(const void *one, const void *other)
{
	const struct expect_row *a = *(const struct expect_row *const *)one,
				*b = *(const struct expect_row *const *)other;
	bool slower[] = {a->verdict == TB_EXPECT_SLOWER, b->verdict == TB_EXPECT_SLOWER};
	if (slower[0] != slower[1])
		return slower[0] ? -1 : 1;
	int percent[] = {percent_of_expected(a), percent_of_expected(b)};
	return slower[0] && percent[0] != percent[1] ? percent[0] - percent[1]
						     : TB_ORDER(a, b);
}

static int by_closeness(const void *one, const void *other)
{
	const struct expect_try *a = one, *b = other;
	if (a->row != b->row)
		return by_need(&a->row, &b->row);
	if (a->done != b->done)
		return b->done - a->done;
	if (!a->done)
		return strcmp(a->text, b->text);
	double of_a = fabs(log(speed_with(a))), of_b = fabs(log(speed_with(b)));
	int order = TB_ORDER(of_a, of_b);
	return order ? order : strcmp(a->text, b->text);
}

static void list_more(char *list, size_t size, const char *format, ...) TB_PRINTF(3, 4);

// list_more adds an item behind a comma, or "..." where there is no room for it.
static void list_more(char *list, size_t size, const char *format, ...)
{
	char item[160];
	size_t used = strlen(list);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(item, sizeof item, format, arguments);
	va_end(arguments);
	bool fits = used + strlen(item) + sizeof ", , ..." <= size;
	if (fits || !strstr(list, "..."))
		snprintf(list + used, size - used, "%s%s", used ? ", " : "",
			fits ? item : "...");
}

// add_tried says which changes explain a row, and which were tried in vain.
static int add_tried(struct tb_expect *expect, const struct expect_try *tries, size_t n)
{
	const struct expect_row *row = tries->row;
	char what[EXPECT_WHAT], figure[48], others[600] = "", left[300] = "";
	what_of(expect, row, what);
	bool is_rate = !isnan(row->expected_rate) && row->row->kind != TB_BENCH_LATENCY;
	int status = TB_OK;
	size_t n_explain = 0, n_others = 0;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		if (tries[i].is_too_large)
			list_more(left, sizeof left, "%s", tries[i].text);
		if (!tries[i].done)
			continue;
		double ratio = speed_with(&tries[i]);
		bool explains = ratio >= 1 / EXPLAINS && ratio <= EXPLAINS &&
				fabs(log(ratio)) < fabs(log(row->ratio));
		if (!explains) {
			list_more(
				others, sizeof others, "%s (%.2f)", tries[i].text, ratio);
			n_others++;
			continue;
		}
		double rate =
			isnan(row->expected_bus) ? row->expected_rate : row->expected_bus;
		if (is_rate)
			tb_format_rate(rate * row->call->time_ns / tries[i].call.time_ns,
				figure, sizeof figure);
		else
			tb_format_time((tb_time_ps)(tries[i].call.time_ns * 1e3), figure,
				sizeof figure);
		n_explain++;
		status = reason_add(expect, "explains", what, ratio,
			"%s it would be %s%s: %.2f of that was measured", tries[i].text,
			figure, is_rate && !isnan(row->expected_bus) ? " (bus)" : "",
			ratio);
	}
	if (status == TB_OK && n_others)
		status = reason_add(expect, "tried", what, NAN,
			"%s (measured speed over that with it): %s",
			n_explain ? "tried too" : "nothing that was tried explains it",
			others);
	if (status == TB_OK && left[0])
		status = reason_add(expect, "tried", what, NAN,
			"not tried, of too many messages: %s", left);
	return status;
}

// is_off returns whether a row is worth explaining: ranges are wide where the model is
// not sure.
static bool is_off(const struct expect_row *row)
{
	return row->verdict == TB_EXPECT_SLOWER || row->verdict == TB_EXPECT_FASTER ||
	       row->ratio > OFF || row->ratio < 1 / OFF;
}

// is_before returns whether of two rows that are off the first is explained rather: what
// is slower than measured clusters allow, the slowest, of rows about as slow the largest.
static bool is_before(const struct expect_row *a, const struct expect_row *b)
{
	bool slower = a->verdict == TB_EXPECT_SLOWER;
	if (slower != (b->verdict == TB_EXPECT_SLOWER))
		return slower;
	if (slower && (a->ratio < .9 * b->ratio || b->ratio < .9 * a->ratio))
		return a->ratio < b->ratio;
	return a->call->bytes > b->call->bytes;
}

static bool is_of_pair(const struct expect_row *row)
{
	return row->row->first != UINT32_MAX && row->row->second != UINT32_MAX &&
	       row->ratio > 0 && isfinite(row->ratio);
}

// choose_rows makes an array of a row of each series, SERIES_MOST at most: with `off` of
// those that are off and were replayed, the first by need, and of pairs that reach the
// same share one; else the largest. NULL: no memory. The caller frees it.
static const struct expect_row **choose_rows(
	const struct tb_expect *expect, bool off, size_t *n)
{
	const struct expect_row **found = calloc(expect->n_series + 1, sizeof *found);
	for (size_t i = 0; found && i < expect->n_rows; i++) {
		const struct expect_row *row = &expect->rows[i];
		const struct expect_call *call = row->call;
		const struct expect_row **at = &found[call->series];
		bool fits = call->way != TB_EXPECT_LEFT_OUT &&
			    (!off || (is_off(row) && call->anchor &&
					     call->n_transfers <= LARGEST_TRY));
		if (fits && (row->ratio > 0 || expect->is_planned) &&
			!row->row->n_wrong &&
			(!*at || (off ? is_before(row, *at)
				      : call->bytes > (*at)->call->bytes)))
			*at = row;
	}
	size_t n_found = 0;
	for (size_t i = 0; found && i < expect->n_series; i++)
		if (found[i])
			found[n_found++] = found[i];
	if (found && off)
		qsort(found, n_found, sizeof *found, by_need);
	*n = 0;
	for (size_t i = 0; found && i < n_found && *n < SERIES_MOST; i++) {
		bool is_alike = false;
		for (size_t k = 0; k < *n && is_of_pair(found[i]); k++)
			is_alike |= is_of_pair(found[k]) &&
				    found[k]->setup == found[i]->setup &&
				    found[k]->row->kind == found[i]->row->kind &&
				    found[k]->row->bytes == found[i]->row->bytes &&
				    percent_of_expected(found[k]) ==
					    percent_of_expected(found[i]);
		if (!is_alike)
			found[(*n)++] = found[i];
	}
	return found;
}

// Who falls behind.

enum expect_part { PART_HOST, PART_RANK, PART_RAIL, N_PARTS };
static const char *const part_words[N_PARTS] = {"host", "rank", "rail"};

struct expect_sample {
	const struct expect_row *row;
	double share; // of the median of the rows that are alike
};

static int by_likeness(const void *one, const void *other)
{
	const struct expect_row *a = ((const struct expect_sample *)one)->row,
				*b = ((const struct expect_sample *)other)->row;
	const uint64_t keys[][2] = {{a->row->kind, b->row->kind},
		{a->row->op, b->row->op}, {a->row->bytes, b->row->bytes},
		{a->row->n_ranks, b->row->n_ranks}, {a->call->n_hosts, b->call->n_hosts},
		{a->row->in_place, b->row->in_place}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return TB_ORDER(keys[i][0], keys[i][1]);
	return 0;
}

static double speed_of(const struct expect_row *row)
{
	return isnan(row->measured_us) ? row->measured_rate : 1 / row->measured_us;
}

// median_of returns the median of `n` sorted values.
static double median_of(const double *values, size_t n)
{
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// The hosts, ranks or rails that rows are about, and the rows of each.
struct expect_parts {
	enum expect_part part;
	uint64_t *keys; // a number, or the address of a host's name, which each has once
	size_t n, room;
	struct tb_map of_key;
	uint32_t *end; // by part: where its samples end, behind those of the part before
	uint32_t *samples;
};

static void parts_fini(struct expect_parts *parts)
{
	free(parts->keys);
	free(parts->end);
	free(parts->samples);
	tb_map_fini(&parts->of_key);
}

static const char *part_name(const struct expect_parts *parts, size_t i, char number[24])
{
	if (parts->part == PART_HOST)
		return (const char *)(uintptr_t)parts->keys[i];
	snprintf(number, 24, "%" PRIu64, parts->keys[i]);
	return number;
}

// row_part stores the key of the `i`th part that a row is about, and returns whether
// there may be more.
static bool row_part(const struct expect_row *row, enum expect_part part, uint32_t i,
	uint64_t *key, bool *is_one)
{
	const struct tb_benchmark_row *of = row->row;
	const struct tb_benchmark_table *table = row->setup->table;
	const uint32_t ranks[] = {of->first, of->second};
	bool is_of_all = of->first == UINT32_MAX;
	*is_one = false;
	if (part == PART_HOST && (!table->hosts || !table->host_names))
		return false;
	if (part == PART_HOST && is_of_all && i < table->n_hosts) {
		*key = (uintptr_t)table->host_names[i];
		*is_one = true;
		return true;
	}
	uint32_t number = part == PART_RAIL ? of->rail : ranks[i % 2];
	if (i >= (part == PART_RAIL ? 1 : 2) || (part == PART_HOST && is_of_all))
		return false;
	*is_one = number != UINT32_MAX && (part != PART_HOST || number < table->n_ranks);
	*key = part == PART_HOST && *is_one
		       ? (uintptr_t)table->host_names[table->hosts[number]]
		       : number;
	// A pair on one host, or of a rank with itself, is about that one.
	uint64_t before;
	bool was_one;
	if (*is_one && i == 1 && row_part(row, part, 0, &before, &was_one) && was_one &&
		before == *key)
		*is_one = false;
	return true;
}

// parts_list finds the parts, and the samples of each, in order.
static int parts_list(
	struct expect_parts *parts, const struct expect_sample *samples, size_t n)
{
	uint64_t key;
	uint32_t number;
	size_t n_all = 0;
	bool is_one;
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0;
			row_part(samples[k].row, parts->part, i, &key, &is_one); i++) {
			n_all += is_one;
			if (!is_one || tb_map_find(&parts->of_key, key, &number))
				continue;
			if (TB_ARRAY_NEXT(parts, keys) != TB_OK ||
				tb_map_put(&parts->of_key, key, (uint32_t)parts->n) !=
					TB_OK)
				return TB_ENOMEM;
			parts->keys[parts->n++] = key;
		}
	parts->end = calloc(parts->n + 2, sizeof *parts->end);
	parts->samples = malloc((n_all + 1) * sizeof *parts->samples);
	if (!parts->end || !parts->samples)
		return TB_ENOMEM;
	for (int step = 0; step < 2; step++) { // counts, then places
		for (size_t k = 0; k < n; k++)
			for (uint32_t i = 0;
				row_part(samples[k].row, parts->part, i, &key, &is_one);
				i++) {
				if (!is_one || !tb_map_find(&parts->of_key, key, &number))
					continue;
				if (step == 0)
					parts->end[number + 1]++;
				else
					parts->samples[parts->end[number]++] =
						(uint32_t)k;
			}
		for (size_t i = 1; step == 0 && i <= parts->n; i++)
			parts->end[i] += parts->end[i - 1];
	}
	return TB_OK;
}

// median_without returns the median of the sorted values but for those at the `n_out`
// sorted places.
static double median_without(
	const double *values, size_t n, const uint32_t *out, size_t n_out)
{
	size_t kept = n - n_out, at[] = {(kept - 1) / 2, kept / 2};
	for (size_t i = 0; i < n_out; i++)
		for (int k = 0; k < 2; k++)
			at[k] += out[i] <= at[k];
	return (values[at[0]] + values[at[1]]) / 2;
}

static int add_behind(struct tb_expect *expect, const struct expect_parts *parts,
	size_t at, const struct tb_benchmark_table *table, size_t n_rows, double share)
{
	char device[160] = "", what[EXPECT_WHAT], number[24], file[FILE_NAME];
	const char *word = part_words[parts->part], *name = part_name(parts, at, number);
	uint64_t rank = parts->keys[at];
	if (parts->part == PART_RANK && rank < table->n_ranks) {
		const char *host = table->hosts && table->host_names
					   ? table->host_names[table->hosts[rank]]
					   : "";
		const char *gpu = table->device_names && table->device_names[rank]
					  ? table->device_names[rank]
					  : "";
		snprintf(device, sizeof device, "%s%.60s%s%.60s", *host ? " on " : "",
			host, *gpu ? ", " : "", gpu);
	}
	const char *whose = whose_file(expect, table, file);
	snprintf(what, sizeof what, "%s%s %.80s", whose, word, name);
	return reason_add(expect, "behind", what, share,
		"%s%s %s%s falls behind: its %zu row%s reach %.2f of the speed of the "
		"others of their sizes",
		whose, word, name, device, n_rows, n_rows == 1 ? "" : "s", share);
}

// find_behind adds the hosts, ranks or rails whose rows are slower than those of others.
// The worst is found first, and its rows set aside: its partners look slow by it. Cost:
// a walk over all rows for each that is found.
static int find_behind(struct tb_expect *expect, struct expect_sample *samples, size_t n,
	const struct expect_parts *parts)
{
	uint32_t *place = malloc((n + 1) * sizeof *place); // by sample, in `values`
	uint32_t *own = malloc((n + 1) * sizeof *own);	   // places of a part's samples
	double *values = malloc((n + 1) * sizeof *values);
	int status = place && own && values ? TB_OK : TB_ENOMEM;
	for (size_t round = 0; round < parts->n && status == TB_OK; round++) {
		double worst = BEHIND;
		size_t at = SIZE_MAX, rows = 0, left = 0;
		for (size_t k = 0; k < n; k++)
			if (samples[k].row) {
				place[k] = (uint32_t)left;
				values[left++] = samples[k].share;
			}
		for (size_t i = 0; i < parts->n; i++) {
			size_t with = 0;
			for (uint32_t k = i ? parts->end[i - 1] : 0; k < parts->end[i];
				k++)
				if (samples[parts->samples[k]].row)
					own[with++] = place[parts->samples[k]];
			if (!with || with == left)
				continue;
			double share =
				(values[own[(with - 1) / 2]] + values[own[with / 2]]) /
				2 / median_without(values, left, own, with);
			if (share < worst) {
				worst = share;
				at = i;
				rows = with;
			}
		}
		if (at == SIZE_MAX)
			break;
		const struct tb_benchmark_table *table = NULL;
		for (uint32_t k = at ? parts->end[at - 1] : 0; k < parts->end[at]; k++) {
			struct expect_sample *sample = &samples[parts->samples[k]];
			if (sample->row)
				table = sample->row->setup->table;
			sample->row = NULL;
		}
		status = add_behind(expect, parts, at, table, rows, worst);
	}
	free(place);
	free(own);
	free(values);
	return status;
}

TB_ORDER_BY(by_share, struct expect_sample, TB_UP(share) TB_UP(row))

// compare_samples keeps rows of which there are several alike, each with its share of
// their median, from the slowest to the fastest.
static int compare_samples(struct expect_sample *samples, size_t *n)
{
	double *values = malloc((*n + 1) * sizeof *values);
	size_t kept = 0;
	if (!values)
		return TB_ENOMEM;
	qsort(samples, *n, sizeof *samples, by_likeness);
	for (size_t i = 0, end; i < *n; i = end) {
		for (end = i + 1;
			end < *n && by_likeness(&samples[i], &samples[end]) == 0;)
			end++;
		for (size_t k = i; k < end; k++)
			values[k - i] = speed_of(samples[k].row);
		qsort(values, end - i, sizeof *values, tb_order_double);
		double median = median_of(values, end - i);
		for (size_t k = i; k < end && end - i >= BEHIND_LEAST; k++)
			samples[kept++] = (struct expect_sample){
				samples[k].row, speed_of(samples[k].row) / median};
	}
	free(values);
	*n = kept;
	qsort(samples, kept, sizeof *samples, by_share);
	return TB_OK;
}

static int by_ratio(const void *one, const void *other)
{
	const struct expect_row *a = *(const struct expect_row *const *)one,
				*b = *(const struct expect_row *const *)other;
	return a->ratio != b->ratio ? TB_ORDER(a->ratio, b->ratio) : TB_ORDER(a, b);
}

// name_pairs says of each table of pairs, at its largest size, what share of the expected
// speed they reach, and which reach less than the others.
static int name_pairs(struct tb_expect *expect)
{
	const struct expect_row **rows = calloc(expect->n_rows + 1, sizeof *rows);
	int status = rows ? TB_OK : TB_ENOMEM;
	for (size_t t = 0;
		status == TB_OK && t < tb_benchmark_n_tables(expect->benchmark); t++) {
		const struct expect_row *first = NULL;
		size_t n = 0, used = 0, n_behind = 0;
		bool off = false;
		char behind[300] = "", bytes[24], what[EXPECT_WHAT], file[FILE_NAME];
		for (size_t i = 0; i < expect->n_rows; i++) {
			const struct expect_row *row = &expect->rows[i];
			if (row->setup != &expect->setups[t] || !is_of_pair(row) ||
				(first && (row->row->kind != first->row->kind ||
						  row->row->bytes < first->row->bytes)))
				continue;
			if (!first || row->row->bytes > first->row->bytes) {
				first = row;
				n = 0;
				off = false;
			}
			off |= is_off(row);
			rows[n++] = row;
		}
		if (n < BEHIND_LEAST || !off)
			continue;
		qsort(rows, n, sizeof *rows, by_ratio);
		double median = (rows[(n - 1) / 2]->ratio + rows[n / 2]->ratio) / 2;
		while (n_behind < n && rows[n_behind]->ratio < BEHIND * median)
			n_behind++;
		for (size_t i = 0; i < n_behind && i < 6; i++)
			used += (size_t)snprintf(behind + used, sizeof behind - used,
				"%s%" PRIu32 "-%" PRIu32 " %.2f", i ? ", " : "; ",
				rows[i]->row->first, rows[i]->row->second,
				rows[i]->ratio);
		if (n_behind > 6)
			snprintf(behind + used, sizeof behind - used,
				" and %zu more pairs less", n_behind - 6);
		tb_format_size(first->row->printed_bytes, bytes, sizeof bytes);
		const char *whose = whose_file(expect, expect->setups[t].table, file);
		snprintf(what, sizeof what, "%spairs", whose);
		status = reason_add(expect, "behind", what, median,
			"%s%s of %zu pairs at %s reach %.2f of the expected speed%s%s",
			whose, n_behind ? "most" : "all", n, bytes, median,
			n_behind ? "" : " or about that", behind);
	}
	free(rows);
	return status;
}

// begins_file returns whether a table is the first of its file.
static bool begins_file(const struct tb_expect *expect, size_t t)
{
	for (size_t i = 0; i < t; i++)
		if (expect->setups[i].table->file == expect->setups[t].table->file)
			return false;
	return true;
}

// name_behind_of names who falls behind within one file.
static int name_behind_of(
	struct tb_expect *expect, const char *file, struct expect_sample *samples)
{
	int status = TB_OK;
	for (int part = 0; part < N_PARTS && status == TB_OK; part++) {
		struct expect_parts parts = {.part = (enum expect_part)part};
		size_t n = 0;
		for (size_t i = 0; i < expect->n_rows; i++)
			if (expect->rows[i].setup->table->file == file &&
				speed_of(&expect->rows[i]) > 0 &&
				!expect->rows[i].row->n_wrong)
				samples[n++].row = &expect->rows[i];
		status = compare_samples(samples, &n);
		if (status == TB_OK)
			status = parts_list(&parts, samples, n);
		if (status == TB_OK && parts.n > 1)
			status = find_behind(expect, samples, n, &parts);
		parts_fini(&parts);
	}
	return status;
}

static int name_behind(struct tb_expect *expect)
{
	struct expect_sample *samples = malloc((expect->n_rows + 1) * sizeof *samples);
	int status = samples ? TB_OK : TB_ENOMEM;
	for (size_t t = 0;
		t < tb_benchmark_n_tables(expect->benchmark) && status == TB_OK; t++)
		if (begins_file(expect, t))
			status = name_behind_of(
				expect, expect->setups[t].table->file, samples);
	free(samples);
	return status;
}

bool expect_is_of_part(const struct expect_row *a, const struct expect_row *b)
{
	return strcmp(a->what, b->what) == 0 && a->call->n_ranks == b->call->n_ranks &&
	       a->call->n_hosts == b->call->n_hosts &&
	       a->setup->table->file == b->setup->table->file;
}

// compare_files says of each operation that the first of several files measured how fast
// the others were.
static int compare_files(struct tb_expect *expect, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t t = 1;
		t < tb_benchmark_n_tables(expect->benchmark) && status == TB_OK; t++) {
		struct tb_log_changes *of_file = NULL;
		const char *file = expect->setups[t].table->file, *text;
		char what[EXPECT_WHAT];
		double share;
		if (!begins_file(expect, t))
			continue;
		snprintf(what, sizeof what, "file %.80s", file);
		status = tb_log_changes_new(&of_file, expect->benchmark,
			expect->setups[0].table->file, file, error);
		for (size_t i = 0; status == TB_OK &&
				   (text = tb_log_changes_text(of_file, i, &share));
			i++)
			// Reasons have no full stop.
			status = reason_add(expect, "behind", what, share, "%.*s",
				(int)strlen(text) - 1, text);
		tb_log_changes_free(of_file);
	}
	return status;
}

static void watch_tries(void *context, size_t n_done)
{
	const struct expect_tries *tries = context;
	const struct tb_expect_options *options = tries->expect->options;
	if (options->watch)
		options->watch(options->context, n_done, tries->n);
}

static int try_each(struct tb_expect *expect, struct tb_error *error)
{
	struct expect_tries tries = {.expect = expect};
	size_t n = 0;
	const struct expect_row **chosen = choose_rows(expect, true, &n);
	int status = chosen ? TB_OK : TB_ENOMEM;
	for (size_t i = 0; status == TB_OK && i < n; i++)
		status = add_changes(&tries, chosen[i]);
	free(chosen);
	const struct tb_work work = {.context = &tries,
		.n_tasks = tries.n,
		.task = do_try,
		.watch = watch_tries};
	if (status == TB_OK && tries.n)
		status = tb_workers_run(&work, expect->options->n_workers, error);
	else if (status != TB_OK)
		status = tb_fail_memory(error, "changes");
	if (tries.n)
		qsort(tries.of, tries.n, sizeof *tries.of, by_closeness);
	for (size_t i = 0, end; i < tries.n && status == TB_OK; i = end) {
		for (end = i + 1; end < tries.n && tries.of[end].row == tries.of[i].row;)
			end++;
		if (add_tried(expect, &tries.of[i], end - i) != TB_OK)
			status = tb_fail_memory(error, "changes");
	}
	for (size_t i = 0; i < tries.n; i++)
		free(tries.of[i].network);
	free(tries.of);
	return status;
}

int expect_explain(struct tb_expect *expect, struct tb_error *error)
{
	int status = compare_files(expect, error);
	if (status == TB_OK)
		status = name_pairs(expect);
	for (size_t i = 0; i < expect->n_rows && status == TB_OK; i++)
		if (expect->rows[i].call->way == TB_EXPECT_LEFT_OUT)
			status = add_unknown(expect, &expect->rows[i]);
	// Of rows that are off first, then of the largest of each series.
	for (int off = 1; off >= 0 && status == TB_OK; off--) {
		size_t n = 0;
		const struct expect_row **chosen = choose_rows(expect, off, &n);
		status = chosen ? TB_OK : TB_ENOMEM;
		for (size_t i = 0; status == TB_OK && i < n; i++)
			status = add_bound(expect, chosen[i]);
		free(chosen);
	}
	if (status == TB_OK)
		status = name_behind(expect);
	if (status != TB_OK)
		return tb_fail_memory(error, "reasons");
	return expect->options->leaves_out_why ? TB_OK : try_each(expect, error);
}
