#include "store_alone.h"

#include "sql.h"
#include "store_impl.h"

static int alone_finish(
	struct tb_store *store, sqlite3_stmt *query, int status, struct tb_error *error)
{
	if (!status)
		status = tb_sql_run(query, tb_store_path(store), error);
	sqlite3_finalize(query);
	return status;
}

int tb_store_put_alone(struct tb_store *store, const struct tb_alone_sample *sample,
	struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(tb_store_db(store), tb_store_path(store),
		"INSERT INTO job_alone ("
		"run, job, network, run_ps, messages, latency_ps) "
		"VALUES (?,?,?,?,?,?)",
		&query, error);
	if (!status) {
		sqlite3_bind_int64(query, 1, tb_store_run(store));
		sqlite3_bind_int64(query, 2, sample->job);
		sqlite3_bind_text(
			query, 3, sample->ideal ? "ideal" : "same", -1, SQLITE_STATIC);
		sqlite3_bind_int64(query, 4, sample->run_ps);
		sqlite3_bind_int64(query, 5, (int64_t)sample->n_messages);
		sqlite3_bind_int64(query, 6, (int64_t)sample->latency_ps);
	}
	return alone_finish(store, query, status, error);
}

int tb_store_put_run_alone(struct tb_store *store, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(tb_store_db(store), tb_store_path(store),
		"INSERT INTO job_alone ("
		"run, job, network, run_ps, messages, latency_ps) "
		"SELECT run, job, 'same', last_ps - first_ps, "
		"messages, latency_ps FROM job_total WHERE run = ?1 AND messages > 0",
		&query, error);
	if (!status)
		sqlite3_bind_int64(query, 1, tb_store_run(store));
	return alone_finish(store, query, status, error);
}

// Messages that come earlier may come in another order, and a job take longer by it
// (Graham, SIAM J. Appl. Math. 17, 1969): that its hosts and links need no such time, its
// own replay shows.
int tb_store_bound_ideal(struct tb_store *store, struct tb_error *error)
{
	static const char *const steps[] = {
		"DELETE FROM job_alone AS i WHERE run = ?1 AND network = 'ideal' AND "
		"EXISTS "
		"(SELECT 1 FROM job_alone AS s WHERE s.run = i.run AND s.job = i.job AND "
		"s.network = 'same' AND s.messages < i.messages)",
		"UPDATE job_alone AS i SET run_ps = min(i.run_ps, s.run_ps), "
		"latency_ps = min(i.latency_ps, s.latency_ps) FROM job_alone AS s WHERE "
		"i.run = ?1 AND i.network = 'ideal' AND s.run = i.run AND s.job = i.job "
		"AND "
		"s.network = 'same'"};
	int status = TB_OK;
	for (size_t i = 0; i < 2 && status == TB_OK; i++) {
		sqlite3_stmt *query = NULL;
		status = tb_sql_prepare(tb_store_db(store), tb_store_path(store),
			steps[i], &query, error);
		if (!status)
			sqlite3_bind_int64(query, 1, tb_store_run(store));
		status = alone_finish(store, query, status, error);
	}
	return status;
}

int tb_store_put_range(struct tb_store *store, const struct tb_range_sample *sample,
	struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(tb_store_db(store), tb_store_path(store),
		"INSERT INTO run_range ("
		"run, least_ps, most_ps, calls, hidden, untold) "
		"VALUES (?,?,?,?,?,?)",
		&query, error);
	if (!status) {
		sqlite3_bind_int64(query, 1, tb_store_run(store));
		sqlite3_bind_int64(query, 2, sample->least_ps);
		sqlite3_bind_int64(query, 3, sample->most_ps);
		sqlite3_bind_int64(query, 4, (int64_t)sample->n_calls);
		sqlite3_bind_int64(query, 5, (int64_t)sample->n_hidden);
		sqlite3_bind_int64(query, 6, (int64_t)sample->n_untold);
	}
	return alone_finish(store, query, status, error);
}

int tb_store_put_bound(struct tb_store *store, const struct tb_bound_sample *sample,
	struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(tb_store_db(store), tb_store_path(store),
		"INSERT INTO run_bound (run, compute_ps, closed_ps, ideal_ps) VALUES "
		"(?,?,?,?)",
		&query, error);
	if (!status) {
		sqlite3_bind_int64(query, 1, tb_store_run(store));
		sqlite3_bind_int64(query, 2, sample->compute_ps);
		sqlite3_bind_int64(query, 3, sample->closed_ps);
		sqlite3_bind_int64(query, 4, sample->ideal_ps);
	}
	return alone_finish(store, query, status, error);
}
