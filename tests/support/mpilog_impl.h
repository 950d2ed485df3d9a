// What reading a log and making calls of it share.
#ifndef TB_MPILOG_IMPL_H
#define TB_MPILOG_IMPL_H

#include "mpilog.h"

enum mpilog_kind {
	MPILOG_OTHER, // computation counts, nothing else
	MPILOG_SEND,
	MPILOG_RECV,
	MPILOG_SENDRECV,
	MPILOG_WAIT, // for what `n_done` from `first_done` on lists
	MPILOG_COLLECTIVE,
};

#define MPILOG_ANY (-1)

// A call of a log.
struct mpilog_call {
	uint64_t start_ns; // since the epoch
	uint64_t calc_ns;  // computation before it
	uint64_t bytes;
	int64_t to, from; // ranks of the world; below 0: any or none
	int64_t tag, rtag;
	uint32_t group; // of the job
	uint32_t root;	// place in the group
	uint8_t kind;	// enum mpilog_kind
	uint8_t op;	// enum tb_collective_op
	bool starts;	// a send or receive that a wait completes
	bool gone;	// a receive that was never completed
	uint32_t added; // its number in the rank's calls
	size_t first_done, n_done;
};

struct mpilog_request {
	size_t call;
	long id;
	char side; // 's' or 'r'
};

// The log of a rank.
struct mpilog {
	uint32_t rank;
	struct mpilog_call *calls;
	size_t n, room;
	size_t *done; // for waits: the calls that they complete
	size_t n_done, done_room;
	struct mpilog_request *open; // not yet completed, in their order
	size_t n_open, open_room;
	uint64_t epoch_ns;
	uint64_t end_ns; // of the call before
};

// Communicators of all ranks, by the numbers that logs give them.
struct mpilog_comms {
	int64_t *ids;
	uint32_t *groups;
	size_t n, ids_room, groups_room;
};

// mpilog_read_rank reads a log into `log`, adding its communicators to `calls`.
int mpilog_read_rank(struct mpilog *log, struct tb_calls *calls,
	struct mpilog_comms *comms, const char *path,
	const struct tb_mpilog_options *options, struct tb_error *error) TB_MUST_USE;
void mpilog_fini(struct mpilog *log);

#endif
