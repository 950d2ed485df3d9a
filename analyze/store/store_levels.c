#include "store_impl.h"

#include "sql.h"
#include "switchings.h"

#include <stdlib.h>
#include <string.h>

int tb_store_levels_init(struct tb_store_levels *levels, sqlite3 *db, const char *path,
	const struct tb_network *network, struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(network);
	struct tb_store_levels made = {.n_levels = tb_network_n_levels(network)};
	made.of_link = malloc(n_links + 1u);
	made.wait_ps = calloc(made.n_levels + 1u, sizeof *made.wait_ps);
	if (!made.of_link || !made.wait_ps) {
		tb_store_levels_fini(&made);
		return tb_fail_memory_in(error, path, "%u links", n_links);
	}
	const struct tb_switching_kind *kind =
		tb_switching_of(tb_network_params(network));
	bool came_by = !kind || kind->leads == TB_LEADS_CAME_BY;
	made.wait = came_by ? TB_CAME_BY : TB_WAIT_FOR;
	for (uint32_t i = 0; i < n_links; i++) {
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		bool at_node =
			at.kind == (came_by ? TB_LINK_EJECTION : TB_LINK_INJECTION);
		const struct tb_switch sw = {came_by ? at.to : at.from};
		made.of_link[i] = at_node ? UINT8_MAX
					  : (uint8_t)tb_network_switch(network, sw).level;
	}
	int status = tb_sql_prepare(db, path,
		"INSERT INTO level_bin ("
		"run, bin, level, wait_ps) "
		"VALUES (?,?,?,?)",
		&made.insert, error);
	if (status)
		tb_store_levels_fini(&made);
	else
		*levels = made;
	return status;
}

void tb_store_levels_fini(struct tb_store_levels *levels)
{
	sqlite3_finalize(levels->insert);
	free(levels->of_link);
	free(levels->wait_ps);
	*levels = (struct tb_store_levels){0};
}

int tb_store_levels_write(struct tb_store_levels *levels, const char *path, int64_t run,
	uint64_t bin, const struct tb_link_sample *samples, size_t n,
	struct tb_error *error)
{
	int status = TB_OK;
	memset(levels->wait_ps, 0, levels->n_levels * sizeof *levels->wait_ps);
	for (size_t i = 0; i < n; i++) {
		uint8_t level = levels->of_link[samples[i].link.id];
		if (level < levels->n_levels)
			levels->wait_ps[level] += samples[i].figures[levels->wait];
	}
	for (uint32_t level = 0; !status && level < levels->n_levels; level++) {
		if (levels->wait_ps[level] == 0)
			continue;
		sqlite3_bind_int64(levels->insert, 1, run);
		sqlite3_bind_int64(levels->insert, 2, (int64_t)bin);
		sqlite3_bind_int64(levels->insert, 3, level);
		sqlite3_bind_int64(levels->insert, 4, (int64_t)levels->wait_ps[level]);
		status = tb_sql_run(levels->insert, path, error);
	}
	return status;
}
