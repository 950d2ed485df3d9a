// Shared by the files of the reader of job.tbt.
#ifndef TB_TBT_READER_H
#define TB_TBT_READER_H

#include "calls.h"
#include "infile.h"
#include "map.h"
#include "reading.h"
#include "tbt_clock.h"
#include "tbt_records.h"

#include <stdbool.h>

// A thread of the rank being read.
struct tb_tbt_thread {
	struct tb_tbt_cursor cursor;
	struct tb_tbt_record next;
	bool more, begun;
	bool any_source;   // the next receive is posted so
	uint32_t lane;	   // once it has begun
	uint64_t last_ns;  // common clock, end of its last call
	uint64_t carry_ns; // computation that belongs to its next call
};

// What a receive received.
struct tb_tbt_received {
	uint64_t peer, tag, bytes;
};

// An operation that has begun, and a persistent one; `index` is its call.
struct tb_tbt_operation {
	struct tb_tbt_record record; // with a list of its own; of persistent ones only
	uint64_t *list;
	bool any_source;
};

// What a rank has done with a window.
struct tb_tbt_window {
	uint64_t comm;
	uint32_t group, messages; // group of its communicator, and one for its messages
	bool known, all_locked, started;
	uint32_t *locked; // peers
	size_t n_locked, locked_room;
	uint64_t *put;	   // bytes put by member since the last fence; NULL: none
	uint32_t *pending; // calls that the next synchronization comes after
	size_t n_pending, pending_room;
	uint32_t *unanswered; // peers that got data since they last answered
	size_t n_unanswered, unanswered_room;
	uint32_t *origins, *targets; // of post and start
	size_t n_origins, n_targets, origins_room, targets_room;
};

// What the target of one-sided communication does for an origin, in a lane of its own.
struct tb_tbt_service {
	uint32_t target, origin, group;
	uint8_t kind; // enum tb_call_kind
	uint32_t tag;
	uint64_t bytes;
};

// A file of MPI-IO and what was done to it. Accesses at a known offset were within bytes
// `from` to `to`; `to` 0: there were none.
struct tb_tbt_file {
	char *name;
	uint64_t n_reads, bytes_read, n_writes, bytes_written;
	uint64_t from, to, taken_ns;
	uint32_t n_ranks, rank; // the last of them
};

struct tb_tbt_reader {
	const struct tb_reading *reading;
	struct tb_calls *calls;
	struct tb_error *error;
	const char *path;
	// The file, front to back. After a failed read the getters return 0, and the
	// failure is reported once, at the end.
	FILE *stream;
	struct tb_infile *file;
	uint64_t at;
	bool failed;
	uint32_t n_ranks, mpi;
	uint64_t begin_ns;
	uint64_t world, parent;		// parent 0: unknown or none
	uint32_t origin;		// enum tb_tbt_origin
	struct tb_tbt_sockets *sockets; // NULL: a program of MPI
	uint32_t *messages_of; // by group: the group of its one-sided messages; 0: none
	size_t n_messages_of;
	uint32_t *n_lanes; // by rank: those that have calls
	struct tb_tbt_service *services;
	size_t n_services, services_room;
	uint64_t n_left_out;
	uint64_t n_inter_rooted; // collective calls, left out too
	uint32_t n_short;	 // ranks that did not come to their end
	bool records_any;	 // which receives had MPI_ANY_SOURCE
	// Receives that are calls, those that got a message with MPI_ANY_SOURCE, and
	// those that are both.
	uint64_t n_recvs, n_any, n_any_kept;
	struct tb_tbt_file *files;
	size_t n_files, files_room;
	struct tb_map file_names; // hash of a name: file

