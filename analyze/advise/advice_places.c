// Files that changes need.
#include "advice_impl.h"
#include "findings.h"
#include "outfile.h"
#include "seating.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void advice_files_path(
	const struct tb_advice_file *file, const char *folder, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", folder, file->name);
}

int tb_advice_files_write(
	const struct tb_change *change, const char *folder, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < change->n_files && status == TB_OK; i++) {
		char path[PATH_MAX];
		struct tb_outfile out;
		advice_files_path(&change->files[i], folder, path, sizeof path);
		status = tb_outfile_open(&out, path, error);
		if (status)
			return status;
		fwrite(change->files[i].text, 1, change->files[i].size, out.stream);
		status = tb_outfile_commit(&out, error);
	}
	return status;
}

int tb_advice_files_folder(const char *folder, struct tb_error *error)
{
	struct stat at;
	if (mkdir(folder, 0777) == 0 ||
		(errno == EEXIST && stat(folder, &at) == 0 && S_ISDIR(at.st_mode)))
		return TB_OK;
	return tb_fail(error, TB_EIO, "%s: no folder can be made there: %s", folder,
		strerror(errno));
}

int tb_advice_write_files(const struct tb_advice *advice, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 1; advice->folder && i < advice->n && status == TB_OK; i++)
		if (advice->changes[i].verdict == TB_VERDICT_HELPS)
			status = tb_advice_files_write(
				&advice->changes[i], advice->folder, error);
	return status;
}

// Ranks where least of their traffic crosses leaf switches.

// A share of the crossing bytes; what saves less is not worth a replay.
#define WORTH 0.02

// add_rank_file makes the map of a job, and has the command name it in the user's folder.
static int add_rank_file(const struct tb_seating *seating, uint32_t job,
	const char *prefix, struct tb_advice_file *file, struct tb_error *error)
{
	FILE *stream = open_memstream(&file->text, &file->size);
	if (!stream)
		return tb_fail_memory(error, "a map");
	file->job = job;
	snprintf(file->name, sizeof file->name, "%s-%u.map", prefix, job);
	int status = tb_seating_write_map(seating, job, stream, error);
	if (fclose(stream) != 0 && status == TB_OK)
		status = tb_fail_memory(error, "a map");
	return status;
}

static int add_files(const struct tb_seating *seating, const char *prefix,
	struct tb_advice_file *files, uint32_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t job = 0; job < n && status == TB_OK; job++)
		status = add_rank_file(seating, job, prefix, &files[job], error);
	return status;
}

void tb_advice_name_files(struct tb_replay_command *words,
	const struct tb_advice_file *files, size_t n, const char *folder)
{
	static const char *const instead[] = {"placement", "nodes", "hosts", "map", NULL};
	for (size_t i = 0; i < n; i++) {
		char path[PATH_MAX];
		advice_files_path(&files[i], folder, path, sizeof path);
		if (files[i].kind == TB_ADVICE_FILE_ROUTES)
			tb_replay_command_set(words, "--routes", path);
		else if (files[i].kind == TB_ADVICE_FILE_FABRIC)
			tb_replay_command_fabric(words, path);
		else
			tb_replay_command_job(words, files[i].job, "map", path, instead);
	}
}

// keep_hosts leaves per-node to the jobs that maps place where it is what libraries know
// of hosts; to others it means nothing beside a map.
static void keep_hosts(const struct tb_advice *advice, struct tb_replay_command *words)
{
	bool any = false;
	for (uint32_t job = 0; job < advice->info->n_jobs; job++)
		if (tb_advice_is_of_calls(advice, job))
			any = true;
		else
			tb_replay_command_job(words, job, "per-node", NULL, NULL);
	if (!any)
		tb_replay_command_drop(words, "--per-node");
}

// has_files is whether a change that is tried already has the same maps.
static bool has_files(
	const struct tb_advice *advice, const struct tb_advice_file *files, uint32_t n)
{
	for (size_t i = 0; i < advice->n; i++) {
		const struct tb_change *other = &advice->changes[i];
		uint32_t k = 0;
		while (k < n && other->n_files == n &&
			other->files[k].size == files[k].size &&
			memcmp(other->files[k].text, files[k].text, files[k].size) == 0)
			k++;
		if (k == n && n)
			return true;
	}
	return false;
}

