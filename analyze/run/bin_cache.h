// Keeps bins of a run packed in memory, so that a bin need not be read from the store
// twice. Private to analyze/.
//
// Model: a bin is a block of columns: the links (ascending), then one column per
// quantity. All entries of a column have the width that its largest value needs (0 bytes
// when all are 0), so an entry is found by its index. With a wait on a third of 49,152
// links an entry takes 15 bytes (measured); it takes 37 in the store and 56 in the sums
// of a window.
//
// Memory is bounded: beyond `budget_bytes` the cache evicts blocks that were not used
// since the last round (second chance). The newest block always stays.
#ifndef TB_BIN_CACHE_H
#define TB_BIN_CACHE_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The sum of a link's samples: like struct tb_link_sample, but with counts that cannot
// wrap.
struct tb_run_sums {
	uint64_t wait_ps, stall_ps, busy_ps, bytes, packets, blocked, longest_wait_ps;
};

struct tb_bin_row {
	uint32_t link;
	struct tb_run_sums sums;
};

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
	const struct tb_bin_row *rows, uint32_t n);

uint32_t tb_bin_block_n(const struct tb_bin_block *block);
// tb_bin_block_row unpacks row i, below n.
struct tb_bin_row tb_bin_block_row(const struct tb_bin_block *block, uint32_t i);
// tb_bin_block_longest returns the longest wait of a link, 0 when it has no row. Cost: a
// binary search.
uint64_t tb_bin_block_longest(const struct tb_bin_block *block, uint32_t link);

#endif
