// Which worlds left rank files in a folder (tbt_format.h): every mpirun of a command, and
// every MPI_Comm_spawn, is one.
#ifndef TB_TBT_WORLDS_H
#define TB_TBT_WORLDS_H

#include "status.h"
#include "tbt_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A world. Times are ns since 1970 by the clock of the first rank that can be read; the
// end is 0 where that rank did not come to it.
struct tb_tbt_world {
	uint64_t id;	    // 0: of files without
	uint32_t n_files;   // ranks that left a file
	uint32_t first;	    // the lowest of them
	uint32_t origin;    // enum tb_tbt_origin
	uint64_t parent_id; // 0: none, or not in the folder
	uint64_t begin_ns, end_ns;
	char job[64], parent_job[64]; // as their launcher names them; "": unknown
};

// Worlds in the order in which they began. A zeroed struct is empty.
struct tb_tbt_worlds {
	struct tb_tbt_world *items;
	size_t n, room;
};

// tb_tbt_worlds_find lists the worlds of a folder. A world none of whose files can be
// read begins at 0, and comes last. TB_EFOREIGN when the folder has no rank files;
// TB_EIO, TB_ENOMEM.
int tb_tbt_worlds_find(struct tb_tbt_worlds *worlds, const char *folder,
	struct tb_error *error) TB_MUST_USE;

void tb_tbt_worlds_fini(struct tb_tbt_worlds *worlds);

// tb_tbt_rank_path returns the name of a rank's file, which the caller frees; NULL
// without memory.
char *tb_tbt_rank_path(const char *folder, uint64_t world, uint32_t rank);

// tb_tbt_rank_name returns whether a file's name is a rank file's, and stores whose.
bool tb_tbt_rank_name(const char *name, uint64_t *world, uint32_t *rank);

#endif
