// What was not measured of the links of a run of counters, and so of the switches that
// only such links lead to. Stores of older versions mark no link.
#include "run_impl.h"
#include "store_counts.h"

#include <string.h>

static void mark_switches(struct tb_run *run)
{
	const struct tb_run_info *info = &run->record.info;
	for (uint32_t i = 0; i < info->n_switches; i++)
		run->switches[i].lacks = TB_LACKS_ALL;
	for (uint32_t i = 0; i < info->n_links; i++) {
		const struct tb_run_link *link = &run->links[i];
		struct tb_run_switch *to = link->at.kind == TB_LINK_EJECTION
						   ? NULL
						   : &run->switches[link->at.to];
		if (to && link->lacks < to->lacks)
			to->lacks = link->lacks;
	}
}

int tb_run_unmeasured_load(struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT link, counter = '" TB_LINK_NOT_MEASURED "' FROM link_count WHERE "
		"run = ?1 AND counter IN ('" TB_LINK_NOT_MEASURED
		"', '" TB_LINK_STALL_NOT_MEASURED "') ORDER BY link",
		&row, error);
	if (status)
		return status;
	for (uint32_t i = 0; i < run->record.info.n_links; i++)
		run->links[i].lacks = tb_run_is_measured(&run->record.info)
					      ? TB_LACKS_CAME_BY
					      : TB_LACKS_NOTHING;
	while ((status = tb_run_next(run, "link_count", &row, error)) > 0) {
		uint32_t link = tb_run_get_id(&row, 0, run->record.info.n_links);
		enum tb_run_lack lacks =
			tb_run_get(&row, 1, 1) ? TB_LACKS_ALL : TB_LACKS_STALL;
		if (!row.bad)
			run->links[link].lacks = lacks;
	}
	sqlite3_finalize(row.query);
	memset(run->n_lacking, 0, sizeof run->n_lacking);
	for (uint32_t i = 0; i < run->record.info.n_links; i++)
		run->n_lacking[run->links[i].lacks]++;
	if (run->n_lacking[TB_LACKS_NOTHING] < run->record.info.n_links)
		mark_switches(run);
	return status;
}

bool tb_run_unmeasured(enum tb_run_lack lacks, enum tb_metric metric)
{
	if (metric == TB_CAME_BY)
		return lacks >= TB_LACKS_CAME_BY;
	return lacks == TB_LACKS_ALL ||
	       (lacks == TB_LACKS_STALL &&
		       (metric == TB_WAIT || metric == TB_WAIT_FOR ||
			       metric == TB_STALL || metric == TB_LONGEST));
}

uint32_t tb_run_n_unmeasured(const struct tb_run *run, enum tb_metric metric)
{
	uint32_t n = 0;
	for (int lacks = TB_LACKS_NOTHING; lacks <= TB_LACKS_ALL; lacks++)
		if (tb_run_unmeasured((enum tb_run_lack)lacks, metric))
			n += run->n_lacking[lacks];
	return n;
}
