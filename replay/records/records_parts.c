// The records of a replay in parts: joined to those of the whole, which gather from them.
#include "replay_records.h"

#include "array.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

int tb_records_cut(struct tb_records *records, const struct tb_network *net,
	const struct tb_parts *parts)
{
	records->parts = parts;
	if (!parts->of_link)
		records->near_cells =
			calloc(parts->n_crossing + 1u, sizeof *records->near_cells);
	records->joined = calloc(parts->n, sizeof(struct tb_records *));
	if ((!records->near_cells && !parts->of_link) || !records->joined ||
		tb_records_make_slices(records) != TB_OK)
		return TB_ENOMEM;
	// Links that lead out of a part of this process have cells here.
	for (uint32_t link = 0; link < records->n_links && records->near_cells; link++)
		if (parts->crossing_of[link] != TB_ID_NONE &&
			tb_parts_has(parts, tb_parts_from(parts, net, link)))
			tb_cell_clear(
				&records->near_cells[parts->crossing_of[link]], link);
	return TB_OK;
}

int tb_records_join(struct tb_records *records, struct tb_records *whole)
{
	*records = (struct tb_records){.cells = whole->cells,
		.n_links = whole->n_links,
		.parts = whole->parts,
		.near_cells = whole->near_cells,
		.flows = whole->flows,
		.from_ps = whole->from_ps,
		.to_ps = whole->to_ps,
		.is_joined = true,
		.keeps_waits = whole->blame};
	records->touched = calloc(whole->n_links / 64 + 1, sizeof *records->touched);
	if (whole->parts->of_link)
		records->own_cells =
			calloc(whole->parts->n_crossing + 1u, sizeof *records->own_cells);
	if (!records->touched || (whole->parts->of_link && !records->own_cells)) {
		tb_records_fini(records);
		return TB_ENOMEM;
	}
	whole->joined[whole->n_joined++] = records;
	tb_records_follow(whole);
	return TB_OK;
}

void tb_records_keep_wait(struct tb_records *records, const struct tb_blame_wait *wait)
{
	struct tb_wait_log *log = &records->log;
	if (TB_ARRAY_RESERVE(&log->waits, &log->room, log->n + 1) != TB_OK) {
		records->failed = true;
		return;
	}
	log->waits[log->n++] = *wait;
}

