// Describes the rings and trees of a communicator for people.
#include "nccl_log.h"
#include "nccl_trace.h"
#include "node_xml.h"
#include "order.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_SHOWN 64
#define RANKS_MOST  1024 // of a communicator whose rings are shown

// A row of ranks for each channel: for a ring the ranks in its order, for a tree the
// parent of each rank.
struct nl_rows {
	uint32_t n_ranks;
	uint32_t *ranks;
	bool has[NL_CHANNELS_MAX];
};

static uint32_t *channel_row(const struct nl_rows *rows, uint32_t channel)
{
	return rows->ranks + (size_t)channel * rows->n_ranks;
}

// row_follow derives the order of a ring from the rank that each rank sends to; false if
// these form no ring.
static bool row_follow(uint32_t *row, uint32_t n, uint32_t *order)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (at >= n || (i > 0 && at == 0))
			return false;
		order[i] = at;
		at = row[at];
	}
	memcpy(row, order, n * sizeof *row);
	return at == 0;
}

static int find_rows(
	const struct nl_log *log, uint32_t index, bool tree, struct nl_rows *rows)
{
	const struct nl_group *group = &log->groups[index];
	uint32_t n = group->n_ranks, n_known[NL_CHANNELS_MAX] = {0};
	uint32_t *order = malloc(n * sizeof *order);
	rows->n_ranks = n;
	rows->ranks = calloc((size_t)n * NL_CHANNELS_MAX, sizeof *rows->ranks);
	if (!order || !rows->ranks) {
		free(order);
		return tb_nl_no_memory(log);
	}
	if (group->members) {
		// Put what the members say of a channel into rows: whom they send to, or
		// whose children they are.
		for (uint32_t r = 0; r < group->n_ranks; r++) {
			const struct nl_comm *comm = &log->comms[group->members[r]];
			for (size_t i = 0; i < comm->n_channels; i++) {
				const struct nl_channel *channel = &comm->channels[i];
				if (!(tree ? channel->has_tree : channel->has_ring))
					continue;
				channel_row(rows, channel->number)[r] =
					tree ? channel->up : channel->next;
				n_known[channel->number]++;
			}
		}
	}
	for (uint32_t c = 0; c < NL_CHANNELS_MAX; c++)
		rows->has[c] = n_known[c] == n &&
			       (tree || row_follow(channel_row(rows, c), n, order));
	if (!tree) {
		// Take the orders that first ranks write, for logs without the others.
		for (size_t i = 0; i < log->n_comms; i++) {
			const struct nl_comm *comm = &log->comms[i];
			if (comm->n_ranks == 0 || comm->group != index)
				continue;
			for (size_t k = 0; k < comm->n_channels; k++) {
				const struct nl_channel *channel = &comm->channels[k];
				if (channel->n_order != rows->n_ranks ||
					rows->has[channel->number])
					continue;
				memcpy(channel_row(rows, channel->number), channel->order,
					rows->n_ranks * sizeof(uint32_t));
				rows->has[channel->number] = true;
			}
		}
	}
	free(order);
	return TB_OK;
}

// A text that is cut off when its buffer is full.
struct nl_text {
	char bytes[2048];
	size_t n;
};

static void wiring_put(struct nl_text *text, const char *format, ...) TB_PRINTF(2, 3);

static void wiring_put(struct nl_text *text, const char *format, ...)
{
	va_list values;
	if (text->n >= sizeof text->bytes)
		return;
	va_start(values, format);
	text->n += (size_t)vsnprintf(
		text->bytes + text->n, sizeof text->bytes - text->n, format, values);
	va_end(values);
}

// put_channels writes the channels that have the same row as the first, as "channels 0 to
// 3, 8", and marks them as written.
static void put_channels(struct nl_rows *rows, uint32_t first, struct nl_text *text)
{
	uint32_t begin = NL_NONE, n = 0;
	size_t size = rows->n_ranks * sizeof(uint32_t);
	struct nl_text list = {.n = 0};
	for (uint32_t c = first; c <= NL_CHANNELS_MAX; c++) {
		bool same =
			c < NL_CHANNELS_MAX && rows->has[c] &&
			memcmp(channel_row(rows, c), channel_row(rows, first), size) == 0;
		if (same && begin == NL_NONE)
			begin = c;
		n += same;
		if (same)
			continue;
		if (begin != NL_NONE && begin + 1 == c)
			wiring_put(&list, "%s%" PRIu32, list.n ? ", " : "", begin);
		else if (begin != NL_NONE)
			wiring_put(&list, "%s%" PRIu32 " to %" PRIu32, list.n ? ", " : "",
				begin, c - 1);
		begin = NL_NONE;
	}
	for (uint32_t c = first + 1; c < NL_CHANNELS_MAX; c++)
		if (rows->has[c] &&
			memcmp(channel_row(rows, c), channel_row(rows, first), size) == 0)
			rows->has[c] = false;
	wiring_put(text, "channel%s %.512s:", n > 1 ? "s" : "", list.bytes);
}

