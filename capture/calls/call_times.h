// How long calls took: as a trace recorded them, and as a replay has them, by kind of
// call and by rank.
//
// Model: a call lasts from its entering to its leaving. Of a job made of a trace, each
// call of which the trace has both is kept as two instants of the job (struct
// tb_timed_call), so a replay gives the same figures as the trace did. Of a capture the
// calls are its messages: from the first byte on the wire to the last one delivered.
// Times count from the beginning of the trace. Memory: 12 bytes a call, and while times
// are added up 8 more. One thread at a time per object.
#ifndef TB_CALL_TIMES_H
#define TB_CALL_TIMES_H

#include "calls.h"
#include "disk_array.h"
#include "units.h"

#include <stddef.h>
#include <stdint.h>

// Kinds of calls, in the order in which they are listed: collective calls by their
// operation, then those that only start them.
enum {
	TB_TIMED_SEND,
	TB_TIMED_RECV,
	TB_TIMED_ISEND,
	TB_TIMED_IRECV,
	TB_TIMED_WAIT,
	TB_TIMED_MESSAGE, // of a capture
	TB_TIMED_COLLECTIVE,
	TB_TIMED_STARTED = TB_TIMED_COLLECTIVE + TB_COLL_N,
	TB_TIMED_KINDS = TB_TIMED_STARTED + TB_COLL_N
};

#define TB_TIMED_NAME_BYTES 32

// tb_timed_starts returns whether calls of a kind only start something. In a replay they
// take no time, as what a library does in them is not modelled; so they are not compared.
bool tb_timed_starts(uint32_t kind);

// tb_timed_kind returns the kind of a call, and tb_timed_name writes its name ("wait",
// "iallreduce") and returns buffer.
uint8_t tb_timed_kind(const struct tb_call *call);
const char *tb_timed_name(uint32_t kind, char buffer[TB_TIMED_NAME_BYTES]);

struct tb_kind_times {
	uint64_t n, bytes;
	uint64_t sum_ps, median_ps; // the median of an even number is the lower one
};

struct tb_rank_times {
	uint64_t n, n_starts;
	uint64_t sum_ps,
		starts_ps; // in calls, of all its lanes; in those that only start
	uint64_t end_ps;   // the last of them was left
};

// A zeroed struct is empty.
struct tb_call_times {
	struct tb_kind_times kinds[TB_TIMED_KINDS];
	struct tb_rank_times *ranks;
	uint32_t n_ranks;
	uint64_t n;
	uint64_t run_ps; // the last call was left
	struct {
		uint64_t *list;
		size_t room;
	} lasted[TB_TIMED_KINDS]; // until tb_call_times_end
};

// tb_call_times_begin empties `times` and has it count for so many ranks;
// tb_call_times_add adds a call that is left no earlier than it is entered;
// tb_call_times_end finds the medians. TB_ENOMEM.
int tb_call_times_begin(struct tb_call_times *times, uint32_t n_ranks) TB_MUST_USE;
int tb_call_times_add(struct tb_call_times *times, uint32_t rank, uint8_t kind,
	uint64_t bytes, uint64_t enter_ps, uint64_t leave_ps) TB_MUST_USE;
void tb_call_times_end(struct tb_call_times *times);
void tb_call_times_fini(struct tb_call_times *times);

// An instant of a job: an operation's end, or with TB_DEP_START (job.h) its start.
#define TB_AT_BEGINNING UINT32_MAX	 // of the job
#define TB_AT_NO_TIME	(UINT32_MAX - 1) // there is none

struct tb_timed_call {
	uint32_t enter, leave;
	uint8_t kind;
};

// Why calls cannot be compared.
enum tb_uncompared {
	TB_UNCOMPARED_BACKWARDS, // left before they were entered
	TB_UNCOMPARED_OVERLAPS,	 // entered before the call before in their lane was left
	TB_UNCOMPARED_LEFT_OUT,	 // not in the job
	TB_UNCOMPARED_ANY,	 // takes what comes first
	TB_UNCOMPARED_UNREACHED, // by the replay
	TB_UNCOMPARED_N
};

// tb_uncompared_text returns the reason in words: "left before entered, ...".
const char *tb_uncompared_text(enum tb_uncompared reason);

// What a job keeps of a trace's times.
struct tb_recorded_calls {
	struct tb_timed_call *calls; // rank after rank
	struct tb_disk_array array;  // that the calls are; without memory: they are alone
	size_t *first;		     // n_ranks + 1: rank r has calls [r] to [r + 1] - 1
	uint32_t n_ranks;
	// Sends start when their first packet enters the network, not when they are
	// posted.
	bool on_wire;
	struct tb_call_times times;
	uint64_t n_uncompared[TB_UNCOMPARED_N];
	// Of the recorded network's ports, estimated; 0: unknown.
	uint64_t bytes_per_s, bucket_bytes;
	bool of_rdma;	 // on the wire as RoCE, not TCP
	int64_t path_ns; // how long messages took there one way, but for its ports
};

void tb_recorded_calls_free(struct tb_recorded_calls *timed); // NULL is fine

// The result of replaying an inferred job at the captured rate. `node_percent` is the
// mean, over nodes, of the absolute difference between the ends, in percent.
struct tb_capture_check {
	uint32_t job;
	uint64_t bytes_per_s;
	uint64_t recorded_ps, simulated_ps;
	double node_percent;
	uint64_t recorded_message_ps, simulated_message_ps; // mean latencies
};

// Where the calls of a program are in the job that was made of them, and what they moved.
//
// Model: a collective call lasts from when its rank has come to it until the rank's part
// is complete, if it only starts something, too. Any other call lasts from its entering
// to its leaving, and stands here only where the trace recorded both. Calls that take no
// time in any replay are left out. Memory: 32 bytes a call.

#define TB_PLACED_ALGORITHMS 256

struct tb_placed_call {
	uint64_t bytes;	       // of a collective what the rank gave it
	uint32_t enter, leave; // instants of the job (call_times.h)
	uint8_t kind;	       // TB_TIMED_SEND, ... (call_times.h)
	uint8_t algorithm;     // its number; 0: none
	uint32_t n_members;    // of a collective whose blocks are alike; 0: unknown
	uint32_t meeting;      // of a collective: the number of what its members call
	bool is_root;	       // the rank gives or gets what the others do not
};

struct tb_placed_calls {
	struct tb_placed_call *calls; // rank after rank, each in the order of entering
	size_t *first;		      // n_ranks + 1: rank r has calls [r] to [r + 1] - 1
	uint32_t n_ranks, n_meetings;
	const char *algorithms[TB_PLACED_ALGORITHMS]; // constants; NULL: none
};

void tb_placed_calls_free(struct tb_placed_calls *placed); // NULL is fine

#endif
