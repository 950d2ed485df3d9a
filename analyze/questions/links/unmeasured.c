#include "unmeasured.h"

#include "run_impl.h"
#include "store_counts.h"

#include <stdlib.h>

int tb_unmeasured_read(bool **unmeasured, struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	uint32_t n_links = run->record.info.n_links;
	bool *made = calloc(n_links + 1u, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the links");
	int status = tb_run_query(run,
		"SELECT link FROM link_count WHERE run = ?1 AND "
		"counter = '" TB_LINK_NOT_MEASURED "' ORDER BY link",
		&row, error);
	if (status) {
		free(made);
		return status;
	}
	while ((status = tb_run_next(run, "link_count", &row, error)) > 0) {
		uint32_t link = tb_run_get_id(&row, 0, n_links);
		if (!row.bad)
			made[link] = true;
	}
	sqlite3_finalize(row.query);
	if (status)
		free(made);
	else
		*unmeasured = made;
	return status;
}
