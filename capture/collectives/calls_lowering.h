// What the steps from calls to a job share (calls_job.c): matching, lowering lane by
// lane, and collective calls.
#ifndef TB_CALLS_LOWERING_H
#define TB_CALLS_LOWERING_H

#include "calls_job.h"
#include "library.h"
#include "map.h"

#define TB_NO_OP UINT32_MAX

// Tags of a pair of a group and a tag: a message that is sent without asking, and the
// three of a rendezvous.
enum tb_message_part { TB_PART_EAGER, TB_PART_ASK, TB_PART_ANSWER, TB_PART_DATA };

// A lane of a rank: where it is, and what its next call waits for.
struct tb_call_lane {
	uint32_t next;	      // call; the number of calls when it has ended
	uint32_t edge;	      // while another lane is at work: see struct tb_front
	uint32_t since;	      // call that set the front
	uint32_t waits_on;    // call that is not lowered yet; TB_NO_OP: none
	uint32_t next_waiter; // lane that waits on the same
	uint64_t calc_ns;     // computation before the next call, besides its own
	uint32_t leaves; // call that is left when the front is complete; TB_NO_OP: none
	// Receives from any source, one after another: what they waited for at first
	// (TB_NO_OP: the beginning), whose message the lane is at, and by peer where it
	// was done with the last one.
	bool takes_turns;
	uint32_t turns_from, turn_of;
	struct tb_map turns; // peer to its place in `done`
	struct tb_turn {
		uint32_t peer, edge;
	} * done;
	size_t n_done, done_room;
	bool begun;
	bool held; // by its own last call, a collective, which is what it waits on
};

// The edges on which a call is entered and left; of one that is not timed TB_AT_NO_TIME.
struct tb_call_edges {
	uint32_t enter, leave;
};

// A rank being lowered. An edge is an operation, by its index within the rank, whose end
// is waited for, or with TB_DEP_START its start; TB_NO_OP: the beginning of the job.
struct tb_lowered_rank {
	const struct tb_call *calls;
	uint32_t n;
	// By call. Before it is lowered: of a send or receive, the partner's call that it
	// meets, or TB_NO_OP when it is left out; of a collective call, which one of its
	// group it is. Then: the edge on which it is complete.
	uint32_t *edges;
	uint8_t *lowered; // a bit per call
	uint8_t *awaited; // a bit per call: others come after it
	uint8_t *any;	  // a bit per call: a receive that takes what comes first
	// By call; NULL: the trace has neither times nor collective calls.
	struct tb_call_edges *timed;
	uint8_t *algorithms; // of collectives, see struct tb_placed_call
	uint32_t *next;	     // by call: the next one of its lane; NULL: there is one lane
	uint32_t *waiters;   // by call: the first lane that waits on it; likewise
	struct tb_call_lane *lanes;
	uint32_t n_lanes;
};

// A collective call of a group: the i-th one of each member.
struct tb_instance {
	uint32_t n_seen;    // members that make it
	uint32_t n_arrived; // that the lowering has come to
	uint32_t root;
	uint8_t op;
	bool dropped;
	struct tb_arrival
		*arrivals; // by member; NULL before the first and after the last
};

struct tb_arrival {
	uint32_t call, at; // at: edge, an operation's end
};

struct tb_group_calls {
	struct tb_instance *instances;
	size_t n, room;
	uint32_t *n_made;	// by member: how many calls
	uint32_t first_meeting; // of its instances, among those of all groups
};

// A rule that expanded collective calls, for the notes.
struct tb_rule_use {
	struct tb_expansion_rule rule;
	enum tb_collective_op op;
	uint32_t n; // members
	uint64_t least_bytes, most_bytes;
	bool by_sizes; // the bytes are what a member sends in all
	uint64_t n_calls;
};

struct tb_kept_plan; // calls_lower.c

struct tb_lowering {
	const struct tb_calls *calls;
	const struct tb_reading *reading;
	const struct tb_library *library;
	const char *unknown_library; // that made the trace; NULL: it is known
	struct tb_collective_choices choices;
	uint64_t eager_bytes;
	bool skews;    // ranks begin long messages at different times
	bool is_eager; // every message is sent at once, whatever the library does
	struct tb_job_builder *builder;
	struct tb_error *error;
	int status; // of lowering: the first failure

	uint32_t n_ranks;
	struct tb_lowered_rank *ranks;
	uint32_t *hosts; // by rank: the number of its host; NULL: none is known

	struct tb_map tags; // group and tag to the number of the pair
	uint32_t n_tags;
	uint32_t first_tag, next_tag; // of collective calls

	struct tb_group_calls *groups;
	struct tb_map places; // group and rank to the place, where it is not the rank

	// What the next call of the lane at work waits for.
	uint32_t *front;
	size_t n_front, front_room;
	struct tb_ready_lane {
		uint32_t rank, lane;
	} * work; // lanes that can go on
	size_t n_work, work_room;

	struct tb_kept_plan *kept;
	size_t n_kept, kept_next;
	struct tb_rule_use *uses;
	size_t n_uses, uses_room;
	const char *algorithms[TB_PLACED_ALGORITHMS]; // by number; constants

