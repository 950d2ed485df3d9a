// The bins of a run, read from the store once and then kept packed while there is room,
// and the sums over a window of them.
#include "run_impl.h"
#include "stored_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Memory for bins in a viewer of 4096 and of 65,536 nodes, chosen so that the whole
// program stays below 500 MB: a link takes about 330 bytes elsewhere (its name, three
// samples, its cell and its row in the list; measured).
#define ROOM_BYTES	 (UINT64_C(448) << 20)
#define LINK_BYTES	 330
#define BUDGET_MIN_BYTES (UINT64_C(64) << 20)
#define BUDGET_MAX_BYTES (UINT64_C(320) << 20)

#define PRELOAD_BINS 4096 // how far ahead: finding the next must stay cheap

typedef void bins_take(struct tb_run *run, const struct tb_bin_block *block);

// A range of bins being read from the store and passed to `take`.
struct bins_reading {
	struct tb_run *run;
	bins_take *take;
	uint64_t bin; // whose rows are staged
	uint64_t end; // of the range
	struct tb_error *error;
};

static int bins_no_memory(struct tb_run *run, struct tb_error *error)
{
	return tb_fail_memory_in(error, run->path, "a bin of the run");
}

// deliver_bin packs the staged rows into a bin and passes it on.
static int deliver_bin(struct bins_reading *reading)
{
	struct tb_run *run = reading->run;
	const struct tb_bin_block *block =
		tb_bin_cache_put(&run->cache, reading->bin, run->staged, run->n_staged);
	run->n_staged = 0;
	if (!block)
		return bins_no_memory(run, reading->error);
	reading->take(run, block);
	return TB_OK;
}

#define RECORD struct tb_packed_links
const struct tb_stored_table tb_bin_packs = TB_STORED_TABLE("link_pack", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN("pack", pack), TB_COLUMN("links", links));
const struct tb_stored_table tb_total_packs = TB_STORED_TABLE(
	"total_pack", RECORD, TB_COLUMN("pack", pack), TB_COLUMN("links", links));
#undef RECORD

bool tb_packed_open(const struct tb_packed_links *row, struct tb_link_pack *pack)
{
	bool fits = row->pack <= UINT32_MAX && row->links.n_bytes <= TB_PACK_MOST;
	*pack = tb_link_pack_open(
		row->pack, fits ? row->links.text : "", fits ? row->links.n_bytes : 0);
	return fits;
}

int tb_packed_find(const struct tb_packed_links *row, struct tb_link link,
	struct tb_link_sample *sample)
{
	struct tb_link_pack pack;
	return tb_packed_open(row, &pack) ? tb_link_pack_find(&pack, link, sample)
					  : TB_EFORMAT;
}

// stage_pack adds the links of a row to those of its bin; if the row begins a new bin, it
// first delivers the previous one.
static int stage_pack(struct bins_reading *reading, const struct tb_packed_links *row)
{
	struct tb_run *run = reading->run;
	struct tb_link_sample read;
	struct tb_link_pack pack;
	int status = TB_OK;
	if (!tb_packed_open(row, &pack) || row->bin < reading->bin ||
		row->bin >= reading->end)
		return tb_run_damaged(run->path, "link_pack", reading->error);
	if (row->bin != reading->bin && run->n_staged > 0)
		status = deliver_bin(reading);
	reading->bin = row->bin;
	if (status)
		return status;
	while ((status = tb_link_pack_next(&pack, &read)) > 0) {
		// The table's key keeps packs sorted and unique, but in a damaged
		// database they may not be.
		bool follows = !run->n_staged ||
			       read.link.id > run->staged[run->n_staged - 1].link.id;
		if (read.link.id >= run->record.info.n_links || !follows)
			return tb_run_damaged(run->path, "link_pack", reading->error);
		tb_link_sample_derive(&read, run->record.info.wait, 0);
		run->staged[run->n_staged++] = read;
	}
	return status ? tb_run_damaged(run->path, "link_pack", reading->error) : TB_OK;
}

// read_bins reads bins that are not cached. Bins without rows are cached as empty, so
// that they are not read again.
static int read_bins(struct bins_reading *reading, uint64_t first, uint64_t end)
{
	struct tb_run *run = reading->run;
	struct tb_packed_links row;
	tb_row_reader_again(&run->bins, reading->error);
	tb_row_bind(&run->bins, 2, (int64_t)first);
	tb_row_bind(&run->bins, 3, (int64_t)end);
	reading->bin = first;
	reading->end = end;
	run->n_staged = 0;
	while (tb_row_read(&run->bins, &row))
		run->bins.status = stage_pack(reading, &row);
	int status = run->bins.status;
	if (!status && (run->n_staged > 0 || end - first == 1))
		status = deliver_bin(reading);
	tb_row_reader_again(&run->bins, reading->error);
	return status;
}

