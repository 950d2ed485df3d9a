#include "store.h"

#include "progress.h"
#include "sql.h"
#include "stop.h"
#include "store_image.h"
#include "store_impl.h"
#include "store_output.h"
#include "stored_tables.h"
#include "switchings.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// One commit per second costs little (a commit with NORMAL waits for the disk twice) and
// keeps a live reader up to date; the rows bound the memory of a transaction.
#define COMMIT_EVERY_S	  1.0
#define COMMIT_EVERY_ROWS 262144

// A commit that meets a reader is tried again later, up to the end of the run.
#define COMMIT_PATIENCE_MS 50

// A network with more links is not written into memory first but straight into a file
// that holds the tables: 72 bytes per link.
#define LINKS_IN_MEMORY (1 << 22)

// A run that is asked to stop may take so much processor time to store what is left of
// it, in which it writes about so many rows, or deletes three times as many.
#define STOP_PATIENCE_S 0.4
#define STOP_ROWS	400000

// Links of a bin, or of the run, on their way into packs.
struct link_packs {
	uint64_t bin;
	const struct tb_link_sample *samples; // that are left
	size_t n;
	uint64_t pack;
	struct tb_stored_bytes links;
	char text[TB_PACK_MOST];
};
#define RECORD struct link_packs
static const struct tb_stored_table bin_packs = TB_STORED_TABLE("link_pack", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN("pack", pack), TB_COLUMN("links", links));
static const struct tb_stored_table total_packs = TB_STORED_TABLE(
	"total_pack", RECORD, TB_COLUMN("pack", pack), TB_COLUMN("links", links));
#undef RECORD

// The figures of a link, of all bins.
struct link_total {
#define ROW(ID, field, ...) uint64_t field;
	TB_LINK_FIGURES(ROW)
#undef ROW
};

#define RECORD			       struct tb_bin_sum
#define FIGURE(ID, field, column, ...) , TB_COLUMN(column, sample.field)
const struct tb_stored_table tb_bin_sums_stored = TB_STORED_TABLE(
	"bin_total", RECORD, TB_COLUMN("bin", bin) TB_LINK_FIGURES(FIGURE));
#undef RECORD

// Waits of a bin by the level of the switch where headers waited.
struct level_sums {
	uint8_t *of_link;    // level by link, of where its wait is; UINT8_MAX: a node
	uint64_t *wait_ps;   // by level, of the bin being written
	enum tb_metric wait; // the one that leads
	uint32_t n_levels;
};

struct level_row {
	uint64_t bin;
	uint32_t level;
	uint64_t wait_ps;
};
#define RECORD struct level_row
static const struct tb_stored_table level_bins = TB_STORED_TABLE("level_bin", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN("level", level), TB_COLUMN("wait_ps", wait_ps));
#undef RECORD

struct tb_store {
	sqlite3 *db;
	char *path;
	int lock;		// -1: none
	bool in_memory;		// `db`; `file` will hold it
	bool stays_in_memory;	// there is no file
	struct tb_newfile file; // of a new store
	bool only_tables;	// the file was made here and holds only tables
	bool made_here;		// the file; and n_ended runs of it were ended
	bool is_unset;		// nothing was written into it since it was made
	uint64_t n_ended;
	bool failed;
	bool whole;			   // the begun run is committed only at its end
	const volatile sig_atomic_t *stop; // of the begun run; NULL: none
	bool is_stopping;		   // it was seen set, at this processor time
	clock_t stopped_at;
	bool cut;		// records were left out to stop in time
	uint64_t n_rows_of_run; // of link_bin, since the bins began
	struct tb_error error;
	struct link_packs packs;
	struct tb_row_writer rows; // of the run that was begun last, ended or not
	bool begun;		   // and it has not ended
	struct link_total *totals; // by link
	struct tb_undelivered_sample *undelivered;
	struct tb_timeout_sample *timeouts;
	size_t n_undelivered, n_timeouts;
	uint64_t flow_bytes; // of whole messages
	struct level_sums levels;
	uint32_t n_links;
	tb_time_ps bin_ps;
	uint64_t n_bins; // observed since the start
	uint64_t n_rows; // since the last commit
	double committed_s;
	double commit_every_s;
	uint64_t commit_every_rows;
};

static void levels_fini(struct level_sums *levels)
{
	free(levels->of_link);
	free(levels->wait_ps);
	*levels = (struct level_sums){0};
}

