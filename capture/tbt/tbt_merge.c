#include "tbt_merge.h"

#include "array.h"
#include "hash.h"
#include "map.h"
#include "order.h"
#include "tbt_clock.h"
#include "tbt_groups.h"
#include "tbt_reader.h"
#include "tbt_records.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// tbt_rank_name returns whether a file is called like a rank's, and stores of which rank
// and world.
static bool tbt_rank_name(const char *name, uint64_t *world, uint32_t *rank)
{
	int end = 0;
	*world = 0;
	if (sscanf(name, "rank-%9" SCNu32 ".tbr%n", rank, &end) == 1 && end > 0)
		return !name[end];
	return sscanf(name, "rank-%9" SCNu32 "-%16" SCNx64 ".tbr%n", rank, world, &end) ==
		       2 &&
	       end > 0 && !name[end] && *world != 0;
}

// A rank's file in the folder. For a process that was traced by its sockets `world` is
// when it began, and `rank` its process id.
struct found {
	uint64_t world;
	uint32_t rank;
	bool sockets;
};

struct listing {
	struct found *items;
	size_t n, room;
};

TB_ORDER_BY(by_world, struct found, TB_UP(sockets) TB_UP(world) TB_UP(rank))

static int no_rank_files(const char *path, struct tb_error *error)
{
	return tb_fail_in(error, TB_EFOREIGN, path,
		"holds no rank-N-WORLD.tbr, which each rank of a traced program writes "
		"at MPI_Init");
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
		struct found file = {0};
		int end = 0;
		file.sockets =
			sscanf(entry->d_name, "socket-%9" SCNu32 "-%16" SCNx64 ".tbr%n",
				&file.rank, &file.world, &end) == 2 &&
			end > 0 && !entry->d_name[end];
		if (!file.sockets &&
			!tbt_rank_name(entry->d_name, &file.world, &file.rank))
			continue;
		status = TB_ARRAY_NEXT(listing, items);
		if (status == TB_OK)
			listing->items[listing->n++] = file;
	}
	closedir(folder);
	if (status != TB_OK)
		return tb_fail_memory(error, "the ranks of a trace");
	if (listing->n == 0)
		return no_rank_files(path, error);
	qsort(listing->items, listing->n, sizeof *listing->items, by_world);
	return TB_OK;
}

// found_path returns the path of a file, which the caller frees; NULL without memory.
static char *found_path(const char *folder, const struct found *found)
{
	char *path = NULL;
	int n = found->sockets
			? asprintf(&path, "%s/socket-%" PRIu32 "-%016" PRIx64 ".tbr",
				  folder, found->rank, found->world)
		: found->world
			? asprintf(&path, "%s/rank-%" PRIu32 "-%016" PRIx64 ".tbr",
				  folder, found->rank, found->world)
			: asprintf(&path, "%s/rank-%" PRIu32 ".tbr", folder, found->rank);
	return n < 0 ? NULL : path;
}

// peek fills in what the header of a rank's file says of its world, and returns whether
// it could be read. An empty or foreign file is left to the merge, which names it.
static bool peek(
	struct tb_tbt_world *world, const char *folder, const struct found *found)
{
	struct tb_tbt_rank file = {0};
	struct tb_error own;
	char *path = found_path(folder, found);
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
		if (i == 0 || file->sockets != file[-1].sockets ||
			(!file->sockets && file->world != file[-1].world)) {
			if (TB_ARRAY_NEXT(worlds, items) != TB_OK)
				return tb_fail_memory(error, "the worlds of a trace");
			worlds->items[worlds->n++] = (struct tb_tbt_world){
				.id = file->sockets ? 0 : file->world,
				.first = file->sockets ? 0 : file->rank,
				.sockets = file->sockets};
			known = false;
		}
		struct tb_tbt_world *world = &worlds->items[worlds->n - 1];
		world->n_files++;
		if (!known)
			known = peek(world, folder, file);
	}
	return TB_OK;
}

