// Finds which communicators of different ranks are the same.
//
// Rule: each rank numbers its communicators by itself. Two of them are one if they have
// the same members (for an inter-communicator the same two groups), were made from the
// same communicator in the same way with the same tag, and are the k-th such of both
// ranks: MPI requires all members to make communicators in the same order.
#ifndef TB_TBT_GROUPS_H
#define TB_TBT_GROUPS_H

#include "status.h"
#include "tbt_records.h"

#include <stdbool.h>
#include <stdint.h>

struct tb_tbt_groups; // opaque

// A group: runs of ranks as in tbt_format.h.
struct tb_tbt_group {
	const uint64_t *runs; // pairs of first rank and count
	size_t n_runs;	      // values
	const uint32_t *ends; // by run: how many members there are up to its end
	uint32_t n, n_local;
};

// tb_tbt_groups_new begins with group 0, MPI_COMM_WORLD.
int tb_tbt_groups_new(struct tb_tbt_groups **groups, uint32_t n_ranks,
	struct tb_error *error) TB_MUST_USE;
void tb_tbt_groups_free(struct tb_tbt_groups *groups);

// tb_tbt_groups_add takes a rank's next definition of a communicator (a record
// TB_TBT_COMM). Ranks come one after another, definitions in the order of their numbers.
// TB_EFORMAT for an impossible one.
int tb_tbt_groups_add(struct tb_tbt_groups *groups, uint32_t rank,
	const struct tb_tbt_record *record, struct tb_error *error) TB_MUST_USE;

// tb_tbt_groups_of returns a rank's groups, indexed by the rank's own numbers;
// TB_TBT_NO_GROUP where there is none.
const uint32_t *tb_tbt_groups_of(
	const struct tb_tbt_groups *groups, uint32_t rank, size_t *n);

uint32_t tb_tbt_groups_n(const struct tb_tbt_groups *groups);
struct tb_tbt_group tb_tbt_groups_at(const struct tb_tbt_groups *groups, uint32_t group);

// tb_tbt_group_member stores the rank at a place of a group; false beyond its end. Cost:
// logarithmic in its runs.
bool tb_tbt_group_member(
	const struct tb_tbt_group *group, uint64_t place, uint32_t *rank);

#endif