	// Of the rank that is being read:
	struct tb_map opened; // its number of a file: file
	uint32_t rank, state, ending;
	uint32_t *groups; // by its own numbers of communicators
	size_t n_groups;
	struct tb_tbt_point points[TB_TBT_POINTS_MAX];
	uint32_t n_points;
	struct tb_tbt_lane *lanes; // by thread
	struct tb_tbt_thread *threads;
	size_t n_threads;
	uint32_t main_call;    // last call of its first thread; UINT32_MAX: none
	struct tb_map started; // request: call
	struct tb_map got;     // request: received
	struct tb_tbt_received *received;
	size_t n_received, received_room;
	struct tb_map persistent; // request: operation
	struct tb_tbt_operation *operations;
	size_t n_operations, operations_room;
	struct tb_tbt_window *windows;
	size_t n_windows, windows_room;
};

// tb_tbt_call adds a thread's call for a record and returns its index. It sets the fields
// that follow from the record's time: calc, enter, lane.
uint32_t tb_tbt_call(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, struct tb_call call);

// tb_tbt_pass accounts for a record that becomes no call: the time before it is
// computation, the time within it is not.
void tb_tbt_pass(const struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record);

// tb_tbt_group stores the group of a communicator; false if the trace does not define it.
bool tb_tbt_group_number(
	const struct tb_tbt_reader *reader, uint64_t comm, uint32_t *group);

// tb_tbt_peer stores the rank of a peer, which may be in the remote group.
bool tb_tbt_peer(const struct tb_tbt_reader *reader, uint32_t group, uint64_t peer,
	uint32_t *rank);

int tb_tbt_broken(const struct tb_tbt_reader *reader, const char *what);

// One-sided communication (tbt_windows.c).
int tb_tbt_take_window(
	struct tb_tbt_reader *reader, const struct tb_tbt_record *record) TB_MUST_USE;
int tb_tbt_access(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record) TB_MUST_USE;
int tb_tbt_take_sync(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record) TB_MUST_USE;
// tb_tbt_serve adds what the targets did, after all ranks were read.
int tb_tbt_serve(struct tb_tbt_reader *reader) TB_MUST_USE;
void tb_tbt_windows_fini(struct tb_tbt_reader *reader);

// MPI-IO (tbt_windows.c): opening a file, accessing it, and the notes at the end.
int tb_tbt_take_file(
	struct tb_tbt_reader *reader, const struct tb_tbt_record *record) TB_MUST_USE;
int tb_tbt_take_io(
	struct tb_tbt_reader *reader, const struct tb_tbt_record *record) TB_MUST_USE;
void tb_tbt_note_files(struct tb_tbt_reader *reader);
void tb_tbt_files_fini(struct tb_tbt_reader *reader);

// What processes did with sockets of TCP (tbt_sockets.c), as calls.
//
// Cost: n log n in the records of all processes. Memory: 80 bytes per record, and 64 per
// message.

// tb_tbt_sockets_new begins; `reader` is borrowed. Free them after a failure, too.
int tb_tbt_sockets_new(
	struct tb_tbt_sockets **sockets, struct tb_tbt_reader *reader) TB_MUST_USE;
void tb_tbt_sockets_free(struct tb_tbt_sockets *sockets); // NULL is fine

// tb_tbt_sockets_rank takes the lanes of the reader's current rank, which ran on `host`.
// TB_EFORMAT for records that no process can have written.
int tb_tbt_sockets_rank(struct tb_tbt_sockets *sockets, const char *host,
	const struct tb_tbt_lane *lanes, size_t n_lanes) TB_MUST_USE;

// tb_tbt_sockets_clocks passes the messages between processes to the clocks, after all
// ranks were taken with the times of their own clocks; `clock_of` is by rank. It does
// nothing else.
int tb_tbt_sockets_clocks(struct tb_tbt_sockets *sockets, const uint32_t *clock_of,
	struct tb_tbt_clocks *clocks) TB_MUST_USE;

// tb_tbt_sockets_calls adds the calls, after all ranks were taken.
int tb_tbt_sockets_calls(struct tb_tbt_sockets *sockets) TB_MUST_USE;

#endif
