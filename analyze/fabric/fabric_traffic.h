// Routes for the traffic of a stored run (route_traffic.h). With several rails a run has
// what hosts sent each other, of which each rail carries its part.
#ifndef TB_FABRIC_TRAFFIC_H
#define TB_FABRIC_TRAFFIC_H

#include "route_traffic.h"
#include "run.h"

// tb_fabric_traffic_apply gives a network routes for what the nodes sent each other in
// run `id` of a store, 0 for its newest, and a remark with what they gain. TB_EUSAGE when
// the run has no flows or other hosts, by number and name; errors as of tb_run_open and
// tb_route_traffic_apply.
int tb_fabric_traffic_apply(struct tb_network *network, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;

// tb_fabric_traffic_route does the same with an open run, called `name`, and stores what
// it gains.
int tb_fabric_traffic_route(struct tb_network *network, struct tb_run *run,
	const char *name, struct tb_route_gain *gain, struct tb_error *error) TB_MUST_USE;

// tb_fabric_traffic_nodes stores how many hosts that run's network has. Errors as of
// tb_run_open.
int tb_fabric_traffic_nodes(const char *path, int64_t id, uint32_t *n_nodes,
	struct tb_error *error) TB_MUST_USE;

#endif
