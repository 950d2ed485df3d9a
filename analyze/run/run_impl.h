// What run.c, run_info.c and run_window.c share. Private to analyze/.
#ifndef TB_RUN_IMPL_H
#define TB_RUN_IMPL_H

#include "link_figures.h"
#include "link_pack.h"
#include "run.h"
#include "sql.h"
#include "status.h"
#include "stored_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Keeps bins of a run packed in memory, so that a bin need not be read from the store
// twice. Private to analyze/.
//
// Model: a bin is a block of columns: the links (ascending), then one column per
// quantity. All entries of a column have the width that its largest value needs (0 bytes
// when all are 0), so an entry is found by its index. With a wait on a third of 49,152
// links an entry takes 15 bytes (measured); it takes 37 in the store and 64 in the sums
// of a window.
//
// Memory is bounded: beyond `budget_bytes` the cache evicts blocks that were not used
// since the last round (second chance). The newest block always stays.

struct tb_bin_block; // opaque

struct tb_bin_cache {
	struct tb_bin_block **blocks; // by bin, NULL: not cached
	uint64_t n_bins;
	size_t budget_bytes, used_bytes;
	uint64_t hand; // where the search for a block to evict goes on
};

// tb_bin_cache_init makes an empty cache of n_bins bins; TB_ENOMEM.
// tb_bin_cache_fini frees it and leaves it zeroed.
int tb_bin_cache_init(
	struct tb_bin_cache *cache, uint64_t n_bins, size_t budget_bytes) TB_MUST_USE;
void tb_bin_cache_fini(struct tb_bin_cache *cache);

// tb_bin_cache_forget drops all blocks.
void tb_bin_cache_forget(struct tb_bin_cache *cache);

// tb_bin_cache_grow makes room for n_bins bins and keeps the blocks; TB_ENOMEM.
int tb_bin_cache_grow(struct tb_bin_cache *cache, uint64_t n_bins) TB_MUST_USE;

// tb_bin_cache_full returns whether 7/8 of the budget is used: another block may not fit.
bool tb_bin_cache_full(const struct tb_bin_cache *cache);

// tb_bin_cache_find returns a bin's block and marks it as used; NULL when it is not
// cached. The block lives until the next put.
const struct tb_bin_block *tb_bin_cache_find(struct tb_bin_cache *cache, uint64_t bin);

// tb_bin_cache_has returns whether the bin is cached, without marking it as used.
bool tb_bin_cache_has(const struct tb_bin_cache *cache, uint64_t bin);

// tb_bin_cache_put packs n rows, ascending by link, into the block of a bin that has none
// yet; NULL when memory runs out.
const struct tb_bin_block *tb_bin_cache_put(struct tb_bin_cache *cache, uint64_t bin,
	const struct tb_link_sample *rows, uint32_t n);

uint32_t tb_bin_block_n(const struct tb_bin_block *block);
// tb_bin_block_row unpacks row i, below n.
struct tb_link_sample tb_bin_block_row(const struct tb_bin_block *block, uint32_t i);
// tb_bin_block_raise raises the figures of a sample that are a maximum (TB_ADDS_MOST) to
// those of its link's row, if there is one. Cost: a binary search.
void tb_bin_block_raise(const struct tb_bin_block *block, struct tb_link_sample *sample);

#define TB_RUN_TEXTS 9

struct tb_run_record {
	struct tb_run_info info;
	char *texts[TB_RUN_TEXTS];   // storage of info's strings
	struct tb_run_other *others; // that info points to
	struct tb_run_note *notes;
	size_t notes_room;
};

// The window whose sums are in memory. Counts are kept twice: exact, so that bins can be
// subtracted, and saturated, as samples hold them.
struct tb_run_window {
	struct tb_window window;	// {0, 0}: none
	struct tb_link_sample *samples; // by link
	uint64_t *doubtful; // by link, a bit a figure: its largest value left the window
	uint32_t n_doubtful;
	uint32_t *doubts; // the links marked doubtful
};