// run_each_block passes the bins [first, end) to `take`, in order, from the cache or else
// from the store. Bins in which nothing happened may be skipped.
static int run_each_block(struct tb_run *run, uint64_t first, uint64_t end,
	bins_take *take, struct tb_error *error)
{
	struct bins_reading reading = {.run = run, .take = take, .error = error};
	int status = TB_OK;
	while (!status && first < end) {
		const struct tb_bin_block *block = tb_bin_cache_find(&run->cache, first);
		if (block) {
			take(run, block);
			first++;
			continue;
		}
		uint64_t until = first + 1;
		while (until < end && !tb_bin_cache_has(&run->cache, until))
			until++;
		status = read_bins(&reading, first, until);
		first = until;
	}
	return status;
}

int tb_run_version(struct tb_run *run, int64_t *version, struct tb_error *error)
{
	return tb_sql_number(
		run->db, run->path, "PRAGMA data_version", 0, version, error);
}

// run_check_unchanged drops the cached bins when the file has changed since they were
// read, and fails when the width of the bins differs from when the run was opened. Call
// it within a transaction.
static int run_check_unchanged(struct tb_run *run, struct tb_error *error)
{
	int64_t version = 0, bin_ps = -1;
	// SQLite looks for a stop within long queries only, not between short ones.
	if (run->stops && run->stops(run->stops_context))
		return tb_fail_in(error, TB_ESTOPPED, run->path, "stopped");
	int status = tb_run_version(run, &version, error);
	if (status || version == run->bins_version)
		return status;
	status =
		tb_sql_number(run->db, run->path, "SELECT bin_ps FROM run WHERE run = ?1",
			run->record.info.id, &bin_ps, error);
	if (!status && bin_ps != run->record.info.bin_ps)
		return tb_fail_in(error, TB_ESTALE, run->path,
			"run %" PRId64 " was written anew meanwhile: open it again",
			run->record.info.id);
	run->bins_version = version;
	run->sums.window = (struct tb_window){0, 0};
	tb_bin_cache_forget(&run->cache);
	return status;
}

static void ignore(struct tb_run *run, const struct tb_bin_block *block)
{
	(void)run;
	(void)block;
}

int tb_run_preload(struct tb_run *run, uint64_t from, struct tb_error *error)
{
	uint64_t n_bins = run->cache.n_bins, ahead = 0;
	if (tb_bin_cache_full(&run->cache))
		return 0;
	while (ahead < n_bins && ahead < PRELOAD_BINS &&
		tb_bin_cache_has(&run->cache, (from + ahead) % n_bins))
		ahead++;
	if (ahead == n_bins || ahead == PRELOAD_BINS)
		return 0;
	uint64_t bin = (from + ahead) % n_bins;
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = run_check_unchanged(run, error);
	if (!status)
		status = run_each_block(run, bin, bin + 1, ignore, error);
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status ? status : 1;
}

// run_bins_init prepares for reading bins.
static int run_bins_init(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	uint64_t elsewhere = (uint64_t)info->n_links * LINK_BYTES;
	uint64_t budget = elsewhere < ROOM_BYTES ? ROOM_BYTES - elsewhere : 0;
	if (budget < BUDGET_MIN_BYTES)
		budget = BUDGET_MIN_BYTES;
	if (budget > BUDGET_MAX_BYTES)
		budget = BUDGET_MAX_BYTES;
	run->staged = calloc((size_t)info->n_links + 1, sizeof *run->staged);
	if (!run->staged || tb_bin_cache_init(&run->cache, info->n_bins, budget))
		return bins_no_memory(run, error);
	run->bins = tb_run_read(run, &tb_bin_packs,
		"link_pack WHERE run = ?1 AND bin >= ?2 AND bin < ?3 ORDER BY bin, pack",
		error);
	int status = run->bins.status;
	if (!status)
		status = tb_run_version(run, &run->seen_version, error);
	run->bins_version = run->seen_version;
	return status;
}

static void run_bins_fini(struct tb_run *run)
{
	(void)!tb_row_reader_end(&run->bins);
	tb_bin_cache_fini(&run->cache);
	free(run->staged);
}

