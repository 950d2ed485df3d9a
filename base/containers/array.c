#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_LEAST = 8 };

int tb_array_grow(void *items, size_t *room, size_t n, size_t size)
{
	size_t larger = *room <= PTRDIFF_MAX / 2 ? *room * 2 : n;
	if (larger < ROOM_LEAST)
		larger = ROOM_LEAST;
	if (larger < n)
		larger = n;
	if (larger > PTRDIFF_MAX / size)
		return TB_ENOMEM;
	// The owner's pointer is of another type than void *, so it is copied, not cast.
	void *old;
	memcpy(&old, items, sizeof old);
	void *moved = realloc(old, larger * size);
	if (!moved)
		return TB_ENOMEM;
	memcpy(items, &moved, sizeof moved);
	*room = larger;
	return TB_OK;
}

int tb_array_grow_zeroed(void *items, size_t *room, size_t n, size_t size)
{
	size_t before = *room;
	int status = tb_array_grow(items, room, n, size);
	if (status != TB_OK)
		return status;
	char *grown;
	memcpy(&grown, items, sizeof grown);
	memset(grown + before * size, 0, (*room - before) * size);
	return TB_OK;
}
