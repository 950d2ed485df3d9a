#include "tbt_groups.h"

#include "array.h"
#include "map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Communicators that are alike in everything but the order in which they were made.
struct kin {
	uint64_t *key; // how, parent, tag, members, local members, runs
	size_t n_key;
	uint32_t *ends;	  // of the runs: how many members there are up to there
	uint32_t next;	  // of the same hash; 0: none
	uint32_t *groups; // in the order in which they were made
	size_t n_groups, groups_room;
	uint32_t rank; // that made `n_made` of them
	size_t n_made;
};

enum { GAP_MAX = 65536 };
enum { KEY_MEMBERS = 3, KEY_LOCAL, KEY_RUNS };

struct own {
	uint32_t *groups;
	size_t n, room;
};

struct tb_tbt_groups {
	uint32_t n_ranks;
	struct kin *kin; // from 1
	size_t n_kin, kin_room;
	struct tb_map by_hash;
	uint32_t *kin_of; // by group
	size_t n, kin_of_room;
	struct own *own; // by rank
};

static uint32_t *sum_runs(const uint64_t *runs, size_t n)
{
	uint32_t sum = 0, *ends = malloc((n / 2 + 1) * sizeof *ends);
	for (size_t i = 0; ends && i < n / 2; i++)
		ends[i] = sum += (uint32_t)runs[2 * i + 1];
	return ends;
}

