#include "tbt_worlds.h"

#include "array.h"
#include "tbt_rank_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tb_tbt_rank_path(const char *folder, uint64_t world, uint32_t rank)
{
	char *path = NULL;
	int n = world ? asprintf(&path, "%s/rank-%" PRIu32 "-%016" PRIx64 ".tbr", folder,
				rank, world)
		      : asprintf(&path, "%s/rank-%" PRIu32 ".tbr", folder, rank);
	return n < 0 ? NULL : path;
}

bool tb_tbt_rank_name(const char *name, uint64_t *world, uint32_t *rank)
{
	int end = 0;
	*world = 0;
	if (sscanf(name, "rank-%9" SCNu32 ".tbr%n", rank, &end) == 1 && end > 0)
		return !name[end];
	return sscanf(name, "rank-%9" SCNu32 "-%16" SCNx64 ".tbr%n", rank, world, &end) ==
		       2 &&
	       end > 0 && !name[end] && *world != 0;
}

// A rank file in the folder.
struct found {
	uint64_t world;
	uint32_t rank;
};

struct listing {
	struct found *items;
	size_t n, room;
};

static int by_world(const void *a, const void *b)
{
	const struct found *one = a, *other = b;
	if (one->world != other->world)
		return one->world < other->world ? -1 : 1;
	return (one->rank > other->rank) - (one->rank < other->rank);
}

static int listing_fill(struct listing *listing, const char *path, struct tb_error *error)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int status = TB_OK;
	if (!folder)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	while (status == TB_OK && (entry = readdir(folder)) != NULL) {
		struct found file;
		if (!tb_tbt_rank_name(entry->d_name, &file.world, &file.rank))
			continue;
		status =
			TB_ARRAY_RESERVE(&listing->items, &listing->room, listing->n + 1);
		if (status == TB_OK)
			listing->items[listing->n++] = file;
	}
	closedir(folder);
	if (status != TB_OK)
		return tb_fail_memory(error, "the ranks of a trace");
	if (listing->n == 0)
		return tb_fail_in(error, TB_EFOREIGN, path,
			"holds no rank-N-WORLD.tbr, which each rank of a traced program "
			"writes at MPI_Init");
	qsort(listing->items, listing->n, sizeof *listing->items, by_world);
	return TB_OK;
}

// peek fills in what a rank's header says of its world, and returns whether it can be
// read: a file that is empty or foreign is left to the merge, which names it.
static bool peek(struct tb_tbt_world *world, const char *folder, uint32_t rank)
{
	struct tb_tbt_rank file = {0};
	struct tb_error own;
	char *path = tb_tbt_rank_path(folder, world->id, rank);
	bool good = path && tb_tbt_rank_peek(&file, path, &own) == TB_OK;
	free(path);
	if (!good)
		return false;
	world->origin = file.origin;
	world->begin_ns = file.real_begin_ns;
	if (file.mono_end_ns > file.mono_begin_ns)
		world->end_ns = world->begin_ns + (file.mono_end_ns - file.mono_begin_ns);
	memcpy(world->job, file.job, sizeof world->job);
	memcpy(world->parent_job, file.parent, sizeof world->parent_job);
	tb_tbt_rank_fini(&file);
	return true;
}

static int worlds_gather(struct tb_tbt_worlds *worlds, const char *folder,
	const struct listing *listing, struct tb_error *error)
{
	bool known = false;
	for (size_t i = 0; i < listing->n; i++) {
		const struct found *file = &listing->items[i];
		if (i == 0 || file->world != file[-1].world) {
			if (TB_ARRAY_RESERVE(&worlds->items, &worlds->room,
				    worlds->n + 1) != TB_OK)
				return tb_fail_memory(error, "the worlds of a trace");
			worlds->items[worlds->n++] = (struct tb_tbt_world){
				.id = file->world, .first = file->rank};
			known = false;
		}
		struct tb_tbt_world *world = &worlds->items[worlds->n - 1];
		world->n_files++;
		if (!known)
			known = peek(world, folder, file->rank);
	}
	return TB_OK;
}

// by_beginning puts those that nothing is known of (0) last.
static int by_beginning(const void *a, const void *b)
{
	const struct tb_tbt_world *one = a, *other = b;
	if (one->begin_ns != other->begin_ns)
		return one->begin_ns - 1 < other->begin_ns - 1 ? -1 : 1;
	return (one->id > other->id) - (one->id < other->id);
}

int tb_tbt_worlds_find(
	struct tb_tbt_worlds *worlds, const char *folder, struct tb_error *error)
{
	struct tb_tbt_worlds found = {0};
	struct listing listing = {0};
	int status = listing_fill(&listing, folder, error);
	if (status == TB_OK)
		status = worlds_gather(&found, folder, &listing, error);
	free(listing.items);
	if (status != TB_OK) {
		tb_tbt_worlds_fini(&found);
		return status;
	}
	qsort(found.items, found.n, sizeof *found.items, by_beginning);
	for (size_t i = 0; i < found.n; i++) {
		struct tb_tbt_world *child = &found.items[i];
		for (size_t k = 0; k < found.n && *child->parent_job; k++)
			if (k != i && strcmp(found.items[k].job, child->parent_job) == 0)
				child->parent_id = found.items[k].id;
	}
	*worlds = found;
	return TB_OK;
}

void tb_tbt_worlds_fini(struct tb_tbt_worlds *worlds)
{
	free(worlds->items);
	*worlds = (struct tb_tbt_worlds){0};
}