// by_beginning puts worlds whose beginning is unknown (0) last.
static int by_beginning(const void *a, const void *b)
{
	const struct tb_tbt_world *one = a, *other = b;
	if (one->begin_ns != other->begin_ns)
		return one->begin_ns - 1 < other->begin_ns - 1 ? -1 : 1;
	return TB_ORDER(one->id, other->id);
}

int tb_tbt_worlds_find(
	struct tb_tbt_worlds *worlds, const char *folder, struct tb_error *error)
{
	struct tb_tbt_worlds found = {0};
	struct listing listing = {0};
	int status = listing_fill(&listing, folder, error);
	TB_THEN(status, worlds_gather(&found, folder, &listing, error));
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

// How a rank ended, by its own clock. If it did not end early, only the time counts.
struct rank_ending {
	bool early, aborted;
	uint32_t ending; // as in tb_tbt_rank
	uint64_t at_ns;	 // its last call returned
};

struct rank_merge {
	const char *folder;
	const struct tb_tbt_world *world;
	struct listing files;	      // of sockets: by rank
	uint32_t n_ranks, mpi, first; // `first` rank that has a file
	bool *there;		      // by rank
	struct rank_ending *endings;  // by rank
	uint32_t *clock_of;	      // by rank
	struct tb_tbt_point *starts;  // by clock
	char (*names)[64];	      // by clock
	size_t n_clocks, starts_room, names_room;
	struct tb_map by_name;	   // hash of a clock's name to the clock
	uint64_t begin_ns, end_ns; // by the time of day
	struct tb_tbt_clocks *clocks;
	struct tb_tbt_groups *groups;
	char version[256];
	bool records_any; // every rank's file does
	struct tb_tbt_summary *summary;
	struct tb_error *error;
};

static char *merge_rank_path(const struct rank_merge *merge, uint32_t rank)
{
	const struct found of_rank = {.world = merge->world->id, .rank = rank};
	return found_path(merge->folder,
		merge->world->sockets ? &merge->files.items[rank] : &of_rank);
}

// merge_open_rank reads a rank's file, or only its header.
static int merge_open_rank(const struct rank_merge *merge, uint32_t rank, bool whole,
	struct tb_tbt_rank *file, struct tb_error *error)
{
	bool sockets = merge->world->sockets;
	char *path = merge_rank_path(merge, rank);
	if (!path)
		return tb_fail_memory(error, "merging a trace");
	int status = whole ? tb_tbt_rank_read(file, path, error)
			   : tb_tbt_rank_peek(file, path, error);
	if (status == TB_OK && sockets) {
		file->rank = rank;
		file->n_ranks = (uint32_t)merge->files.n;
	}
	if (status == TB_OK && file->rank != rank) {
		status = tb_fail_in(error, TB_EFORMAT, path,
			"is of rank %" PRIu32 ", not %" PRIu32, file->rank, rank);
		tb_tbt_rank_fini(file);
	}
	free(path);
	return status;
}

// is_unread returns whether a rank has no usable file: none at all, one from a process
// that was killed before it wrote anything, or a damaged one. The merge names it and goes
// on.
static bool is_unread(int status)
{
	return status == TB_EIO || status == TB_EFOREIGN || status == TB_EFORMAT;
}

static void note_unread(struct tb_tbt_summary *summary, const struct tb_error *why)
{
	if (summary->n_missing < TB_TBT_UNREAD_MAX)
		summary->unread[summary->n_missing] = *why;
	summary->n_missing++;
}

// What a process's file says, to decide which processes become ranks. One process may
// have several files, of before and after its exec.
struct process {
	uint64_t pid, parent;
	uint64_t *pipes; // inodes of pipes and pairs of sockets
	size_t n_pipes, pipes_room;
	size_t first;	       // of its files
	bool has_tcp, any_tcp; // this file's, and of any of them
	bool is_needed, is_kept;
};

static int process_take_socket(struct process *process,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	if (record->n_list != 6 || record->list[0] != TB_TBT_LOCAL) {
		process->has_tcp = true;
		return TB_OK;
	}
	uint64_t inode = tb_min_u64(record->list[1], record->list[4]); // of the pair
	for (size_t i = 0; i < process->n_pipes; i++)
		if (process->pipes[i] == inode)
			return TB_OK;
	if (TB_ARRAY_MORE(process, pipes) != TB_OK)
		return tb_fail_memory(error, "merging a trace");
	process->pipes[process->n_pipes++] = inode;
	return TB_OK;
}

// process_read fills a zeroed process.
static int process_read(struct process *process, const char *folder,
	const struct found *found, struct tb_error *error)
{
	struct tb_tbt_rank file = {0};
	struct tb_tbt_record record;
	char *path = found_path(folder, found);
	int status = path ? tb_tbt_rank_read(&file, path, error)
			  : tb_fail_memory(error, "merging a trace");
	free(path);
	struct tb_tbt_walk walk = {.lanes = file.lanes, .n = file.n_lanes};
	while (status >= 0 && (status = tb_tbt_walk_next(&walk, &record, error)) > 0) {
		if (record.kind == TB_TBT_SOCKET)
			status = process_take_socket(process, &record, error);
		if (record.kind == TB_TBT_PROCESS) {
			process->pid = record.fields[0];
			process->parent = record.fields[1];
		}
	}
	tb_tbt_cursor_fini(&walk.cursor);
	tb_tbt_rank_fini(&file);
	return status < 0 ? status : TB_OK;
}

// are_related is whether one process forked the other, or has a pipe with it.
static bool are_related(const struct process *a, const struct process *b)
{
	if (a->pid == b->parent || b->pid == a->parent)
		return true;
	for (size_t i = 0; i < a->n_pipes; i++)
		for (size_t k = 0; k < b->n_pipes; k++)
			if (a->pipes[i] == b->pipes[k])
				return true;
	return false;
}

// join_images gives the first file of each process what all of its files have.
static int join_images(struct process *all, size_t n, struct tb_error *error)
{
	for (size_t i = 0; i < n; i++) {
		size_t first = all[i].pid ? 0 : i;
		while (all[first].pid != all[i].pid)
			first++;
		all[i].first = first;
		all[first].any_tcp |= all[i].has_tcp;
		for (size_t k = 0; first < i && k < all[i].n_pipes; k++) {
			if (TB_ARRAY_MORE(&all[first], pipes) != TB_OK)
				return tb_fail_memory(error, "merging a trace");
			all[first].pipes[all[first].n_pipes++] = all[i].pipes[k];
		}
	}
	return TB_OK;
}

// A process in the search of keep_needed: when it was found, and the earliest found one
// that it leads to without its parent in the search, `up`.
struct sought_process {
	size_t at, up, next;
	size_t found, low; // 0: not yet, and all with sockets of TCP
};

// keep_needed keeps the processes that have sockets of TCP or are on a way, by forks and
// pipes, from one of these to another: where a single process is on each way there, what
// it stands before are its helpers, or what ran it. (Hopcroft and Tarjan, 1973: blocks of
// a graph, here that of a vertex which is joined to all with sockets of TCP.)
static int keep_needed(struct process *all, size_t n, struct tb_error *error)
{
	struct sought_process *sought = calloc(n + 1, sizeof *sought);
	size_t *order = calloc(n + 1, sizeof *order), n_found = 0; // by `found`
	if (!sought || !order || join_images(all, n, error) != TB_OK) {
		free(sought);
		free(order);
		return tb_fail_memory(error, "merging a trace");
	}
	for (size_t root = 0; root < n; root++) {
		size_t at = root;
		if (sought[root].found || !all[root].any_tcp)
			continue;
		sought[root].up = n;
		while (at < n) {
			struct sought_process *of = &sought[at];
			if (!of->found) {
				order[++n_found] = at;
				of->found = n_found;
				of->low = all[at].any_tcp ? 0 : n_found;
				all[at].is_needed = true;
			}
			size_t i = of->next++;
			if (i < n) {
				if (all[i].first != i || i == at || i == of->up ||
					!all[i].pid || !are_related(&all[at], &all[i]))
					continue;
				if (sought[i].found) {
					of->low = of->low < sought[i].found
							  ? of->low
							  : sought[i].found;
					continue;
				}
				sought[i].up = at;
				at = i;
				continue;
			}
			struct sought_process *up = &sought[of->up];
			if (of->up < n && of->low >= up->found)
				for (size_t k = of->found; k <= n_found; k++)
					all[order[k]].is_needed = false;
			if (of->up < n && of->low < up->low)
				up->low = of->low;
			at = of->up;
		}
	}
	for (size_t i = 0; i < n && n_found; i++) {
		const struct process *first = &all[all[i].first];
		all[i].is_kept &= first->is_needed && (all[i].has_tcp || !first->any_tcp);
	}
	free(sought);
	free(order);
	return TB_OK;
}

// list_processes lists the processes that become ranks: those with sockets of TCP, and
// what is between several; where none has any, all. A process that was killed before its
// first record is left out.
static int list_processes(struct rank_merge *merge)
{
	struct listing *listing = &merge->files;
	struct tb_error own;
	int status = TB_OK;
	struct process *all = calloc(listing->n + 1, sizeof *all);
	size_t n = 0, n_read = 0;
	if (!all)
		return tb_fail_memory(merge->error, "merging a trace");
	for (size_t i = 0; i < listing->n && status == TB_OK; i++) {
		if (!listing->items[i].sockets)
			continue;
		status = process_read(&all[i], merge->folder, &listing->items[i], &own);
		all[i].is_kept = status == TB_OK && (all[i].pid || all[i].has_tcp);
		n_read += all[i].is_kept;
		if (status == TB_EFORMAT)
			note_unread(merge->summary, &own);
		if (status == TB_EFOREIGN || status == TB_EFORMAT)
			status = TB_OK;
		else if (status != TB_OK && merge->error)
			*merge->error = own;
	}
	if (status == TB_OK)
		status = keep_needed(all, listing->n, merge->error);
	for (size_t i = 0; i < listing->n && status == TB_OK; i++)
		if (all[i].is_kept)
			listing->items[n++] = listing->items[i];
	for (size_t i = 0; i < listing->n; i++)
		free(all[i].pipes);
	free(all);
	listing->n = n;
	merge->summary->n_left_out = (uint32_t)(n_read - n);
	return status == TB_OK && n == 0
		       ? tb_fail_in(merge->error, TB_EFOREIGN, merge->folder,
				 "holds no process that used a socket of TCP")
		       : status;
}

// next_rank returns the lowest rank from `from` on that has a file; UINT32_MAX: none.
static uint32_t next_rank(const struct rank_merge *merge, uint32_t from)
{
	for (size_t i = 0; i < merge->files.n; i++) { // sorted
		const struct found *file = &merge->files.items[i];
		if (!file->sockets && file->world == merge->world->id &&
			file->rank >= from)
			return file->rank;
	}
	return UINT32_MAX;
}

// add_clock stores the number of a rank's clock, which is new unless it was seen before.
static int add_clock(struct rank_merge *merge, const struct tb_tbt_rank *file)
{
	uint32_t known;
	size_t at = merge->n_clocks;
	uint64_t key = tb_hash_text(TB_HASH_BEGIN, file->clock);
	for (; tb_map_find(&merge->by_name, key, &known); key++) {
		if (strcmp(merge->names[known], file->clock) != 0)
			continue;
		merge->clock_of[file->rank] = known;
		return TB_OK;
	}
	merge->clock_of[file->rank] = (uint32_t)at;
	if (tb_map_put(&merge->by_name, key, (uint32_t)at) != TB_OK)
		return tb_fail_memory(merge->error, "merging a trace");
	if (TB_ARRAY_RESERVE(&merge->names, &merge->names_room, at + 1) != TB_OK ||
		TB_ARRAY_RESERVE(&merge->starts, &merge->starts_room, at + 1) != TB_OK)
		return tb_fail_memory(merge->error, "merging a trace");
	memcpy(merge->names[at], file->clock, sizeof file->clock);
	merge->starts[at].at_ns = file->mono_begin_ns;
	merge->starts[at].add_ns = (int64_t)(file->real_begin_ns - file->mono_begin_ns);
	merge->n_clocks++;
	return TB_OK;
}

static int merge_take_header(struct rank_merge *merge, const struct tb_tbt_rank *file)
{
	if (file->n_ranks != merge->n_ranks || file->mpi != merge->mpi)
		return tb_fail_in(merge->error, TB_EFORMAT, merge->folder,
			"holds ranks of different programs: rank %" PRIu32
			" is of %" PRIu32 " ranks, rank %" PRIu32 " of %" PRIu32,
			file->rank, file->n_ranks, merge->first, merge->n_ranks);
	merge->there[file->rank] = true;
	merge->records_any &= file->records_any;
	merge->summary->n_lost += file->lost;
	struct rank_ending *ending = &merge->endings[file->rank];
	ending->early = file->state != TB_TBT_FINISHED && !file->lost;
	ending->aborted = file->state == TB_TBT_ABORTED;
	ending->ending = file->ending;
	ending->at_ns = file->mono_begin_ns;
	merge->summary->n_early += ending->early;
	int status = add_clock(merge, file);
	if (status == TB_OK) {
		const struct tb_tbt_point *start =
			&merge->starts[merge->clock_of[file->rank]];
		uint64_t begin = file->mono_begin_ns + (uint64_t)start->add_ns;
		uint64_t end = file->mono_end_ns + (uint64_t)start->add_ns;
		if (merge->begin_ns == 0 || begin < merge->begin_ns)
			merge->begin_ns = begin;
		if (file->mono_end_ns > 0 && end > merge->end_ns)
			merge->end_ns = end;
	}
	return status;
}

// read_first reads the header of the first rank whose file can be read. If none can, it
// reports the error of the first file.
static int read_first(struct rank_merge *merge, struct tb_tbt_rank *file)
{
	struct tb_error other;
	uint32_t rank = merge->first = next_rank(merge, 0);
	if (rank == UINT32_MAX)
		return no_rank_files(merge->folder, merge->error);
	int status = merge_open_rank(merge, rank, false, file, merge->error);
	while (is_unread(status) && (rank = next_rank(merge, rank + 1)) < UINT32_MAX) {
		int next = merge_open_rank(merge, rank, false, file, &other);
		merge->first = rank;
		if (is_unread(next))
			continue;
		status = next;
		if (status != TB_OK && merge->error)
			*merge->error = other;
	}
	return status;
}

// merge_begin takes the number of ranks from the first rank's header.
static int merge_begin(struct rank_merge *merge)
{
	struct tb_tbt_rank file = {0};
	int status = listing_fill(&merge->files, merge->folder, merge->error);
	if (status == TB_OK && merge->world->sockets)
		status = list_processes(merge);
	TB_THEN(status, merge->world->sockets
				? merge_open_rank(merge, 0, false, &file, merge->error)
				: read_first(merge, &file));
	if (status != TB_OK)
		return status;
	merge->n_ranks = file.n_ranks;
	merge->mpi = file.mpi;
	merge->records_any = true;
	memcpy(merge->version, file.version, sizeof merge->version);
	merge->there = calloc(file.n_ranks, sizeof *merge->there);
	merge->endings = calloc(file.n_ranks, sizeof *merge->endings);
	merge->clock_of = calloc(file.n_ranks, sizeof *merge->clock_of);
	tb_tbt_rank_fini(&file);
	if (!merge->there || !merge->endings || !merge->clock_of)
		return tb_fail_memory(merge->error, "merging a trace");
	return tb_tbt_groups_new(&merge->groups, merge->n_ranks, merge->error);
}

static int read_headers(struct rank_merge *merge)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < merge->n_ranks && status == TB_OK; i++) {
		struct tb_tbt_rank file = {0};
		struct tb_error own = {0};
		status = merge_open_rank(merge, i, false, &file, &own);
		if (is_unread(status)) {
			note_unread(merge->summary, &own);
			status = TB_OK;
			continue;
		}
		if (status == TB_OK)
			status = merge_take_header(merge, &file);
		else if (merge->error)
			*merge->error = own;
		tb_tbt_rank_fini(&file);
	}
	return status;
}

