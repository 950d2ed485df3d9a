// Flow lists: who sends how much to whom, and when; the "connection matrix" of htsim and
// of the Ultra Ethernet simulations built on it (*.cm).
//
// A line is a flow, or counts what is in the file; `#` begins a comment:
//
//   Nodes 16
//   Connections 2
//   Triggers 1
//   2->11 id 1 start 0 size 2000000 send_done_trigger 1
//   2->4 id 2 trigger 1 size 2000000
//   trigger id 1 oneshot
//
// `start` is in picoseconds, `size` in bytes. A flow with a trigger begins when that has
// fired: `send_done_trigger` when the flow that names it is sent, `recv_done_trigger`
// when it has arrived; a trigger is `oneshot`, `multishot`, or `barrier` with `count N`,
// fired by the last of N. Nodes count from 0.
//
// As a job: a rank a node, a send and a receive a flow, with the flow's place in the file
// as tag. Starts wait on a processor of their own, in whole nanoseconds. Triggers are
// dependencies, which a job has within a rank only: a flow that begins when something
// happens on another node is refused, and so is one without end (size 0), one of several
// causes of which the first counts, and a start behind a trigger.
#ifndef TB_FLOW_LIST_H
#define TB_FLOW_LIST_H

#include "job.h"

#include <stdio.h>

// tb_flow_list_read takes the stream to its end, as tb_goal_text_read does. TB_EFOREIGN
// when the first line that says something is not "Nodes".
int tb_flow_list_read(struct tb_job **job, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;

#endif