// levels_init finds the level of each link of the network.
static int levels_init(struct level_sums *levels, const struct tb_network *network,
	const char *path, struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(network);
	*levels = (struct level_sums){.n_levels = tb_network_n_levels(network)};
	levels->of_link = malloc(n_links + 1u);
	levels->wait_ps = calloc(levels->n_levels + 1u, sizeof *levels->wait_ps);
	if (!levels->of_link || !levels->wait_ps)
		return tb_fail_memory_in(error, path, "%u links", n_links);
	const struct tb_switching_kind *kind =
		tb_switching_of(tb_network_params(network));
	bool came_by = !kind || kind->leads == TB_LEADS_CAME_BY;
	levels->wait = came_by ? TB_CAME_BY : TB_WAIT_FOR;
	for (uint32_t i = 0; i < n_links; i++) {
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		bool at_node =
			at.kind == (came_by ? TB_LINK_EJECTION : TB_LINK_INJECTION);
		const struct tb_switch sw = {came_by ? at.to : at.from};
		levels->of_link[i] =
			at_node ? UINT8_MAX
				: (uint8_t)tb_network_switch(network, sw).level;
	}
	return TB_OK;
}

void tb_store_free(struct tb_store *store)
{
	if (!store)
		return;
	// Keep the records of a run that was not ended, if they can still be written.
	if (store->begun && !store->failed && !store->whole)
		sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	tb_row_writer_fini(&store->rows);
	levels_fini(&store->levels);
	sqlite3_close(store->db);
	tb_newfile_close(&store->file);
	if (store->only_tables)
		unlink(store->path);
	tb_store_unlock(store->lock);
	free(store->totals);
	free(store->undelivered);
	free(store->timeouts);
	free(store->path);
	free(store);
}

// store_new opens the store at `path`, or one that stays in memory.
static int store_new(struct tb_store **store, const char *path, bool stays_in_memory,
	struct tb_error *error)
{
	struct tb_store *made = calloc(1, sizeof *made);
	if (made) {
		made->path = strdup(path);
		made->lock = -1;
		tb_store_commit_every(made, COMMIT_EVERY_S, COMMIT_EVERY_ROWS);
	}
	if (!made || !made->path) {
		free(made);
		return tb_fail_memory_in(error, path, "it");
	}
	made->in_memory = made->stays_in_memory = stays_in_memory;
	int status = TB_OK;
	if (!stays_in_memory)
		status = tb_store_lock(path, &made->lock, &made->in_memory, error);
	if (!status && stays_in_memory)
		status = tb_store_image_open(
			&made->db, TB_SQL_SMALL_PAGE_BYTES, path, error);
	else if (!status && made->in_memory)
		status = tb_store_made_open(&made->db, &made->file, path, error);
	else if (!status)
		status = tb_sql_open_writer(&made->db, path, error);
	made->is_unset = made->in_memory;
	if (!status)
		status = tb_row_writer_init(&made->rows, made->db, made->path, error);
	if (status) {
		tb_store_free(made);
		return status;
	}
	*store = made;
	return TB_OK;
}

int tb_store_create(struct tb_store **store, const char *path, struct tb_error *error)
{
	return store_new(store, path, false, error);
}

int tb_store_create_bytes(struct tb_store **store, struct tb_error *error)
{
	return store_new(store, "store in memory", true, error);
}

int tb_store_bytes(struct tb_store *store, unsigned char **bytes, size_t *size,
	struct tb_error *error)
{
	sqlite3_int64 n = 0;
	*bytes = sqlite3_serialize(store->db, "main", &n, 0);
	*size = (size_t)n;
	return *bytes ? TB_OK : tb_fail_memory_in(error, store->path, "what is sent");
}

const struct tb_error *tb_store_error(const struct tb_store *store)
{
	return &store->error;
}

// keep_error stores a callback's error. It rolls back, so that the file holds the last
// commit and is unlocked.
static int keep_error(struct tb_store *store, int status)
{
	if (status && !store->failed) {
		store->failed = true;
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	}
	return status;
}

// is_late returns whether a run that is asked to stop has taken too long to end.
static bool is_late(struct tb_store *store)
{
	if (!tb_stop_asked(store->stop))
		return false;
	clock_t now = clock();
	if (!store->is_stopping)
		store->stopped_at = now;
	store->is_stopping = true;
	return (double)(now - store->stopped_at) / CLOCKS_PER_SEC > STOP_PATIENCE_S;
}