// records_n_ended counts the waits of a part that are not entered yet and end at an
// instant or before.
static size_t records_n_ended(const struct tb_records *records, tb_time_ps at)
{
	size_t low = records->n_entered, high = records->turned.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (records->turned.waits[middle].to <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low - records->n_entered;
}

static size_t n_ended_of_all(const struct tb_records *whole, tb_time_ps at)
{
	size_t n = 0;
	for (uint32_t i = 0; i < whole->n_joined; i++)
		n += records_n_ended(whole->joined[i], at);
	return n;
}

// records_share_end is the first instant by which `n` waits have ended, n > 0;
// TB_TIME_NEVER if they never do.
static tb_time_ps records_share_end(const struct tb_records *whole, size_t n)
{
	tb_time_ps low = TB_TIME_NEVER, high = 0;
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		const struct tb_records *records = whole->joined[i];
		if (records->n_entered == records->turned.n)
			continue;
		tb_time_ps first = records->turned.waits[records->n_entered].to;
		tb_time_ps last = records->turned.waits[records->turned.n - 1].to;
		low = first < low ? first : low;
		high = last > high ? last : high;
	}
	if (n_ended_of_all(whole, high) < n)
		return TB_TIME_NEVER;
	while (low < high) {
		tb_time_ps middle = low + (high - low) / 2;
		if (n_ended_of_all(whole, middle) >= n)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool tb_records_turn_waits(struct tb_records *whole, size_t n_least)
{
	size_t n = 0;
	for (uint32_t i = 0; i < whole->n_joined; i++)
		n += whole->joined[i]->log.n;
	if (n < n_least)
		return false;
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		struct tb_records *records = whole->joined[i];
		struct tb_wait_log log = records->log;
		records->log = records->turned;
		records->log.n = 0;
		records->turned = log;
		records->n_entered = 0;
	}
	return true;
}

void tb_records_enter_turned(struct tb_records *whole, struct tb_team *team)
{
	struct tb_blame_table *blame = whole->blame;
	if (!blame)
		return;
	while (n_ended_of_all(whole, TB_TIME_NEVER) > 0 && !blame->failed) {
		if (blame->n_in_batch >= blame->batch)
			tb_blame_table_end_batch(blame, whole->flows, team);
		// Enter the waits that end at an instant or before.
		tb_time_ps at =
			records_share_end(whole, blame->batch - blame->n_in_batch);
		for (uint32_t i = 0; i < whole->n_joined; i++) {
			struct tb_records *records = whole->joined[i];
			size_t end = records->n_entered + records_n_ended(records, at);
			for (; records->n_entered < end; records->n_entered++)
				tb_blame_table_put(whole->blame, whole->flows,
					&records->turned.waits[records->n_entered], team);
		}
	}
	for (uint32_t i = 0; i < whole->n_joined; i++)
		whole->joined[i]->turned.n = whole->joined[i]->n_entered = 0;
	// Enter all of them, so that the next call has only new waits to enter.
	tb_blame_table_enter(blame, whole->flows, team);
}

void tb_records_enter_waits(struct tb_records *whole, struct tb_team *team)
{
	(void)tb_records_turn_waits(whole, 1);
	tb_records_enter_turned(whole, team);
}

uint64_t tb_records_waits(const struct tb_records *whole)
{
	uint64_t wait_ps = whole->wait_ps;
	for (uint32_t i = 0; i < whole->n_joined; i++)
		wait_ps += whole->joined[i]->wait_ps;
	return wait_ps;
}

static void add_cell(struct tb_cell *sum, const struct tb_cell *cell)
{
#define ROW(ID, field, column, type, adds, ...) TB_FIGURE_##adds(sum->field, cell->field);
	TB_LINK_FIGURES(ROW)
#undef ROW
}

// records_take_own adds the own cells of a part, of 64 links of which it has touched
// some, to the others, and clears them.
static void records_take_own(struct tb_records *whole, struct tb_records *records,
	uint32_t word, uint64_t bits)
{
	for (; bits; bits &= bits - 1) {
		uint32_t link = word * 64 + (uint32_t)__builtin_ctzll(bits);
		uint32_t number = whole->parts->crossing_of[link];
		if (number == TB_ID_NONE || !records->own_cells[number].touched)
			continue;
		add_cell(whole->cells[link], &records->own_cells[number]);
		records->own_cells[number] = (struct tb_cell){0};
	}
}

uint64_t tb_records_take_touched(struct tb_records *whole, uint32_t word)
{
	uint64_t bits = whole->touched[word];
	whole->touched[word] = 0;
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		if (whole->joined[i]->own_cells)
			records_take_own(whole, whole->joined[i], word,
				whole->joined[i]->touched[word]);
		bits |= whole->joined[i]->touched[word];
		whole->joined[i]->touched[word] = 0;
	}
	return bits;
}

