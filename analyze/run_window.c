#include "run_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SUM_COLUMNS                                                                      \
	"link, wait_ps, stall_ps, busy_ps, bytes, packets, blocked, longest_wait_ps "

// get_sums reads SUM_COLUMNS and returns the link.
static uint32_t get_sums(
	const struct tb_run *run, struct tb_run_row *row, struct tb_run_sums *sums)
{
	sums->wait_ps = tb_run_get(row, 1, INT64_MAX);
	sums->stall_ps = tb_run_get(row, 2, INT64_MAX);
	sums->busy_ps = tb_run_get(row, 3, INT64_MAX);
	sums->bytes = tb_run_get(row, 4, INT64_MAX);
	sums->packets = tb_run_get(row, 5, INT64_MAX);
	sums->blocked = tb_run_get(row, 6, INT64_MAX);
	sums->longest_wait_ps = tb_run_get(row, 7, INT64_MAX);
	return tb_run_get_id(row, 0, run->record.info.n_links);
}

// enter adds a bin's sample to the window. A wait at least as long as any before is the
// longest again, whatever has left.
static void enter(
	struct tb_run_cache *cache, uint32_t link, const struct tb_run_sums *sample)
{
	struct tb_run_sums *sum = &cache->sums[link];
	sum->wait_ps += sample->wait_ps;
	sum->stall_ps += sample->stall_ps;
	sum->busy_ps += sample->busy_ps;
	sum->bytes += sample->bytes;
	sum->packets += sample->packets;
	sum->blocked += sample->blocked;
	if (sample->longest_wait_ps >= sum->longest_wait_ps) {
		sum->longest_wait_ps = sample->longest_wait_ps;
		cache->doubtful[link] = 0;
	}
}

// leave takes it away. A maximum cannot be taken back, so it becomes doubtful.
static void leave(
	struct tb_run_cache *cache, uint32_t link, const struct tb_run_sums *sample)
{
	struct tb_run_sums *sum = &cache->sums[link];
	sum->wait_ps -= sample->wait_ps;
	sum->stall_ps -= sample->stall_ps;
	sum->busy_ps -= sample->busy_ps;
	sum->bytes -= sample->bytes;
	sum->packets -= sample->packets;
	sum->blocked -= sample->blocked;
	if (sample->longest_wait_ps && sample->longest_wait_ps == sum->longest_wait_ps)
		cache->doubtful[link] = 1;
}

// each_sample calls `take` for every stored sample of bins [first, end).
static int each_sample(struct tb_run *run, uint64_t first, uint64_t end,
	void (*take)(struct tb_run_cache *, uint32_t, const struct tb_run_sums *),
	struct tb_error *error)
{
	struct tb_run_row row = {.query = run->bins};
	if (first >= end)
		return TB_OK;
	sqlite3_bind_int64(row.query, 1, run->record.info.id);
	sqlite3_bind_int64(row.query, 2, (int64_t)first);
	sqlite3_bind_int64(row.query, 3, (int64_t)end);
	int code, status = TB_OK;
	while ((code = sqlite3_step(row.query)) == SQLITE_ROW && !row.bad) {
		struct tb_run_sums sample;
		uint32_t link = get_sums(run, &row, &sample);
		if (!row.bad)
			take(&run->cache, link, &sample);
	}
	if (row.bad)
		status = tb_run_damaged(run->path, "link_bin", error);
	else if (code != SQLITE_DONE)
		status = tb_sql_fail(error, run->db, run->path);
	sqlite3_reset(row.query);
	return status;
}

static void clear(struct tb_run *run)
{
	uint32_t n = run->record.info.n_links;
	memset(run->cache.sums, 0, n * sizeof *run->cache.sums);
	memset(run->cache.doubtful, 0, n);
	run->cache.window = (struct tb_window){0, 0};
}

static int read_window(
	struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	clear(run);
	return each_sample(run, window.first_bin, window.end_bin, enter, error);
}

// find_longest looks one link's longest wait up, bin by bin.
static int find_longest(struct tb_run *run, struct tb_window window, uint32_t link,
	struct tb_error *error)
{
	struct tb_run_row row = {.query = run->longest};
	uint64_t longest = 0;
	int code = SQLITE_DONE;
	for (uint64_t bin = window.first_bin; bin < window.end_bin; bin++) {
		sqlite3_bind_int64(row.query, 1, run->record.info.id);
		sqlite3_bind_int64(row.query, 2, (int64_t)bin);
		sqlite3_bind_int64(row.query, 3, link);
		code = sqlite3_step(row.query);
		uint64_t wait = code == SQLITE_ROW ? tb_run_get(&row, 0, INT64_MAX) : 0;
		longest = wait > longest ? wait : longest;
		sqlite3_reset(row.query);
		if (code != SQLITE_ROW && code != SQLITE_DONE)
			return tb_sql_fail(error, run->db, run->path);
	}
	run->cache.sums[link].longest_wait_ps = longest;
	run->cache.doubtful[link] = 0;
	return TB_OK;
}