struct tb_run {
	sqlite3 *db;
	char *path;
	struct tb_run_record record;
	struct tb_run_record fresh; // read by tb_run_refresh_read; its id is 0: none
	struct tb_run_switch *switches;
	struct tb_run_link *links;
	struct tb_link_sample *totals; // by link
	enum tb_metric chosen_wait;    // where a reader has chosen
	bool chooses_wait;
	tb_time_ps rated_ps; // time that the rates of the totals are of; 0: none yet
	char **node_names;
	char **hosts; // the fabric's names of nodes, "" where it has none
	char **job_names;
	char **switch_names, **link_names; // storage of the names
	// Labels; NULL where they are the names.
	char **switch_labels, **host_labels, **link_labels;
	uint32_t n_faults;
	uint32_t n_known[TB_N_ALL_METRICS][TB_NOT_MEASURED + 1]; // links
	uint32_t *node_jobs;					 // by node
	struct tb_run_window sums;
	struct tb_link_sample *aside; // the caller's samples, while they are summed
	struct tb_bin_cache cache;
	struct tb_link_sample *staged; // rows of the bin being read
	uint32_t n_staged;
	struct tb_row_reader bins;    // packs of a range of bins
	int64_t seen_version;	      // the file's data_version when the record was read
	int64_t bins_version;	      // and when bins were
	bool (*stops)(void *context); // tb_run_stop_by; NULL: never
	void *stops_context;
};

// tb_run_name_labels gives switches, hosts and links their labels, when all are named.
int tb_run_name_labels(struct tb_run *run, struct tb_error *error) TB_MUST_USE;
void tb_run_labels_fini(struct tb_run *run);

// The topology of run ?1, in SQL.
#define TB_RUN_TOPOLOGY "(SELECT topology FROM run WHERE run = ?1)"

struct tb_id_limits tb_run_limits(const struct tb_run_info *info);

// tb_run_read begins to read rows of a table (stored_rows.h) FROM `from`, in which ?1 is
// the run: "port_loss WHERE run = ?1 ORDER BY link". Ids must be among the run's.
struct tb_row_reader tb_run_read(struct tb_run *run, const struct tb_stored_table *table,
	const char *from, struct tb_error *error);

int tb_run_damaged(const char *path, const char *table, struct tb_error *error);

// tb_run_record_load reads run `id`, or the newest for 0.
int tb_run_record_load(sqlite3 *db, const char *path, int64_t id,
	struct tb_run_record *record, struct tb_error *error) TB_MUST_USE;
void tb_run_record_fini(struct tb_run_record *record);

// tb_run_known_load reads how well counters know figures; the topology is loaded.
int tb_run_known_load(struct tb_run *run, struct tb_error *error) TB_MUST_USE;

// A row of link_pack or, without its bin, of total_pack.
struct tb_packed_links {
	uint64_t bin, pack;
	struct tb_stored_bytes links;
};
extern const struct tb_stored_table tb_bin_packs, tb_total_packs;

// tb_packed_open opens the pack of a row: false when it is longer than any that is
// written. tb_packed_find looks for a link in it: 1, 0 when it is not there, TB_EFORMAT
// when the pack is damaged; the sample has no rates.
bool tb_packed_open(const struct tb_packed_links *row, struct tb_link_pack *pack);
int tb_packed_find(const struct tb_packed_links *row, struct tb_link link,
	struct tb_link_sample *sample);

// tb_run_window_init prepares for reading bins and loads the totals.
int tb_run_window_init(struct tb_run *run, struct tb_error *error) TB_MUST_USE;
void tb_run_window_fini(struct tb_run *run);

// tb_run_sum_totals recomputes the totals of n_bins; tb_run_add_totals adds the bins
// [first, end).
int tb_run_sum_totals(
	struct tb_run *run, uint64_t n_bins, struct tb_error *error) TB_MUST_USE;
int tb_run_add_totals(struct tb_run *run, uint64_t first, uint64_t end,
	struct tb_error *error) TB_MUST_USE;

// tb_run_version reads SQLite's data_version, which changes when another connection
// writes the file.
int tb_run_version(
	struct tb_run *run, int64_t *version, struct tb_error *error) TB_MUST_USE;

#endif