// The definition of a communicator in one rank, kept until all lanes are read.
struct definition {
	struct tb_tbt_record record;
	uint64_t *list;
};

TB_ORDER_BY(definition_by_number, struct definition, TB_UP(record.fields[0]))

struct definitions {
	struct definition *items;
	size_t n, room;
};

static int definition_keep(struct definitions *definitions,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	uint64_t *list = malloc((record->n_list + 1) * sizeof *list);
	if (!list || TB_ARRAY_NEXT(definitions, items) != TB_OK) {
		free(list);
		return tb_fail_memory(error, "merging a trace");
	}
	if (record->n_list)
		memcpy(list, record->list, record->n_list * sizeof *list);
	struct definition *definition = &definitions->items[definitions->n++];
	definition->record = *record;
	definition->record.list = definition->list = list;
	return TB_OK;
}

// merge_read_rank finds a rank's communicators; any of its threads may have made them.
static int merge_read_rank(
	struct rank_merge *merge, uint32_t rank, struct tb_error *error)
{
	struct tb_tbt_rank file = {0};
	struct definitions definitions = {0};
	int status = merge_open_rank(merge, rank, true, &file, error);
	struct rank_ending *ending = &merge->endings[rank];
	struct tb_tbt_record record;
	struct tb_tbt_walk walk = {.lanes = file.lanes, .n = file.n_lanes};
	while (status >= 0 && (status = tb_tbt_walk_next(&walk, &record, error)) > 0) {
		merge->summary->n_records++;
		ending->at_ns = tb_max_u64(ending->at_ns, record.leave_ns);
		if (record.kind == TB_TBT_COMM)
			status = definition_keep(&definitions, &record, error);
	}
	tb_tbt_cursor_fini(&walk.cursor);
	if (definitions.n > 1)
		qsort(definitions.items, definitions.n, sizeof *definitions.items,
			definition_by_number);
	for (size_t i = 0; i < definitions.n && status == TB_OK; i++)
		status = tb_tbt_groups_add(
			merge->groups, rank, &definitions.items[i].record, error);
	for (size_t i = 0; i < definitions.n; i++)
		free(definitions.items[i].list);
	free(definitions.items);
	tb_tbt_rank_fini(&file);
	if (status == TB_EFORMAT && error && !error->file[0]) {
		char *path = merge_rank_path(merge, rank);
		snprintf(error->file, sizeof error->file, "%s", path ? path : "");
		free(path);
	}
	return status;
}

