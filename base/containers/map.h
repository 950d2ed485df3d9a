// A hash map from 64-bit keys to 32-bit values: open addressing, no deletion.
//
// The engine and the readers use it for their tables (endpoint to node, flow to row). It
// cannot be iterated: callers iterate over arrays of their own, so results never depend
// on hash order. Not thread safe.
#ifndef TB_MAP_H
#define TB_MAP_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_map {
	struct tb_map_slot *slots; // NULL while empty
	size_t capacity;	   // 0 or a power of two
	size_t n_used;
};

// A zeroed struct is an empty map. tb_map_fini frees it and leaves it empty.
void tb_map_fini(struct tb_map *map);

// tb_map_find returns whether the map has `key`, and then stores its value.
bool tb_map_find(const struct tb_map *map, uint64_t key, uint32_t *value);

// tb_map_put adds `key` or replaces its value. Amortised constant cost. TB_ENOMEM leaves
// the map unchanged.
int tb_map_put(struct tb_map *map, uint64_t key, uint32_t value) TB_MUST_USE;

#endif
