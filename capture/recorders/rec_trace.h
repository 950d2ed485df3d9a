// Private to capture/recorders: calls as the recorders of collectives keep them; the
// calls of ranks are made from these.
#ifndef TB_REC_TRACE_H
#define TB_REC_TRACE_H

#include "calls.h"
#include "facts.h"
#include "map.h"
#include "reading.h"

#define REC_NONE      UINT32_MAX
#define REC_RANKS_MAX (UINT32_C(1) << 20)
#define REC_NS_MAX    UINT64_C(9000000000000000) // 104 days: what a job can last

// What a call does: an enum tb_collective_op, or one of these.
enum { REC_SEND = TB_COLL_N, REC_RECV };

enum rec_state { REC_SCHEDULED, REC_STARTED, REC_COMPLETED };

struct rec_call {
	uint64_t seq;		     // number of a collective in its group
	uint64_t made_ns, lasted_ns; // begun, on the clock of its rank; 0: unknown
	uint64_t bytes;		     // as calls have them (collective_ops.h)
	uint32_t rank;	// of the job; while a trace of places is read, of `owners`
	uint32_t place; // in the group; REC_NONE: by the rank
	uint32_t group;
	uint32_t peer; // of a message: place in the group
	uint32_t turn; // among the calls of one rank that have one number
	uint8_t what, state;
	bool is_left; // not in the files of all members
};

struct rec_group {
	char *name, *description; // owned
	uint32_t *members;	  // owned; NULL: unknown until all is read
	uint32_t n, n_known;	  // 0: unknown; of places that were seen
};

// Who recorded a trace, in formats that know ranks only as places in communicators.
struct rec_owner {
	char *host; // owned; NULL: unknown
	uint64_t pid;
	uint32_t rank; // in the largest communicator
	bool is_several;
};

struct rec_trace {
	struct rec_call *calls; // rank after rank once it is finished
	size_t n, room;
	struct rec_group *groups;
	size_t n_groups, groups_room;
	struct rec_owner *owners;
	size_t n_owners, owners_room;
	struct tb_map group_of, owner_of; // by a hash of the name, or of host and process
	uint32_t
		*by_number; // collectives, by group, number, turn and rank; once finished
	size_t n_numbered;
	uint32_t n_ranks;
	uint64_t n_left_out, n_broken;
	const char *file; // that is being read
	struct tb_error *error;
};

void tb_rec_fini(struct rec_trace *trace);
int tb_rec_no_memory(const struct rec_trace *trace);

// tb_rec_group stores the number of the group of this name, which it adds if there is
// none; tb_rec_owner does the same for owners. `host` may be NULL.
int tb_rec_group(struct rec_trace *trace, const char *name, uint32_t *group) TB_MUST_USE;
int tb_rec_owner(struct rec_trace *trace, const char *host, uint64_t pid,
	uint32_t *owner) TB_MUST_USE;

int tb_rec_add(struct rec_trace *trace, const struct rec_call *call) TB_MUST_USE;

// tb_rec_place_ranks derives ranks from owners and places, and finds the members of
// groups. TB_EFORMAT where members are missing or cannot be determined.
int tb_rec_place_ranks(struct rec_trace *trace) TB_MUST_USE;

// tb_rec_finish sorts the calls by rank, keeping each rank's order, and marks calls that
// are missing in the files of some members. Groups must have their members.
int tb_rec_finish(struct rec_trace *trace) TB_MUST_USE;

// tb_rec_calls makes the calls of a finished trace, which the caller frees.
int tb_rec_calls(const struct rec_trace *trace, struct tb_calls **calls) TB_MUST_USE;

// tb_rec_measured adds how long calls took, by operation, group size and bytes.
int tb_rec_measured(const struct rec_trace *trace, struct tb_facts *facts) TB_MUST_USE;

// tb_rec_rank_end returns where the calls of the rank end that begin at `from`, in a
// finished trace.
size_t tb_rec_rank_end(const struct rec_trace *trace, size_t from);

// tb_rec_ranks describes ascending ranks, as "0, 2 to 5 and 12 more", in `buffer`, and
// returns it.
char *tb_rec_ranks(const uint32_t *ranks, size_t n, char *buffer, size_t size);

// tb_rec_describe writes "allreduce of 4 KiB" and returns buffer.
char *tb_rec_describe(const struct rec_call *call, char *buffer, size_t size);
#define REC_CALL_TEXT(call) tb_rec_describe((call), (char[80]){0}, 80)

#endif
