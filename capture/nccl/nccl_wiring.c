// The rings and trees of a communicator, for people.
#include "nccl_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_SHOWN 64
#define RANKS_MOST  1024 // of a communicator whose rings are shown

// A row of ranks for each channel: of a ring the ranks in its order, of a tree the parent
// of each.
struct nl_rows {
	uint32_t n_ranks;
	uint32_t *ranks;
	bool has[NL_CHANNELS_MAX];
};

static uint32_t *channel_row(const struct nl_rows *rows, uint32_t channel)
{
	return rows->ranks + (size_t)channel * rows->n_ranks;
}

// row_follow makes the order of a ring of whom each rank sends to; false if it is none.
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

// A text that is cut where it is full.
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

// put_channels writes "channels 0 to 3, 8" of those that have the same row as the first,
// and marks them as written.
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

static int put_rows(
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

int tb_nl_wiring(const struct nl_log *log, uint32_t index, struct tb_facts *facts)
{
	const struct nl_group *group = &log->groups[index];
	if (group->n_ranks < 2 || group->n_ranks > RANKS_MOST)
		return TB_OK;
	int status = put_rows(log, index, false, facts);
	return status == TB_OK ? put_rows(log, index, true, facts) : status;
}
