#include "rank_seats.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>

static int take_seat(
	struct tb_rank_seats *seats, const struct tb_run *run, struct tb_run_row *row)
{
	const struct tb_run_info *info = &run->record.info;
	if (TB_ARRAY_RESERVE(&seats->seats, &seats->room, seats->n + 1) != TB_OK)
		return TB_ENOMEM;
	seats->seats[seats->n++] =
		(struct tb_rank_seat){.job = tb_run_get_id(row, 0, info->n_jobs),
			.rank = tb_run_get32(row, 1, UINT32_MAX - 1),
			.node = {tb_run_get_id(row, 2, info->n_nodes)}};
	return TB_OK;
}

int tb_rank_seats_init(
	struct tb_rank_seats *seats, struct tb_run *run, struct tb_error *error)
{
	struct tb_rank_seats made = {0};
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT job, rank, node FROM job_node WHERE run = ?1 ORDER BY job, rank",
		&row, error);
	if (status)
		return status;
	while (!status && (status = tb_run_next(run, "job_node", &row, error)) > 0) {
		status = take_seat(&made, run, &row);
		if (status)
			status = tb_fail_memory_in(error, run->path, "the ranks");
	}
	sqlite3_finalize(row.query);
	if (status)
		tb_rank_seats_fini(&made);
	else
		*seats = made;
	return status;
}

void tb_rank_seats_fini(struct tb_rank_seats *seats)
{
	free(seats->seats);
	*seats = (struct tb_rank_seats){0};
}

static int order_seats_by_rank(const void *left, const void *right)
{
	const struct tb_rank_seat *a = left, *b = right;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

struct tb_node tb_rank_seats_node(
	const struct tb_rank_seats *seats, uint32_t job, uint32_t rank)
{
	const struct tb_rank_seat key = {.job = job, .rank = rank};
	const struct tb_rank_seat *seat =
		seats->n ? bsearch(&key, seats->seats, seats->n, sizeof key,
				   order_seats_by_rank)
			 : NULL;
	return seat ? seat->node : (struct tb_node){TB_ID_NONE};
}
