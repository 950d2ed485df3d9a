#include "kineto.h"

#include "array.h"
#include "hash.h"
#include "infile.h"
#include "input_files.h"
#include "order.h"
#include "profile.h"
#include "trace_files.h"
#include "workers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
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

// members_read_list reads a list such as "[0, 1, 2]": 1, or 0 if it is cut off, empty or
// does not have `size` members.
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

// group_make_row fills in the members start, start + stride, and so on.
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

// find_users fills in the ranks whose profiles use a group of this name.
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
	qsort(members->ranks, members->n, sizeof *members->ranks, tb_order_u32);
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

// groups_members finds the members of a group of a profile; the caller frees `ranks`.
// From the first of these that there is: the group's "Process Group Ranks"; pg_config;
// "Global rank start" and "stride"; all ranks, if they are as many; the ranks that use a
// group of this name, if they are as many. TB_EFORMAT otherwise, and when the profile's
// own rank is no member.
static int groups_members(const struct tb_profiles *all, const struct tb_profile *profile,
	uint32_t group, struct tb_members *members, struct tb_error *error)
{
	const struct tb_profile_group *of = &profile->groups[group];
	struct tb_members made = {0};
	int found = groups_find(all, profile, of, &made, error);
	int status = found > 0 ? TB_OK : found;
	if (found == 0) {

		status = tb_fail_in(error, TB_EFORMAT, profile->path,
			"nothing says which ranks are in process group '%.60s' of "
			"%" PRIu32 " ranks: newer PyTorch writes it (\"Process Group "
			"Ranks\"); in an "
			"older profile it is known only if all its ranks' profiles are "
			"given",
			of->name, of->size);
	}
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

// A row of a grid: the distance between its members, and how many ranks all rows of its
// block span.
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

// groups_clone replaces the members of a profile's group by those of rank `rank`'s
// group in its place, of n_ranks: a group of all ranks remains one. Others must be a row
// of a grid, ranks of equal distance that begin where blocks of that many rows do: rank
// `rank` is in the row that crosses it. The rows of a grid's outermost dimension grow
// with the job. TB_EUSAGE for groups that are none, and numbers of ranks that cut rows.
static int groups_clone(const struct tb_profiles *all, const struct tb_profile *profile,
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
			"equal distance), so the others' groups are not known",
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

#define MENTION_MOST ((size_t)1 << 20)

static bool text_has_word(struct tb_bytes text, const char *word)
{
	return memmem(text.data, text.n, word, strlen(word)) != NULL;
}

// begins_object returns whether a JSON text begins with an object.
static bool begins_object(struct tb_bytes first)
{
	size_t at = 0;
	while (at < first.n && isspace(first.data[at]))
		at++;
	return at < first.n && first.data[at] == '{';
}

bool tb_kineto_begins(struct tb_bytes first)
{
	return begins_object(first) &&
	       (text_has_word(first, "\"schemaVersion\"") ||
		       text_has_word(first, "\"deviceProperties\"") ||
		       text_has_word(first, "\"traceEvents\"") ||
		       // An execution trace; Chakra's own have no process.
		       (text_has_word(first, "\"schema\"") &&
			       text_has_word(first, "\"pid\"") &&
			       text_has_word(first, "\"nodes\"")));
}

// may_be returns whether a file of this name is worth opening: JSON, perhaps compressed.
static bool may_be(const char *name)
{
	const char *at = strstr(name, ".json");
	return at && (at[5] == 0 || at[5] == '.');
}

bool tb_kineto_mentions(const char *path)
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	if (!tb_input_is_file(path) ||
		tb_infile_open(&stream, &file, path, NULL) != TB_OK)
		return false;
	bool is = tb_infile_peek(file, TB_INFILE_PEEK_MAX, &first, NULL) == TB_OK;
	if (is)
		is = tb_kineto_begins(first) ||
		     (begins_object(first) &&
			     tb_infile_mentions(stream, "\"traceEvents\"", MENTION_MOST));
	fclose(stream);
	return is;
}

bool tb_kineto_begins_gloo(struct tb_bytes first)
{
	static const char word[] = "\"distributedInfo\"";
	const char *text = (const char *)first.data, *end = text + first.n;
	const char *at = tb_kineto_begins(first)
				 ? memmem(text, first.n, word, strlen(word))
				 : NULL;
	const char *brace = at ? memchr(at, '{', (size_t)(end - at)) : NULL;
	if (!brace)
		return false;
	const char *library = NULL;
	struct tb_raw key, value, info = {brace, (size_t)(end - brace)};
	struct tb_raw_walk walk = tb_raw_walk_begin(info);
	while (!library && tb_raw_walk_next(&walk, &key, &value))
		if (tb_raw_is(key, "backend"))
			library = tb_profile_backend_library(tb_raw_string(value));
	return library && strcmp(library, "sockets") == 0;
}

static bool is_gloo_profile(const char *path, const char *name)
{
	return may_be(name) && tb_infile_begins(path, tb_kineto_begins_gloo);
}

bool tb_kineto_is_gloo_folder(const char *path)
{
	return tb_trace_files_are_in(path, is_gloo_profile);
}

static bool is_profile(const char *path, const char *name)
{
	return may_be(name) && tb_kineto_mentions(path);
}

bool tb_kineto_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, is_profile);
}

