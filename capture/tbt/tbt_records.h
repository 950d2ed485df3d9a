// Reads the records of a lane (tbt_format.h) one after another and checks all bounds.
#ifndef TB_TBT_RECORDS_H
#define TB_TBT_RECORDS_H

#include "bytes.h"
#include "status.h"
#include "tbt_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb_tbt_record {
	enum tb_tbt_kind kind; // never TIME or MORE
	uint64_t enter_ns, leave_ns;
	uint64_t fields[TB_TBT_FIELDS_MAX];
	const uint64_t *list; // until the next record
	size_t n_list;
};

// A position among the records. A zeroed struct with `bytes` is at the beginning;
// tb_tbt_cursor_fini frees it.
struct tb_tbt_cursor {
	struct tb_bytes bytes;
	size_t at; // after the last whole record
	uint64_t now_ns;
	uint64_t *list;
	size_t n_list, list_room;
};

// tb_tbt_next reads a record: 1; 0 at the end of the bytes or at a kind of 0; TB_EFORMAT,
// with the offset within the lane, if the record is not whole; TB_ENOMEM.
int tb_tbt_next(struct tb_tbt_cursor *cursor, struct tb_tbt_record *record,
	struct tb_error *error) TB_MUST_USE;

void tb_tbt_cursor_fini(struct tb_tbt_cursor *cursor);

// Reads what one rank of a traced program wrote (rank-N-WORLD.tbr, tbt_format.h).

struct tb_tbt_lane {
	uint8_t *records; // whole ones
	size_t n, room;	  // bytes
};

// Goes through the records of several lanes, lane after lane. It begins zeroed but for
// the lanes; free the cursor with tb_tbt_cursor_fini where it ends.
struct tb_tbt_walk {
	const struct tb_tbt_lane *lanes;
	size_t n, lane; // `lane` is that of the record
	struct tb_tbt_cursor cursor;
};

// tb_tbt_walk_next reads the next record, as tb_tbt_next does; 0 behind the last lane.
int tb_tbt_walk_next(struct tb_tbt_walk *walk, struct tb_tbt_record *record,
	struct tb_error *error) TB_MUST_USE;

// What a rank wrote. A zeroed struct is empty; tb_tbt_rank_fini frees it.
struct tb_tbt_rank {
	uint32_t rank, n_ranks, mpi;
	enum tb_tbt_state state;
	bool lost;					    // the disk was full
	uint64_t mono_begin_ns, real_begin_ns, mono_end_ns; // end 0: unknown
	char clock[64], host[256], version[256];
	uint64_t world; // 0: a file without
	uint32_t origin,
		ending; // enum tb_tbt_origin; signal or TB_TBT_EXITED, 0: unknown
	char job[64], parent[64]; // as launchers name worlds; "": unknown
	bool records_any;	  // which receives had MPI_ANY_SOURCE
	struct tb_tbt_lane *lanes;
	size_t n_lanes, lanes_room;
};

// tb_tbt_rank_read reads a rank's file. Unfinished records that a killed process left at
// the end of a lane are dropped. TB_EFOREIGN for another kind of file, TB_EFORMAT for a
// damaged one, TB_EIO, TB_ENOMEM. Memory: the size of the file.
int tb_tbt_rank_read(
	struct tb_tbt_rank *rank, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_tbt_rank_peek reads only what describes the rank, without its lanes. Errors as
// tb_tbt_rank_read.
int tb_tbt_rank_peek(
	struct tb_tbt_rank *rank, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_tbt_ending describes how a rank ended that reached neither MPI_Finalize nor
// MPI_Abort, such as "by SIGSEGV (Segmentation fault)", in `text`, and returns that.
const char *tb_tbt_ending(uint32_t ending, char *text, size_t size);

void tb_tbt_rank_fini(struct tb_tbt_rank *rank);

#endif