// set_doubts stores which maxima of a link are doubtful, a bit each.
static void set_doubts(struct tb_run_window *sums, uint32_t link, uint64_t doubts)
{
	sums->n_doubtful += doubts != 0;
	sums->n_doubtful -= sums->doubtful[link] != 0;
	sums->doubtful[link] = doubts;
}

// window_add_bin adds a bin to the window. A value at least as large as the largest so
// far is the largest, whatever has left the window.
static void window_add_bin(struct tb_run *run, const struct tb_bin_block *block)
{
	struct tb_run_window *window = &run->sums;
	for (uint32_t i = 0; i < tb_bin_block_n(block); i++) {
		struct tb_link_sample row = tb_bin_block_row(block, i);
		struct tb_link_sample *sum = &window->samples[row.link.id];
		uint64_t doubts = window->doubtful[row.link.id];
#define SETTLED_SUM(ID, field)
#define SETTLED_MOST(ID, field)                                                          \
	if (row.field >= sum->field)                                                     \
		doubts &= ~(UINT64_C(1) << TB_##ID);
#define ROW(ID, field, column, type, adds, ...) SETTLED_##adds(ID, field)
		TB_LINK_FIGURES(ROW)
#undef ROW
		tb_link_sample_add(sum, &row);
		set_doubts(window, row.link.id, doubts);
	}
}

// window_subtract_bin subtracts a bin from the window. A maximum cannot be subtracted, so
// it becomes doubtful.
static void window_subtract_bin(struct tb_run *run, const struct tb_bin_block *block)
{
	struct tb_run_window *window = &run->sums;
	for (uint32_t i = 0; i < tb_bin_block_n(block); i++) {
		struct tb_link_sample row = tb_bin_block_row(block, i);
		struct tb_link_sample *sum = &window->samples[row.link.id];
		uint64_t doubts = window->doubtful[row.link.id];
#define LEAVE_SUM(ID, field) sum->field -= row.field;
#define LEAVE_MOST(ID, field)                                                            \
	if (row.field > 0 && row.field == sum->field)                                    \
		doubts |= UINT64_C(1) << TB_##ID;
#define ROW(ID, field, column, type, adds, ...) LEAVE_##adds(ID, field)
		TB_LINK_FIGURES(ROW)
#undef ROW
		set_doubts(window, row.link.id, doubts);
	}
}

static void empty(struct tb_run_window *window, uint32_t link)
{
	window->samples[link] = (struct tb_link_sample){.link = {link}};
	set_doubts(window, link, 0);
}

static void empty_block(struct tb_run *run, const struct tb_bin_block *block)
{
	for (uint32_t i = 0; i < tb_bin_block_n(block); i++)
		empty(&run->sums, tb_bin_block_row(block, i).link.id);
}

// few_rows returns whether clearing the links of a window's bins is cheaper than clearing
// all: the bins are cached and together have fewer rows than the network has links.
static bool few_rows(struct tb_run *run, struct tb_window window)
{
	uint64_t n = 0;
	for (uint64_t bin = window.first_bin; bin < window.end_bin; bin++) {
		const struct tb_bin_block *block = tb_bin_cache_find(&run->cache, bin);
		n += block ? tb_bin_block_n(block) : run->record.info.n_links;
		if (n >= run->record.info.n_links)
			return false;
	}
	return true;
}

// window_read sums the window's bins from zero; `old` is the window of the current sums.
static int window_read(struct tb_run *run, struct tb_window old, struct tb_window window,
	struct tb_error *error)
{
	int status = TB_OK;
	if (old.end_bin > 0 && few_rows(run, old))
		status = run_each_block(
			run, old.first_bin, old.end_bin, empty_block, error);
	else {
		for (uint32_t link = 0; link < run->record.info.n_links; link++)
			empty(&run->sums, link);
		run->sums.window = (struct tb_window){0, 0};
	}
	return status ? status
		      : run_each_block(run, window.first_bin, window.end_bin,
				window_add_bin, error);
}

// window_raise_maxima raises the maxima of doubtful links to those of the block.
static void window_raise_maxima(struct tb_run *run, const struct tb_bin_block *block)
{
	struct tb_run_window *window = &run->sums;
	for (uint32_t i = 0; i < window->n_doubtful; i++)
		tb_bin_block_raise(block, &window->samples[window->doubts[i]]);
}

// settle_doubts finds the maxima of doubtful links. In steady traffic, a link's longest
// wait leaves the window once in as many moves as the window has bins, so the
// cost is about one look-up per link and move. When many links are doubtful at once,
// summing the window again is cheaper.
static int settle_doubts(
	struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	uint32_t n_links = run->record.info.n_links, n = 0;
	struct tb_run_window *sums = &run->sums;
	if (sums->n_doubtful == 0)
		return TB_OK;
	if (sums->n_doubtful > n_links / 4)
		return window_read(run, (struct tb_window){0, 0}, window, error);
	for (uint32_t link = 0; link < n_links; link++) {
		if (!sums->doubtful[link])
			continue;
		for (int i = 0; i < TB_N_METRICS; i++)
			if (tb_link_figures[i].adds == TB_ADDS_MOST)
				sums->samples[link].figures[i] = 0;
		sums->doubts[n++] = link;
	}
	int status = run_each_block(
		run, window.first_bin, window.end_bin, window_raise_maxima, error);
	memset(sums->doubtful, 0, n_links * sizeof *sums->doubtful);
	sums->n_doubtful = 0;
	return status;
}

static uint64_t bins_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

// window_move makes the sums those of `window`, from the bins in which the two windows
// differ when those are fewer.
static int window_move(
	struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	struct tb_window old = run->sums.window;
	uint64_t moved = bins_apart(old.first_bin, window.first_bin) +
			 bins_apart(old.end_bin, window.end_bin);
	// Invalidate first: a failure half-way must not leave sums that look valid.
	run->sums.window = (struct tb_window){0, 0};
	if (old.end_bin == 0 || moved >= window.end_bin - window.first_bin)
		return window_read(run, old, window, error);
	// The windows overlap, so one range of each pair is empty.
	int status = run_each_block(
		run, old.first_bin, window.first_bin, window_subtract_bin, error);
	if (!status)
		status = run_each_block(
			run, window.end_bin, old.end_bin, window_subtract_bin, error);
	if (!status)
		status = run_each_block(
			run, window.first_bin, old.first_bin, window_add_bin, error);
	if (!status)
		status = run_each_block(
			run, old.end_bin, window.end_bin, window_add_bin, error);
	return status ? status : settle_doubts(run, window, error);
}

// derive_samples sets what of all links over a window is not stored.
static void derive_samples(
	const struct tb_run *run, struct tb_window window, struct tb_link_sample *samples)
{
	tb_time_ps span_ps = tb_run_window_ps(run, window);
	for (uint32_t link = 0; link < run->record.info.n_links; link++)
		tb_link_sample_derive(&samples[link], run->record.info.wait, span_ps);
}

static int read_consistently(
	struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = run_check_unchanged(run, error);
	struct tb_window held = run->sums.window;
	if (!status &&
		(held.first_bin != window.first_bin || held.end_bin != window.end_bin))
		status = window_move(run, window, error);
	if (!status)
		derive_samples(run, window, run->sums.samples);
	run->sums.window = status ? (struct tb_window){0, 0} : window;
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status;
}

bool tb_run_carries(const struct tb_run *run, struct tb_link link)
{
	return run->totals[link.id].bytes > 0 ||
	       tb_run_unmeasured(run->links[link.id].known, TB_BYTES);
}

// rate_totals does so for the whole run, unless that is as long as before.
static void rate_totals(struct tb_run *run)
{
	const struct tb_window whole = {0, 0};
	tb_time_ps span_ps = tb_run_window_ps(run, whole);
	if (run->rated_ps == span_ps)
		return;
	derive_samples(run, whole, run->totals);
	run->rated_ps = span_ps;
}

static bool covers_all(const struct tb_run_info *info, struct tb_window window)
{
	return window.first_bin == 0 &&
	       (window.end_bin == 0 || window.end_bin == info->n_bins);
}

static int check_window(
	const struct tb_run *run, struct tb_window window, struct tb_error *error)
{
	uint64_t n_bins = run->record.info.n_bins;
	if (window.first_bin < window.end_bin && window.end_bin <= n_bins)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, run->path,
		"a window from bin %" PRIu64 " to %" PRIu64
		" is not within the run's %" PRIu64,
		window.first_bin, window.end_bin, n_bins);
}