TB_ORDER_BY(profile_by_rank, struct tb_profile, TB_UP(rank))

// agree checks that all profiles belong to one job, and sorts them.
static int agree(struct tb_profiles *all, struct tb_error *error)
{
	const struct tb_profile *first = NULL;
	qsort(all->profiles, all->n, sizeof *all->profiles, profile_by_rank);
	for (size_t i = 0; i < all->n; i++) {
		const struct tb_profile *profile = &all->profiles[i];
		if (i > 0 && profile->rank == profile[-1].rank)
			return tb_fail_in(error, TB_EFORMAT, profile->path,
				"is of rank %" PRIu32 ", as is %s: give one of each "
				"rank (a schedule that repeats writes more)",
				profile->rank, profile[-1].path);
		if (profile->n_ranks == 0)
			continue;
		if (first && profile->n_ranks != first->n_ranks)
			return tb_fail_in(error, TB_EFORMAT, profile->path,
				"is of a job with %" PRIu32 " ranks, but %s of one with "
				"%" PRIu32,
				profile->n_ranks, first->path, first->n_ranks);
		first = profile;
		all->n_profiled = profile->n_ranks;
	}
	const struct tb_profile *last = &all->profiles[all->n - 1];
	if (all->n_profiled == 0)
		all->n_profiled = last->rank + 1;
	if (last->rank >= all->n_profiled)
		return tb_fail_in(error, TB_EFORMAT, last->path,
			"is of rank %" PRIu32 " of a job with %" PRIu32 " ranks",
			last->rank, all->n_profiled);
	return TB_OK;
}

// kineto_count_ranks decides how many ranks the job gets.
static int kineto_count_ranks(
	struct tb_profiles *all, const struct tb_reading *reading, struct tb_error *error)
{
	char missing[128];
	all->n_ranks = all->n_profiled;
	if (reading->clone_ranks > 0) {
		if (reading->clone_ranks < all->n_profiled)
			return tb_fail_in(error, TB_EUSAGE, all->profiles[0].path,
				"is of a job with %" PRIu32
				" ranks: --clone-ranks %" PRIu32 " would make fewer",
				all->n_profiled, reading->clone_ranks);
		all->n_ranks = reading->clone_ranks;
		return TB_OK;
	}
	if (all->n == all->n_profiled)
		return TB_OK;
	// Write "1, 2, 5 and 12 more" of the ranks without a profile.
	size_t size = sizeof missing;
	size_t at = 0, next = 0;
	uint32_t n = 0, n_named = 0;
	for (uint32_t rank = 0; rank < all->n_profiled; rank++) {
		if (next < all->n && all->profiles[next].rank == rank) {
			next++;
			continue;
		}
		n++;
		if (n > 8 || at >= size)
			continue;
		n_named++;
		at += (size_t)snprintf(missing + at, size - at, "%s%" PRIu32,
			n_named > 1 ? ", " : "", rank);
	}
	if (n > n_named && at < size)
		snprintf(missing + at, size - at, " and %" PRIu32 " more", n - n_named);
	return tb_fail_in(error, TB_EFORMAT, all->profiles[0].path,
		"is of a job with %" PRIu32 " ranks, of which there is no profile of %s: "
		"give these too, or let them do what the others do with "
		"--clone-ranks %" PRIu32,
		all->n_profiled, missing, all->n_profiled);
}

