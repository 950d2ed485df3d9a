// What both runs come to beside what was recorded: the whole run and each kind of call.
#include "compare_impl.h"

#include "array.h"
#include "recorded_ranks.h"

#include <string.h>

// add_recorded_row makes a row of a row of run `which`, unless there is one of its job
// and name of which the same was recorded: what replays another recording is not held
// against this one.
static int add_recorded_row(struct tb_compare *compare, const struct tb_recorded_row *row,
	const char *name, int which)
{
	struct tb_recorded_mover *at = NULL;
	for (size_t i = 0; i < compare->n_recorded && !at; i++)
		if (compare->recorded[i].job == row->job &&
			compare->recorded[i].recorded_ps == row->recorded_ps &&
			strcmp(compare->recorded[i].name, name) == 0)
			at = &compare->recorded[i];
	if (!at) {
		if (TB_ARRAY_MORE(compare, recorded) != TB_OK)
			return TB_ENOMEM;
		at = &compare->recorded[compare->n_recorded++];
		*at = (struct tb_recorded_mover){
			.job = row->job, .name = name, .recorded_ps = row->recorded_ps};
	}
	at->simulated_ps[which] = row->simulated_ps;
	at->known[which] = !row->unmodelled;
	return TB_OK;
}

static int add_recorded_list(
	struct tb_compare *compare, const struct tb_recorded *recorded, int which)
{
	int status = TB_OK;
	for (size_t i = 0; i < recorded->jobs.n && status == TB_OK; i++)
		status = add_recorded_row(
			compare, &recorded->jobs.rows[i], "whole run", which);
	for (size_t i = 0; i < recorded->kinds.n && status == TB_OK; i++)
		status = add_recorded_row(compare, &recorded->kinds.rows[i],
			recorded->kinds.rows[i].name, which);
	return status;
}

int tb_compare_gather_recorded(struct tb_compare *compare, struct tb_error *error)
{
	int status = TB_OK;
	for (int i = 0; i < 2 && status == TB_OK; i++)
		status = tb_recorded_init(
			&compare->of_traces[i], compare->runs[i].run, error);
	for (int i = 0; i < 2 && status == TB_OK; i++)
		if (add_recorded_list(compare, &compare->of_traces[i], i) != TB_OK)
			status = tb_fail_memory(error, "what was recorded");
	if (status == TB_OK &&
		tb_recorded_put_beside(&compare->ranks, &compare->n_ranks,
			&compare->of_traces[0], &compare->of_traces[1]) != TB_OK)
		status = tb_fail_memory(error, "what was recorded");
	return status;
}

static void put_side(struct tb_datum *at)
{
	const struct tb_recorded_mover *item = at->item;
	at->unknown = !item->known[at->column->which];
	at->whole = item->simulated_ps[at->column->which];
}

static void put_error(struct tb_datum *at)
{
	const struct tb_recorded_mover *item = at->item;
	uint32_t which = at->column->which;
	at->unknown =
		!item->known[which] || !tb_recorded_percent(item->recorded_ps,
					       item->simulated_ps[which], &at->real);
}

#define ROW(member)   TB_MEMBER(struct tb_recorded_mover, member)
#define AGAINST	      "Simulated against recorded"
#define SIGNED_OR_NOT (TB_COLUMN_NULL | TB_COLUMN_SIGNED)

static const struct tb_column columns[] = {
	{"job", NULL, NULL, TB_DATUM_ID, ROW(job)},
	{"what", "What", "The whole run, or a kind of call: the sum over its calls",
		TB_DATUM_TEXT, ROW(name)},
	{"recorded_ps", "Recorded", "As the trace has it", TB_DATUM_TIME,
		ROW(recorded_ps)},
	{"simulated_a_ps", "Simulated in A", "In the first run", TB_DATUM_TIME,
		.put = put_side, .flags = TB_COLUMN_NULL},
	{"change_a_percent", "Change", AGAINST, TB_DATUM_PERCENT, .put = put_error,
		.flags = SIGNED_OR_NOT},
	{"simulated_b_ps", "Simulated in B", "In the second run", TB_DATUM_TIME,
		.put = put_side, .flags = TB_COLUMN_NULL, .which = 1},
	{"change_b_percent", "Change", AGAINST, TB_DATUM_PERCENT, .put = put_error,
		.flags = SIGNED_OR_NOT, .which = 1},
};

const struct tb_table_type tb_compare_list_recorded = {"recorded",
	"Recorded and simulated",
	"What the traces recorded, beside both runs: the whole run, and each kind of "
	"call.",
	TB_COLUMNS(columns), TB_ROWS(struct tb_compare, recorded),
	.n = TB_COUNT(struct tb_compare, n_recorded), .what = "rows", .all = true,
	.remark = "Calls and messages: the sum of their times. The recorded network "
		  "may be another one."};

static const struct tb_column rank_columns[] = {TB_RANK_JOB_COLUMN, TB_RANK_COLUMNS,
	TB_RANK_SIDE_COLUMNS("_a", " in A", 0), TB_RANK_SIDE_COLUMNS("_b", " in B", 1)};

const struct tb_table_type tb_compare_list_ranks = {"recorded-ranks",
	"Recorded and simulated by rank",
	"What the traces recorded of each rank, beside both runs.",
	TB_COLUMNS(rank_columns), TB_ROWS(struct tb_compare, ranks),
	.n = TB_COUNT(struct tb_compare, n_ranks), .what = "ranks",
	.remark = TB_RANK_REMARK};
