// Flow lists: who sends how much to whom, and when. This is the "connection matrix" of
// htsim and of the Ultra Ethernet simulations built on it (*.cm).
//
// Lines declare counts, flows and triggers; `#` begins a comment:
//
//   Nodes 16
//   Connections 2
//   Triggers 1
//   2->11 id 1 start 0 size 2000000 send_done_trigger 1
//   2->4 id 2 trigger 1 size 2000000
//   trigger id 1 oneshot
//
// ns-3's, of HPCC and what descends from it (simulation/mix/flow.txt there), have the
// number of flows, then a line for each, with the port or without: source, destination,
// priority group, port, bytes, seconds. They count from the first flow's start.
//
//   2
//   1 0 3 100 200000 2.0
//   2 0 3 101 200000 2.0001
//
// `start` is in picoseconds, `size` in bytes. A flow with a trigger begins when the
// trigger fires: a `send_done_trigger` fires when the flow that names it has been sent, a
// `recv_done_trigger` when that flow has arrived. A trigger is `oneshot`, `multishot`, or
// `barrier` with `count N`, which fires at the last of N. Nodes are numbered from 0.
//
// The job has one rank per node, and one send and one receive per flow; the tag is the
// flow's index in the file. Start times become calcs on a cpu of their own, in whole
// nanoseconds. Triggers become dependencies. A job has these only within a rank, and only
// on all of several operations, so these flows are refused: one that begins when
// something happens on another node, one that begins at the first of several events, one
// without end (size 0), and one with both a start and a trigger.
#ifndef TB_FLOW_LIST_H
#define TB_FLOW_LIST_H

#include "bytes.h"
#include "job.h"

#include <stdio.h>

// tb_flow_list_is_ns3 returns whether text begins with a number alone in its line and a
// flow of ns-3 in the next.
bool tb_flow_list_is_ns3(struct tb_bytes text);

// tb_flow_list_read reads the stream to its end, as tb_goal_text_read does. TB_EFOREIGN
// when the first line that is neither blank nor a comment does not begin with "Nodes" and
// is no number.
int tb_flow_list_read(struct tb_job **job, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;

#endif