// settle_doubts finds the longest waits that left. In steady traffic a link's is in the
// bin that leaves once in as many moves as the window has bins, so that the look-ups
// come to about one a link and move; when many are in doubt at once, reading the window
// anew is cheaper.
static int settle_doubts(
	struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	uint32_t n_links = run->record.info.n_links, n_doubtful = 0;
	for (uint32_t i = 0; i < n_links; i++)
		n_doubtful += run->cache.doubtful[i];
	if (n_doubtful > n_links / 4)
		return read_window(run, window, error);
	int status = TB_OK;
	for (uint32_t i = 0; !status && n_doubtful && i < n_links; i++)
		if (run->cache.doubtful[i])
			status = find_longest(run, window, i, error);
	return status;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

// move_window brings the cache to `window`, by the bins in which the two differ when
// those are fewer.
static int move_window(
	struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	struct tb_window old = run->cache.window;
	uint64_t moved = distance(old.first_bin, window.first_bin) +
			 distance(old.end_bin, window.end_bin);
	// Forgotten first: a failure half-way must not leave sums that look right.
	run->cache.window = (struct tb_window){0, 0};
	if (old.end_bin == 0 || moved >= window.end_bin - window.first_bin)
		return read_window(run, window, error);
	// They overlap now, so of each pair of ranges one is empty.
	int status = each_sample(run, old.first_bin, window.first_bin, leave, error);
	if (!status)
		status = each_sample(run, window.end_bin, old.end_bin, leave, error);
	if (!status)
		status = each_sample(run, window.first_bin, old.first_bin, enter, error);
	if (!status)
		status = each_sample(run, old.end_bin, window.end_bin, enter, error);
	return status ? status : settle_doubts(run, window, error);
}

static int step_number(
	struct tb_run *run, sqlite3_stmt *query, int64_t *value, struct tb_error *error)
{
	int code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		*value = sqlite3_column_int64(query, 0);
	int status = code == SQLITE_ROW || code == SQLITE_DONE
			     ? TB_OK
			     : tb_sql_fail(error, run->db, run->path);
	sqlite3_reset(query);
	return status;
}

// check_unchanged drops the cache when the file was written to, and fails when the bins
// are no longer those that the run was opened with.
static int check_unchanged(struct tb_run *run, struct tb_error *error)
{
	int64_t version = 0, bin_ps = -1;
	int status = step_number(run, run->data_version, &version, error);
	if (status || version == run->cache.data_version)
		return status;
	sqlite3_bind_int64(run->bin_width, 1, run->record.info.id);
	status = step_number(run, run->bin_width, &bin_ps, error);
	if (!status && bin_ps != run->record.info.bin_ps)
		return tb_fail_in(error, TB_EIO, run->path,
			"run %" PRId64 " was written anew meanwhile: open it again",
			run->record.info.id);
	run->cache.data_version = version;
	run->cache.window = (struct tb_window){0, 0};
	return status;
}

static int read_consistently(
	struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = check_unchanged(run, error);
	struct tb_window held = run->cache.window;
	if (!status &&
		(held.first_bin != window.first_bin || held.end_bin != window.end_bin))
		status = move_window(run, window, error);
	if (!status)
		run->cache.window = window;
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status;
}

static uint32_t at_most_32_bits(uint64_t count)
{
	return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void copy_out(const struct tb_run *run, struct tb_link_sample *samples)
{
	for (uint32_t i = 0; i < run->record.info.n_links; i++) {
		const struct tb_run_sums *sums = &run->cache.sums[i];
		samples[i] = (struct tb_link_sample){
			.link = {i},
			.n_packets = at_most_32_bits(sums->packets),
			.n_blocked = at_most_32_bits(sums->blocked),
			.wait_ps = sums->wait_ps,
			.stall_ps = sums->stall_ps,
			.busy_ps = sums->busy_ps,
			.bytes = sums->bytes,
			.longest_wait_ps = sums->longest_wait_ps,
		};
	}
}

int tb_run_samples(struct tb_run *run, struct tb_window window,
	struct tb_link_sample *samples, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	if (window.first_bin == 0 &&
		(window.end_bin == 0 || window.end_bin == info->n_bins)) {
		memcpy(samples, run->totals, info->n_links * sizeof *samples);
		return TB_OK;
	}
	if (window.first_bin >= window.end_bin || window.end_bin > info->n_bins)
		return tb_fail_in(error, TB_EUSAGE, run->path,
			"a window from bin %" PRIu64 " to %" PRIu64
			" is not within the run's %" PRIu64,
			window.first_bin, window.end_bin, info->n_bins);
	int status = read_consistently(run, window, error);
	if (!status)
		copy_out(run, samples);
	return status;
}

tb_time_ps tb_run_window_ps(const struct tb_run *run, struct tb_window window)
{
	const struct tb_run_info *info = &run->record.info;
	uint64_t end = window.end_bin ? window.end_bin : info->n_bins;
	tb_time_ps first_ps = (tb_time_ps)window.first_bin * info->bin_ps;
	tb_time_ps end_ps = (tb_time_ps)end * info->bin_ps;
	if (info->simulated_ps > 0 && end_ps > info->simulated_ps)
		end_ps = info->simulated_ps;
	return end_ps > first_ps ? end_ps - first_ps : 0;
}

// sum_totals reads the sums that were stored at the run's end, or adds its bins up when
// it has none.
static int sum_totals(struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	clear(run);
	int status = tb_run_query(
		run, "SELECT " SUM_COLUMNS "FROM link_total WHERE run = ?1", &row, error);
	if (status)
		return status;
	bool stored = false;
	while ((status = tb_run_next(run, "link_total", &row, error)) > 0) {
		struct tb_run_sums sums;
		uint32_t link = get_sums(run, &row, &sums);
		if (!row.bad)
			run->cache.sums[link] = sums;
		stored = true;
	}
	sqlite3_finalize(row.query);
	if (!status && !stored)
		status = each_sample(run, 0, run->record.info.n_bins, enter, error);
	if (!status)
		copy_out(run, run->totals);
	return status;
}

static int prepare(struct tb_run *run, struct tb_error *error)
{
	const struct {
		sqlite3_stmt **query;
		const char *sql;
	} queries[] = {
		{&run->bins, "SELECT " SUM_COLUMNS "FROM link_bin WHERE run = ?1 AND "
			     "bin >= ?2 AND bin < ?3"},
		{&run->longest, "SELECT longest_wait_ps FROM link_bin WHERE run = ?1 AND "
				"bin = ?2 AND link = ?3"},
		{&run->bin_width, "SELECT bin_ps FROM run WHERE run = ?1"},
		{&run->data_version, "PRAGMA data_version"},
	};
	int status = TB_OK;
	for (size_t i = 0; !status && i < sizeof queries / sizeof *queries; i++)
		status = tb_sql_prepare(
			run->db, run->path, queries[i].sql, queries[i].query, error);
	return status;
}

int tb_run_window_init(struct tb_run *run, struct tb_error *error)
{
	uint32_t n = run->record.info.n_links ? run->record.info.n_links : 1;
	run->cache.sums = calloc(n, sizeof *run->cache.sums);
	run->cache.doubtful = calloc(n, 1);
	run->totals = calloc(n, sizeof *run->totals);
	if (!run->cache.sums || !run->cache.doubtful || !run->totals)
		return tb_fail_in(error, TB_ENOMEM, run->path, "no memory for the run");
	int status = prepare(run, error);
	if (!status)
		status = step_number(
			run, run->data_version, &run->cache.data_version, error);
	return status ? status : sum_totals(run, error);
}

void tb_run_window_fini(struct tb_run *run)
{
	sqlite3_finalize(run->bins);
	sqlite3_finalize(run->longest);
	sqlite3_finalize(run->bin_width);
	sqlite3_finalize(run->data_version);
	free(run->cache.sums);
	free(run->cache.doubtful);
	free(run->totals);
}

static int read_bin_totals(struct tb_run *run, uint64_t *wait_ps, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT bin, wait_ps FROM bin_total WHERE run = ?1 AND bin < ?2", &row,
		error);
	if (status)
		return status;
	memset(wait_ps, 0, info->n_bins * sizeof *wait_ps);
	sqlite3_bind_int64(row.query, 2, (int64_t)info->n_bins);
	while ((status = tb_run_next(run, "bin_total", &row, error)) > 0) {
		uint64_t bin = tb_run_get(&row, 0, info->n_bins - 1);
		uint64_t wait = tb_run_get(&row, 1, INT64_MAX);
		if (!row.bad)
			wait_ps[bin] = wait;
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_run_wait_by_bin(struct tb_run *run, uint64_t *wait_ps, struct tb_error *error)
{
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = check_unchanged(run, error);
	if (!status)
		status = read_bin_totals(run, wait_ps, error);
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status;
}