// read_ranks finds the communicators of all ranks. A rank whose records are damaged is
// left out, like one without a file.
static int read_ranks(struct rank_merge *merge)
{
	uint32_t n_read = 0;
	for (uint32_t i = 0; i < merge->n_ranks; i++) {
		struct tb_error own = {0};
		int status =
			merge->there[i] ? merge_read_rank(merge, i, &own) : TB_EFOREIGN;
		n_read += status == TB_OK;
		if (status == TB_OK || !merge->there[i])
			continue;
		if (status != TB_EFORMAT) {
			if (merge->error)
				*merge->error = own;
			return status;
		}
		note_unread(merge->summary, &own);
		merge->there[i] = false;
		merge->summary->n_early -= merge->endings[i].early;
		merge->endings[i].early = false;
	}
	if (n_read > 0)
		return TB_OK;
	if (merge->error)
		*merge->error = merge->summary->unread[0];
	return (int)merge->summary->unread[0].code;
}

static void merge_put_u32(FILE *stream, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		putc((int)(value >> 8 * i & 0xff), stream);
}

static void merge_put_u64(FILE *stream, uint64_t value)
{
	merge_put_u32(stream, (uint32_t)value);
	merge_put_u32(stream, (uint32_t)(value >> 32));
}

static void merge_put_text(FILE *stream, const char *text)
{
	size_t n = strlen(text);
	putc((int)(n & 0xff), stream);
	putc((int)(n >> 8), stream);
	fwrite(text, 1, n, stream);
}

