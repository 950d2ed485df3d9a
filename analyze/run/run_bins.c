// The bins of a run: read from the store once, then kept packed while there is room.
#include "run_impl.h"

#include <inttypes.h>
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

// A range of bins being read from the store and passed to `take`.
struct bins_reading {
	struct tb_run *run;
	tb_run_take *take;
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

int tb_run_each_block(struct tb_run *run, uint64_t first, uint64_t end, tb_run_take *take,
	struct tb_error *error)
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

int tb_run_check_unchanged(struct tb_run *run, struct tb_error *error)
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
	status = tb_run_check_unchanged(run, error);
	if (!status)
		status = tb_run_each_block(run, bin, bin + 1, ignore, error);
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status ? status : 1;
}

int tb_run_bins_init(struct tb_run *run, struct tb_error *error)
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

void tb_run_bins_fini(struct tb_run *run)
{
	(void)!tb_row_reader_end(&run->bins);
	tb_bin_cache_fini(&run->cache);
	free(run->staged);
}
