// What the routes of a network do, kept as a run in a store, so that the viewer, the
// matrix and SQL show it: all to all without waits.
//
// The run is not simulated. Each host sends a full packet to each other, every link
// carries its packets one after the other, and the run lasts as long as the link that is
// busy longest; so the busy time of a link in percent is its heat in terms of the
// hottest's. Packets of a link are the pairs that cross it, rounded. There are no flows
// and no waits. The input's name is TB_FABRIC_INPUT, its kind "routes".
#ifndef TB_FABRIC_STORE_H
#define TB_FABRIC_STORE_H

#include "fabric_report.h"

#define TB_FABRIC_INPUT "all to all by routes alone"

// tb_fabric_store appends the run to the store at `path`, or makes one. Errors as of
// tb_store_create and tb_store_begin_run.
int tb_fabric_store(const struct tb_fabric_report *report, const char *path,
	struct tb_error *error) TB_MUST_USE;

#endif
