#include "records_parts.h"

#include "array.h"
#include "bisect.h"

#include <stdlib.h>
#include <string.h>

int tb_joint_records_new(struct tb_joint_records **joint, struct tb_records *whole,
	const struct tb_network *net, const struct tb_parts *parts)
{
	struct tb_joint_records *made = calloc(1, sizeof *made);
	*joint = made;
	if (!made)
		return TB_ENOMEM;
	made->whole = whole;
	made->parts = parts;
	made->share_part = parts->n;
	made->of = calloc(parts->n, sizeof *made->of);
	if (!made->of || tb_records_make_slices(whole) != TB_OK)
		return TB_ENOMEM;
	if (parts->of_link)
		return TB_OK;
	made->near_cells = calloc(parts->n_crossing + 1u, sizeof *made->near_cells);
	made->from_cells = malloc((whole->n_links + 1u) * sizeof(struct tb_cell *));
	if (!made->near_cells || !made->from_cells)
		return TB_ENOMEM;
	for (uint32_t link = 0; link < whole->n_links; link++) {
		uint32_t number = parts->crossing_of[link];
		made->from_cells[link] = number == TB_ID_NONE ? whole->cells[link]
							      : &made->near_cells[number];
		// Links that lead out of a part of this process have cells here.
		if (number != TB_ID_NONE &&
			tb_parts_has(parts, tb_parts_from(parts, net, link)))
			tb_cell_clear(&made->near_cells[number], link);
	}
	whole->from_cells = made->from_cells;
	return TB_OK;
}

void tb_joint_records_free(struct tb_joint_records *joint)
{
	if (!joint)
		return;
	for (uint32_t i = 0; joint->of && i < joint->parts->n; i++) {
		free(joint->of[i].own_cells);
		free(joint->of[i].turned.waits);
	}
	free(joint->of);
	free(joint->near_cells);
	free(joint->from_cells);
	free(joint);
}

// joint_follow has the records of the parts follow those of the whole to the open bin.
static void joint_follow(struct tb_joint_records *joint)
{
	const struct tb_records *whole = joint->whole;
	for (uint32_t i = 0; i < joint->parts->n; i++) {
		struct tb_records *records = joint->of[i].records;
		if (!records)
			continue;
		records->bin = whole->bin;
		records->bin_ps = whole->bin_ps;
		records->bin_start = whole->bin_start;
		records->bin_end = whole->bin_end;
	}
}

int tb_joint_records_join(
	struct tb_joint_records *joint, uint32_t part, struct tb_records *records)
{
	const struct tb_records *whole = joint->whole;
	*records = (struct tb_records){.cells = whole->cells,
		.from_cells = whole->from_cells,
		.n_links = whole->n_links,
		.flows = whole->flows,
		.from_ps = whole->from_ps,
		.to_ps = whole->to_ps,
		.borrows_flows = true,
		.keeps_waits = whole->blame};
	records->touched = calloc(whole->n_links / 64 + 1, sizeof *records->touched);
	if (joint->parts->of_link)
		joint->of[part].own_cells = calloc(
			joint->parts->n_crossing + 1u, sizeof *joint->of->own_cells);
	if (!records->touched || (joint->parts->of_link && !joint->of[part].own_cells)) {
		tb_records_fini(records);
		return TB_ENOMEM;
	}
	joint->of[part].records = records;
	joint_follow(joint);
	return TB_OK;
}

void tb_joint_records_set_team(struct tb_joint_records *joint, struct tb_team *team)
{
	joint->team = team;
	joint->whole->team = team;
}

// records_n_ended counts the waits of a part that are not entered yet and end at an
// instant or before.
static size_t records_n_ended(const struct tb_part_records *records, tb_time_ps at)
{
	size_t n;
	TB_BISECT(n, records->turned.n - records->n_entered,
		records->turned.waits[records->n_entered + n].to <= at);
	return n;
}

static size_t n_ended_of_all(const struct tb_joint_records *joint, tb_time_ps at)
{
	size_t n = 0;
	for (uint32_t i = 0; i < joint->parts->n; i++)
		n += records_n_ended(&joint->of[i], at);
	return n;
}