// is_worth_voiding returns whether a run that is asked to stop would come further with
// bins written anew, of this width, than with those stored so far.
static bool is_worth_voiding(const struct tb_store *store, tb_time_ps bin_ps)
{
	uint64_t n_deleted = store->n_rows_of_run / 3;
	if (store->n_bins == 0 || n_deleted == 0)
		return true;
	double rows_a_bin = (double)store->n_rows_of_run / (double)store->n_bins;
	double n_new = ((double)STOP_ROWS - (double)n_deleted) / rows_a_bin;
	return n_new * (double)bin_ps > (double)store->n_bins * (double)store->bin_ps;
}

static int on_progress(void *store)
{
	return is_late(store);
}

static int cut_run(struct tb_store *store)
{
	store->cut = true;
	return tb_fail_in(&store->error, TB_ESTOPPED, store->path,
		"stopped before all of the run was stored");
}

const struct tb_undelivered_sample *tb_store_undelivered(
	const struct tb_store *store, size_t *n)
{
	*n = store->n_undelivered;
	return store->undelivered;
}

tb_time_ps tb_store_busy_ps(const struct tb_store *store, struct tb_link link)
{
	return store->totals && link.id < store->n_links
		       ? (tb_time_ps)store->totals[link.id].busy_ps
		       : 0;
}

uint64_t tb_store_flow_bytes(const struct tb_store *store)
{
	return store->flow_bytes;
}

const struct tb_timeout_sample *tb_store_timeouts(const struct tb_store *store, size_t *n)
{
	*n = store->n_timeouts;
	return store->timeouts;
}

bool tb_store_is_cut(const struct tb_store *store)
{
	return store->cut;
}

static int begin_write(struct tb_store *store, struct tb_error *error)
{
	int status = TB_OK;
	if (store->is_unset)
		status = tb_sql_set_writer(store->db, store->path, error);
	store->is_unset = status != TB_OK;
	return status ? status
		      : tb_sql_exec(store->db, store->path, "BEGIN IMMEDIATE", error);
}

// try_commit returns an SQLite code.
static int try_commit(struct tb_store *store, int patience_ms)
{
	store->n_rows = 0;
	store->committed_s = tb_clock_s();
	sqlite3_busy_timeout(store->db, patience_ms);
	return sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}

// publish writes a store that is in memory to its file, unless it stays there.
static int publish(struct tb_store *store, struct tb_error *error)
{
	int status = TB_OK;
	if (store->in_memory && !store->stays_in_memory) {
		tb_row_writer_fini(&store->rows);
		status = tb_store_made_publish(
			&store->db, &store->file, store->path, &store->lock, error);
		store->in_memory = status != TB_OK;
		store->made_here = store->is_unset = status == TB_OK;
		if (!status)
			status = tb_row_writer_init(
				&store->rows, store->db, store->path, error);
	}
	if (!status)
		store->only_tables = false;
	return status;
}

int tb_store_commit(struct tb_store *store, struct tb_error *error)
{
	if (try_commit(store, TB_SQL_PATIENCE_MS) != SQLITE_OK)
		return tb_sql_fail(error, store->db, store->path);
	return publish(store, error);
}

int tb_store_begin(struct tb_store *store, struct tb_error *error)
{
	return sqlite3_get_autocommit(store->db) ? begin_write(store, error) : TB_OK;
}

void tb_store_commit_every(struct tb_store *store, double seconds, uint64_t rows)
{
	store->commit_every_s = seconds;
	store->commit_every_rows = rows;
}

