// What the stand-ins for MPI's functions share: sizes, and how they record.
#ifndef TB_WRAP_H
#define TB_WRAP_H

#include "lane.h"
#include "real.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Communicators and windows: the numbers under which a rank's records name them.
//
// A communicator is defined in the trace, with its members as ranks of MPI_COMM_WORLD,
// when it is made or first seen. Ranks number them on their own; which are the same is
// found later, from members and order. Thread safe if the program's threads may call MPI.

// tb_comms_begin defines MPI_COMM_WORLD and MPI_COMM_SELF as 0 and 1.
void tb_comms_begin(struct tb_record_lane *lane);

// tb_comm_id returns the number of a communicator.
uint64_t tb_comm_id(struct tb_record_lane *lane, MPI_Comm comm);

// tb_comm_made defines a new communicator, unless it is MPI_COMM_NULL. `like` has its
// members: itself, or while it is not ready (MPI_Comm_idup) the one it will be equal to.
struct tb_comm_birth {
	MPI_Comm parent, like;
	enum tb_tbt_how how;
	int tag;
};
void tb_comm_made(
	struct tb_record_lane *lane, MPI_Comm comm, const struct tb_comm_birth *birth);

// tb_comm_gone forgets a handle, which MPI may use again.
void tb_comm_gone(MPI_Comm comm);

// The same for windows.
uint64_t tb_window_id(struct tb_record_lane *lane, MPI_Win window);
void tb_window_made(struct tb_record_lane *lane, MPI_Win window, MPI_Comm comm);
void tb_window_gone(MPI_Win window);

// Requests: which operation of the rank a handle of MPI_Request stands for.
//
// A handle can stand for several operations at once: an MPI gives all sends that are
// already complete the same one. It is taken out of the table before the call that
// completes it, since another thread may get the same handle as soon as it is free, and
// put back if it is not complete. Thread safe if the program's threads may call MPI.

struct tb_traced_request {
	uint64_t id;	 // 1 and up; of a persistent one that of the definition
	uint64_t active; // operation to be completed; 0: none
	uint64_t also;	 // receive of the same request (MPI_Isendrecv); 0: none
	bool receives, persistent, cancelled;
	// Of partitioned messages: how many partitions, and how many are not ready yet.
	uint32_t n_parts, n_unready;
	// What a receive gets, where no status has it.
	bool known;
	uint64_t peer, tag, bytes;
};

// tb_request_new returns a new number.
uint64_t tb_request_new(void);

// tb_request_put adds what a handle stands for.
void tb_request_put(MPI_Request handle, const struct tb_traced_request *request);

// tb_request_take removes it and returns true if the handle is known.
bool tb_request_take(MPI_Request handle, struct tb_traced_request *request);

// tb_bytes_of returns the size of `count` items of a type.
static inline uint64_t tb_bytes_of(MPI_Count count, MPI_Datatype type)
{
	int size = 0;
	PMPI_Type_size(type, &size);
	return (uint64_t)count * (uint64_t)(uint32_t)size;
}

// tb_bytes_received returns how much a receive got.
static inline uint64_t tb_bytes_received(const MPI_Status *status)
{
	MPI_Count bytes = 0;
	PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

// tb_note_source notes the source with which the next record's receive was posted.
static inline void tb_note_source(struct tb_record_lane *lane, int from)
{
	if (from == MPI_ANY_SOURCE)
		tb_lane_define(lane, TB_TBT_ANY_SOURCE, NULL, NULL, 0);
}

// tb_started notes the request of an operation that has begun and returns its number.
static inline uint64_t tb_started(MPI_Request handle, bool receives)
{
	struct tb_traced_request request = {.id = tb_request_new(), .receives = receives};
	request.active = request.id;
	tb_request_put(handle, &request);
	return request.id;
}

// tb_defined notes a persistent request and returns its number.
static inline uint64_t tb_defined(MPI_Request handle, bool receives)
{
	const struct tb_traced_request request = {
		.id = tb_request_new(), .receives = receives, .persistent = true};
	tb_request_put(handle, &request);
	return request.id;
}

// A table from handles of MPI to numbers from 0, in the order of definition.

// A zeroed struct but for the lock is empty. Few handles live at a time: lookups begin
// where the last one ended.
struct tb_handles {
	pthread_mutex_t lock;
	struct tb_handle {
		uint64_t handle, id;
	} * items;
	uint32_t n, room, last;
	uint64_t n_ids;
};

// tb_handles_find returns whether a handle is known, and its number.
bool tb_handles_find(struct tb_handles *handles, uint64_t handle, uint64_t *id);

// tb_handles_add gives a handle, known or not, the next number.
uint64_t tb_handles_add(struct tb_handles *handles, uint64_t handle);

void tb_handles_remove(struct tb_handles *handles, uint64_t handle);

// TB_TRACED defines MPI_name: it calls the MPI's own function and then, where that
// succeeded and was called by the program itself, runs `record`, which sees `entry` and
// the parameters. Parameters and arguments come in brackets. TB_TRACED_AROUND also runs
// `before`, once the call is entered; TB_TRACED_IF needs a condition instead of success.
#define TB_BARE(...) __VA_ARGS__
#define TB_TRACED_IF(name, parameters, arguments, before, condition, record)             \
	int MPI_##name(TB_BARE parameters)                                               \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		tb_enter(&entry);                                                        \
		before;                                                                  \
		int result = tb_real.name arguments;                                     \
		if (tb_leave(&entry) && (condition)) {                                   \
			record;                                                          \
		}                                                                        \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)
#define TB_TRACED_AROUND(name, parameters, arguments, before, record)                    \
	TB_TRACED_IF(name, parameters, arguments, before, result == MPI_SUCCESS, record)
#define TB_TRACED(name, parameters, arguments, record)                                   \
	TB_TRACED_AROUND(name, parameters, arguments, (void)0, record)

// TB_OWN_STATUS, as `before`, has `status` filled even where the program ignores it.
#define TB_OWN_STATUS                                                                    \
	MPI_Status own;                                                                  \
	if (status == MPI_STATUS_IGNORE)                                                 \
	status = &own

#endif
