// Which links and switches of a run are dead, and from when on.
#include "run_impl.h"

#include <stdlib.h>

static void die(tb_time_ps *dead_at_ps, tb_time_ps at_ps)
{
	if (at_ps < *dead_at_ps)
		*dead_at_ps = at_ps;
}

// take_fault notes a cable's two links, or a switch; its cables come later, in one pass.
static void take_fault(struct tb_run *run, struct tb_run_row *row)
{
	const struct tb_run_info *info = &run->record.info;
	bool of_switch = sqlite3_column_type(row->query, 0) == SQLITE_NULL;
	uint32_t id = of_switch ? tb_run_get_id(row, 1, info->n_switches)
				: tb_run_get_id(row, 0, info->n_links);
	tb_time_ps at_ps = (tb_time_ps)tb_run_get(row, 2, INT64_MAX);
	if (row->bad)
		return;
	run->n_faults++;
	if (of_switch) {
		die(&run->switches[id].dead_at_ps, at_ps);
		return;
	}
	die(&run->links[id].dead_at_ps, at_ps);
	die(&run->links[run->links[id].at.reverse.id].dead_at_ps, at_ps);
}

// A switch dies with all its cables.
static void fault_spread_to_links(struct tb_run *run)
{
	for (uint32_t i = 0; i < run->record.info.n_links; i++) {
		struct tb_run_link *link = &run->links[i];
		if (link->at.kind != TB_LINK_INJECTION)
			die(&link->dead_at_ps, run->switches[link->at.from].dead_at_ps);
		if (link->at.kind != TB_LINK_EJECTION)
			die(&link->dead_at_ps, run->switches[link->at.to].dead_at_ps);
	}
}

int tb_run_faults_load(struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	for (uint32_t i = 0; i < run->record.info.n_links; i++)
		run->links[i].dead_at_ps = TB_TIME_NEVER;
	for (uint32_t i = 0; i < run->record.info.n_switches; i++)
		run->switches[i].dead_at_ps = TB_TIME_NEVER;
	int status = tb_run_query(run,
		"SELECT link, switch, at_ps FROM fault WHERE run = ?1 ORDER BY fault",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "fault", &row, error)) > 0)
		take_fault(run, &row);
	sqlite3_finalize(row.query);
	if (run->n_faults)
		fault_spread_to_links(run);
	return status;
}

uint32_t tb_run_n_faults(const struct tb_run *run)
{
	return run->n_faults;
}