int tb_store_undo(struct tb_store *store, int status)
{
	if (status && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

struct tb_row_writer *tb_store_rows(struct tb_store *store)
{
	return &store->rows;
}

sqlite3 *tb_store_db(struct tb_store *store)
{
	return store->db;
}

bool tb_store_is_new(const struct tb_store *store)
{
	return store->in_memory && store->is_unset;
}

const char *tb_store_path(const struct tb_store *store)
{
	return store->path;
}

int tb_store_next_run(struct tb_store *store, int64_t *run, struct tb_error *error)
{
	return tb_store_find_next_run(store->db, store->path, run, error);
}

// is_asked_to_stop is a progress handler: SQLite interrupts the statement when it does
// not return 0.
static int is_asked_to_stop(void *stop)
{
	return tb_stop_asked(stop);
}

int tb_store_begin_run(struct tb_store *store, const struct tb_network *network,
	const struct tb_run_config *config, struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(network);
	struct link_total *totals = calloc(n_links ? n_links : 1, sizeof *totals);
	if (!totals)
		return tb_fail_memory_in(error, store->path, "%u links", n_links);
	int64_t before = store->rows.owner;
	int status = TB_OK;
	// Make the file before a run that is too large for memory, or that is committed
	// only at its end: another writer must be refused from now on.
	if (store->in_memory && (config->whole || n_links > LINKS_IN_MEMORY)) {
		status = sqlite3_get_autocommit(store->db)
				 ? publish(store, error)
				 : tb_store_commit(store, error);
		store->only_tables = !status && !store->stays_in_memory;
	}
	if (!status)
		status = tb_store_begin(store, error);
	if (!status) {
		// Check config->stop every so many steps of SQLite, some hundred rows.
		const volatile sig_atomic_t *stop = config->stop;
		if (stop)
			sqlite3_progress_handler(store->db, 10000, is_asked_to_stop,
				(void *)(uintptr_t)stop);
		status = tb_store_write_setup(&store->rows, network, config, error);
		sqlite3_progress_handler(store->db, 0, NULL, NULL);
	}
	if (!status && !config->whole)
		status = tb_store_commit(store, error);
	if (!status && !config->whole)
		status = begin_write(store, error);
	levels_fini(&store->levels);
	if (!status)
		status = levels_init(&store->levels, network, store->path, error);
	if (status) {
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
		store->rows.owner = before;
		free(totals);
		return status;
	}
	free(store->totals);
	store->totals = totals;
	store->n_undelivered = store->n_timeouts = 0;
	store->flow_bytes = 0;
	store->n_links = n_links;
	store->begun = true;
	store->n_bins = 0;
	store->n_rows_of_run = 0;
	store->bin_ps = 0;
	store->failed = store->cut = false;
	store->whole = config->whole;
	store->stop = config->whole ? NULL : config->stop;
	store->is_stopping = false;
	return TB_OK;
}

// next_link_pack packs the links that lie in the next pack in which anything happened.
static const void *next_link_pack(void *context)
{
	struct link_packs *packs = context;
	packs->links = (struct tb_stored_bytes){packs->text, 0};
	while (packs->n && packs->links.n_bytes == 0) {
		packs->pack = packs->samples->link.id / TB_PACK_LINKS;
		size_t n = tb_link_pack_write(
			packs->samples, packs->n, packs->text, &packs->links.n_bytes);
		packs->samples += n;
		packs->n -= n;
	}
	return packs->links.n_bytes ? packs : NULL;
}

// write_packs writes samples, sorted by link, into a table of packs.
static int write_packs(struct tb_store *store, const struct tb_stored_table *table,
	uint64_t bin, const struct tb_link_sample *samples, size_t n,
	struct tb_error *error)
{
	store->packs.bin = bin;
	store->packs.samples = samples;
	store->packs.n = n;
	return tb_rows_put_each(
		&store->rows, table, next_link_pack, &store->packs, error);
}

// write_totals writes what links come to, pack by pack.
static int write_totals(struct tb_store *store)
{
	struct tb_link_sample *samples = calloc(TB_PACK_LINKS, sizeof *samples);
	int status =
		samples ? TB_OK : tb_fail_memory_in(&store->error, store->path, "totals");
	for (uint32_t first = 0; first < store->n_links && !status;
		first += TB_PACK_LINKS) {
		uint32_t n = 0;
		for (; n < TB_PACK_LINKS && first + n < store->n_links; n++) {
			const struct link_total *total = &store->totals[first + n];
			samples[n].link.id = first + n;
#define ROW(ID, field, ...) samples[n].field = total->field;
			TB_LINK_FIGURES(ROW)
#undef ROW
		}
		status = write_packs(store, &total_packs, 0, samples, n, &store->error);
	}
	free(samples);
	return status;
}

// exec_for_run runs `sql`, whose ?1 is the begun run and ?2 `value`.
static int exec_for_run(struct tb_store *store, const char *sql, int64_t value)
{
	return tb_rows_exec(&store->rows, sql, value, &store->error);
}

static int store_start(void *context, tb_time_ps bin_ps)
{
	struct tb_store *store = context;
	if (store->failed || store->cut)
		return store->error.code;
	if (is_late(store) || (store->is_stopping && !is_worth_voiding(store, bin_ps)))
		return cut_run(store);
	assert(store->begun && bin_ps > 0);
	int status = TB_OK;
	if (store->n_bins) {
		status = exec_for_run(store, "DELETE FROM link_pack WHERE run = ?1", 0);
		if (!status)
			status = exec_for_run(
				store, "DELETE FROM bin_total WHERE run = ?1", 0);
		if (!status)
			status = exec_for_run(
				store, "DELETE FROM level_bin WHERE run = ?1", 0);
	}
	if (!status)
		status = exec_for_run(
			store, "UPDATE run SET bin_ps = ?2 WHERE run = ?1", bin_ps);
	// What was never written takes no memory.
	if (store->n_bins)
		memset(store->totals, 0, store->n_links * sizeof *store->totals);
	store->bin_ps = bin_ps;
	store->n_bins = 0;
	store->n_rows_of_run = 0;
	return keep_error(store, status);
}

// commit_if_due also writes how far the run has come, for readers before its end. A
// reader that blocks the commit is no failure: the transaction continues, and the commit
// is tried again when the next is due.
static int commit_if_due(struct tb_store *store)
{
	bool due = store->n_rows >= store->commit_every_rows ||
		   tb_clock_s() - store->committed_s >= store->commit_every_s;
	if (!due || store->whole)
		return TB_OK;
	int status =
		exec_for_run(store, "UPDATE run SET simulated_ps = ?2 WHERE run = ?1",
			(int64_t)store->n_bins * store->bin_ps);
	if (status)
		return status;
	int code = try_commit(store, COMMIT_PATIENCE_MS);
	if (code == SQLITE_BUSY)
		return TB_OK;
	return code == SQLITE_OK ? begin_write(store, &store->error)
				 : tb_sql_fail(&store->error, store->db, store->path);
}

static int store_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	struct tb_store *store = context;
	if (store->failed || store->cut)
		return store->error.code;
	if (is_late(store))
		return cut_run(store);
	assert(store->bin_ps > 0 && bin >= store->n_bins);
	if (bin >= TB_BINS_MAX)
		return keep_error(store,
			tb_fail_in(&store->error, TB_ECAPACITY, store->path,
				"a run has room for %llu time bins: choose wider ones",
				(unsigned long long)TB_BINS_MAX));
	struct tb_bin_sum whole = {.bin = bin};
	for (size_t i = 0; i < n; i++) {
		assert(samples[i].link.id < store->n_links);
		struct link_total *total = &store->totals[samples[i].link.id];
#define ROW(ID, field, column, type, adds, ...)                                          \
	TB_FIGURE_##adds(total->field, samples[i].field);                                \
	TB_FIGURE_##adds(whole.sample.field, samples[i].field);
		TB_LINK_FIGURES(ROW)
#undef ROW
	}
	store->n_rows += n;
	store->n_rows_of_run += n;
	store->n_bins = bin + 1;
	int status = write_packs(store, &bin_packs, bin, samples, n, &store->error);
	if (!status && !tb_link_sample_empty(&whole.sample))
		status = tb_rows_put(
			&store->rows, &tb_bin_sums_stored, &whole, 1, &store->error);
	if (!status) {
		// Sum a bin's samples by level and stores them.
		struct level_sums *levels = &store->levels;
		struct level_row rows[UINT8_MAX];
		size_t n_rows = 0;
		memset(levels->wait_ps, 0, levels->n_levels * sizeof *levels->wait_ps);
		for (size_t i = 0; i < n; i++) {
			uint8_t level = levels->of_link[samples[i].link.id];
			if (level < levels->n_levels)
				levels->wait_ps[level] +=
					samples[i].figures[levels->wait];
		}
		for (uint32_t level = 0; level < levels->n_levels && level < UINT8_MAX;
			level++)
			if (levels->wait_ps[level])
				rows[n_rows++] = (struct level_row){
					bin, level, levels->wait_ps[level]};
		status = tb_rows_put(
			&store->rows, &level_bins, rows, n_rows, &store->error);
	}
	if (!status)
		status = commit_if_due(store);
	return keep_error(store, status);
}

// begin_part prepares for records that come once, at the run's end. When the run is asked
// to stop it commits the others before, since SQLite rolls a transaction back that is
// interrupted.
static int begin_part(struct tb_store *store)
{
	if (store->failed || store->cut)
		return store->error.code;
	if (!tb_stop_asked(store->stop))
		return TB_OK;
	if (is_late(store))
		return cut_run(store);
	if (try_commit(store, TB_SQL_PATIENCE_MS) != SQLITE_OK)
		return keep_error(
			store, tb_sql_fail(&store->error, store->db, store->path));
	int status = begin_write(store, &store->error);
	if (!status)
		sqlite3_progress_handler(store->db, 10000, on_progress, store);
	return keep_error(store, status);
}

// end_part leaves the records of the part out when they took too long.
static int end_part(struct tb_store *store, int status)
{
	sqlite3_progress_handler(store->db, 0, NULL, NULL);
	if (status != TB_ESTOPPED)
		return keep_error(store, status);
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	status = begin_write(store, &store->error);
	return status ? keep_error(store, status) : cut_run(store);
}

static int store_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	struct tb_store *store = context;
	int status = begin_part(store);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++)
		store->flow_bytes += samples[i].bytes;
	status = tb_store_write_flows(&store->rows, samples, n, &store->error);
	return end_part(store, status);
}

