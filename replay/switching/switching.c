#include "switching.h"

#include <stdlib.h>

int tb_switching_make(struct tb_replay **replay, const struct tb_switching *model,
	const struct tb_network *network, const struct tb_source *source,
	const struct tb_observer *observer, const struct tb_engine_options *options)
{
	struct tb_engine_options own = *options;
	if (!model->dies)
		own.faults = NULL;
	struct tb_replay *made = calloc(1, model->bytes);
	if (!made)
		return TB_ENOMEM;
	struct tb_cell **cells = NULL;
	int status = tb_replay_init(made, network, source, &model->carrier, &own);
	if (status == TB_OK)
		status = model->make(made, options, &cells);
	if (status == TB_OK)
		status = tb_replay_open(made, observer, cells, &own);
	made->books.holds_stall = model->holds_stall;
	if (status == TB_OK)
		*replay = made;
	else
		model->free(made);
	return status;
}
