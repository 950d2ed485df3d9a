// Finds which worlds left rank files in a folder (tbt_format.h): each mpirun of a
// command, and each MPI_Comm_spawn, is a world.
#ifndef TB_TBT_MERGE_H
#define TB_TBT_MERGE_H

#include "status.h"
#include "tbt_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// A world. Times are ns since 1970 by the clock of the first rank that can be read; the
// end is 0 if that rank did not finish.
struct tb_tbt_world {
	uint64_t id;	    // 0: of files without
	uint32_t n_files;   // ranks that left a file
	uint32_t first;	    // the lowest of them
	uint32_t origin;    // enum tb_tbt_origin
	uint64_t parent_id; // 0: none, or not in the folder
	uint64_t begin_ns, end_ns;
	char job[64], parent_job[64]; // as their launcher names them; "": unknown
	bool sockets; // of processes that were traced with --sockets: all of the folder
};

// The worlds in the order in which they began. A zeroed struct is empty.
struct tb_tbt_worlds {
	struct tb_tbt_world *items;
	size_t n, room;
};

// tb_tbt_worlds_find lists the worlds of a folder. A world of which no file can be read
// has the beginning 0 and comes last. TB_EFOREIGN when the folder has no rank files;
// TB_EIO, TB_ENOMEM.
int tb_tbt_worlds_find(struct tb_tbt_worlds *worlds, const char *folder,
	struct tb_error *error) TB_MUST_USE;

void tb_tbt_worlds_fini(struct tb_tbt_worlds *worlds);

// Merges what the ranks of a traced program wrote into one job.tbt (tbt_format.h).

enum { TB_TBT_UNREAD_MAX = 8 };

// What the merge found, for messages.
struct tb_tbt_summary {
	uint32_t n_ranks;
	uint32_t n_left_out; // processes, with --sockets, that are no ranks
	uint32_t n_missing;  // ranks without a file that can be read
	uint32_t n_early;    // ranks that did not reach MPI_Finalize
	uint32_t n_lost;     // ranks whose disk was full
	// Of n_early: one that called MPI_Abort before others, one that ended by a fault
	// or by itself before one that left no word of its end (SIGKILL), and that before
	// those that were asked to end (SIGTERM, SIGINT, SIGHUP), as launchers do with
	// the rest. Among equals the one whose last call returned first. A call that had
	// not returned left no record.
	uint32_t first_early, first_ending; // as in tb_tbt_rank; 0: unknown
	bool first_aborted;
	uint32_t n_unexplained; // of n_early, those that left no word of their end
	uint32_t n_clocks;	// machines, by their clocks
	uint32_t n_unlinked;	// clocks that no message relates to the others
	uint64_t n_records;
	struct tb_error unread[TB_TBT_UNREAD_MAX]; // why, of the first n_missing files
};

// tb_tbt_merge merges the rank files of a world in `folder` (NULL: files without a
// world's identity). Clocks are corrected as tbt_clock.h describes. Damaged files are
// left out and named in the summary. TB_EFOREIGN when there are no such files; TB_EFORMAT
// when all are damaged or they come from different programs; TB_EIO, TB_ENOMEM. Memory:
// the largest rank file, and what tbt_clock.h needs.
int tb_tbt_merge(const char *folder, const struct tb_tbt_world *world, FILE *stream,
	struct tb_tbt_summary *summary, struct tb_error *error) TB_MUST_USE;

#endif
