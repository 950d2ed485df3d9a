#include "timers.h"

#include "array.h"
#include "heap.h"

#include <stdbool.h>
#include <stdlib.h>

void tb_timers_fini(struct tb_timers *timers)
{
	free(timers->heap);
	*timers = (struct tb_timers){0};
}

static bool timer_sooner(const struct tb_timer *a, const struct tb_timer *b)
{
	return a->at < b->at || (a->at == b->at && a->what < b->what);
}

TB_HEAP(timers, struct tb_timer, timer_sooner)

int tb_timers_put(struct tb_timers *timers, struct tb_timer timer)
{
	if (TB_ARRAY_RESERVE(&timers->heap, &timers->room, timers->n + 1) != TB_OK)
		return TB_ENOMEM;
	timers_put(timers->heap, timers->n++, timer);
	return TB_OK;
}

struct tb_timer tb_timers_take(struct tb_timers *timers)
{
	return timers_take(timers->heap, timers->n--);
}
