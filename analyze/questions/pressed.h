// How long the end of a run waited behind messages of the same node because the network
// took no more of them: what holds up a node's links holds up the queue behind them.
#ifndef TB_PRESSED_H
#define TB_PRESSED_H

#include "critical_path.h"

// tb_pressed_find stores it, a part of what `path` waited in TB_PATH_QUEUE: as long as
// the node's links were stalled, of the time in which they were busy or stalled. That is
// bin by bin of the nodes in which messages stood longest, of others over the whole run.
// Cost: a pass over links, and a look-up per bin and link of those nodes. TB_EFORMAT when
// the file is damaged, TB_ENOMEM.
int tb_pressed_find(tb_time_ps *pressed_ps, struct tb_run *run,
	const struct tb_critical_path *path, struct tb_error *error) TB_MUST_USE;

#endif
