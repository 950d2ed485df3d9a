// What ranks do over time, and what the end of a run waits for: the words for it, and
// what is recorded of it (replay/workload/timeline.h).
#ifndef TB_SPANS_H
#define TB_SPANS_H

#include "ids.h"
#include "units.h"

#include <stddef.h>

enum tb_span_kind {
	TB_SPAN_COMPUTE,
	TB_SPAN_SEND,	 // until the buffer is free
	TB_SPAN_RECEIVE, // what its peer has sent
	TB_SPAN_WAIT,	 // until its peer sends
	TB_SPAN_KINDS
};

enum tb_path_cause {
	TB_PATH_START, // the job started later
	TB_PATH_COMPUTE,
	TB_PATH_CLOSED,	     // a receiver kept its window closed (job.h)
	TB_PATH_QUEUE,	     // a message stood behind others of its own node
	TB_PATH_SOFTWARE,    // overheads and libraries of hosts
	TB_PATH_TRANSFER,    // in the network, as long as that takes when it is idle
	TB_PATH_HELD_UP,     // in the network, beyond that
	TB_PATH_TIMEOUT,     // its timer ran, as it had lost a frame
	TB_PATH_PACED,	     // congestion control kept it while links rested
	TB_PATH_ACKNOWLEDGE, // what has arrived is not yet acknowledged
	TB_PATH_LOST,	     // a message was given up
	TB_PATH_END,	     // after the last operation
	TB_PATH_CAUSES
};

// tb_span_name and tb_path_name return the words for them, "compute", "held up"; NULL
// beyond the last.
const char *tb_span_name(uint32_t kind);
const char *tb_path_name(uint32_t cause);

// A span of a rank, or a step of the path.
struct tb_rank_span {
	tb_time_ps from_ps, to_ps;
	uint32_t job;
	uint32_t rank;	       // TB_ID_NONE: of none
	uint32_t peer;	       // rank, or TB_ID_NONE
	uint32_t what;	       // enum tb_span_kind or tb_path_cause
	uint32_t n;	       // that were merged to this one; 1: none
	tb_time_ps longest_ps; // of them, which gave it the three above
	// Of a rank's span: of it, before any merging; computed without what a library
	// does in collective calls.
	tb_time_ps computed_ps, waited_ps;
};

// A call that a rank made: a collective one, or of a program whose trace recorded times.
struct tb_call_span {
	tb_time_ps from_ps, to_ps;
	uint64_t bytes;	       // of a collective call what the rank gave it
	const char *algorithm; // of a collective call; NULL: none
	uint32_t job, rank;
	uint32_t number;      // among those of its rank
	uint32_t kind;	      // TB_TIMED_SEND, ... (call_times.h)
	uint32_t n_members;   // of a collective whose blocks are alike; 0: unknown
	tb_time_ps waited_ps; // of it, for others (timeline.h)
};

// What the path comes to by cause and flow, longest first.
struct tb_path_total {
	uint32_t cause;
	uint32_t job;
	struct tb_node source, destination; // TB_ID_NONE: of none
	uint64_t n_steps;
	tb_time_ps sum_ps;
};

#endif
