// Reads what one rank of a traced program wrote (rank-N.tbr, tbt_format.h).
#ifndef TB_TBT_RANK_FILE_H
#define TB_TBT_RANK_FILE_H

#include "status.h"
#include "tbt_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb_tbt_lane {
	uint8_t *records; // whole ones
	size_t n, room;	  // bytes
};

// What a rank wrote. A zeroed struct is empty; tb_tbt_rank_fini frees it.
struct tb_tbt_rank {
	uint32_t rank, n_ranks, mpi;
	enum tb_tbt_state state;
	bool lost;					    // the disk was full
	uint64_t mono_begin_ns, real_begin_ns, mono_end_ns; // end 0: unknown
	char clock[64], host[256], version[256];
	struct tb_tbt_lane *lanes;
	size_t n_lanes, lanes_room;
};

// tb_tbt_rank_read reads a file. What a killed process left unfinished at the end of a
// lane is dropped. TB_EFOREIGN for another kind of file, TB_EFORMAT for a damaged one,
// TB_EIO, TB_ENOMEM. Memory: the size of the file.
int tb_tbt_rank_read(
	struct tb_tbt_rank *rank, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_tbt_rank_peek reads only what describes the rank, no lanes. Errors as
// tb_tbt_rank_read.
int tb_tbt_rank_peek(
	struct tb_tbt_rank *rank, const char *path, struct tb_error *error) TB_MUST_USE;

void tb_tbt_rank_fini(struct tb_tbt_rank *rank);

#endif