// The groups that the job has already, so that members share one.
struct known_group {
	const char *name;
	uint32_t number;
};

struct kineto_making {
	const struct tb_profiles *all;
	struct tb_calls *calls;
	struct tb_error *error;
	struct known_group *known;
	size_t n_known, known_room;
	struct tb_map known_of; // hash of name and members to the place in `known`
};

static bool group_is_known(const struct kineto_making *making,
	const struct known_group *known, const char *name,
	const struct tb_members *members)
{
	struct tb_group group = tb_calls_members(making->calls, known->number);
	return group.n == members->n && strcmp(known->name, name) == 0 &&
	       memcmp(group.members, members->ranks,
		       members->n * sizeof *members->ranks) == 0;
}

static int kineto_add_group(struct kineto_making *making, const char *name,
	const struct tb_members *members, uint32_t *number)
{
	uint32_t place;
	uint64_t key = tb_hash_text(TB_HASH_BEGIN, name);
	for (uint32_t i = 0; i < members->n; i++)
		key = tb_hash_word(key, members->ranks[i]);
	for (; tb_map_find(&making->known_of, key, &place); key++) {
		if (!group_is_known(making, &making->known[place], name, members))
			continue;
		*number = making->known[place].number;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&making->known, &making->known_room, making->n_known + 1) !=
			TB_OK ||
		tb_map_put(&making->known_of, key, (uint32_t)making->n_known) != TB_OK)
		return tb_fail_memory(making->error, "process groups");
	int status = tb_calls_group(making->calls, members->ranks, members->n, members->n,
		number, making->error);
	if (status == TB_OK)
		making->known[making->n_known++] = (struct known_group){name, *number};
	return status;
}

static bool has_messages(const struct tb_profile *profile)
{
	for (size_t i = 0; i < profile->n_kernel_ops; i++) {
		uint8_t what = profile->ops[profile->kernel_ops[i]].what;
		if (what == TB_COMM_SEND || what == TB_COMM_RECV)
			return true;
	}
	return false;
}

static int kineto_add_rank(
	struct kineto_making *making, const struct tb_profile *profile, uint32_t rank)
{
	if (rank != profile->rank && has_messages(profile))
		return tb_fail_in(making->error, TB_EUSAGE, profile->path,
			"sends messages to single ranks, as in pipelines: the ranks of "
			"such a job do not do the same, and rank %" PRIu32
			" cannot be cloned from it",
			rank);
	uint32_t *groups = calloc(profile->n_groups + 1, sizeof *groups);
	if (!groups)
		return tb_fail_memory(making->error, "process groups");
	bool clones = making->all->n_ranks > making->all->n_profiled ||
		      making->all->n < making->all->n_profiled;
	int status = TB_OK;
	for (uint32_t i = 0; i < profile->n_groups && status == TB_OK; i++) {
		struct tb_members members;
		status = groups_members(making->all, profile, i, &members, making->error);
		if (status != TB_OK)
			break;
		if (clones)
			status = groups_clone(
				making->all, profile, rank, &members, making->error);
		// Names of old execution traces are numbers of each process's own.
		const char *name = profile->groups[i].is_assumed
					   ? "all ranks"
					   : profile->groups[i].name;
		if (status == TB_OK)
			status = kineto_add_group(making, name, &members, &groups[i]);
		free(members.ranks);
	}
	const struct tb_lanes_place place = {.rank = rank, .groups = groups};
	if (status == TB_OK)
		status = tb_lanes_add(making->calls, profile, &place, making->error);
	free(groups);
	if (status == TB_OK && profile->host && rank == profile->rank)
		tb_calls_host(making->calls, rank, profile->host);
	return status;
}