static int store_blame(void *context, const struct tb_blame_record *record)
{
	struct tb_store *store = context;
	int status = begin_part(store);
	if (status)
		return status;
	status = tb_store_write_blame(&store->rows, record, &store->error);
	return end_part(store, status);
}

static void *store_copy(const void *samples, size_t n, size_t size)
{
	void *copy = malloc((n + 1) * size);
	if (copy && n)
		memcpy(copy, samples, n * size);
	return copy;
}

static int store_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct tb_store *store = context;
	free(store->undelivered);
	store->undelivered = store_copy(samples, n, sizeof *samples);
	if (!store->undelivered)
		return TB_ENOMEM;
	store->n_undelivered = n;
	int status = begin_part(store);
	if (status)
		return status;
	status = tb_store_write_undelivered(&store->rows, samples, n, &store->error);
	return end_part(store, status);
}

static int store_losses(void *context, const struct tb_loss_record *record)
{
	struct tb_store *store = context;
	free(store->timeouts);
	store->timeouts = store_copy(
		record->timeouts, record->n_timeouts, sizeof *record->timeouts);
	if (!store->timeouts)
		return TB_ENOMEM;
	store->n_timeouts = record->n_timeouts;
	int status = begin_part(store);
	if (status)
		return status;
	status = tb_store_write_losses(&store->rows, record, &store->error);
	return end_part(store, status);
}