// find_kin returns the kin with this key, and makes it if there is none; 0 without
// memory. It takes ownership of the key.
static uint32_t find_kin(struct tb_tbt_groups *groups, uint64_t *key, size_t n)
{
	uint32_t first = 0;
	uint64_t hash = n;
	for (size_t i = 0; i < n; i++) {
		hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	tb_map_find(&groups->by_hash, hash, &first);
	for (uint32_t at = first; at; at = groups->kin[at].next) {
		const struct kin *kin = &groups->kin[at];
		if (kin->n_key == n && memcmp(kin->key, key, n * sizeof *key) == 0) {
			free(key);
			return at;
		}
	}
	size_t at = groups->n_kin ? groups->n_kin : 1;
	uint32_t *ends = sum_runs(key + KEY_RUNS, n - KEY_RUNS);
	if (!ends || TB_ARRAY_RESERVE(&groups->kin, &groups->kin_room, at + 1) != TB_OK ||
		tb_map_put(&groups->by_hash, hash, (uint32_t)at) != TB_OK) {
		free(ends);
		free(key);
		return 0;
	}
	groups->kin[at] = (struct kin){
		.key = key, .n_key = n, .ends = ends, .next = first, .rank = UINT32_MAX};
	groups->n_kin = at + 1;
	return (uint32_t)at;
}

// next_group stores the next group of this kin that a rank is in.
static int next_group(struct tb_tbt_groups *groups, uint32_t at, uint32_t rank,
	uint32_t *group, struct tb_error *error)
{
	struct kin *kin = &groups->kin[at];
	if (kin->rank != rank) {
		kin->rank = rank;
		kin->n_made = 0;
	}
	if (kin->n_made == kin->n_groups) {
		if (TB_ARRAY_MORE(kin, groups) != TB_OK ||
			TB_ARRAY_RESERVE(&groups->kin_of, &groups->kin_of_room,
				groups->n + 1) != TB_OK)
			return tb_fail_memory(error, "the communicators of a trace");
		groups->kin_of[groups->n] = at;
		kin->groups[kin->n_groups++] = (uint32_t)groups->n++;
	}
	*group = kin->groups[kin->n_made++];
	return TB_OK;
}

int tb_tbt_groups_new(
	struct tb_tbt_groups **groups, uint32_t n_ranks, struct tb_error *error)
{
	uint32_t group;
	struct tb_tbt_groups *made = calloc(1, sizeof *made);
	uint64_t *key = calloc(KEY_RUNS + 2, sizeof *key);
	if (made)
		made->own = calloc(n_ranks, sizeof *made->own);
	if (!made || !made->own || !key) {
		free(key);
		tb_tbt_groups_free(made);
		return tb_fail_memory(error, "the communicators of a trace");
	}
	made->n_ranks = n_ranks;
	key[KEY_MEMBERS] = key[KEY_LOCAL] = key[KEY_RUNS + 1] = n_ranks;
	uint32_t kin = find_kin(made, key, KEY_RUNS + 2);
	int status = kin ? next_group(made, kin, UINT32_MAX, &group, error)
			 : tb_fail_memory(error, "the communicators of a trace");
	if (status == TB_OK)
		*groups = made;
	else
		tb_tbt_groups_free(made);
	return status;
}

void tb_tbt_groups_free(struct tb_tbt_groups *groups)
{
	if (!groups)
		return;
	for (size_t i = 1; i < groups->n_kin; i++) {
		free(groups->kin[i].key);
		free(groups->kin[i].ends);
		free(groups->kin[i].groups);
	}
	for (uint32_t i = 0; groups->own && i < groups->n_ranks; i++)
		free(groups->own[i].groups);
	free(groups->kin);
	tb_map_fini(&groups->by_hash);
	free(groups->kin_of);
	free(groups->own);
	free(groups);
}

// split_at returns after how many runs the local members end; 0 if they end within a run.
static size_t split_at(const uint64_t *runs, size_t n_runs, uint64_t n_local)
{
	for (size_t i = 0; i < n_runs; i += 2) {
		if (runs[i + 1] >= n_local)
			return runs[i + 1] == n_local ? i + 2 : 0;
		n_local -= runs[i + 1];
	}
	return 0;
}

// group_make_key writes the key of a group. The two groups of an inter-communicator are
// put in the order of their first ranks, so that both sides make the same key.
static uint64_t *group_make_key(
	const struct tb_tbt_record *record, uint64_t parent, size_t *n_key)
{
	size_t n = record->n_list;
	uint64_t *key = malloc((KEY_RUNS + n) * sizeof *key);
	if (!key)
		return NULL;
	key[0] = record->fields[2];
	key[1] = parent;
	key[2] = record->fields[3];
	key[KEY_MEMBERS] = record->fields[4];
	key[KEY_LOCAL] = record->fields[5];
	if (n > 0)
		memcpy(key + KEY_RUNS, record->list, n * sizeof *key);
	size_t local = key[KEY_LOCAL] < key[KEY_MEMBERS]
			       ? split_at(record->list, n, key[KEY_LOCAL])
			       : 0;
	if (local > 0 && record->list[local] < record->list[0]) {
		memcpy(key + KEY_RUNS, record->list + local, (n - local) * sizeof *key);
		memcpy(key + KEY_RUNS + n - local, record->list, local * sizeof *key);
		key[KEY_LOCAL] = key[KEY_MEMBERS] - key[KEY_LOCAL];
	}
	*n_key = KEY_RUNS + n;
	return key;
}

static int tbt_find_group(struct tb_tbt_groups *groups, uint32_t rank,
	const struct tb_tbt_record *record, uint32_t *group, struct tb_error *error)
{
	const struct own *own = &groups->own[rank];
	uint64_t parent = record->fields[1]; // own number + 1
	size_t n_key = 0;
	if (record->fields[4] == 0) {
		*group = TB_TBT_NO_GROUP;
		return TB_OK;
	}
	if (parent > own->n)
		return tb_fail(error, TB_EFORMAT,
			"communicator %" PRIu64 " was made of one that is not defined",
			record->fields[0]);
	if (parent > 0)
		parent = (uint64_t)own->groups[parent - 1] + 1;
	uint64_t *key = group_make_key(record, parent, &n_key);
	uint32_t kin = key ? find_kin(groups, key, n_key) : 0;
	return kin ? next_group(groups, kin, rank, group, error)
		   : tb_fail_memory(error, "the communicators of a trace");
}

int tb_tbt_groups_add(struct tb_tbt_groups *groups, uint32_t rank,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	uint32_t group = 0;
	struct own *own = &groups->own[rank];
	// Refuse members that cannot be.
	int status = TB_OK;
	uint64_t n = record->fields[4], sum = 0;
	bool good = record->n_list % 2 == 0 && n <= groups->n_ranks &&
		    record->fields[5] <= n && (n == 0 || record->fields[5] > 0) &&
		    record->fields[2] <= TB_TBT_INTER;
	for (size_t i = 0; good && i < record->n_list; i += 2) {
		uint64_t first = record->list[i], count = record->list[i + 1];
		good = first < groups->n_ranks && count <= groups->n_ranks - first;
		sum += count;
	}
	if (!good || sum != n) {
		status = tb_fail(error, TB_EFORMAT,
			"communicator %" PRIu64 " has members that cannot be",
			record->fields[0]);
	}
	TB_THEN(status, tbt_find_group(groups, rank, record, &group, error));
	if (status != TB_OK)
		return status;
	// A thread that was killed may have left some undefined.
	if (record->fields[0] < own->n || record->fields[0] > own->n + GAP_MAX)
		return tb_fail(error, TB_EFORMAT,
			"communicator %" PRIu64 " is defined where %zu should be",
			record->fields[0], own->n);
	size_t at = (size_t)record->fields[0];
	if (TB_ARRAY_RESERVE(&own->groups, &own->room, at + 1) != TB_OK)
		return tb_fail_memory(error, "the communicators of a trace");
	while (own->n < at)
		own->groups[own->n++] = TB_TBT_NO_GROUP;
	own->groups[own->n++] = group;
	return TB_OK;
}

const uint32_t *tb_tbt_groups_of(
	const struct tb_tbt_groups *groups, uint32_t rank, size_t *n)
{
	*n = groups->own[rank].n;
	return groups->own[rank].groups;
}

uint32_t tb_tbt_groups_n(const struct tb_tbt_groups *groups)
{
	return (uint32_t)groups->n;
}

struct tb_tbt_group tb_tbt_groups_at(const struct tb_tbt_groups *groups, uint32_t group)
{
	const struct kin *kin = &groups->kin[groups->kin_of[group]];
	return (struct tb_tbt_group){kin->key + KEY_RUNS, kin->n_key - KEY_RUNS,
		kin->ends, (uint32_t)kin->key[KEY_MEMBERS],
		(uint32_t)kin->key[KEY_LOCAL]};
}

bool tb_tbt_group_member(const struct tb_tbt_group *group, uint64_t place, uint32_t *rank)
{
	size_t low = 0, high = group->n_runs / 2;
	if (place >= group->n)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (group->ends[middle] <= place)
			low = middle + 1;
		else
			high = middle;
	}
	uint64_t before = low > 0 ? group->ends[low - 1] : 0;
	*rank = (uint32_t)(group->runs[2 * low] + (place - before));
	return true;
}