static int wiring_put_rows(
	const struct nl_log *log, uint32_t index, bool tree, struct tb_facts *facts)
{
	struct nl_rows rows = {0};
	int status = find_rows(log, index, tree, &rows);
	for (uint32_t c = 0; c < NL_CHANNELS_MAX && status == TB_OK; c++) {
		struct nl_text text = {.n = 0};
		if (!rows.has[c])
			continue;
		put_channels(&rows, c, &text);
		if (tree) {
			// Write the children of each rank that has some: "0 (1 4), 1 (2
			// 3)".
			const uint32_t *row = channel_row(&rows, c);
			uint32_t n_shown = 0;
			for (uint32_t r = 0; r < rows.n_ranks && n_shown < RANKS_SHOWN;
				r++) {
				uint32_t n = 0;
				for (uint32_t i = 0; i < rows.n_ranks; i++) {
					if (row[i] != r)
						continue;
					if (n++ == 0)
						wiring_put(&text, "%s%" PRIu32 " (",
							n_shown++ ? ", " : " ", r);
					wiring_put(
						&text, "%s%" PRIu32, n > 1 ? " " : "", i);
				}
				if (n > 0)
					wiring_put(&text, ")");
			}
			if (n_shown == RANKS_SHOWN)
				wiring_put(&text, " and so on");
		} else {
			const uint32_t *row = channel_row(&rows, c);
			for (uint32_t i = 0; i < rows.n_ranks && i < RANKS_SHOWN; i++)
				wiring_put(&text, " %" PRIu32, row[i]);
			if (rows.n_ranks > RANKS_SHOWN)
				wiring_put(&text, " and %" PRIu32 " more",
					rows.n_ranks - RANKS_SHOWN);
		}
		tb_facts_add(facts, tree ? "tree" : "ring", "%s", text.bytes);
	}
	free(rows.ranks);
	return status;
}

// nl_wiring adds the rings and trees of a group, number `index`.
static int nl_wiring(const struct nl_log *log, uint32_t index, struct tb_facts *facts)
{
	const struct nl_group *group = &log->groups[index];
	if (group->n_ranks < 2 || group->n_ranks > RANKS_MOST)
		return TB_OK;
	int status = wiring_put_rows(log, index, false, facts);
	return status == TB_OK ? wiring_put_rows(log, index, true, facts) : status;
}

// What a log says beside its calls.

#define RANKS_SHOWN  64
#define GROUPS_SHOWN 16

static void facts_add_counts(
	struct tb_facts *facts, const char *name, const struct nl_counts *counts)
{
	char number[32];
	for (size_t i = 0; i < counts->n; i++)
		tb_facts_add(facts, name, "%s: %s", counts->rows[i].text,
			tb_format_count(counts->rows[i].n, number, sizeof number));
	if (counts->n_more > 0)
		tb_facts_add(facts, name, "others: %s",
			tb_format_count(counts->n_more, number, sizeof number));
}

static void add_names(
	struct tb_facts *facts, const char *name, const struct nl_counts *counts)
{
	for (size_t i = 0; i < counts->n; i++)
		tb_facts_add(facts, name, "%s", counts->rows[i].text);
}

// find_adapter finds the name of adapter k in "[0]mlx5_0:1/IB [1]...".
static int find_adapter(const char *list, unsigned k, const char **name)
{
	char key[16];
	int n = snprintf(key, sizeof key, "[%u]", k);
	const char *at = list ? strstr(list, key) : NULL;
	*name = at ? at + n : "";
	return (int)strcspn(*name, " <");
}

static void add_gpu(const struct nl_log *log, const struct nl_gpu *gpu, const char *who,
	struct tb_facts *facts)
{
	char text[1024];
	const struct nl_process *process = &log->processes[gpu->process];
	size_t at = 0;
	for (unsigned k = 0; k < 64 && at < sizeof text; k++) {
		const char *name;
		if (!(gpu->adapters >> k & 1))
			continue;
		int n = find_adapter(process->adapters, k, &name);
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%u%s%.*s%s",
			at ? ", " : "", k, n ? " (" : "", n < 40 ? n : 40, name,
			n ? ")" : "");
	}
	if (at > 0)
		tb_facts_add(facts, "adapters", "%s on %.255s: %s %s", who, process->host,
			gpu->network, text);
}

static int member_by_rank(const void *a, const void *b)
{
	const struct nl_gpu *const *one = a, *const *other = b;
	if ((*one)->rank != (*other)->rank)
		return (*one)->rank < (*other)->rank ? -1 : 1;
	return TB_ORDER(*one, *other);
}

