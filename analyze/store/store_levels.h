// Writes waits by level and time. Private to analyze/.
#ifndef TB_STORE_LEVELS_H
#define TB_STORE_LEVELS_H

#include "network.h"
#include "observer.h"

#include <sqlite3.h>

// Waits of a bin by the level of the switch where headers waited.
struct tb_store_levels {
	uint8_t *of_link;  // level by link; UINT8_MAX: leads to a node
	uint64_t *wait_ps; // by level, of the bin being written
	uint32_t n_levels;
	sqlite3_stmt *insert;
};

// tb_store_levels_init finds the level of each link of the network. A zeroed struct is
// fine to free; tb_store_levels_fini leaves it zeroed.
int tb_store_levels_init(struct tb_store_levels *levels, sqlite3 *db, const char *path,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;
void tb_store_levels_fini(struct tb_store_levels *levels);

// tb_store_levels_write sums a bin's samples by level and stores them.
int tb_store_levels_write(struct tb_store_levels *levels, const char *path, int64_t run,
	uint64_t bin, const struct tb_link_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

#endif