void tb_records_add_near(struct tb_records *whole, uint32_t link, struct tb_cell *sum)
{
	uint32_t number = whole->parts->crossing_of[link];
	if (number == TB_ID_NONE || !whole->near_cells)
		return;
	struct tb_cell *near = &whole->near_cells[number];
	add_cell(sum, near);
	tb_cell_clear(near, link);
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

// Closing a bin of a replay in parts: the links are cut into slices, which the threads of
// a team gather side by side.

// More slices than threads, as the work of slices differs: untouched links cost nothing.
enum { SLICES = 32 };

struct tb_slice {
	_Alignas(64) struct tb_kept_bins packed; // one bin
	uint32_t n;				 // samples in `bin_samples`
	bool failed;
};

static void slice_run(struct tb_records *records, uint32_t n,
	void (*task)(void *context, uint32_t index))
{
	if (records->team)
		tb_team_run(records->team, n, task, records);
	for (uint32_t i = 0; i < n && !records->team; i++)
		task(records, i);
}

// first_word is the first of the words of 64 links that a slice has.
static uint32_t first_word(const struct tb_records *records, uint32_t slice)
{
	uint64_t n_words = records->n_links / 64 + 1u;
	return (uint32_t)(n_words * slice / SLICES);
}

static void slice_pack(void *context, uint32_t index)
{
	struct tb_records *records = context;
	struct tb_slice *slice = &records->slices[index];
	struct tb_link_sample samples[64];
	uint32_t end = first_word(records, index + 1);
	slice->packed.n_bytes = 0;
	int status = tb_kept_bins_begin(&slice->packed, 0);
	for (uint32_t word = first_word(records, index); word < end && status == TB_OK;
		word++) {
		uint32_t n = tb_records_gather(records, word, samples);
		status = tb_kept_bins_add(&slice->packed, samples, n);
	}
	slice->failed = status != TB_OK;
}

int tb_records_make_slices(struct tb_records *records)
{
	records->slices = tb_lines_new(SLICES, sizeof *records->slices);
	return records->slices ? TB_OK : TB_ENOMEM;
}

int tb_records_keep_slices(struct tb_records *records)
{
	slice_run(records, SLICES, slice_pack);
	for (uint32_t i = 0; i < SLICES; i++)
		if (records->slices[i].failed ||
			tb_kept_bins_append(&records->kept, &records->slices[i].packed) !=
				TB_OK)
			return TB_ENOMEM;
	return TB_OK;
}

// slice_list writes the samples of a slice to a place with room for all of its links.
static void slice_list(void *context, uint32_t index)
{
	struct tb_records *records = context;
	uint32_t word = first_word(records, index), end = first_word(records, index + 1);
	uint32_t n = 0;
	for (struct tb_link_sample *to = records->bin_samples + word * 64u; word < end;
		word++)
		n += tb_records_gather(records, word, to + n);
	records->slices[index].n = n;
}

size_t tb_records_report_slices(struct tb_records *records)
{
	slice_run(records, SLICES, slice_list);
	size_t n = 0;
	for (uint32_t i = 0; i < SLICES; i++) {
		memmove(records->bin_samples + n,
			records->bin_samples + first_word(records, i) * 64u,
			records->slices[i].n * sizeof *records->bin_samples);
		n += records->slices[i].n;
	}
	return n;
}

static void pour(void *context, uint32_t part)
{
	struct tb_records *records = context;
	tb_records_pour(records->joined[part]);
}

void tb_records_pour_parts(struct tb_records *records)
{
	slice_run(records, records->n_joined, pour);
}

void tb_records_free_slices(struct tb_records *records)
{
	for (uint32_t i = 0; records->slices && i < SLICES; i++)
		tb_kept_bins_fini(&records->slices[i].packed);
	free(records->slices);
}

// The records of a replay that several processes simulate: what each has of bins, waits
// and flows comes together in the one that has the observer.

int tb_records_count_waited(
	const struct tb_records *records, struct tb_flow_waited **rows, uint32_t *n)
{
	struct tb_flow_waited *made = malloc((records->n_flows + 1u) * sizeof *made);
	if (!made)
		return TB_ENOMEM;
	uint32_t n_made = 0;
	for (uint32_t flow = 0; flow < records->n_flows; flow++)
		if (records->flows[flow].wait_ps)
			made[n_made++] = (struct tb_flow_waited){
				records->flows[flow].wait_ps, flow};
	*rows = made;
	*n = n_made;
	return TB_OK;
}

int tb_records_add_waited(struct tb_records *records, const void *rows, uint32_t n)
{
	const unsigned char *at = rows;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_flow_waited row;
		memcpy(&row, at + i * sizeof row, sizeof row);
		if (row.flow >= records->n_flows)
			return TB_EFORMAT;
		records->flows[row.flow].wait_ps += row.wait_ps;
	}
	return TB_OK;
}

int tb_records_add_waits(struct tb_records *records, const void *waits, size_t n)
{
	struct tb_wait_log *log = &records->log;
	if (TB_ARRAY_RESERVE(&log->waits, &log->room, log->n + n) != TB_OK)
		return TB_ENOMEM;
	if (n)
		memcpy(log->waits + log->n, waits, n * sizeof *log->waits);
	log->n += n;
	return TB_OK;
}

int tb_records_join_bins(struct tb_records *records, const struct tb_kept_bins *others,
	uint32_t n, struct tb_kept_bins *own)
{
	struct tb_kept_bins before = records->kept, joined = {0};
	const struct tb_kept_bins **several = malloc((n + 1u) * sizeof *several);
	int status = several ? TB_OK : TB_ENOMEM;
	for (uint32_t i = 0; several && i <= n; i++)
		several[i] = i ? &others[i - 1] : &before;
	if (status == TB_OK)
		status = tb_kept_bins_join(&joined, several, n + 1, records->n_links);
	free(several);
	if (status != TB_OK)
		return status;
	records->kept = joined;
	records->kept_reported = 0;
	*own = before;
	return TB_OK;
}
