#include "link_queue.h"

#include "run_impl.h"

#include <stdlib.h>

// Looking for that many links in a pack takes as long as reading all of it.
#define LOOKED_FOR_MOST 8

// The links of one pack, while its bins are read.
struct queues_reading {
	struct tb_link_queue *queues;	  // of all links
	struct tb_link_queue *now;	  // from_ps, to_ps: the stretch that lasts
	uint32_t seats[TB_PACK_LINKS], n; // where they stand in `queues`
	uint32_t seat_of[TB_PACK_LINKS];  // by link in the pack, or TB_ID_NONE
	enum tb_metric wait;
	tb_time_ps bin_ps;
};

static void see_queue(struct queues_reading *reading, uint32_t seat,
	const struct tb_link_sample *one, tb_time_ps at_ps)
{
	struct tb_link_queue *found = &reading->queues[seat], *now = &reading->now[seat];
	if (one->largest_queue_bytes > found->largest_bytes) {
		found->largest_bytes = one->largest_queue_bytes;
		found->largest_at_ps = at_ps;
	}
	if (tb_metric_of(one, reading->wait) == 0)
		return;
	if (now->to_ps != at_ps)
		now->from_ps = at_ps;
	now->to_ps = at_ps + reading->bin_ps;
	if (now->to_ps - now->from_ps > found->to_ps - found->from_ps) {
		found->from_ps = now->from_ps;
		found->to_ps = now->to_ps;
	}
}

// see_bin takes the links out of a row (pack, links, bin).
static void see_bin(struct queues_reading *reading, struct tb_run_row *row,
	const struct tb_link *links, tb_time_ps at_ps)
{
	struct tb_link_sample one;
	if (reading->n <= LOOKED_FOR_MOST) {
		for (uint32_t i = 0; i < reading->n; i++)
			if (tb_run_find_in_pack(row, links[reading->seats[i]], &one))
				see_queue(reading, reading->seats[i], &one, at_ps);
		return;
	}
	struct tb_link_pack pack = tb_run_open_pack(row);
	int status = 0;
	while (!row->bad && (status = tb_link_pack_next(&pack, &one)) > 0) {
		uint32_t seat = reading->seat_of[one.link.id % TB_PACK_LINKS];
		if (seat != TB_ID_NONE)
			see_queue(reading, seat, &one, at_ps);
	}
	row->bad |= status < 0;
}

int tb_link_queues_find(struct tb_link_queue *queues, struct tb_run *run,
	enum tb_metric wait, const struct tb_link *links, uint32_t n,
	struct tb_error *error)
{
	struct queues_reading reading = {.queues = queues,
		.now = calloc(n + 1u, sizeof *reading.now),
		.wait = wait,
		.bin_ps = run->record.info.bin_ps};
	if (!reading.now)
		return tb_fail_memory(error, "the queues of %u links", n);
	struct tb_run_row row;
	// Bin by bin, or the bins would be read with all of their packs.
	int status = tb_run_query(run,
		"SELECT l.pack, l.links, b.bin FROM bin_total AS b "
		"CROSS JOIN link_pack AS l ON l.run = b.run AND l.bin = b.bin AND "
		"l.pack = ?2 WHERE b.run = ?1 ORDER BY b.bin",
		&row, error);
	if (status) {
		free(reading.now);
		return status;
	}
	for (uint32_t i = 0; i < n; i++)
		queues[i] = (struct tb_link_queue){0};
	uint32_t n_packs = (run->record.info.n_links + TB_PACK_LINKS - 1) / TB_PACK_LINKS;
	for (uint32_t pack = 0; !status && pack < n_packs; pack++) {
		reading.n = 0;
		for (uint32_t i = 0; i < TB_PACK_LINKS; i++)
			reading.seat_of[i] = TB_ID_NONE;
		for (uint32_t i = 0; i < n; i++)
			if (links[i].id / TB_PACK_LINKS == pack) {
				reading.seats[reading.n++] = i;
				reading.seat_of[links[i].id % TB_PACK_LINKS] = i;
			}
		sqlite3_bind_int64(row.query, 2, pack);
		if (reading.n > 0) {
			while ((status = tb_run_next(run, "link_pack", &row, error)) > 0)
				see_bin(&reading, &row, links,
					(tb_time_ps)tb_run_get(
						&row, 2, run->record.info.n_bins) *
						reading.bin_ps);
			sqlite3_reset(row.query);
		}
	}
	sqlite3_finalize(row.query);
	free(reading.now);
	return status;
}
