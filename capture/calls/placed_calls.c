#include "placed_calls.h"

#include <stdlib.h>

void tb_placed_calls_free(struct tb_placed_calls *placed)
{
	if (!placed)
		return;
	free(placed->calls);
	free(placed->first);
	free(placed);
}