static uint64_t common_begin(const struct rank_merge *merge)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < merge->n_clocks; i++) {
		struct tb_tbt_point points[TB_TBT_POINTS_MAX];
		uint32_t n = tb_tbt_clocks_points(merge->clocks, i, points);
		uint64_t begin = tb_tbt_common_ns(points, n, merge->starts[i].at_ns);
		least = begin < least ? begin : least;
	}
	return least;
}

static int merge_write_rank(const struct rank_merge *merge, uint32_t rank, FILE *stream)
{
	size_t n = 0;
	struct tb_tbt_rank file = {.state = TB_TBT_MISSING};
	struct tb_tbt_point points[TB_TBT_POINTS_MAX];
	int status = merge->there[rank]
			     ? merge_open_rank(merge, rank, true, &file, merge->error)
			     : TB_OK;
	if (status != TB_OK)
		return status;
	const uint32_t *groups = tb_tbt_groups_of(merge->groups, rank, &n);
	merge_put_u32(stream, rank);
	merge_put_u32(stream, (uint32_t)file.state | (file.ending & 0xff) << 8);
	merge_put_text(stream, file.host);
	merge_put_u32(stream, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		merge_put_u32(stream, groups[i]);
	uint32_t n_points =
		tb_tbt_clocks_points(merge->clocks, merge->clock_of[rank], points);
	merge_put_u32(stream, n_points);
	for (uint32_t i = 0; i < n_points; i++) {
		merge_put_u64(stream, points[i].at_ns);
		merge_put_u64(stream, (uint64_t)points[i].add_ns);
	}
	merge_put_u32(stream, (uint32_t)file.n_lanes);
	for (size_t i = 0; i < file.n_lanes; i++)
		merge_put_u64(stream, file.lanes[i].n);
	for (size_t i = 0; i < file.n_lanes; i++)
		if (file.lanes[i].n)
			fwrite(file.lanes[i].records, 1, file.lanes[i].n, stream);
	tb_tbt_rank_fini(&file);
	return TB_OK;
}

// Ways in which a rank ended, ordered by how likely another rank caused it (tbt_merge.h).
enum ending_order { ABORTED, FAILED, UNEXPLAINED, ASKED };

static enum ending_order ending_rank(const struct rank_ending *ending)
{
	uint32_t by = ending->ending;
	if (ending->aborted || by == 0)
		return ending->aborted ? ABORTED : UNEXPLAINED;
	return by == SIGTERM || by == SIGINT || by == SIGHUP ? ASKED : FAILED;
}

// find_first_early needs solved clocks, as it compares the ends of ranks on all machines.
static void find_first_early(const struct rank_merge *merge)
{
	struct tb_tbt_summary *summary = merge->summary;
	enum ending_order first = ASKED;
	uint64_t first_ns = UINT64_MAX;
	for (uint32_t i = 0; i < merge->n_ranks; i++) {
		const struct rank_ending *ending = &merge->endings[i];
		struct tb_tbt_point points[TB_TBT_POINTS_MAX];
		enum ending_order order = ending_rank(ending);
		summary->n_unexplained += ending->early && order == UNEXPLAINED;
		if (!ending->early || order > first)
			continue;
		uint32_t n =
			tb_tbt_clocks_points(merge->clocks, merge->clock_of[i], points);
		uint64_t at_ns = tb_tbt_common_ns(points, n, ending->at_ns);
		if (order == first && at_ns >= first_ns)
			continue;
		first = order;
		first_ns = at_ns;
		summary->first_early = i;
		summary->first_ending = ending->ending;
		summary->first_aborted = ending->aborted;
	}
}

// relate_sockets passes the messages between traced processes to the clocks.
static int relate_sockets(const struct rank_merge *merge)
{
	static const struct tb_reading reading;
	struct tb_tbt_reader reader = {.reading = &reading,
		.error = merge->error,
		.path = merge->folder,
		.n_ranks = merge->n_ranks,
		.n_points = 1}; // of no effect: each keeps its own time
	struct tb_tbt_sockets *sockets = NULL;
	int status = tb_tbt_sockets_new(&sockets, &reader);
	for (uint32_t i = 0; i < merge->n_ranks && status == TB_OK; i++) {
		struct tb_tbt_rank file = {0};
		if (!merge->there[i])
			continue;
		status = merge_open_rank(merge, i, true, &file, merge->error);
		reader.rank = i;
		TB_THEN(status, tb_tbt_sockets_rank(
					sockets, file.host, file.lanes, file.n_lanes));
		tb_tbt_rank_fini(&file);
	}
	TB_THEN(status, tb_tbt_sockets_clocks(sockets, merge->clock_of, merge->clocks));
	tb_tbt_sockets_free(sockets);
	return status;
}

int tb_tbt_merge(const char *folder, const struct tb_tbt_world *world, FILE *stream,
	struct tb_tbt_summary *summary, struct tb_error *error)
{
	static const struct tb_tbt_world without;
	struct rank_merge merge = {.folder = folder,
		.world = world ? world : &without,
		.summary = summary,
		.error = error};
	*summary = (struct tb_tbt_summary){0};
	int status = merge_begin(&merge);
	TB_THEN(status, read_headers(&merge));
	TB_THEN(status,
		tb_tbt_clocks_new(&merge.clocks, merge.starts, (uint32_t)merge.n_clocks,
			merge.begin_ns, merge.end_ns, error));
	TB_THEN(status, read_ranks(&merge));
	if (status == TB_OK) {
		// Correct the clocks by the messages between them, where there are
		// several.
		struct tb_tbt_links *links = NULL;
		if (merge.n_clocks > 1 && merge.world->sockets)
			status = relate_sockets(&merge);
		else if (merge.n_clocks > 1)
			status = tb_tbt_links_new(
				&links, merge.groups, merge.clock_of, error);
		for (uint32_t i = 0; links && i < merge.n_ranks && status == TB_OK; i++) {
			struct tb_tbt_rank file = {0};
			if (!merge.there[i])
				continue;
			status = merge_open_rank(&merge, i, true, &file, error);
			TB_THEN(status, tb_tbt_links_rank(links, &file));
			tb_tbt_rank_fini(&file);
		}
		if (links && status == TB_OK)
			status = tb_tbt_links_give(links, merge.clocks);
		tb_tbt_links_free(links);
	}
	if (status == TB_OK) {
		summary->n_ranks = merge.n_ranks;
		summary->n_clocks = (uint32_t)merge.n_clocks;
		summary->n_unlinked = tb_tbt_clocks_solve(merge.clocks);
		find_first_early(&merge);
		uint32_t n = tb_tbt_groups_n(merge.groups);
		fwrite(merge.records_any ? TB_TBT_MAGIC : TB_TBT_MAGIC_2, 1,
			TB_TBT_MAGIC_BYTES, stream);
		merge_put_u32(stream, merge.n_ranks);
		merge_put_u32(stream, merge.mpi);
		merge_put_u64(stream, common_begin(&merge));
		merge_put_text(stream, merge.version);
		merge_put_u64(stream, merge.world->id);
		merge_put_u64(stream, merge.world->parent_id);
		merge_put_u32(stream, merge.world->origin);
		merge_put_u32(stream, n);
		for (uint32_t i = 0; i < n; i++) {
			struct tb_tbt_group group = tb_tbt_groups_at(merge.groups, i);
			merge_put_u32(stream, group.n);
			merge_put_u32(stream, group.n_local);
			merge_put_u32(stream, (uint32_t)(group.n_runs / 2));
			for (size_t k = 0; k < group.n_runs; k++)
				merge_put_u32(stream, (uint32_t)group.runs[k]);
		}
		for (uint32_t i = 0; i < merge.n_ranks && status == TB_OK; i++)
			status = merge_write_rank(&merge, i, stream);
	}
	tb_tbt_clocks_free(merge.clocks);
	tb_tbt_groups_free(merge.groups);
	free(merge.files.items);
	free(merge.there);
	free(merge.endings);
	free(merge.clock_of);
	free(merge.starts);
	free(merge.names);
	tb_map_fini(&merge.by_name);
	return status;
}
