// What the ranks of a program called: the form that every reader of job traces fills, and
// from which a job is made (calls_job.h).
//
// Model: each rank has lanes (threads, streams of a GPU), and each lane a sequence of
// calls. A call begins `calc_ns` after the call before it in its lane has returned, and
// not before every call that it comes `after` is complete. A blocking call returns when
// it is complete; one that only `starts` an operation returns at once, and whoever comes
// after it waits for the operation. So MPI_Isend is a send that starts, and MPI_Waitall a
// joint that comes after the calls whose requests it was given. A lane's first call
// begins calc_ns after the beginning of the trace or, if it comes after calls, after the
// last of them is complete.
//
// Ranks are those of the job (of MPI_COMM_WORLD), from 0. A group is the ordered members
// of one communicator: collective calls of a group match by their order in each member,
// sends and receives by source, destination, group and tag, in their order. A trace knows
// what its receives received, so no call has a wildcard; which had one is kept.
//
// Calls of a rank are added in the order in which they were entered. Memory: 56 bytes per
// call, and 8 per pair of a call and one that it comes after. Built and read by one
// thread.
#ifndef TB_CALLS_H
#define TB_CALLS_H

#include "collective_ops.h"
#include "ids.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tb_call_kind {
	TB_CALL_JOINT, // only computation, and waiting for others
	TB_CALL_SEND,
	TB_CALL_RECV,
	TB_CALL_COLLECTIVE,
};

struct tb_call {
	uint64_t calc_ns;  // computation of its lane, before it
	uint64_t enter_ns; // since the trace's beginning, as recorded
	uint64_t leave_ns; // likewise; 0: not recorded
	uint64_t bytes;	   // of a message; of a collective see above
	uint32_t peer;	   // rank that a message goes to or comes from; the member of the
			   // group that is the root, by its place in it
	uint32_t tag;	   // of a message
	uint32_t group;	   // of a message or collective: see tb_calls_group
	uint32_t lane;	   // within the rank, from 0
	uint32_t sizes;	   // see tb_calls_sizes; 0: none
	uint8_t kind;	   // enum tb_call_kind
	uint8_t op;	   // enum tb_collective_op
	bool starts;	   // returns at once
	bool any_source;   // of a receive: it took what came first
	struct tb_observed observed; // of a collective
};

// A group: `members` are ranks. In an inter-communicator the members from n_local on are
// the remote group of the first n_local, and the other way round; elsewhere n_local is n.
struct tb_group {
	const uint32_t *members;
	uint32_t n, n_local;
};

// tb_group_place returns the place of a rank in a group, or n if it is no member. Cost:
// log n for a member if members ascend, else n.
uint32_t tb_group_place(const struct tb_group *group, uint32_t rank);

struct tb_calls; // opaque

// tb_calls_new begins with 1 to TB_RANKS_MAX ranks (job.h) and, as group 0, all of them;
// TB_EUSAGE otherwise. tb_calls_free: NULL is fine.
int tb_calls_new(
	struct tb_calls **calls, uint32_t n_ranks, struct tb_error *error) TB_MUST_USE;
void tb_calls_free(struct tb_calls *calls);

// tb_calls_group adds a group, copying its members, and stores its number. Each
// communicator is a group of its own, duplicates too. n_local: see above. TB_EUSAGE for
// an empty group, a member that is no rank or is listed twice.
int tb_calls_group(struct tb_calls *calls, const uint32_t *members, uint32_t n,
	uint32_t n_local, uint32_t *group, struct tb_error *error) TB_MUST_USE;

// The following functions add to the calls. After the first failure nothing more is
// added; tb_calls_check returns it, and tb_calls_job fails with it.

// tb_calls_add appends a call to `rank` and returns its number within the rank; 0 when it
// is not added. `sizes` of the call is ignored. TB_EUSAGE for a rank, peer, group or
// operation out of range; TB_ECAPACITY beyond 2^32 - 2 calls of a rank.
uint32_t tb_calls_add(struct tb_calls *calls, uint32_t rank, const struct tb_call *call);

// tb_calls_after makes the last call of `rank` wait for an earlier call `on` of the same
// rank; TB_EUSAGE for any other.
void tb_calls_after(struct tb_calls *calls, uint32_t rank, uint32_t on);