static int advice_add_seats(struct tb_advice *advice, const struct tb_seating *seating,
	enum tb_rule rule, const char *title, struct tb_error *error)
{
	struct tb_replay_command words;
	uint32_t n = advice->info->n_jobs;
	if (!tb_advice_again(advice, &words))
		return TB_OK;
	struct tb_advice_file *files = calloc(n, sizeof *files);
	int status = files ? add_files(seating, tb_rules[rule].name, files, n, error)
			   : tb_fail_memory(error, "the maps");
	if (status == TB_OK && !has_files(advice, files, n)) {
		keep_hosts(advice, &words);
		tb_advice_search_with(advice, rule, &words, title, files, n);
		return TB_OK;
	}
	tb_replay_command_fini(&words);
	for (uint32_t i = 0; files && i < n; i++)
		free(files[i].text);
	free(files);
	return status;
}

static int search_seats(struct tb_advice *advice, enum tb_seating_places places,
	enum tb_rule rule, const char *what, struct tb_error *error)
{
	struct tb_seating seating = {0};
	char title[160];
	int status = tb_seating_init(&seating, advice->run, places, error);
	if (status == TB_ECAPACITY)
		return TB_OK;
	if (status == TB_OK && seating.crossing_after < (1 - WORTH) * seating.crossing) {
		snprintf(title, sizeof title,
			"%s by traffic (%.0f %% of bytes cross leaves, not %.0f)", what,
			100 * seating.crossing_after / seating.bytes,
			100 * seating.crossing / seating.bytes);
		status = advice_add_seats(advice, &seating, rule, title, error);
	}
	tb_seating_fini(&seating);
	return status;
}

// Ranks that many send to, as I/O servers are, at other leaf switches.

// What is known of the nodes.
struct floor {
	struct tb_seating *seating; // as it was, to be changed
	uint32_t *leaf;		    // by node; TB_ID_NONE: none
	const bool *is_server;	    // by node
	bool *is_taken;		    // by node: by a server that moved
	uint32_t *n_used;	    // by switch: nodes with ranks
	uint32_t n_servers;
};

static int floor_init(struct floor *floor, const struct tb_advice *advice,
	struct tb_seating *seating, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(advice->run);
	uint32_t n = seating->n_nodes;
	*floor = (struct floor){.seating = seating,
		.leaf = malloc((n + 1u) * sizeof *floor->leaf),
		.is_server = advice->is_server,
		.is_taken = calloc(n + 1u, sizeof *floor->is_taken),
		.n_used = calloc(advice->info->n_switches + 1u, sizeof *floor->n_used)};
	if (!floor->leaf || !floor->is_taken || !floor->n_used)
		return tb_fail_memory(error, "the servers");
	for (uint32_t i = 0; i < n; i++)
		floor->leaf[i] = TB_ID_NONE;
	for (uint32_t i = 0; i < advice->info->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION && links[i].at.from < n)
			floor->leaf[links[i].at.from] = links[i].at.to;
	for (uint32_t i = 0; i < n; i++) {
		if (seating->node[i] != TB_ID_NONE)
			seating->node[i] = i; // as it was
		if (seating->node[i] != TB_ID_NONE && floor->leaf[i] != TB_ID_NONE)
			floor->n_used[floor->leaf[i]]++;
	}
	for (uint32_t i = 0; i < n; i++)
		floor->n_servers += floor->is_server[i];
	return TB_OK;
}

// move has a server change places with a node of a leaf: a free one, else one that is no
// server; false when there is none.
static bool move(struct floor *floor, uint32_t server, uint32_t leaf)
{
	uint32_t to = TB_ID_NONE, *node = floor->seating->node;
	if (floor->leaf[server] == leaf) {
		floor->is_taken[server] = true;
		return true;
	}
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++) {
		if (floor->leaf[i] != leaf || floor->is_taken[i] || floor->is_server[i])
			continue;
		if (to == TB_ID_NONE || (node[i] == TB_ID_NONE && node[to] != TB_ID_NONE))
			to = i;
	}
	if (to == TB_ID_NONE)
		return false;
	if (node[to] != TB_ID_NONE)
		node[to] = server;
	node[server] = to;
	floor->is_taken[to] = true;
	return true;
}

