#include "run_impl.h"

#include "bisect.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { LINK, FIRST_FIGURE, N_COLUMNS = FIRST_FIGURE + TB_N_FIGURES };

// An entry is read as eight bytes, of which only the first `width` count, so the last
// entry needs padding.
#define SLACK 8

struct cached_column {
	uint64_t mask;
	uint32_t width; // bytes
	size_t offset;	// in data
};

struct tb_bin_block {
	uint32_t n;
	bool used; // since the hand last passed
	size_t size;
	struct cached_column columns[N_COLUMNS];
	unsigned char data[];
};

int tb_bin_cache_init(struct tb_bin_cache *cache, uint64_t n_bins, size_t budget_bytes)
{
	*cache = (struct tb_bin_cache){.budget_bytes = budget_bytes};
	return tb_bin_cache_grow(cache, n_bins);
}

int tb_bin_cache_grow(struct tb_bin_cache *cache, uint64_t n_bins)
{
	assert(n_bins >= cache->n_bins);
	// Not realloc: pages of bins that are never read stay untouched.
	struct tb_bin_block **blocks =
		calloc(n_bins ? n_bins : 1, sizeof(struct tb_bin_block *));
	if (!blocks)
		return TB_ENOMEM;
	if (cache->n_bins)
		memcpy(blocks, cache->blocks,
			cache->n_bins * sizeof(struct tb_bin_block *));
	free(cache->blocks);
	cache->blocks = blocks;
	cache->n_bins = n_bins;
	return TB_OK;
}

static void block_drop(struct tb_bin_cache *cache, uint64_t bin)
{
	cache->used_bytes -= cache->blocks[bin]->size;
	free(cache->blocks[bin]);
	cache->blocks[bin] = NULL;
}

void tb_bin_cache_forget(struct tb_bin_cache *cache)
{
	for (uint64_t bin = 0; cache->used_bytes > 0; bin++)
		if (cache->blocks[bin])
			block_drop(cache, bin);
}

void tb_bin_cache_fini(struct tb_bin_cache *cache)
{
	tb_bin_cache_forget(cache);
	free(cache->blocks);
	*cache = (struct tb_bin_cache){0};
}

bool tb_bin_cache_full(const struct tb_bin_cache *cache)
{
	// Leave room for another block of the largest size.
	return cache->used_bytes > cache->budget_bytes / 8 * 7;
}

const struct tb_bin_block *tb_bin_cache_find(struct tb_bin_cache *cache, uint64_t bin)
{
	assert(bin < cache->n_bins);
	struct tb_bin_block *block = cache->blocks[bin];
	if (block)
		block->used = true;
	return block;
}

bool tb_bin_cache_has(const struct tb_bin_cache *cache, uint64_t bin)
{
	assert(bin < cache->n_bins);
	return cache->blocks[bin] != NULL;
}

// evict_blocks evicts blocks until `size` fits or none is left.
static void evict_blocks(struct tb_bin_cache *cache, size_t size)
{
	while (cache->used_bytes > 0 && cache->used_bytes + size > cache->budget_bytes) {
		struct tb_bin_block *block = cache->blocks[cache->hand];
		if (block && !block->used)
			block_drop(cache, cache->hand);
		else if (block)
			block->used = false;
		cache->hand = (cache->hand + 1) % cache->n_bins;
	}
}

static void values_of(const struct tb_link_sample *row, uint64_t values[N_COLUMNS])
{
	values[LINK] = row->link.id;
	uint64_t *value = values + FIRST_FIGURE;
#define ROW(ID, field, ...) *value++ = row->field;
	TB_LINK_FIGURES(ROW)
#undef ROW
}

// measure_columns finds the width and offset of each column and returns their total size.
static size_t measure_columns(struct cached_column columns[N_COLUMNS],
	const struct tb_link_sample *rows, uint32_t n)
{
	uint64_t all[N_COLUMNS] = {0};
	size_t size = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t values[N_COLUMNS];
		values_of(&rows[i], values);
		for (int c = 0; c < N_COLUMNS; c++)
			all[c] |= values[c];
	}
	for (int c = 0; c < N_COLUMNS; c++) {
		uint32_t width = 0;
		for (uint64_t rest = all[c]; rest; rest >>= 8)
			width++;
		columns[c] = (struct cached_column){
			.mask = width == 8 ? UINT64_MAX
					   : (UINT64_C(1) << (8 * width)) - 1,
			.width = width,
			.offset = size};
		size += (size_t)width * n;
	}
	return size;
}

const struct tb_bin_block *tb_bin_cache_put(struct tb_bin_cache *cache, uint64_t bin,
	const struct tb_link_sample *rows, uint32_t n)
{
	struct cached_column columns[N_COLUMNS];
	assert(bin < cache->n_bins && !cache->blocks[bin]);
	size_t size =
		sizeof(struct tb_bin_block) + measure_columns(columns, rows, n) + SLACK;
	struct tb_bin_block *block = malloc(size);
	if (!block)
		return NULL;
	evict_blocks(cache, size);
	block->n = n;
	block->used = false;
	block->size = size;
	memcpy(block->columns, columns, sizeof columns);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t values[N_COLUMNS];
		values_of(&rows[i], values);
		for (int c = 0; c < N_COLUMNS; c++) {
			uint64_t bytes = htole64(values[c]);
			memcpy(block->data + columns[c].offset +
					(size_t)columns[c].width * i,
				&bytes, columns[c].width);
		}
	}
	cache->used_bytes += size;
	cache->blocks[bin] = block;
	return block;
}

uint32_t tb_bin_block_n(const struct tb_bin_block *block)
{
	return block->n;
}

static inline uint64_t block_value(const struct tb_bin_block *block, int c, uint32_t i)
{
	uint64_t bytes;
	const struct cached_column *column = &block->columns[c];
	memcpy(&bytes, block->data + column->offset + (size_t)column->width * i, 8);
	return le64toh(bytes) & column->mask;
}

struct tb_link_sample tb_bin_block_row(const struct tb_bin_block *block, uint32_t i)
{
	assert(i < block->n);
	struct tb_link_sample row = {.link = {(uint32_t)block_value(block, LINK, i)}};
	int c = FIRST_FIGURE;
#define ROW(ID, field, ...) row.field = block_value(block, c++, i);
	TB_LINK_FIGURES(ROW)
#undef ROW
	return row;
}

void tb_bin_block_raise(const struct tb_bin_block *block, struct tb_link_sample *sample)
{
	uint32_t at;
	TB_BISECT(at, block->n, block_value(block, LINK, at) < sample->link.id);
	if (at == block->n || block_value(block, LINK, at) != sample->link.id)
		return;
	int c = FIRST_FIGURE;
#define RAISE_SUM(field) c++;
#define RAISE_MOST(field)                                                                \
	{                                                                                \
		uint64_t value = block_value(block, c++, at);                            \
		TB_FIGURE_MOST(sample->field, value);                                    \
	}
#define ROW(ID, field, column, type, adds, ...) RAISE_##adds(field)
	TB_LINK_FIGURES(ROW)
#undef ROW
}
