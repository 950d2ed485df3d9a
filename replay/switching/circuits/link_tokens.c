#include "circuits.h"

#include "memory.h"

#include <stdlib.h>

#define NO_PLACE UINT32_MAX

struct trains *tb_link_tokens_new(uint32_t n_slots, double share)
{
	struct trains *made = calloc(1, sizeof *made);
	if (!made)
		return NULL;
	made->share_q16 = (uint32_t)(share * 65536 + 0.5);
	made->of = tb_lines_new(n_slots, sizeof *made->of);
	made->places = malloc(n_slots * sizeof *made->places);
	if (made->of && made->places) {
		for (uint32_t slot = 0; slot < n_slots; slot++)
			made->places[slot] = NO_PLACE;
		return made;
	}
	tb_link_tokens_free(made);
	return NULL;
}

void tb_link_tokens_free(struct trains *trains)
{
	if (!trains)
		return;
	free(trains->of);
	free(trains->places);
	free(trains);
}

void tb_link_tokens_pair(struct trains *trains, uint32_t slot, uint32_t reverse)
{
	if (trains->places[slot] != NO_PLACE)
		return;
	struct train *train = &trains->of[trains->n_places];
	train[0].to_reverse = 1;
	train[1].to_reverse = -1;
	train[0].share_q16 = train[1].share_q16 = trains->share_q16;
	trains->places[slot] = trains->n_places++;
	trains->places[reverse] = trains->n_places++;
}
