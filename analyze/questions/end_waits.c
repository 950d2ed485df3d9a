#include "end_waits.h"

#include "flow_row.h"
#include "select.h"
#include "waits_impl.h"

#include <stdlib.h>

static int longest_first(const void *one, const void *other)
{
	const struct tb_end_wait *a = one, *b = other;
	if (a->wait_ps != b->wait_ps)
		return a->wait_ps > b->wait_ps ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int most_blamed_first(const void *one, const void *other)
{
	const struct tb_end_wait *a = one, *b = other;
	if (a->blamed_ps != b->blamed_ps)
		return a->blamed_ps > b->blamed_ps ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

// leaves_of finds the switch that joins each node to the network, on the first rail.
static uint32_t *leaves_of(const struct tb_run *run)
{
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t *leaves = calloc((size_t)info->n_nodes + 1, sizeof *leaves);
	for (uint32_t i = info->n_links; leaves && i-- > 0;)
		if (links[i].at.kind == TB_LINK_INJECTION &&
			links[i].at.from < info->n_nodes)
			leaves[links[i].at.from] = links[i].at.to;
	return leaves;
}

// add_flows adds up the flows in `rows`, by the id of their end.
static int add_flows(struct tb_run *run, enum tb_end end, const uint32_t *leaves,
	struct tb_end_wait *rows, struct tb_error *error)
{
	bool by_source = end == TB_END_SOURCE || end == TB_END_SOURCE_LEAF;
	bool by_leaf = end == TB_END_SOURCE_LEAF || end == TB_END_DESTINATION_LEAF;
	struct tb_run_row row;
	int status = tb_run_query(run,
		by_source ? "SELECT source, wait_ps, blamed_ps FROM flow WHERE run = ?1"
			  : "SELECT destination, wait_ps, blamed_ps FROM flow WHERE run "
			    "= ?1",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "flow", &row, error)) > 0) {
		uint32_t node = tb_run_get_id(&row, 0, run->record.info.n_nodes);
		struct tb_end_wait *at = &rows[by_leaf ? leaves[node] : node];
		at->wait_ps += tb_run_get(&row, 1, INT64_MAX);
		at->blamed_ps += tb_run_get(&row, 2, INT64_MAX);
	}
	sqlite3_finalize(row.query);
	return status;
}

static void list(struct tb_end_waits *waits, uint32_t n, bool blamed, uint32_t top)
{
	uint32_t n_all = 0;
	for (uint32_t i = 0; i < n; i++) {
		waits->rows[i].id = i;
		uint64_t wait_ps =
			blamed ? waits->rows[i].blamed_ps : waits->rows[i].wait_ps;
		waits->listed.whole_ps += (double)wait_ps;
		n_all += wait_ps > 0;
	}
	waits->listed.n_all = n_all;
	waits->listed.n = top && top < n_all ? top : n_all;
	tb_select_first(waits->rows, n, sizeof *waits->rows, waits->listed.n,
		blamed ? most_blamed_first : longest_first);
	for (uint32_t i = 0; i < waits->listed.n; i++)
		waits->listed.listed_ps += (double)(blamed ? waits->rows[i].blamed_ps
							   : waits->rows[i].wait_ps);
}

int tb_end_waits_init(struct tb_end_waits *waits, struct tb_run *run, enum tb_end end,
	bool blamed, uint32_t top, struct tb_error *error)
{
	bool by_leaf = end == TB_END_SOURCE_LEAF || end == TB_END_DESTINATION_LEAF;
	const struct tb_run_info *info = tb_run_info(run);
	uint32_t n = by_leaf ? info->n_switches : info->n_nodes;
	struct tb_end_waits made = {
		.end = end, .rows = calloc((size_t)n + 1, sizeof *made.rows)};
	uint32_t *leaves = leaves_of(run);
	int status = made.rows && leaves ? add_flows(run, end, leaves, made.rows, error)
					 : tb_fail_in(error, TB_ENOMEM, run->path,
						   "no memory for blame");
	free(leaves);
	if (status) {
		tb_end_waits_fini(&made);
		return status;
	}
	list(&made, n, blamed, top);
	*waits = made;
	return TB_OK;
}

void tb_end_waits_fini(struct tb_end_waits *waits)
{
	free(waits->rows);
	*waits = (struct tb_end_waits){0};
}

static void take_flow(const struct tb_run *run, struct tb_run_row *row, void *taken)
{
	*(struct tb_flow_sample *)taken = tb_flow_row_get(run, row, 1);
}

#define FLOWS "SELECT " TB_FLOW_COLUMNS "FROM flow WHERE run = ?1 AND "

int tb_flows_by_wait(struct tb_run *run, bool blamed, uint32_t top,
	struct tb_flow_sample **flows, struct tb_listed *listed, struct tb_error *error)
{
	const struct tb_waits_query query = {.table = "flow",
		.rows = blamed ? FLOWS "blamed_ps > 0" : FLOWS "wait_ps > 0",
		.ids = "job, source, destination",
		.wait = blamed ? "blamed_ps" : "wait_ps",
		.size = sizeof **flows,
		.take = take_flow};
	struct tb_listed made = {0};
	void *rows = NULL;
	int status = tb_waits_list(run, &query, top, &rows, &made, error);
	if (status)
		return status;
	*flows = rows;
	*listed = made;
	return TB_OK;
}