static int store_messages(
	void *context, const struct tb_message_sample *samples, size_t n)
{
	struct tb_store *store = context;
	int status = begin_part(store);
	if (status)
		return status;
	status = tb_store_write_messages(&store->rows, samples, n, &store->error);
	return end_part(store, status);
}

struct tb_observer tb_store_observer(struct tb_store *store)
{
	return (struct tb_observer){.context = store,
		.start = store_start,
		.bin = store_bin,
		.flows = store_flows,
		.blame = store_blame,
		.undelivered = store_undelivered,
		.messages = store_messages,
		.losses = store_losses};
}

int tb_store_end_run(struct tb_store *store, const struct tb_run_result *result,
	struct tb_error *error)
{
	if (store->failed) {
		if (error)
			*error = store->error;
		return store->error.code;
	}
	assert(store->begun);
	// Totals for which there is no time are left out: readers then add the bins up.
	int status = begin_part(store);
	if (!status)
		status = end_part(store, write_totals(store));
	if (status && status != TB_ESTOPPED && error)
		*error = store->error;
	status = status == TB_ESTOPPED ? TB_OK : status;
	struct tb_run_result ended = *result;
	tb_time_ps stored_ps = (tb_time_ps)store->n_bins * store->bin_ps;
	if (store->cut && stored_ps < ended.simulated_ps)
		ended.simulated_ps = stored_ps;
	ended.complete = result->complete && !store->cut;
	if (!status)
		status = tb_store_write_result(&store->rows, &ended, error);
	if (!status)
		status = tb_store_commit(store, error);
	tb_store_undo(store, status);
	store->begun = false;
	store->n_ended += status == TB_OK;
	return status;
}

int tb_store_drop_run(struct tb_store *store, struct tb_error *error)
{
	int64_t run = store->rows.owner;
	assert(run);
	tb_store_undo(store, TB_ESTOPPED);
	store->begun = false;
	store->only_tables = store->made_here && store->n_ended == 0;
	if (store->only_tables || store->whole)
		return TB_OK;
	int status = begin_write(store, error);
	if (!status)
		status = tb_store_delete_run(store->db, store->path, run, error);
	if (!status)
		status = tb_store_commit(store, error);
	return tb_store_undo(store, status);
}
