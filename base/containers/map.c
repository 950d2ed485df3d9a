#include "map.h"

#include "random.h"

#include <stdlib.h>

struct tb_map_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

void tb_map_fini(struct tb_map *map)
{
	free(map->slots);
	*map = (struct tb_map){0};
}

// map_slot finds the key's slot, or the empty one where it belongs.
static struct tb_map_slot *map_slot(const struct tb_map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t i = (size_t)tb_random_mix(key) & mask;
	while (map->slots[i].used && map->slots[i].key != key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

bool tb_map_find(const struct tb_map *map, uint64_t key, uint32_t *value)
{
	if (map->capacity == 0)
		return false;
	const struct tb_map_slot *slot = map_slot(map, key);
	if (!slot->used)
		return false;
	*value = slot->value;
	return true;
}

static int map_grow(struct tb_map *map)
{
	struct tb_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64,
		.n_used = map->n_used};
	larger.slots = calloc(larger.capacity, sizeof *larger.slots);
	if (!larger.slots)
		return TB_ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].used)
			*map_slot(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return TB_OK;
}

int tb_map_put(struct tb_map *map, uint64_t key, uint32_t value)
{
	// At most three quarters full, so that probe chains stay short.
	if (map->n_used * 4 >= map->capacity * 3 && map_grow(map) != TB_OK)
		return TB_ENOMEM;
	struct tb_map_slot *slot = map_slot(map, key);
	if (!slot->used)
		map->n_used++;
	*slot = (struct tb_map_slot){.key = key, .value = value, .used = 1};
	return TB_OK;
}