int tb_run_look(struct tb_run *run, struct tb_window window,
	const struct tb_link_sample **samples, struct tb_error *error)
{
	if (covers_all(&run->record.info, window)) {
		rate_totals(run);
		*samples = run->totals;
		return TB_OK;
	}
	int status = check_window(run, window, error);
	if (!status)
		status = read_consistently(run, window, error);
	if (!status)
		*samples = run->sums.samples;
	return status;
}

// add_aside adds a bin to the caller's samples instead of the current window.
static void add_aside(struct tb_run *run, const struct tb_bin_block *block)
{
	for (uint32_t i = 0; i < tb_bin_block_n(block); i++) {
		struct tb_link_sample row = tb_bin_block_row(block, i);
		tb_link_sample_add(&run->aside[row.link.id], &row);
	}
}

int tb_run_samples(struct tb_run *run, struct tb_window window,
	struct tb_link_sample *samples, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	if (covers_all(info, window)) {
		rate_totals(run);
		memcpy(samples, run->totals, info->n_links * sizeof *samples);
		return TB_OK;
	}
	int status = check_window(run, window, error);
	if (!status)
		status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = run_check_unchanged(run, error);
	for (uint32_t link = 0; link < info->n_links; link++)
		samples[link] = (struct tb_link_sample){.link = {link}};
	run->aside = samples;
	if (!status)
		status = run_each_block(
			run, window.first_bin, window.end_bin, add_aside, error);
	run->aside = NULL;
	derive_samples(run, window, samples);
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
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

int tb_run_add_totals(
	struct tb_run *run, uint64_t first, uint64_t end, struct tb_error *error)
{
	run->aside = run->totals;
	int status = run_each_block(run, first, end, add_aside, error);
	run->aside = NULL;
	run->rated_ps = 0;
	return status;
}

// read_totals reads the sums that were stored at the run's end; `stored` returns whether
// there are any.
static int read_totals(struct tb_run *run, bool *stored, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct tb_packed_links row;
	struct tb_link_sample sample;
	struct tb_row_reader rows =
		tb_run_read(run, &tb_total_packs, "total_pack WHERE run = ?1", error);
	while (tb_row_read(&rows, &row)) {
		struct tb_link_pack pack;
		int status = tb_packed_open(&row, &pack) ? 1 : TB_EFORMAT;
		*stored = true;
		while (status > 0 && (status = tb_link_pack_next(&pack, &sample)) > 0) {
			if (sample.link.id >= info->n_links) {
				status = TB_EFORMAT;
				break;
			}
			tb_link_sample_derive(&sample, info->wait, 0);
			run->totals[sample.link.id] = sample;
		}
		if (status < 0)
			tb_row_damaged(&rows);
	}
	return tb_row_reader_end(&rows);
}

int tb_run_sum_totals(struct tb_run *run, uint64_t n_bins, struct tb_error *error)
{
	bool stored = false;
	run->rated_ps = 0;
	for (uint32_t link = 0; link < run->record.info.n_links; link++)
		run->totals[link] = (struct tb_link_sample){.link = {link}};
	int status = read_totals(run, &stored, error);
	return status || stored ? status : tb_run_add_totals(run, 0, n_bins, error);
}

int tb_run_window_init(struct tb_run *run, struct tb_error *error)
{
	uint32_t n = run->record.info.n_links ? run->record.info.n_links : 1;
	struct tb_run_window *sums = &run->sums;
	sums->samples = calloc(n, sizeof *sums->samples);
	sums->doubtful = calloc(n, sizeof *sums->doubtful);
	sums->doubts = calloc(n, sizeof *sums->doubts);
	run->totals = calloc(n, sizeof *run->totals);
	if (!sums->samples || !sums->doubtful || !sums->doubts || !run->totals)
		return tb_fail_memory_in(error, run->path, "the run");
	int status = run_bins_init(run, error);
	return status ? status : tb_run_sum_totals(run, run->record.info.n_bins, error);
}

void tb_run_window_fini(struct tb_run *run)
{
	run_bins_fini(run);
	free(run->sums.samples);
	free(run->sums.doubtful);
	free(run->sums.doubts);
	free(run->totals);
}

int tb_run_wait_by_bin(struct tb_run *run, uint64_t *wait_ps, struct tb_error *error)
{
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = run_check_unchanged(run, error);
	const struct tb_run_info *info = &run->record.info;
	memset(wait_ps, 0, info->n_bins * sizeof *wait_ps);
	if (!status) {
		struct tb_bin_sum row;
		struct tb_row_reader rows = tb_run_read(run, &tb_bin_sums_stored,
			"bin_total WHERE run = ?1 AND bin < ?2", error);
		tb_row_bind(&rows, 2, (int64_t)info->n_bins);
		while (tb_row_read(&rows, &row))
			wait_ps[row.bin] = info->wait == TB_CAME_BY
						   ? row.sample.came_by_ps
						   : row.sample.wait_for_ps;
		status = tb_row_reader_end(&rows);
	}
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status;
}
