// Lanes: where each thread of a traced rank writes its records, and the clock.
//
// Model: the process has one rank file, and each thread that calls MPI a lane, which
// fills one block of the file after another, mapped into memory: a record costs no system
// call, and what is written stays when the process is killed. A thread that ends leaves
// its lane to the next one. Calls that MPI makes within calls are not recorded: a call
// counts only when it is the outermost of its thread.
//
// The state is the process's, at file scope, as it must be for functions with the
// signatures of MPI. Thread safe; a lane belongs to one thread.
#ifndef TB_LANE_H
#define TB_LANE_H

#include "tbt_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct tb_record_lane {
	uint8_t *block, *at, *end; // `end` leaves room for any record
	uint64_t last_ns;	   // end of the last record
	uint64_t poll_begin_ns, poll_end_ns;
	uint32_t number, n_blocks;
	unsigned depth; // of calls within calls
	struct tb_record_lane *next;
	uint64_t *scratch; // of tb_lane_scratch
	size_t n_scratch;
};

// A call that is being made; `lane` is NULL where nothing is recorded.
struct tb_traced_call {
	struct tb_record_lane *lane;
	uint64_t enter_ns, leave_ns;
};

extern _Thread_local struct tb_record_lane *tb_lane_own
	__attribute__((tls_model("initial-exec")));

// tb_lanes_open creates the rank file in `folder` and begins to record; on failure it
// prints why, and nothing is recorded. `threads`: several threads may call MPI at once.
struct tb_lanes_rank {
	uint32_t rank, n_ranks, mpi;
	const char *host, *version;
	bool threads;
	uint64_t world; // its identity, equal in all ranks
	enum tb_tbt_origin origin;
	const char *job, *parent; // names in the launcher, of this world and its parent
	const char *name;	  // of the file in the folder; NULL: rank-N-WORLD.tbr
	uint64_t begin_ns;	  // when it began; 0: now
};
void tb_lanes_open(const char *folder, const struct tb_lanes_rank *rank);

// tb_lanes_forget has a forked child leave its parent's file and lanes alone.
void tb_lanes_forget(void);

// tb_lanes_state notes how the process ends; recording goes on.
void tb_lanes_state(enum tb_tbt_state state);

// tb_lanes_close ends recording, and notes how.
void tb_lanes_close(enum tb_tbt_state state);

// tb_ending_watch begins to watch, when the rank file is open, for what ends the process:
// a signal, or exiting without MPI_Finalize.
//
// Rule: the signals whose default is to end the process have a handler that notes the
// signal in the rank file, puts back what was there before, and has the signal come
// again. So the process ends, dumps core or handles the signal as it would untraced. What
// the program sets later replaces the handler. SIGKILL leaves no note.
void tb_ending_watch(void);

bool tb_lanes_threads(void);

// tb_lane_take returns the lane of this thread, a new one if it has none; NULL when
// nothing is recorded.
struct tb_record_lane *tb_lane_take(void);

// tb_lane_record appends a record with its list (which may be empty).
void tb_lane_record(const struct tb_traced_call *entry, enum tb_tbt_kind kind,
	const uint64_t *fields, const uint64_t *list, size_t n_list);

// tb_lane_define appends a record that takes no time, within a call.
void tb_lane_define(struct tb_record_lane *lane, enum tb_tbt_kind kind,
	const uint64_t *fields, const uint64_t *list, size_t n_list);

// tb_lane_poll notes a call that asked in vain; calls of the kind that follow each other
// become one record.
void tb_lane_poll(const struct tb_traced_call *entry);

// tb_lane_scratch returns room for n values until the next call; NULL without memory.
uint64_t *tb_lane_scratch(struct tb_record_lane *lane, size_t n);

static inline uint64_t tb_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// tb_enter begins a call, tb_leave ends it and returns whether to record it.
static inline void tb_enter(struct tb_traced_call *entry)
{
	struct tb_record_lane *lane = tb_lane_own ? tb_lane_own : tb_lane_take();
	entry->lane = lane;
	if (lane && lane->depth++ == 0)
		entry->enter_ns = tb_now_ns();
}

static inline bool tb_leave(struct tb_traced_call *entry)
{
	if (!entry->lane || --entry->lane->depth > 0)
		return false;
	entry->leave_ns = tb_now_ns();
	return true;
}

// tb_outermost returns whether the call that was entered is going to be recorded.
static inline bool tb_outermost(const struct tb_traced_call *entry)
{
	return entry->lane && entry->lane->depth == 1;
}

#endif