// records_share_end is the first instant by which `n` waits have ended, n > 0;
// TB_TIME_NEVER if they never do.
static tb_time_ps records_share_end(const struct tb_joint_records *joint, size_t n)
{
	tb_time_ps low = TB_TIME_NEVER, high = 0;
	for (uint32_t i = 0; i < joint->parts->n; i++) {
		const struct tb_part_records *records = &joint->of[i];
		if (records->n_entered == records->turned.n)
			continue;
		tb_time_ps first = records->turned.waits[records->n_entered].to;
		tb_time_ps last = records->turned.waits[records->turned.n - 1].to;
		low = first < low ? first : low;
		high = last > high ? last : high;
	}
	if (n_ended_of_all(joint, high) < n)
		return TB_TIME_NEVER;
	while (low < high) {
		tb_time_ps middle = low + (high - low) / 2;
		if (n_ended_of_all(joint, middle) >= n)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool tb_joint_records_turn(struct tb_joint_records *joint, size_t n_least)
{
	size_t n = 0;
	for (uint32_t i = 0; i < joint->parts->n; i++)
		n += joint->of[i].records->log.n;
	joint->n_more = n - joint->n_logged;
	joint->n_logged = n;
	if (n < n_least)
		return true;
	if (joint->share_part < joint->parts->n ||
		n_ended_of_all(joint, TB_TIME_NEVER) > 0)
		return false;
	for (uint32_t i = 0; i < joint->parts->n; i++) {
		struct tb_part_records *part = &joint->of[i];
		struct tb_wait_log log = part->records->log;
		part->records->log = part->turned;
		part->records->log.n = 0;
		part->turned = log;
		part->n_entered = 0;
	}
	joint->n_logged = 0;
	return true;
}

// begin_share finds the waits that come next, up to the end of the batch; that of a full
// one begins before.
static bool begin_share(struct tb_joint_records *joint, struct tb_team *team)
{
	struct tb_blame_table *blame = joint->whole->blame;
	if (n_ended_of_all(joint, TB_TIME_NEVER) == 0)
		return false;
	if (blame->n_in_batch < blame->batch) {
		joint->share_end =
			records_share_end(joint, blame->batch - blame->n_in_batch);
		joint->share_part = 0;
	} else if (team) {
		tb_blame_table_end_batch(blame, joint->whole->flows, team);
	} else {
		tb_blame_table_begin_end(blame);
	}
	return true;
}

bool tb_joint_records_step(struct tb_joint_records *joint, struct tb_team *team)
{
	struct tb_blame_table *blame = joint->whole->blame;
	if (!blame || blame->failed)
		return false;
	if (tb_blame_table_step(blame, joint->whole->flows))
		return true;
	if (joint->share_part == joint->parts->n)
		return begin_share(joint, team);
	struct tb_part_records *part = &joint->of[joint->share_part];
	size_t n = records_n_ended(part, joint->share_end);
	n = n < blame->piece ? n : blame->piece;
	joint->share_part += n < blame->piece;
	tb_blame_table_put(blame, joint->whole->flows,
		part->turned.waits + part->n_entered, n, team);
	part->n_entered += n;
	return true;
}

void tb_joint_records_enter(struct tb_joint_records *joint, struct tb_team *team)
{
	while (tb_joint_records_step(joint, team))
		;
}

void tb_joint_records_catch_up(struct tb_joint_records *joint)
{
	// It takes a step to put a piece of the waits, and up to nine to enter what it
	// comes to into the tables.
	size_t n = 1 + 16 * joint->n_more / joint->whole->blame->piece;
	while (n > 0 && tb_joint_records_step(joint, NULL))
		n--;
}

uint64_t tb_joint_records_waits(const struct tb_joint_records *joint)
{
	uint64_t wait_ps = joint->whole->wait_ps;
	for (uint32_t i = 0; i < joint->parts->n; i++)
		wait_ps += joint->of[i].records->wait_ps;
	return wait_ps;
}

static void add_cell(struct tb_cell *sum, const struct tb_cell *cell)
{
#define ROW(ID, field, column, type, adds, ...) TB_FIGURE_##adds(sum->field, cell->field);
	TB_LINK_FIGURES(ROW)
#undef ROW
}

// gather_link adds the other cells of a crossing link to the one that every link has, and
// clears them.
static void gather_link(struct tb_joint_records *joint, uint32_t link, uint32_t number)
{
	struct tb_cell *sum = joint->whole->cells[link];
	if (joint->near_cells) {
		add_cell(sum, &joint->near_cells[number]);
		tb_cell_clear(&joint->near_cells[number], link);
		return;
	}
	for (uint32_t i = 0; i < joint->parts->n; i++) {
		struct tb_cell *own = &joint->of[i].own_cells[number];
		if (!own->touched)
			continue;
		add_cell(sum, own);
		*own = (struct tb_cell){0};
	}
}

// gather_words has the whole count what the parts have counted of one of the stretches of
// links, each of 64.
static void gather_words(void *context, uint32_t index)
{
	struct tb_joint_records *joint = context;
	uint32_t word = tb_records_first_word(joint->whole, index);
	uint32_t end = tb_records_first_word(joint->whole, index + 1);
	for (; word < end; word++) {
		uint64_t bits = 0;
		for (uint32_t i = 0; i < joint->parts->n; i++) {
			bits |= joint->of[i].records->touched[word];
			joint->of[i].records->touched[word] = 0;
		}
		joint->whole->touched[word] |= bits;
		for (; bits; bits &= bits - 1) {
			uint32_t link = word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t number = joint->parts->crossing_of[link];
			if (number != TB_ID_NONE)
				gather_link(joint, link, number);
		}
	}
}

static void joint_run(struct tb_joint_records *joint, uint32_t n,
	void (*task)(void *context, uint32_t index))
{
	if (joint->team)
		tb_team_run(joint->team, n, task, joint);
	for (uint32_t i = 0; i < n && !joint->team; i++)
		task(joint, i);
}

static void joint_pour(void *context, uint32_t part)
{
	const struct tb_joint_records *joint = context;
	tb_records_pour(joint->of[part].records);
}

int tb_joint_records_close(struct tb_joint_records *joint, struct tb_error *error)
{
	struct tb_records *whole = joint->whole;
	if (whole->keeps_bins && whole->bin > UINT32_MAX)
		return tb_fail(error, TB_ECAPACITY,
			"processes keep 2^32 time bins at most: give them a greater "
			"width");
	joint_run(joint, TB_RECORDS_SLICES, gather_words);
	int status = tb_records_close(whole, error);
	joint_follow(joint);
	joint_run(joint, joint->parts->n, joint_pour);
	for (uint32_t i = 0; i < joint->parts->n; i++)
		whole->failed |= joint->of[i].records->failed;
	return status == TB_OK ? tb_records_check_memory(whole, error) : status;
}

bool tb_joint_records_idle(const struct tb_joint_records *joint)
{
	for (uint32_t i = 0; i < joint->parts->n; i++)
		if (!tb_records_idle(joint->of[i].records))
			return false;
	return tb_records_idle(joint->whole);
}

void tb_joint_records_jump(struct tb_joint_records *joint, tb_time_ps now)
{
	tb_records_jump(joint->whole, now);
	joint_follow(joint);
}

int tb_joint_records_finish(struct tb_joint_records *joint, struct tb_error *error)
{
	struct tb_records *whole = joint->whole;
	if (!whole->observer)
		return TB_OK;
	for (uint32_t i = 0; i < joint->parts->n; i++) {
		struct tb_records *records = joint->of[i].records;
		tb_records_forget_spills(records);
		if (tb_records_add_losses(whole, records) != TB_OK)
			whole->failed = true;
	}
	tb_joint_records_enter(joint, joint->team);
	(void)tb_joint_records_turn(joint, 1);
	tb_joint_records_enter(joint, joint->team);
	return tb_records_finish(whole, error);
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
