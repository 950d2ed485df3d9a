// The bins of a run that were read before, packed: what is looked at again need not be
// asked of the store again. Private to analyze/.
//
// Model: a bin is a block of columns, one of links (ascending) and one for each counted
// quantity; a column's entries all have as many bytes as its largest value needs, none
// when all are 0, so that any entry is found by its number. A third of 49,152 links with
// a wait takes 15 bytes a link (measured), where the store takes 37 and the sums of a
// window 56.
//
// Memory is bounded: beyond `budget_bytes` blocks that were not used for a round give way
// (second chance). The newest block always stays.
#ifndef TB_BIN_CACHE_H
#define TB_BIN_CACHE_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A link's samples added up: as struct tb_link_sample, but with counts that cannot wrap.
struct tb_run_sums {
	uint64_t wait_ps, stall_ps, busy_ps, bytes, packets, blocked, longest_wait_ps;
};

struct tb_bin_row {
	uint32_t link;
	struct tb_run_sums sums;
};

struct tb_bin_block; // opaque

struct tb_bin_cache {
	struct tb_bin_block **blocks; // by bin, NULL: not at hand
	uint64_t n_bins;
	size_t budget_bytes, used_bytes;
	uint64_t hand; // where the search for what gives way goes on
};

// tb_bin_cache_init makes an empty cache of n_bins bins; TB_ENOMEM.
// tb_bin_cache_fini frees it and leaves it zeroed.
int tb_bin_cache_init(
	struct tb_bin_cache *cache, uint64_t n_bins, size_t budget_bytes) TB_MUST_USE;
void tb_bin_cache_fini(struct tb_bin_cache *cache);

// tb_bin_cache_forget drops all blocks.
void tb_bin_cache_forget(struct tb_bin_cache *cache);

// tb_bin_cache_grow makes room for more bins and keeps what there is; TB_ENOMEM.
int tb_bin_cache_grow(struct tb_bin_cache *cache, uint64_t n_bins) TB_MUST_USE;

bool tb_bin_cache_full(const struct tb_bin_cache *cache);

// tb_bin_cache_find gives a bin's block, NULL when it is not at hand. It lives until the
// next put.
const struct tb_bin_block *tb_bin_cache_find(struct tb_bin_cache *cache, uint64_t bin);

// tb_bin_cache_has returns whether it is, which is no use of it.
bool tb_bin_cache_has(const struct tb_bin_cache *cache, uint64_t bin);

// tb_bin_cache_put packs n rows, ascending by link, as the block of a bin that has none;
// NULL when there is no memory.
const struct tb_bin_block *tb_bin_cache_put(struct tb_bin_cache *cache, uint64_t bin,
	const struct tb_bin_row *rows, uint32_t n);

uint32_t tb_bin_block_n(const struct tb_bin_block *block);
// tb_bin_block_row unpacks row i, below n.
struct tb_bin_row tb_bin_block_row(const struct tb_bin_block *block, uint32_t i);
// tb_bin_block_longest is the longest wait of a link, 0 when it has no row: a binary
// search.
uint64_t tb_bin_block_longest(const struct tb_bin_block *block, uint32_t link);

#endif