// add_adapters names the adapters that each GPU sends and receives with.
static int add_adapters(const struct nl_log *log, struct tb_facts *facts)
{
	size_t n = 0;
	const struct nl_gpu **order = calloc(log->n_gpus + 1, sizeof(*order));
	if (!order)
		return tb_nl_no_memory(log);
	for (size_t i = 0; i < log->n_gpus; i++)
		if (log->gpus[i].adapters)
			order[n++] = &log->gpus[i];
	qsort(order, n, sizeof(*order), member_by_rank);
	for (size_t i = 0; i < n && i < RANKS_SHOWN; i++) {
		char who[48];
		if (order[i]->rank == NL_NONE)
			snprintf(who, sizeof who, "GPU %" PRIu32, order[i]->device);
		else
			snprintf(who, sizeof who, "rank %" PRIu32, order[i]->rank);
		add_gpu(log, order[i], who, facts);
	}
	if (n > RANKS_SHOWN)
		tb_facts_add(facts, "adapters", "and of %zu more", n - RANKS_SHOWN);
	free(order);
	const char *list, *host;
	uint32_t n_named = tb_nl_adapters(log, &list, &host);
	if (n == 0 && n_named > 0) {
		// Nothing tells which GPU sends with which.
		const char *end = strstr(list, " [RO]");
		size_t length = end ? (size_t)(end - list) : strlen(list);
		tb_facts_add(facts, "adapters", "%" PRIu32 " on %.255s: %.*s", n_named,
			host, (int)length, list);
	}
	return TB_OK;
}

// facts_add_network adds the fact "as a network". Without lines of the graph the rate of
// the adapters is not known, but how many there are is.
static void facts_add_network(const struct nl_log *log, struct tb_facts *facts)
{
	const char *list = NULL, *host;
	uint32_t n = tb_nl_adapters(log, &list, &host);
	if (log->n_processes > 0 && (log->port_bits_per_s || n > 1))
		tb_node_network(facts,
			n == 0			? "Socket"
			: strstr(list, "/RoCE") ? "RoCE"
			: strstr(list, "/IB")	? "IB"
						: "Socket",
			log->port_bits_per_s, n, "");
}

// facts_add_hosts counts the processes of each host, in the order in which hosts are
// named.
static int facts_add_hosts(const struct nl_log *log, struct tb_facts *facts)
{
	struct nl_counts *hosts = calloc(1, sizeof *hosts);
	char number[2][48];
	if (!hosts)
		return tb_nl_no_memory(log);
	for (size_t i = 0; i < log->n_processes; i++)
		tb_nl_count(
			hosts, log->processes[i].host, strlen(log->processes[i].host));
	tb_facts_add(facts, "processes", "%s, %s",
		tb_format_counted(log->n_processes, "process|processes", number[0], 48),
		tb_format_counted(
			log->n_lines, "line of NCCL's|lines of NCCL's", number[1], 48));
	for (size_t i = 0; i < hosts->n && i < RANKS_SHOWN; i++)
		tb_facts_add(facts, "host", "%s: %s", hosts->rows[i].text,
			tb_format_counted(
				hosts->rows[i].n, "process|processes", number[0], 48));
	if (hosts->n > RANKS_SHOWN || hosts->n_more > 0)
		tb_facts_add(facts, "host", "and others");
	free(hosts);
	return TB_OK;
}

int tb_nccl_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error)
{
	struct nl_log log = {.error = error};
	int status = tb_nl_read(&log, reading, 0, paths, n);
	if (status == TB_OK) {
		char text[48];
		add_names(facts, "made by", &log.versions);
		add_names(facts, "setting", &log.settings);
		status = facts_add_hosts(&log, facts);
		if (log.last_ns > log.first_ns)
			tb_facts_add(facts, "times", "%s from the first line to the last",
				tb_format_time((tb_time_ps)((log.last_ns - log.first_ns) /
							    1000 * 1000000),
					text, sizeof text));
		add_names(facts, "network", &log.networks);
		if (status == TB_OK)
			status = add_adapters(&log, facts);
		facts_add_network(&log, facts);
		if (status == TB_OK) {
			for (uint32_t i = 0;
				i < log.n_groups && i < GROUPS_SHOWN && status == TB_OK;
				i++) {
				const struct nl_group *group = &log.groups[i];
				char id[48] = "", part[80] = "", number[2][48];
				if (group->id)
					snprintf(id, sizeof id, " (id %" PRIx64 ")",
						group->id);
				if (!group->members)
					snprintf(part, sizeof part, ", the log has %s",
						group->n_members == 1 ? "one of them"
								      : "some of them");
				else if (group->is_unsure)
					snprintf(part, sizeof part,
						", whose members are not certain");
				tb_facts_add(facts, "communicator", "%s%s, %s%s",
					tb_format_counted(
						group->n_ranks, "rank", number[0], 48),
					id,
					tb_format_counted(
						group->n_ops, "call", number[1], 48),
					part);
				status = nl_wiring(&log, i, facts);
			}
			if (log.n_groups > GROUPS_SHOWN)
				tb_facts_add(facts, "communicator", "and %zu more",
					log.n_groups - GROUPS_SHOWN);
		}
		facts_add_counts(facts, "connections", &log.connections);
		facts_add_counts(facts, "chosen", &log.algorithms);
	}
	tb_nl_fini(&log);
	return status == TB_OK ? tb_facts_check(facts, error) : status;
}
