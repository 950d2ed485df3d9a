#include "wrap.h"

#include "lane.h"

#include <stdlib.h>

static void handles_lock(struct tb_handles *handles)
{
	if (tb_lanes_threads())
		pthread_mutex_lock(&handles->lock);
}

static void handles_unlock(struct tb_handles *handles)
{
	if (tb_lanes_threads())
		pthread_mutex_unlock(&handles->lock);
}

// handles_look returns where a handle stands, or n.
static uint32_t handles_look(struct tb_handles *handles, uint64_t handle)
{
	if (handles->last < handles->n && handles->items[handles->last].handle == handle)
		return handles->last;
	for (uint32_t i = 0; i < handles->n; i++)
		if (handles->items[i].handle == handle)
			return handles->last = i;
	return handles->n;
}

bool tb_handles_find(struct tb_handles *handles, uint64_t handle, uint64_t *id)
{
	handles_lock(handles);
	uint32_t at = handles_look(handles, handle);
	bool found = at < handles->n;
	if (found)
		*id = handles->items[at].id;
	handles_unlock(handles);
	return found;
}

static bool handles_make_room(struct tb_handles *handles)
{
	if (handles->n < handles->room)
		return true;
	uint32_t room = handles->room ? 2 * handles->room : 64;
	struct tb_handle *items = realloc(handles->items, room * sizeof *items);
	if (!items)
		return false;
	handles->items = items;
	handles->room = room;
	return true;
}

uint64_t tb_handles_add(struct tb_handles *handles, uint64_t handle)
{
	handles_lock(handles);
	uint32_t at = handles_look(handles, handle);
	uint64_t id = handles->n_ids++;
	if (at < handles->n || handles_make_room(handles)) {
		handles->items[at] = (struct tb_handle){handle, id};
		handles->n += at == handles->n;
	}
	handles_unlock(handles);
	return id;
}

void tb_handles_remove(struct tb_handles *handles, uint64_t handle)
{
	handles_lock(handles);
	uint32_t at = handles_look(handles, handle);
	if (at < handles->n)
		handles->items[at] = handles->items[--handles->n];
	handles_unlock(handles);
}
