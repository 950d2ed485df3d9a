// How route_traffic.h finds its routes. Private to replay/.
#ifndef TB_TRAFFIC_SEARCH_H
#define TB_TRAFFIC_SEARCH_H

#include "route_table.h"
#include "route_traffic.h"

// tb_traffic_search fills the routes of a table without any, and all of `gain` but
// `hosts`, which it reads: routes that are no busier need not be looked for. TB_ENOMEM.
int tb_traffic_search(struct tb_route_table *table,
	const struct tb_route_traffic *traffic, struct tb_route_gain *gain) TB_MUST_USE;

#endif