// leaf_at returns the k-th leaf in the order of nodes, of `n` in all.
static uint32_t leaf_at(const struct floor *floor, uint32_t k, uint32_t *n)
{
	uint32_t at = TB_ID_NONE, last = TB_ID_NONE;
	*n = 0;
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++) {
		if (floor->leaf[i] == last || floor->leaf[i] == TB_ID_NONE)
			continue;
		last = floor->leaf[i];
		if ((*n)++ == k)
			at = last;
	}
	return at;
}

// spread_servers deals the servers to the leaves.
static bool spread_servers(struct floor *floor)
{
	uint32_t n_leaves, k = 0;
	leaf_at(floor, 0, &n_leaves);
	if (floor->n_servers < 2 || n_leaves < 2)
		return false;
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++) {
		if (!floor->is_server[i])
			continue;
		uint32_t n, at = (uint32_t)((uint64_t)k++ * n_leaves / floor->n_servers);
		if (!move(floor, i, leaf_at(floor, at % n_leaves, &n)))
			return false;
	}
	return true;
}

// gather_servers puts the servers at the leaf that has the fewest nodes with ranks.
static bool gather_servers(struct floor *floor)
{
	uint32_t n_leaves, n, best = TB_ID_NONE;
	leaf_at(floor, 0, &n_leaves);
	if (floor->n_servers < 1 || n_leaves < 2)
		return false;
	for (uint32_t k = 0; k < n_leaves; k++) {
		uint32_t leaf = leaf_at(floor, k, &n);
		if (best == TB_ID_NONE || floor->n_used[leaf] < floor->n_used[best])
			best = leaf;
	}
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++)
		if (floor->is_server[i] && !move(floor, i, best))
			return false;
	return true;
}

static bool any_moved(const struct tb_seating *seating)
{
	for (uint32_t i = 0; i < seating->n_nodes; i++)
		if (seating->node[i] != TB_ID_NONE && seating->node[i] != i)
			return true;
	return false;
}

static int search_deal(struct tb_advice *advice, bool (*deal)(struct floor *),
	enum tb_rule rule, const char *what, struct tb_error *error)
{
	struct tb_seating seating = {0};
	struct floor floor = {0};
	char title[160];
	int status = tb_seating_init(&seating, advice->run, TB_SEATING_SAME, error);
	if (status == TB_ECAPACITY)
		return TB_OK;
	if (status == TB_OK)
		status = floor_init(&floor, advice, &seating, error);
	if (status == TB_OK && deal(&floor) && any_moved(&seating)) {
		snprintf(title, sizeof title, "%u node%s that many send to, %s",
			floor.n_servers, floor.n_servers == 1 ? "" : "s", what);
		status = advice_add_seats(advice, &seating, rule, title, error);
	}
	free(floor.leaf);
	free(floor.is_taken);
	free(floor.n_used);
	tb_seating_fini(&seating);
	return status;
}

// Changes that move ranks to which many send. Maps must be able to place the jobs.
static int advice_search_servers(struct tb_advice *advice, struct tb_error *error)
{
	if (!advice->has_servers || advice->info->n_levels < 2)
		return TB_OK;
	int status = search_deal(advice, spread_servers, TB_RULE_SERVERS_APART,
		"spread over the leaf switches", error);
	if (status == TB_OK)
		status = search_deal(advice, gather_servers, TB_RULE_SERVERS_TOGETHER,
			"at the leaf switch with the fewest ranks", error);
	return status;
}

int tb_advice_search_places(struct tb_advice *advice, struct tb_error *error)
{
	const struct tb_run_info *info = advice->info;
	struct tb_replay_command words;
	bool rails_of_file = info->network.n_rails > 1 &&
			     strcmp(info->network.shape, TB_SHAPE_FABRIC) == 0;
	if (strcmp(info->input_kind, "job") != 0 || rails_of_file ||
		tb_advice_has_option(advice, "closed-loop") ||
		tb_advice_has_option(advice, "--map") ||
		!tb_advice_again_by_job(advice, &words))
		return TB_OK;
	tb_replay_command_fini(&words);
	int status = search_seats(
		advice, TB_SEATING_SAME, TB_RULE_RANKS_BY_TRAFFIC, "ranks", error);
	if (status == TB_OK && info->n_levels > 1)
		status = search_seats(advice, TB_SEATING_ANYWHERE,
			TB_RULE_NODES_BY_TRAFFIC, "nodes and ranks", error);
	return status == TB_OK ? advice_search_servers(advice, error) : status;
}
