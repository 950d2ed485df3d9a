// Makes and frees the model's part of a replay; see struct tb_switching. Private to this
// room.
#ifndef TB_ETHERNET_NEW_H
#define TB_ETHERNET_NEW_H

#include "switching.h"

int tb_ethernet_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_ethernet_free(struct tb_replay *replay);

#endif
