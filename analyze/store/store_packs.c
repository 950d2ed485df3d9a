#include "store_impl.h"

#include "sql.h"

int tb_store_packs_init(struct tb_store_packs *packs, sqlite3 *db, const char *path,
	struct tb_error *error)
{
	return tb_sql_prepare(db, path,
		"INSERT INTO link_pack (run, bin, pack, links) VALUES (?,?,?,?)",
		&packs->insert, error);
}

void tb_store_packs_fini(struct tb_store_packs *packs)
{
	sqlite3_finalize(packs->insert);
	packs->insert = NULL;
}

// packs_write_all stores samples by `insert`, whose ?1 is the run, ?2 the bin, ?3 the
// pack and ?4 its text.
static int packs_write_all(struct tb_store_packs *packs, sqlite3_stmt *insert,
	const char *path, const struct tb_link_sample *samples, size_t n,
	struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0, n_bytes = 0; !status && i < n;) {
		uint32_t pack = samples[i].link.id / TB_PACK_LINKS;
		i += tb_link_pack_write(samples + i, n - i, packs->text, &n_bytes);
		if (n_bytes == 0)
			continue;
		sqlite3_bind_int64(insert, 3, pack);
		sqlite3_bind_text(insert, 4, packs->text, (int)n_bytes, SQLITE_STATIC);
		status = tb_sql_run(insert, path, error);
	}
	return status;
}

int tb_store_packs_write(struct tb_store_packs *packs, const char *path, int64_t run,
	uint64_t bin, const struct tb_link_sample *samples, size_t n,
	struct tb_error *error)
{
	sqlite3_bind_int64(packs->insert, 1, run);
	sqlite3_bind_int64(packs->insert, 2, (int64_t)bin);
	return packs_write_all(packs, packs->insert, path, samples, n, error);
}

int tb_store_packs_write_totals(struct tb_store_packs *packs, sqlite3 *db,
	const char *path, int64_t run, const struct tb_link_sample *totals, size_t n,
	struct tb_error *error)
{
	sqlite3_stmt *insert = NULL;
	int status = tb_sql_prepare(db, path,
		"INSERT INTO total_pack (run, pack, links) VALUES (?1,?3,?4)", &insert,
		error);
	if (status)
		return status;
	sqlite3_bind_int64(insert, 1, run);
	status = packs_write_all(packs, insert, path, totals, n, error);
	sqlite3_finalize(insert);
	return status;
}
