#include "timers.h"

#include <stdbool.h>
#include <stdlib.h>

void tb_timers_fini(struct tb_timers *timers)
{
	free(timers->heap);
	*timers = (struct tb_timers){0};
}

static bool sooner(struct tb_timer a, struct tb_timer b)
{
	return a.at < b.at || (a.at == b.at && a.what < b.what);
}

int tb_timers_put(struct tb_timers *timers, struct tb_timer timer)
{
	if (timers->n == timers->room) {
		uint32_t room = timers->room ? timers->room * 2 : 256;
		void *moved = realloc(timers->heap, room * sizeof *timers->heap);
		if (!moved)
			return TB_ENOMEM;
		timers->heap = moved;
		timers->room = room;
	}
	uint32_t i = timers->n++;
	for (; i > 0 && sooner(timer, timers->heap[(i - 1) / 2]); i = (i - 1) / 2)
		timers->heap[i] = timers->heap[(i - 1) / 2];
	timers->heap[i] = timer;
	return TB_OK;
}

struct tb_timer tb_timers_take(struct tb_timers *timers)
{
	struct tb_timer top = timers->heap[0];
	struct tb_timer last = timers->heap[--timers->n];
	uint32_t i = 0;
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= timers->n)
			break;
		if (child + 1 < timers->n &&
			sooner(timers->heap[child + 1], timers->heap[child]))
			child++;
		if (!sooner(timers->heap[child], last))
			break;
		timers->heap[i] = timers->heap[child];
		i = child;
	}
	timers->heap[i] = last;
	return top;
}
