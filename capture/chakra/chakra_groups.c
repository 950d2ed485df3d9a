// Groups of processes: from a file of theirs, from PyTorch's list in a metadata node, or
// from who calls in them.
#include "chakra_impl.h"

#include "array.h"
#include "input_files.h"
#include "units.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void tb_chakra_groups_fini(struct chakra_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		free(groups->groups[i].name);
		free(groups->groups[i].members);
	}
	free(groups->groups);
	*groups = (struct chakra_groups){0};
}

// Jobs have some dozens of groups, and calls in the same one follow each other.
uint32_t tb_chakra_group_find(struct chakra_groups *groups, const char *name)
{
	if (groups->n > 0 && strcmp(groups->groups[groups->last].name, name) == 0)
		return groups->last;
	for (uint32_t i = 0; i < groups->n; i++)
		if (strcmp(groups->groups[i].name, name) == 0)
			return groups->last = i;
	if (TB_ARRAY_RESERVE(&groups->groups, &groups->room, groups->n + 1) != TB_OK)
		return CHAKRA_NONE;
	struct chakra_group made = {.name = strdup(name)};
	if (!made.name)
		return CHAKRA_NONE;
	groups->groups[groups->n] = made;
	return groups->last = (uint32_t)groups->n++;
}

static int add_member(struct chakra_group *group, uint32_t rank)
{
	if (TB_ARRAY_RESERVE(&group->members, &group->room, (size_t)group->n + 1) !=
		TB_OK)
		return TB_ENOMEM;
	group->members[group->n++] = rank;
	return TB_OK;
}

// group_list_ranks takes the members from a list of ranks, or from an object that has
// them as keys, as older versions of PyTorch write it.
static int group_list_ranks(struct chakra_group *group, json_t *ranks)
{
	int status = TB_OK;
	size_t i;
	json_t *value;
	const char *key;
	if (group->is_listed)
		return TB_OK; // each rank lists it again
	group->is_listed = true;
	json_array_foreach(ranks, i, value)
	{
		json_int_t rank = json_integer_value(value);
		if (status == TB_OK)
			status = add_member(group, rank < 0 || rank > UINT32_MAX
							   ? UINT32_MAX
							   : (uint32_t)rank);
	}
	json_object_foreach(ranks, key, value)
	{
		if (status == TB_OK)
			status = add_member(group, (uint32_t)strtoul(key, NULL, 10));
	}
	return status;
}

int tb_chakra_groups_list(struct chakra_groups *groups, const char *text)
{
	const char *begin = strstr(text, "[{");
	json_t *list = begin ? json_loads(begin, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
	int status = TB_OK;
	size_t i;
	json_t *entry;
	json_array_foreach(list, i, entry)
	{
		const char *name = json_string_value(json_object_get(entry, "pg_name"));
		json_t *ranks = json_object_get(entry, "ranks");
		if (!name || !ranks || status != TB_OK)
			continue;
		uint32_t found = tb_chakra_group_find(groups, name);
		if (found == CHAKRA_NONE) {
			status = TB_ENOMEM;
			continue;
		}
		struct chakra_group *group = &groups->groups[found];
		status = group_list_ranks(group, ranks);
		group->is_world = group->n == 0; // so PyTorch writes it
	}
	json_decref(list);
	return status;
}

int tb_chakra_groups_read(
	struct chakra_groups *groups, const char *path, struct tb_error *error)
{
	json_error_t failure;
	// It may come from a folder, where a pipe would be waited for.
	FILE *stream = tb_input_is_file(path) ? tb_input_fopen(path) : NULL;
	if (!stream)
		return tb_fail_in(error, TB_EIO, path, "cannot be read as a file");
	json_t *file = json_loadf(stream, 0, &failure);
	fclose(stream);
	if (!json_is_object(file)) {
		json_decref(file);
		return tb_fail_at(error, TB_EFORMAT, path, TB_PLACE_LINE,
			failure.line > 0 ? (uint64_t)failure.line : 1,
			"expected groups of ranks as in {\"0\": [0, 1], \"1\": [2, 3]}");
	}
	int status = TB_OK;
	const char *name;
	json_t *ranks;
	json_object_foreach(file, name, ranks)
	{
		if (status != TB_OK)
			continue;
		uint32_t found = tb_chakra_group_find(groups, name);
		status = found == CHAKRA_NONE
				 ? TB_ENOMEM
				 : group_list_ranks(&groups->groups[found], ranks);
		if (status == TB_OK && groups->groups[found].n == 0)
			status = tb_fail_in(error, TB_EFORMAT, path,
				"group '%.80s' has no ranks", name);
	}
	json_decref(file);
	return status == TB_ENOMEM ? tb_fail_memory_in(error, path, "groups") : status;
}

int tb_chakra_groups_join(
	struct chakra_groups *groups, const struct chakra_graph *graph, uint32_t rank)
{
	int status = TB_OK;
	for (size_t i = 0; i < graph->n && status == TB_OK; i++) {
		uint32_t number = graph->nodes[i].group;
		if (number == CHAKRA_NONE || groups->groups[number].is_listed)
			continue;
		struct chakra_group *group = &groups->groups[number];
		// Ranks join one after the other.
		if (group->n == 0 || group->members[group->n - 1] != rank)
			status = add_member(group, rank);
	}
	return status;
}

static int chakra_group_make(
	struct chakra_group *group, struct tb_calls *calls, struct tb_error *error)
{
	char text[64];
	group->number = 0;
	if (group->is_world || group->n == 0)
		return TB_OK;
	if (!group->is_listed)
		tb_calls_note(calls,
			"nothing lists the ranks of process group '%.60s': taken as the "
			"%s in it",
			group->name,
			tb_format_counted(group->n, "rank that calls|ranks that call",
				text, sizeof text));
	struct tb_error cause = {0};
	int status = tb_calls_group(
		calls, group->members, group->n, group->n, &group->number, &cause);
	if (status != TB_OK)
		(void)tb_fail(error, TB_EFORMAT, "process group '%.80s': %.300s",
			group->name, cause.text);
	return status == TB_EUSAGE ? TB_EFORMAT : status;
}

int tb_chakra_groups_make(
	struct chakra_groups *groups, struct tb_calls *calls, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < groups->n && status == TB_OK; i++)
		status = chakra_group_make(&groups->groups[i], calls, error);
	return status;
}
