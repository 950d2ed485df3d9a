// Why rows are as they are: what limits them, which changes of the network or of the
// algorithm would explain what was measured, each tried by replay, and which host, rank
// or rail falls behind the others.
#include "expect_impl.h"

#include "algorithms.h"
#include "array.h"
#include "credit_params.h"
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

static int reason_add(struct tb_expect *expect, const char *kind, const char *what,
	double ratio, const char *format, ...) TB_PRINTF(5, 6);

static int reason_add(struct tb_expect *expect, const char *kind, const char *what,
	double ratio, const char *format, ...)
{
	if (TB_ARRAY_RESERVE(&expect->reasons, &expect->reasons_room,
		    expect->n_reasons + 1) != TB_OK)
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

static void what_of(const struct expect_row *row, char *what, size_t size)
{
	char bytes[24];
	snprintf(what, size, "%s, %" PRIu32 " ranks on %" PRIu32 " host%s, %s", row->what,
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
	double whole = call->time_ns * (call->kind == TB_BENCH_LATENCY ? 2 : 1);
	char what[96], time[24], of[24], bytes[24], rate[24];
	what_of(row, what, sizeof what);
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

// A change that would explain a ratio. `put` writes what stands behind the network's
// name, or returns false where it does not apply.
struct expect_change {
	const char *text; // "with half of the adapters"
	bool gains;	  // explains what is faster than expected, too
	bool (*put)(FILE *to, const struct tb_network_params *params,
		const struct expect_row *row);
};

static bool put_half_adapters(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	return params->n_rails > 1 && row->call->n_hosts > 1 &&
	       fprintf(to, ",rails=%" PRIu32, params->n_rails / 2) > 0;
}

static bool put_adapter_down(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	return params->n_rails > 2 && row->call->n_hosts > 1 &&
	       fprintf(to, ",rails=%" PRIu32, params->n_rails - 1) > 0;
}

static bool put_twice_adapters(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	return params->n_rails <= 32 && row->call->n_hosts > 1 &&
	       fprintf(to, ",rails=%" PRIu32, params->n_rails * 2) > 0;
}

static bool put_half_pcie(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	uint64_t pcie = tb_credit_params(params)->pcie_bytes_per_s;
	return pcie && row->call->n_hosts > 1 &&
	       fprintf(to, ",pcie=%" PRIu64 "B/s", pcie / 2) > 0;
}

static bool put_rate(FILE *to, const struct tb_network_params *params,
	const struct expect_row *row, uint64_t of)
{
	return !params->level_rates[0] && params->shape[0] == '\0' &&
	       row->call->n_hosts > 1 &&
	       fprintf(to, ",rate=%" PRIu64 "B/s", params->link_bytes_per_s / of) > 0;
}

static bool put_half_rate(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	return put_rate(to, params, row, 2);
}

static bool put_quarter_rate(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	return put_rate(to, params, row, 4);
}

// Without GPU direct what a GPU sends is copied over its PCIe into the host's memory
// first, from where the adapter fetches it over its own.
static bool put_host_memory(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	uint64_t pcie = tb_credit_params(params)->pcie_bytes_per_s;
	return pcie && row->call->n_hosts > 1 &&
	       strcmp(row->setup->family, "nccl") == 0 &&
	       fprintf(to, ",copy=%" PRIu64 "B/s,pcie=%" PRIu64 "B/s", pcie, pcie / 2) >
		       0;
}

static bool put_no_links(
	FILE *to, const struct tb_network_params *params, const struct expect_row *row)
{
	return params->host.local == TB_LOCAL_LINKS &&
	       row->call->n_ranks > row->call->n_hosts &&
	       fprintf(to, ",local=network") > 0;
}

static const struct expect_change changes[] = {
	{"with half of the adapters", false, put_half_adapters},
	{"with one adapter of each host down", false, put_adapter_down},
	{"with PCIe of half the width (x8 for x16) at each adapter", false,
		put_half_pcie},
	{"with links at half their rate", false, put_half_rate},
	{"with links at a quarter of their rate", false, put_quarter_rate},
	{"with buffers in host memory, without GPU direct", false, put_host_memory},
	{"without NVLink between the GPUs of a host", false, put_no_links},
	{"with twice the adapters", true, put_twice_adapters},
};
enum { N_CHANGES = sizeof changes / sizeof *changes };

// A replay with a change, or with another algorithm.
struct expect_try {
	const struct expect_row *row;
	char text[96];
	char *network;		 // its name
	char choice[64];	 // "" or "allreduce=ring"
	struct expect_call call; // with the time that it takes then
	bool done;
};

struct expect_tries {
	struct tb_expect *expect;
	struct expect_try *of;
	size_t n, room;
};

static int tries_add(struct expect_tries *tries, const struct expect_row *row,
	const char *text, const char *network, const char *choice)
{
	if (TB_ARRAY_RESERVE(&tries->of, &tries->room, tries->n + 1) != TB_OK)
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
		bool applies =
			(row->ratio < 1) != changes[i].gains &&
			changes[i].put(stream, tb_network_params(network->exact), row);
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
	if (one->row->row->kind == TB_BENCH_COLLECTIVE)
		status = expect_count(&replayed, LARGEST_TRY, &one->call, &refused);
	if (status == TB_OK && one->call.n_transfers != SIZE_MAX)
		status = expect_replay(&replayed, &one->call, &refused);
	one->done = status == TB_OK && one->call.n_transfers != SIZE_MAX;
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

static int by_closeness(const void *one, const void *other)
{
	const struct expect_try *a = one, *b = other;
	if (a->row != b->row)
		return TB_ORDER(a->row, b->row);
	if (a->done != b->done)
		return b->done - a->done;
	if (!a->done)
		return strcmp(a->text, b->text);
	double of_a = fabs(log(speed_with(a))), of_b = fabs(log(speed_with(b)));
	int order = TB_ORDER(of_a, of_b);
	return order ? order : strcmp(a->text, b->text);
}

// add_tried says which changes explain a row, and which were tried in vain.
static int add_tried(struct tb_expect *expect, const struct expect_try *tries, size_t n)
{
	const struct expect_row *row = tries->row;
	char what[96], figure[48], others[300] = "";
	what_of(row, what, sizeof what);
	bool is_rate = !isnan(row->expected_rate) && row->row->kind != TB_BENCH_LATENCY;
	int status = TB_OK;
	size_t used = 0, n_explain = 0, n_others = 0;
	for (size_t i = 0; i < n && status == TB_OK && tries[i].done; i++) {
		double ratio = speed_with(&tries[i]);
		bool explains = ratio >= 1 / EXPLAINS && ratio <= EXPLAINS &&
				fabs(log(ratio)) < fabs(log(row->ratio));
		if (!explains) {
			int more = snprintf(others + used, sizeof others - used,
				"%s%s (%.2f)", used ? ", " : "", tries[i].text, ratio);
			if (more > 0 && used + (size_t)more < sizeof others)
				used += (size_t)more;
			else
				others[used] = '\0';
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
	return status;
}

// is_off returns whether a row is worth explaining: ranges are wide where the model is
// not sure.
static bool is_off(const struct expect_row *row)
{
	return row->verdict == TB_EXPECT_SLOWER || row->verdict == TB_EXPECT_FASTER ||
	       row->ratio > OFF || row->ratio < 1 / OFF;
}

// choose_row returns the row of a series that is explained: the largest that is off and
// was replayed; without such a one, and without `off`, the largest.
static const struct expect_row *choose_row(
	const struct tb_expect *expect, const struct expect_series *series, bool off)
{
	const struct expect_row *found = NULL;
	const struct expect_call *first = &expect->calls[series->first];
	for (size_t i = 0; i < expect->n_rows; i++) {
		const struct expect_row *row = &expect->rows[i];
		const struct expect_call *call = row->call;
		bool fits = call->way != TB_EXPECT_LEFT_OUT &&
			    (!off || (is_off(row) && call->anchor &&
					     call->n_transfers <= LARGEST_TRY));
		if (call >= first && call < first + series->n && fits && row->ratio > 0 &&
			!row->row->n_wrong &&
			(!found || call->bytes > found->call->bytes))
			found = row;
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

static double median_of(double *values, size_t n)
{
	for (size_t i = 1; i < n; i++) // few
		for (size_t k = i; k > 0 && values[k] < values[k - 1]; k--) {
			double swapped = values[k];
			values[k] = values[k - 1];
			values[k - 1] = swapped;
		}
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// has_part returns whether a row is about a host, rank or rail, by name.
static bool has_part(
	const struct expect_row *row, enum expect_part part, const char *name)
{
	const struct tb_benchmark_row *of = row->row;
	const struct tb_benchmark_table *table = row->setup->table;
	char number[16];
	if (part == PART_RAIL || part == PART_RANK) {
		const uint32_t are[] = {part == PART_RAIL ? of->rail : of->first,
			part == PART_RAIL ? UINT32_MAX : of->second};
		for (int i = 0; i < 2; i++) {
			snprintf(number, sizeof number, "%" PRIu32, are[i]);
			if (are[i] != UINT32_MAX && strcmp(number, name) == 0)
				return true;
		}
		return false;
	}
	if (!table->hosts || !table->host_names)
		return false;
	for (uint32_t i = 0; i < table->n_ranks; i++) {
		bool member =
			of->first == UINT32_MAX || of->first == i || of->second == i;
		if (member && strcmp(table->host_names[table->hosts[i]], name) == 0)
			return true;
	}
	return false;
}

struct expect_names {
	char **of;
	size_t n, room;
};

static int names_add(struct expect_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->of[i], name) == 0)
			return TB_OK;
	char *copy = strdup(name);
	if (!copy || TB_ARRAY_RESERVE(&names->of, &names->room, names->n + 1) != TB_OK) {
		free(copy);
		return TB_ENOMEM;
	}
	names->of[names->n++] = copy;
	return TB_OK;
}

static int list_names(
	const struct tb_expect *expect, enum expect_part part, struct expect_names *names)
{
	int status = TB_OK;
	for (size_t i = 0; i < expect->n_rows && status == TB_OK; i++) {
		const struct expect_row *row = &expect->rows[i];
		const struct tb_benchmark_table *table = row->setup->table;
		const uint32_t are[] = {
			part == PART_RAIL ? row->row->rail : row->row->first,
			part == PART_RAIL ? UINT32_MAX : row->row->second};
		for (int k = 0; k < 2 && part != PART_HOST && status == TB_OK; k++) {
			char number[16];
			snprintf(number, sizeof number, "%" PRIu32, are[k]);
			if (are[k] != UINT32_MAX)
				status = names_add(names, number);
		}
		bool first = i == 0 || row->setup != expect->rows[i - 1].setup;
		for (uint32_t k = 0;
			part == PART_HOST && first && table->hosts && table->host_names &&
			k < table->n_hosts && status == TB_OK;
			k++)
			status = names_add(names, table->host_names[k]);
	}
	return status;
}

// find_behind adds the hosts, ranks or rails whose rows are slower than those of others.
// The worst is found first, and its rows set aside: its partners look slow by it.
static int find_behind(struct tb_expect *expect, struct expect_sample *samples, size_t n,
	enum expect_part part, struct expect_names *names, double *values)
{
	int status = TB_OK;
	for (size_t round = 0; round < names->n && status == TB_OK; round++) {
		double worst = BEHIND;
		size_t at = SIZE_MAX, rows = 0;
		for (size_t i = 0; i < names->n; i++) {
			size_t with = 0, without = 0;
			for (size_t k = 0; k < n; k++) {
				if (!samples[k].row)
					continue;
				if (has_part(samples[k].row, part, names->of[i]))
					values[with++] = samples[k].share;
				else
					values[n - ++without] = samples[k].share;
			}
			if (!with || !without)
				continue;
			double share = median_of(values, with) /
				       median_of(values + n - without, without);
			if (share < worst) {
				worst = share;
				at = i;
				rows = with;
			}
		}
		if (at == SIZE_MAX)
			break;
		char device[160] = "", what[96];
		const struct tb_benchmark_table *table = NULL;
		uint32_t rank = 0;
		for (size_t k = 0; k < n; k++)
			if (samples[k].row &&
				has_part(samples[k].row, part, names->of[at])) {
				table = samples[k].row->setup->table;
				samples[k].row = NULL;
			}
		if (part == PART_RANK && table &&
			tb_parse_count(names->of[at], 0, UINT32_MAX, &(uint64_t){0}) ==
				TB_OK)
			rank = (uint32_t)strtoul(names->of[at], NULL, 10);
		if (part == PART_RANK && table && rank < table->n_ranks) {
			const char *host = table->hosts && table->host_names
						   ? table->host_names[table->hosts[rank]]
						   : "";
			const char *gpu = table->device_names && table->device_names[rank]
						  ? table->device_names[rank]
						  : "";
			snprintf(device, sizeof device, "%s%.60s%s%.60s",
				*host ? " on " : "", host, *gpu ? ", " : "", gpu);
		}
		snprintf(what, sizeof what, "%s %.80s", part_words[part], names->of[at]);
		status = reason_add(expect, "behind", what, worst,
			"%s %s%s falls behind: its %zu row%s reach %.2f of the speed of "
			"the "
			"others of their sizes",
			part_words[part], names->of[at], device, rows,
			rows == 1 ? "" : "s", worst);
	}
	return status;
}

static int name_behind(struct tb_expect *expect)
{
	size_t n = 0;
	struct expect_sample *samples = malloc((expect->n_rows + 1) * sizeof *samples);
	double *values = malloc((expect->n_rows + 1) * sizeof *values);
	int status = samples && values ? TB_OK : TB_ENOMEM;
	for (int part = 0; part < N_PARTS && status == TB_OK; part++) {
		struct expect_names names = {0};
		n = 0;
		for (size_t i = 0; i < expect->n_rows; i++)
			if (speed_of(&expect->rows[i]) > 0 &&
				!expect->rows[i].row->n_wrong)
				samples[n++].row = &expect->rows[i];
		qsort(samples, n, sizeof *samples, by_likeness);
		// Shares of the median of those that are alike; few are not compared.
		size_t kept = 0;
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i + 1;
				end < n && by_likeness(&samples[i], &samples[end]) == 0;)
				end++;
			for (size_t k = i; k < end; k++)
				values[k - i] = speed_of(samples[k].row);
			double median = median_of(values, end - i);
			for (size_t k = i; k < end && end - i >= BEHIND_LEAST; k++)
				samples[kept++] = (struct expect_sample){samples[k].row,
					speed_of(samples[k].row) / median};
		}
		status =
			kept ? list_names(expect, (enum expect_part)part, &names) : TB_OK;
		if (status == TB_OK && names.n > 1 && names.n <= 4096)
			status = find_behind(expect, samples, kept,
				(enum expect_part)part, &names, values);
		for (size_t i = 0; i < names.n; i++)
			free(names.of[i]);
		free(names.of);
	}
	free(samples);
	free(values);
	return status;
}

static void watch_tries(void *context, size_t n_done)
{
	const struct expect_tries *tries = context;
	const struct tb_expect_options *options = tries->expect->options;
	if (options->watch)
		options->watch(options->context, n_done, tries->n);
}

static int try_all(struct tb_expect *expect, struct tb_error *error)
{
	struct expect_tries tries = {.expect = expect};
	size_t n_series = 0;
	int status = TB_OK;
	for (size_t i = 0; i < expect->n_series && status == TB_OK; i++) {
		const struct expect_row *row =
			choose_row(expect, &expect->series[i], true);
		if (row && n_series++ < SERIES_MOST)
			status = add_changes(&tries, row);
	}
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
	int status = TB_OK;
	for (size_t i = 0, n = 0; i < expect->n_series && status == TB_OK; i++) {
		const struct expect_row *row =
			choose_row(expect, &expect->series[i], false);
		if (row && n++ < SERIES_MOST)
			status = add_bound(expect, row);
	}
	if (status == TB_OK)
		status = name_behind(expect);
	if (status != TB_OK)
		return tb_fail_memory(error, "reasons");
	return expect->options->leaves_out_why ? TB_OK : try_all(expect, error);
}