	bool has_times; // the trace recorded when some call was left

	uint64_t n_long; // calls with messages that are asked for
	uint64_t n_dropped_sends, n_dropped_recvs, n_dropped_collectives;
	uint64_t n_resized;	// receives that expected another size
	uint64_t n_any_guessed; // that take what comes first, by the order of senders
	uint32_t most_lanes;
};

// Bits of a rank's calls.
static inline bool tb_bit(const uint8_t *bits, uint32_t i)
{
	return bits[i / 8] >> (i % 8) & 1;
}
static inline void tb_set_bit(uint8_t *bits, uint32_t i)
{
	bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << (i % 8));
}

// Lanes are numbered through; a job has 256 processors a rank.
static inline uint8_t tb_lane_cpu(uint32_t lane)
{
	return (uint8_t)(lane & UINT8_MAX);
}

// tb_lane_turns_fini frees what a lane keeps of receives from any source.
void tb_lane_turns_fini(struct tb_call_lane *lane);

// tb_lowering_fail keeps the first failure of lowering, which goes on until the call is
// added. The caller has filled the error, but of TB_ENOMEM; TB_OK is none.
void tb_lowering_fail(struct tb_lowering *lowering, int status);

// tb_lowering_tag returns the job's tag of a part of a message.
uint32_t tb_lowering_tag(const struct tb_lowering *lowering, const struct tb_call *call,
	enum tb_message_part part);

// tb_lowering_meetings begins to number the collective calls of all groups, and returns
// how many there are; tb_lowering_meet places a rank's next one of its group there.
uint32_t tb_lowering_meetings(struct tb_lowering *lowering);
void tb_lowering_meet(struct tb_lowering *lowering, uint32_t rank,
	const struct tb_call *call, struct tb_placed_call *placed);

// tb_lowering_instance returns the collective call that a rank's call is part of, and the
// rank's place in the group.
struct tb_instance *tb_lowering_instance(
	struct tb_lowering *lowering, uint32_t rank, uint32_t index, uint32_t *place);

// tb_lowering_done stores the edge on which a call is complete, and wakes who waits.
void tb_lowering_done(
	struct tb_lowering *lowering, uint32_t rank, uint32_t call, uint32_t edge);

// tb_lowering_add adds a call's operations. What it waits for is in the front, and what
// the next call of its lane waits for then. *held is set when it is a collective call
// that returns with the others: then its edge is the front.
void tb_lowering_add(
	struct tb_lowering *lowering, uint32_t rank, uint32_t call, bool *held);

// The front.
void tb_front_set(struct tb_lowering *lowering, uint32_t edge); // TB_NO_OP empties it
// tb_front_join makes it one edge at most, by a calc that takes no time if necessary;
// with `end` the end of an operation, not its start.
void tb_front_join(struct tb_lowering *lowering, uint32_t rank, uint32_t lane, bool end);

// When calls are entered and left. The lane is the call's.

// tb_timing_init gives ranks room for edges, if the trace recorded times or has
// collective calls.
int tb_timing_init(struct tb_lowering *lowering) TB_MUST_USE;

// tb_timing_enter notes that a call is entered when the front is complete, which it
// joins; tb_timing_leave that it is left then, which shows only in an operation that
// waits for all of the front: it is noted by tb_timing_settle at the latest, before the
// front waits for anything else. `computed`: the front is a calc that was added behind
// it.
void tb_timing_enter(struct tb_lowering *lowering, uint32_t rank, uint32_t call);
void tb_timing_leave(struct tb_lowering *lowering, uint32_t rank, uint32_t call);
void tb_timing_settle(
	struct tb_lowering *lowering, uint32_t rank, uint32_t lane, bool computed);

// tb_timing_leave_at notes the edge on which a call is left, TB_AT_NO_TIME to leave it
// out.
void tb_timing_leave_at(
	struct tb_lowering *lowering, uint32_t rank, uint32_t call, uint32_t edge);

// tb_timing_take makes what the job keeps of times; NULL when the trace recorded none.
int tb_timing_take(
	const struct tb_lowering *lowering, struct tb_recorded_calls **timed) TB_MUST_USE;

// tb_timing_number numbers the operations of the calls over the whole job, which is
// finished: before, they are numbered within their ranks.
void tb_timing_number(struct tb_recorded_calls *timed, const struct tb_job *job);

// tb_timing_arrive notes where a collective call that is not timed begins: at the front.
void tb_timing_arrive(struct tb_lowering *lowering, uint32_t rank, uint32_t call);

// Where calls are in the job.

// tb_placing_take makes what the job keeps of places; NULL when there are none.
// tb_placing_number numbers their operations as tb_timing_number does.
int tb_placing_take(
	struct tb_lowering *lowering, struct tb_placed_calls **placed) TB_MUST_USE;
void tb_placing_number(struct tb_placed_calls *placed, const struct tb_job *job);

void tb_lowering_free_kept(struct tb_lowering *lowering);

// tb_lowering_notes makes the notes of the job. `timed` may be NULL.
int tb_lowering_notes(const struct tb_lowering *lowering,
	const struct tb_recorded_calls *timed, char **notes) TB_MUST_USE;

#endif