static int kineto_make_calls(struct tb_calls **calls, const struct tb_profiles *all,
	const struct tb_reading *reading, struct tb_error *error)
{
	struct kineto_making making = {.all = all, .error = error};
	int status = tb_calls_new(&making.calls, all->n_ranks, error);
	size_t next = 0;
	for (uint32_t rank = 0; rank < all->n_ranks && status == TB_OK; rank++) {
		const struct tb_profile *profile = &all->profiles[rank % all->n];
		if (next < all->n && all->profiles[next].rank == rank)
			profile = &all->profiles[next++];
		status = reading->stop && *reading->stop
				 ? tb_fail_in(error, TB_ESTOPPED, profile->path,
					   "was not read to the end: stopped")
				 : kineto_add_rank(&making, profile, rank);
	}
	free(making.known);
	tb_map_fini(&making.known_of);
	if (status == TB_OK) {
		tb_profiles_note(making.calls, all);
		*calls = making.calls;
	} else
		tb_calls_free(making.calls);
	return status;
}

// kineto_library returns the library that the ranks communicated with, and gives its
// version to the calls. NCCL's kernels are of RCCL on AMD's GPUs; without kernels the
// backend tells.
static const char *kineto_library(const struct tb_profiles *all, struct tb_calls *calls)
{
	const struct tb_profile *of = all->profiles;
	while (of->n_kernels == 0 && of + 1 < all->profiles + all->n)
		of++;
	const char *name = of->is_by_calls || of->n_kernels == 0 ? of->library : NULL;
	char text[32];
	unsigned major, minor;
	if (name && strcmp(name, "sockets") == 0)
		tb_calls_note(calls, "of the algorithms of gloo nothing is known here: "
				     "calls become messages as Open MPI makes them");
	if (name && strcmp(name, "nccl") != 0 && strcmp(name, "rccl") != 0)
		return name;
	name = of->has_amd || (name && *name == 'r') ? "rccl" : "nccl";
	tb_calls_made_on(calls, of->gpu);
	if (sscanf(of->nccl_version, "%u.%u", &major, &minor) == 2 && major == 2) {
		snprintf(text, sizeof text, "%s@%u.%u", name, major, minor);
		tb_calls_made_with(calls, text);
	}
	return name;
}

struct kineto_files {
	struct tb_profile *profiles; // of each file
	const struct tb_trace_files *files;
	const struct tb_reading *reading;
};

static int read_one(void *context, size_t i, struct tb_error *error)
{
	const struct kineto_files *of = context;
	int status = tb_profile_read(
		&of->profiles[i], of->files->paths[i], of->reading, error);
	if (status != TB_OK)
		return status;
	struct tb_profile *profile = &of->profiles[i];
	size_t n_files = of->files->n;
	if (!profile->host)
		profile->host = tb_profile_host_in_name(profile->path);
	if (profile->rank == TB_NONE)
		profile->rank = tb_profile_rank_in_name(profile->path);
	if (profile->rank == TB_NONE && n_files == 1)
		profile->rank = 0;
	if (profile->rank == TB_NONE)
		return tb_fail_in(error, TB_EFORMAT, profile->path,
			"does not say of which rank it is: expected \"distributedInfo\" "
			"in it, or a name with the rank in it, as in rank3.json");
	return TB_OK;
}

int tb_kineto_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct tb_trace_files files = {0};
	struct tb_profiles all = {0};
	int status = tb_trace_files_list(&files, paths, n, is_profile, error);
	if (status == TB_OK) {
		all.profiles = calloc(files.n + 1, sizeof *all.profiles);
		if (!all.profiles)
			status = tb_fail_memory_in(error, paths[0], "profiles");
	}
	if (status == TB_OK) {
		// Read the profiles side by side: a job has many, and they are long.
		struct kineto_files of = {all.profiles, &files, reading};
		const struct tb_work work = {
			.context = &of, .n_tasks = files.n, .task = read_one};
		all.n = files.n;
		status = tb_workers_run(&work, 0, error);
		if (status == TB_OK)
			status = agree(&all, error);
		status = status == TB_OK ? kineto_count_ranks(&all, reading, error)
					 : status;
	}
	if (status == TB_OK)
		status = tb_profiles_check(&all, reading, error);
	if (status == TB_OK)
		status = kineto_make_calls(calls, &all, reading, error);
	if (status == TB_OK)
		*made = kineto_library(&all, *calls);
	for (size_t i = 0; i < all.n; i++)
		tb_profile_fini(&all.profiles[i]);
	free(all.profiles);
	tb_trace_files_fini(&files);
	return status;
}
