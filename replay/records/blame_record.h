// What the blame table comes to, as the observer is given it. Private to replay/.
#ifndef TB_BLAME_RECORD_H
#define TB_BLAME_RECORD_H

#include "blame_table.h"

// tb_blame_record_give lists the table, whose tally is entered, into a record, gives this
// to the observer and stores what that returned. The table is used up; free it then.
// TB_ENOMEM.
int tb_blame_record_give(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	const struct tb_observer *observer, int *returned) TB_MUST_USE;

#endif
