#include "survey.h"

#include "input_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sets of nodes that talk to each other, as a forest (union-find): each node points to
// another one of its set, or to itself.
struct groups {
	uint32_t *parent;
	uint32_t *group; // by root of a set: number of the group, from 1
	uint32_t n_nodes;
};

static uint32_t packet_group(struct groups *groups, uint32_t node)
{
	while (groups->parent[node] != node) {
		groups->parent[node] = groups->parent[groups->parent[node]];
		node = groups->parent[node];
	}
	return node;
}

static int find_node_groups(struct groups *groups, const struct tb_packets *packets)
{
	const struct tb_packets_summary *summary = tb_packets_summary(packets);
	groups->n_nodes = summary->n_nodes;
	groups->parent = malloc((summary->n_nodes + 1u) * sizeof *groups->parent);
	groups->group = calloc(summary->n_nodes + 1u, sizeof *groups->group);
	if (!groups->parent || !groups->group)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < groups->n_nodes; i++)
		groups->parent[i] = i;
	for (uint64_t i = 0; i < summary->n_pairs; i++) {
		const struct tb_packets_pair *pair = tb_packets_pair(packets, i);
		uint32_t a = pair->source.id;
		uint32_t b = pair->destination.id;
		a = packet_group(groups, a);
		b = packet_group(groups, b);
		// The lowest node is the root, so groups are numbered by their first
		// nodes.
		groups->parent[a > b ? a : b] = a < b ? a : b;
	}
	uint32_t n = 0;
	for (uint32_t i = 0; i < groups->n_nodes; i++)
		if (groups->parent[i] == i)
			groups->group[i] = ++n;
	return TB_OK;
}

struct survey_reading {
	struct tb_packets *packets;
	const char *group, *names;
	struct groups groups;
	struct tb_map_file *map;
	struct tb_error *error;
};

// is_repeated returns whether the name that begins at `at` stands before that, too.
static bool is_repeated(const char *names, const char *at)
{
	size_t n = strcspn(at, ",");
	for (const char *other = names; other < at; other += strcspn(other, ",") + 1)
		if (strcspn(other, ",") == n && strncmp(other, at, n) == 0)
			return true;
	return false;
}

// check_names refuses empty and repeated names, and those of jobs that are not there.
static int check_names(const struct survey_reading *survey)
{
	uint32_t n_names = 0, n_sets = 0;
	for (const char *at = survey->names; at; at = strchr(at, ',')) {
		at += n_names > 0; // behind the comma
		if (*at == ',' || *at == '\0')
			return tb_fail(survey->error, TB_EUSAGE,
				"'%s': expected the jobs' names, separated by commas",
				survey->names);
		if (is_repeated(survey->names, at))
			return tb_fail(survey->error, TB_EUSAGE,
				"'%s': two jobs have one name", survey->names);
		n_names++;
	}
	for (uint32_t i = 0; i < survey->groups.n_nodes; i++)
		n_sets += survey->groups.parent[i] == i;
	if (n_names <= n_sets)
		return TB_OK;
	return tb_fail(survey->error, TB_EUSAGE,
		"has %u job%s, but %u names are given: '%s'", n_sets,
		n_sets == 1 ? "" : "s", n_names, survey->names);
}

static int fill_map(struct survey_reading *survey)
{
	const struct tb_packets_summary *summary = tb_packets_summary(survey->packets);
	int status = tb_map_file_new(&survey->map, survey->error);
	for (uint32_t i = 0; status == TB_OK && i < summary->n_nodes; i++) {
		struct tb_node node = {i};
		char job[160] = "";
		if (survey->group) {
			// Write the name of set number `n`, from 1: the nth given one, if
			// there is one.
			uint32_t n =
				survey->groups.group[packet_group(&survey->groups, i)];
			size_t size = sizeof job;
			const char *at = survey->names;
			for (uint32_t j = 1; at && j < n; j++) {
				at = strchr(at, ',');
				at += at != NULL;
			}
			if (at)
				snprintf(job, size, "%.*s", (int)strcspn(at, ","), at);
			else
				snprintf(job, size, "%.128s %u", survey->group, n);
		}
		status = tb_map_file_add(survey->map,
			tb_packets_node_name(survey->packets, node), node,
			survey->group ? job : NULL, survey->error);
	}
	return status;
}

bool tb_survey_can_reread(const char *path)
{
	return !tb_input_is_stream(path);
}

int tb_survey(struct tb_map_file **map, const char *const *paths, size_t n,
	const struct tb_packets_options *options, const char *group, const char *names,
	struct tb_error *error)
{
	struct survey_reading survey = {.group = group, .names = names, .error = error};
	for (size_t i = 0; i < n; i++)
		if (!tb_survey_can_reread(paths[i]))
			return tb_fail_in(error, TB_EUSAGE, paths[i],
				"can be read only once, but must be read twice to find "
				"its jobs: give a file");
	int status = tb_packets_open(&survey.packets, paths, n, options, error);
	struct tb_captured_packet packet;
	if (status == TB_OK)
		while ((status = tb_packets_next(survey.packets, &packet, error)) > 0)
			;
	if (status == TB_EFORMAT && survey.packets)
		status = TB_OK; // cut off: the replay will report it
	if (status == TB_OK && tb_packets_summary(survey.packets)->n_nodes == 0)
		status = tb_fail(error, TB_EUSAGE,
			"nothing in it is to be replayed, so it has no jobs");
	if (status == TB_OK && group &&
		find_node_groups(&survey.groups, survey.packets) != TB_OK)
		status = tb_fail_memory(error, "the packets");
	TB_THEN(status, check_names(&survey));
	TB_THEN(status, fill_map(&survey));
	tb_packets_free(survey.packets);
	free(survey.groups.parent);
	free(survey.groups.group);
	if (status == TB_OK)
		*map = survey.map;
	else
		tb_map_file_free(survey.map);
	return status;
}
