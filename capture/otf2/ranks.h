// Which process of an archive is which rank, and who is meant by the numbers in its
// records: ranks within a communicator.
#ifndef TB_OTF2_RANKS_H
#define TB_OTF2_RANKS_H

#include "definitions.h"

// tb_otf2_ranks_find numbers the ranks: in the order of the group of locations that take
// part in MPI, or, without one, the processes in the order of their definitions; gives
// each location its rank; and sorts the locations by rank, the main thread first.
// TB_EFORMAT for an archive without processes, TB_ECAPACITY for too many.
int tb_otf2_ranks_find(struct tb_otf2_definitions *of, const char *path,
	struct tb_error *error) TB_MUST_USE;

// Of a communicator as the member `rank` sees it.
struct tb_otf2_view {
	uint32_t group;	  // of the calls
	uint32_t n;	  // ranks that peers are numbered in: of the remote group, if any
	uint32_t n_local; // of the caller's group
	uint32_t me;	  // the caller's place in its group
	uint32_t first;	  // place in the group of the calls at which peers begin
	bool is_inter;
	bool is_global; // records give ranks of the job
};

// tb_otf2_view finds what the record of `rank` means by a communicator, and adds its
// group to the calls when it is used for the first time. TB_EFORMAT for one that is not
// defined or that the rank is no member of; without file.
int tb_otf2_view_of(struct tb_otf2_definitions *of, struct tb_calls *calls, uint32_t comm,
	uint32_t rank, struct tb_otf2_view *view, struct tb_error *error) TB_MUST_USE;

// tb_otf2_peer returns the rank of the job that is number `peer` in the view, or NONE.
uint32_t tb_otf2_peer(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t peer);

// tb_otf2_root returns the place, in the group of the calls, of the root of a collective
// call, or NONE. Not for inter-communicators.
uint32_t tb_otf2_root(
	const struct tb_calls *calls, const struct tb_otf2_view *view, uint32_t root);

#endif
