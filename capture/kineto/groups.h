// The members of a profile's process groups, as far as profiles tell them, and those of
// the groups of ranks of which there is no profile.
#ifndef TB_GROUPS_H
#define TB_GROUPS_H

#include "profile.h"

// The profiles of a job, by rank, and what the ranks without one do (--clone-ranks).
struct tb_profiles {
	struct tb_profile *profiles; // by rank, ascending
	size_t n;
	uint32_t n_profiled; // ranks of the job that was profiled
	uint32_t n_ranks;    // of the job to be made: more only with cloned ranks
};

struct tb_members {
	uint32_t *ranks;
	uint32_t n;
};

// tb_groups_members finds the members of a group of a profile; the caller frees `ranks`.
// From the first of these that there is: the group's "Process Group Ranks"; pg_config;
// "Global rank start" and "stride"; all ranks, if they are as many; the ranks that use a
// group of this name, if they are as many. TB_EFORMAT otherwise, and when the profile's
// own rank is no member.
int tb_groups_members(const struct tb_profiles *all, const struct tb_profile *profile,
	uint32_t group, struct tb_members *members, struct tb_error *error) TB_MUST_USE;

// tb_groups_clone replaces the members of a profile's group by those of rank `rank`'s
// group in its place, of n_ranks: a group of all ranks remains one. Others must be a row
// of a grid, ranks of equal distance that begin where blocks of that many rows do: rank
// `rank` is in the row that crosses it. The rows of a grid's outermost dimension grow
// with the job. TB_EUSAGE for groups that are none, and numbers of ranks that cut rows.
int tb_groups_clone(const struct tb_profiles *all, const struct tb_profile *profile,
	uint32_t rank, struct tb_members *members, struct tb_error *error) TB_MUST_USE;

#endif
