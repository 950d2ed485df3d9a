// The records of a replay in parts: joined to those of the whole, which gather from them.
#include "replay_records.h"

#include "array.h"

#include <stdlib.h>

int tb_records_cut(struct tb_records *records, const struct tb_parts *parts)
{
	records->parts = parts;
	records->near_cells = calloc(parts->n_crossing + 1u, sizeof *records->near_cells);
	records->joined = calloc(parts->n, sizeof(struct tb_records *));
	if (!records->near_cells || !records->joined)
		return TB_ENOMEM;
	for (uint32_t link = 0; link < records->n_links; link++)
		if (parts->crossing_of[link] != TB_ID_NONE)
			records->near_cells[parts->crossing_of[link]].link = link;
	return TB_OK;
}

int tb_records_join(struct tb_records *records, struct tb_records *whole)
{
	*records = (struct tb_records){.cells = whole->cells,
		.n_links = whole->n_links,
		.parts = whole->parts,
		.near_cells = whole->near_cells,
		.flows = whole->flows,
		.is_joined = true,
		.keeps_waits = whole->blame};
	records->touched = calloc(whole->n_links / 64 + 1, sizeof *records->touched);
	if (!records->touched) {
		tb_records_fini(records);
		return TB_ENOMEM;
	}
	whole->joined[whole->n_joined++] = records;
	tb_records_follow(whole);
	return TB_OK;
}

void tb_records_keep_wait(struct tb_records *records, const struct tb_blame_wait *wait)
{
	if (TB_ARRAY_RESERVE(&records->waits, &records->waits_room,
		    records->n_waits + 1) != TB_OK) {
		records->failed = true;
		return;
	}
	records->waits[records->n_waits++] = *wait;
}

void tb_records_enter_waits(struct tb_records *whole, struct tb_team *team)
{
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		struct tb_records *records = whole->joined[i];
		for (size_t w = 0; w < records->n_waits && whole->blame; w++)
			tb_blame_table_add(
				whole->blame, whole->flows, &records->waits[w], team);
		records->n_waits = 0;
	}
}

uint64_t tb_records_waits(const struct tb_records *whole)
{
	uint64_t wait_ps = whole->wait_ps;
	for (uint32_t i = 0; i < whole->n_joined; i++)
		wait_ps += whole->joined[i]->wait_ps;
	return wait_ps;
}

uint64_t tb_records_take_touched(struct tb_records *whole, uint32_t word)
{
	uint64_t bits = whole->touched[word];
	whole->touched[word] = 0;
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		bits |= whole->joined[i]->touched[word];
		whole->joined[i]->touched[word] = 0;
	}
	return bits;
}

void tb_records_add_near(struct tb_records *whole, uint32_t link, struct tb_cell *sum)
{
	uint32_t number = whole->parts->crossing_of[link];
	if (number == TB_ID_NONE)
		return;
	struct tb_cell *near = &whole->near_cells[number];
#define ROW(ID, field, column, type, adds, ...) TB_FIGURE_##adds(sum->field, near->field);
	TB_LINK_FIGURES(ROW)
#undef ROW
	*near = (struct tb_cell){.link = link};
}

void tb_records_follow(struct tb_records *whole)
{
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		struct tb_records *records = whole->joined[i];
		records->flows = whole->flows;
		records->bin = whole->bin;
		records->bin_ps = whole->bin_ps;
		records->bin_start = whole->bin_start;
		records->bin_end = whole->bin_end;
	}
}
