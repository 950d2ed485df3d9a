// The figures of ranks, as recorded and as simulated.
#include "recorded_ranks.h"

static void put_known_percent(struct tb_datum *at, bool known, double percent)
{
	at->unknown = !known;
	at->real = percent;
}

static void put_rank_share(struct tb_datum *at, int64_t part_ps, int64_t whole_ps)
{
	bool known = whole_ps > 0;
	put_known_percent(
		at, known, known ? 100.0 * (double)part_ps / (double)whole_ps : 0);
}

static void put_rank_change(struct tb_datum *at, int64_t was_ps, int64_t is_ps)
{
	double percent = 0;
	bool known = tb_recorded_percent(was_ps, is_ps, &percent);
	put_known_percent(at, known, percent);
	if (!at->unknown)
		tb_put_text(at, "%+.1f %%", percent);
}

// put_recorded puts what does not depend on the run.
static void put_recorded(struct tb_datum *at, enum tb_rank_figure figure,
	const struct tb_recorded_row *row)
{
	if (figure == TB_RANK_JOB)
		at->whole = row->job;
	else if (figure == TB_RANK_NUMBER)
		at->whole = row->rank;
	else if (figure == TB_RANK_CALLS)
		at->whole = (int64_t)row->n;
	else if (figure == TB_RANK_RECORDED_END)
		at->whole = row->recorded_at_ps;
	else if (figure == TB_RANK_RECORDED)
		at->whole = row->recorded_ps;
	else
		put_rank_share(at, row->recorded_ps, row->recorded_at_ps);
}

void tb_put_rank(struct tb_datum *at)
{
	const struct tb_recorded_beside *item = at->item;
	const struct tb_recorded_row *row = item->sides[at->column->which % 2];
	enum tb_rank_figure figure = (enum tb_rank_figure)(at->column->which / 2);
	if (figure <= TB_RANK_RECORDED_SHARE)
		put_recorded(at, figure, item->sides[item->sides[0] == NULL]);
	else if (row) {
		if (figure == TB_RANK_SIMULATED_CALLS)
			at->whole = (int64_t)row->n_simulated;
		else if (figure == TB_RANK_SIMULATED_END)
			at->whole = row->simulated_at_ps;
		else if (figure == TB_RANK_END_CHANGE)
			put_rank_change(at, row->recorded_at_ps, row->simulated_at_ps);
		else if (figure == TB_RANK_SIMULATED)
			at->whole = row->simulated_ps;
		else if (figure == TB_RANK_CHANGE)
			put_rank_change(at, row->recorded_ps, row->simulated_ps);
		else
			put_rank_share(at, row->simulated_ps, row->simulated_at_ps);
	} else
		at->unknown = true;
}

static const struct tb_column columns[] = {
	TB_RANK_COLUMNS, TB_RANK_SIDE_COLUMNS("", "", 0)};

static void list_recorded_beside_ranks(struct tb_table *table)
{
	const struct tb_recorded *recorded = table->of;
	table->n_rows = table->n_shown = recorded->ranks.n;
}

const struct tb_table_type tb_recorded_rank_list = {"ranks", "By rank", NULL,
	TB_COLUMNS(columns), TB_ROWS(struct tb_recorded, beside),
	.list = list_recorded_beside_ranks};
