#include "profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int members_make_room(const struct tb_profile *profile, struct tb_members *members,
	size_t n, struct tb_error *error)
{
	free(members->ranks);
	members->n = 0;
	members->ranks = calloc(n + 1, sizeof *members->ranks);
	return members->ranks
		       ? TB_OK
		       : tb_fail_memory_in(error, profile->path, "its process groups");
}

// members_read_list reads "[0, 1, 2]"; 1, or 0 if the list is cut, empty or not of
// `size`.
static int members_read_list(const struct tb_profile *profile, const char *text,
	uint32_t size, struct tb_members *members, struct tb_error *error)
{
	struct tb_raw key, value, list = {text ? text : "", text ? strlen(text) : 0};
	struct tb_raw_walk walk = tb_raw_walk_begin(list);
	if (members_make_room(profile, members, list.n / 2, error) != TB_OK)
		return TB_ENOMEM;
	while (tb_raw_walk_next(&walk, &key, &value)) {
		uint64_t rank;
		if (!tb_raw_count(value, &rank) || rank >= TB_NONE)
			return 0;
		members->ranks[members->n++] = (uint32_t)rank;
	}
	return !walk.failed && members->n > 0 && (size == 0 || members->n == size);
}

// group_make_row makes the members start, start + stride, ...
static int group_make_row(const struct tb_profile *profile, uint32_t start,
	uint32_t stride, uint32_t n, struct tb_members *members, struct tb_error *error)
{
	int status = members_make_room(profile, members, n, error);
	if (status != TB_OK)
		return status;
	for (uint32_t i = 0; i < n; i++)
		members->ranks[i] = start + i * stride;
	members->n = n;
	return 1;
}

static int rank_by_number(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;
	return (*one > *other) - (*one < *other);
}

// find_users makes members of the ranks whose profiles have a group of this name.
static int find_users(const struct tb_profiles *all, const struct tb_profile *profile,
	const struct tb_profile_group *group, struct tb_members *members,
	struct tb_error *error)
{
	int status = members_make_room(profile, members, all->n, error);
	if (status != TB_OK)
		return status;
	for (size_t i = 0; i < all->n; i++) {
		const struct tb_profile *other = &all->profiles[i];
		for (size_t g = 0; g < other->n_groups; g++) {
			if (strcmp(other->groups[g].name, group->name) != 0)
				continue;
			members->ranks[members->n++] = other->rank;
			break;
		}
	}
	qsort(members->ranks, members->n, sizeof *members->ranks, rank_by_number);
	return members->n > 0 && members->n == group->size;
}

static int groups_find(const struct tb_profiles *all, const struct tb_profile *profile,
	const struct tb_profile_group *group, struct tb_members *members,
	struct tb_error *error)
{
	if (group->is_assumed)
		return group_make_row(profile, 0, 1, all->n_profiled, members, error);
	int found = members_read_list(profile, group->ranks, group->size, members, error);
	if (found == 0) {
		found = 0;
		for (size_t i = 0; i < profile->n_config && found == 0; i++)
			if (strcmp(profile->config[i].name, group->name) == 0)
				found = members_read_list(profile,
					profile->config[i].ranks, group->size, members,
					error);
	}
	uint64_t end = (uint64_t)group->start +
		       ((uint64_t)group->size + (group->size == 0)) * group->stride;
	if (found == 0 && group->size > 0 && group->stride > 0 &&
		end - group->stride < all->n_profiled)
		found = group_make_row(profile, group->start, group->stride, group->size,
			members, error);
	if (found == 0 && group->size == all->n_profiled)
		found = group_make_row(profile, 0, 1, group->size, members, error);
	if (found == 0)
		found = find_users(all, profile, group, members, error);
	return found;
}

static int group_refuse(const struct tb_profile *profile,
	const struct tb_profile_group *group, struct tb_error *error)
{
	return tb_fail_in(error, TB_EFORMAT, profile->path,
		"nothing says which ranks are in process group '%.60s' of %" PRIu32
		" ranks: newer PyTorch writes it (\"Process Group Ranks\"); in an "
		"older profile it is known only if all its ranks' profiles are given",
		group->name, group->size);
}

int tb_groups_members(const struct tb_profiles *all, const struct tb_profile *profile,
	uint32_t group, struct tb_members *members, struct tb_error *error)
{
	const struct tb_profile_group *of = &profile->groups[group];
	struct tb_members made = {0};
	int found = groups_find(all, profile, of, &made, error);
	int status = found > 0 ? TB_OK : found;
	if (found == 0)
		status = group_refuse(profile, of, error);
	bool is_in = false;
	for (uint32_t i = 0; i < made.n; i++)
		is_in = is_in || made.ranks[i] == profile->rank;
	if (status == TB_OK && !is_in)
		status = tb_fail_in(error, TB_EFORMAT, profile->path,
			"its rank %" PRIu32 " communicates in process group '%.60s' "
			"without being one of its %" PRIu32 " members",
			profile->rank, of->name, made.n);
	if (status == TB_OK)
		*members = made;
	else
		free(made.ranks);
	return status;
}

static bool is_all(const struct tb_profiles *all, const struct tb_members *members)
{
	for (uint32_t i = 0; i < members->n; i++)
		if (members->ranks[i] != i)
			return false;
	return members->n == all->n_profiled;
}

// A row of a grid: its members' distance, and how many ranks all rows of its block span.
struct profile_group_row {
	uint32_t stride;
	uint64_t block;
};

static bool find_row(const struct tb_profile *profile, const struct tb_members *members,
	struct profile_group_row *row)
{
	uint32_t first = members->ranks[0];
	row->stride = members->n > 1 ? members->ranks[1] - first : 1;
	if (members->n > 1 && members->ranks[1] <= first)
		return false;
	row->block = (uint64_t)row->stride * members->n;
	for (uint32_t i = 0; i < members->n; i++)
		if (members->ranks[i] != first + i * (uint64_t)row->stride)
			return false;
	return first ==
	       profile->rank / row->block * row->block + profile->rank % row->stride;
}

int tb_groups_clone(const struct tb_profiles *all, const struct tb_profile *profile,
	uint32_t rank, struct tb_members *members, struct tb_error *error)
{
	struct profile_group_row row;
	int status;
	if (is_all(all, members)) {
		status = group_make_row(profile, 0, 1, all->n_ranks, members, error);
		return status > 0 ? TB_OK : status;
	}
	if (!find_row(profile, members, &row)) {
		if (rank == profile->rank)
			return TB_OK;
		return tb_fail_in(error, TB_EUSAGE, profile->path,
			"its ranks cannot be cloned: one of its process groups, of "
			"%" PRIu32 " ranks, is no regular part of the job (ranks of "
			"equal distance), "
			"so the others' groups are not known",
			members->n);
	}
	bool grows = row.block == all->n_profiled;
	uint64_t part = grows ? row.stride : row.block;
	if (all->n_ranks % part != 0)
		return tb_fail_in(error, TB_EUSAGE, profile->path,
			"--clone-ranks %" PRIu32 " cuts its process groups of %" PRIu32
			" ranks: expected a multiple of %" PRIu64,
			all->n_ranks, members->n, part);
	uint32_t n = grows ? all->n_ranks / row.stride : members->n;
	uint64_t begin = grows ? 0 : rank / row.block * row.block;
	status = group_make_row(profile, (uint32_t)begin + rank % row.stride, row.stride,
		n, members, error);
	return status > 0 ? TB_OK : status;
}