// tb_calls_sizes gives the last call of `rank`, a collective, the bytes that it sends to
// each member of its group, in the group's order (`n` is the group's size, of an
// inter-communicator that of the remote group): for alltoallv, scatterv at the root,
// neighbour collectives. Where members contribute unequal blocks (gatherv, allgatherv)
// their `bytes` say it. Copied.
void tb_calls_sizes(
	struct tb_calls *calls, uint32_t rank, const uint64_t *sizes, uint32_t n);

// tb_calls_host sets the name of the host on which a rank ran; copied. TB_EUSAGE,
// TB_ENOMEM.
void tb_calls_host(struct tb_calls *calls, uint32_t rank, const char *host);

// tb_calls_check returns TB_OK, or the first failure of the functions above.
int tb_calls_check(const struct tb_calls *calls, struct tb_error *error) TB_MUST_USE;

// In the note of a trace whose hosts have more adapters than the network gives them: how
// many. Who reads the note finds it there.
#define TB_NOTE_RAILS "-n PRESET,rails="

// tb_calls_made_with sets the library that made the trace with its version and settings,
// as tb_library_read takes them (library.h); copied, and not kept where memory ends.
void tb_calls_made_with(struct tb_calls *calls, const char *library);
// tb_calls_made_on sets the GPUs of the hosts, a constant that host libraries are called
// by ("a100" of nccl@a100); NULL: unknown.
void tb_calls_made_on(struct tb_calls *calls, const char *gpu);

// tb_calls_note adds a sentence, without full stop, on what was left out or assumed: "12
// MPI_Put are left out: ...". Equal sentences are kept once. It is not added where memory
// ends.
void tb_calls_note(struct tb_calls *calls, const char *format, ...) TB_PRINTF(2, 3);

// tb_calls_note_count adds one on how many there are of something, unless it is 0: the
// count, with its noun as of tb_format_counted, and the rest of the sentence.
void tb_calls_note_count(
	struct tb_calls *calls, uint64_t n, const char *noun, const char *rest);

// tb_calls_begin_apart has lanes that wait for nobody compute from the instant at which
// the first rank began until their first call, so that ranks which began late do so in
// the job, too. For traces whose ranks share a clock but count computation from their own
// beginnings. A rank begins `calc_ns` before its first call. Returns how many ns lie
// between the first and the last that begins.
uint64_t tb_calls_begin_apart(struct tb_calls *calls);

// tb_calls_lacks_sources says that the trace did not record which receives were from any
// source: the order of their senders shows it (calls_job.h). tb_calls_lacks returns it.
void tb_calls_lacks_sources(struct tb_calls *calls);
bool tb_calls_lacks(const struct tb_calls *calls);

// tb_calls_early records that a rank's calls end before its program would have; ranks
// come in their order.
void tb_calls_early(struct tb_calls *calls, uint32_t rank);

// Queries. Pointers live until the next call that changes `calls`.
uint32_t tb_calls_n_ranks(const struct tb_calls *calls);
uint32_t tb_calls_n_groups(const struct tb_calls *calls);
struct tb_group tb_calls_members(const struct tb_calls *calls, uint32_t group);
const struct tb_call *tb_calls_of(
	const struct tb_calls *calls, uint32_t rank, uint32_t *n);
// tb_calls_befores returns the calls that call `index` waits for.
const uint32_t *tb_calls_befores(
	const struct tb_calls *calls, uint32_t rank, uint32_t index, uint32_t *n);
// tb_calls_sizes_of returns the sizes given by tb_calls_sizes; NULL if the call has none.
const uint64_t *tb_calls_sizes_of(
	const struct tb_calls *calls, const struct tb_call *call, uint32_t *n);
const char *tb_calls_host_of(const struct tb_calls *calls, uint32_t rank); // or NULL
const char *tb_calls_made_by(const struct tb_calls *calls); // what was set, or NULL
const char *tb_calls_gpu(const struct tb_calls *calls);	    // likewise
const char *tb_calls_note_at(const struct tb_calls *calls, size_t i); // NULL: no more
// tb_calls_n_early returns how many ranks ended early, and stores the first of them.
uint32_t tb_calls_n_early(const struct tb_calls *calls, uint32_t *first);

#endif
