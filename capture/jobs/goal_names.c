#include "goal_names.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define END_BYTES 8
#define SUM_BYTES 8

const char *const tb_goal_name_marks[TB_GOAL_N_NAMES] = {"// host ", "// endpoint "};
const char *const tb_goal_name_ends[TB_GOAL_N_NAMES] = {"hosts  \n", "ends   \n"};

void tb_goal_names_fini(struct tb_goal_names *names)
{
	for (int k = 0; k < TB_GOAL_N_NAMES; k++) {
		for (size_t i = 0; i < names->n[k]; i++)
			free(names->list[k][i].text);
		free(names->list[k]);
	}
	*names = (struct tb_goal_names){0};
}

static int goal_name_add(struct tb_goal_names *names, int kind, uint32_t rank,
	const char *text, size_t length)
{
	if (TB_ARRAY_RESERVE(
		    &names->list[kind], &names->room[kind], names->n[kind] + 1) != TB_OK)
		return TB_ENOMEM;
	char *copy = strndup(text, length);
	if (!copy)
		return TB_ENOMEM;
	names->list[kind][names->n[kind]++] = (struct tb_goal_named){rank, copy};
	return TB_OK;
}

int tb_goal_names_comment(struct tb_goal_names *names, uint32_t rank, const char *line)
{
	size_t n = strcspn(line, "\r\n");
	for (int k = 0; k < TB_GOAL_N_NAMES; k++) {
		size_t mark = strlen(tb_goal_name_marks[k]);
		if (n >= mark && n - mark <= TB_GOAL_NAME_MOST &&
			memcmp(line, tb_goal_name_marks[k], mark) == 0)
			return goal_name_add(names, k, rank, line + mark, n - mark);
	}
	return TB_OK;
}

int64_t tb_goal_names_section(
	struct tb_goal_names *names, struct tb_bytes file, uint32_t n_ranks)
{
	if (file.n < END_BYTES + SUM_BYTES)
		return 0;
	for (int k = 0; k < TB_GOAL_N_NAMES; k++) {
		size_t end = file.n - END_BYTES;
		if (memcmp(file.data + end, tb_goal_name_ends[k], END_BYTES) != 0)
			continue;
		uint32_t low = 0, high = 0;
		if (!tb_bytes_u32_as(file, end - SUM_BYTES, true, &low) ||
			!tb_bytes_u32_as(file, end - SUM_BYTES + 4, true, &high))
			return 0;
		uint64_t sum = (uint64_t)high << 32 | low;
		if (sum > end - SUM_BYTES || names->n[k] > 0)
			return 0;
		const struct tb_bytes texts = {
			file.data + end - SUM_BYTES - sum, (size_t)sum};
		// Add the names of a section.
		size_t at = 0;
		int status = TB_OK;
		for (uint32_t rank = 0; status == TB_OK && rank < n_ranks && at < texts.n;
			rank++) {
			const char *text = (const char *)texts.data + at;
			size_t length = strnlen(text, texts.n - at);
			status = goal_name_add(names, k, rank, text, length);
			at += length + 1;
		}
		return status == TB_OK ? (int64_t)(sum + END_BYTES + SUM_BYTES) : status;
	}
	return 0;
}

// give_kind makes a list by rank; it stays NULL unless each rank has a name.
static int give_kind(struct tb_goal_names *names, int kind, uint32_t n_ranks, char ***to)
{
	if (names->n[kind] != n_ranks)
		return TB_OK;
	char **list = calloc(n_ranks, sizeof(char *));
	if (!list)
		return TB_ENOMEM;
	for (size_t i = 0; i < names->n[kind]; i++) {
		struct tb_goal_named *named = &names->list[kind][i];
		char **at = &list[named->rank];
		free(*at);
		*at = named->text;
		named->text = NULL;
	}
	bool any = false;
	for (uint32_t i = 0; i < n_ranks; i++) {
		if (list[i] && !*list[i]) { // unknown
			free(list[i]);
			list[i] = NULL;
		}
		any |= list[i] != NULL;
	}
	if (any)
		*to = list;
	else
		free(list);
	return TB_OK;
}

int tb_goal_finish(struct tb_job_builder *builder, struct tb_goal_names *names,
	const char *name, struct tb_job **job, struct tb_error *error)
{
	struct tb_job *made = NULL;
	int status = tb_job_finish(builder, name, &made, error);
	if (status != TB_OK)
		return status;
	if (give_kind(names, TB_GOAL_HOST, made->n_ranks, &made->hosts) == TB_OK &&
		give_kind(names, TB_GOAL_ENDPOINT, made->n_ranks, &made->endpoints) ==
			TB_OK) {
		*job = made;
		return TB_OK;
	}
	tb_job_free(made);
	return tb_fail_memory_in(error, name, "its names");
}

static char *const *goal_names_list(const struct tb_job *job, enum tb_goal_name_kind kind)
{
	return kind == TB_GOAL_HOST ? job->hosts : job->endpoints;
}

const char *tb_goal_name(
	const struct tb_job *job, enum tb_goal_name_kind kind, uint32_t rank)
{
	const char *name = goal_names_list(job, kind)[rank];
	return name ? name : "";
}

bool tb_goal_has_names(const struct tb_job *job, enum tb_goal_name_kind kind)
{
	bool has = goal_names_list(job, kind) != NULL;
	for (uint32_t i = 0; has && i < job->n_ranks; i++) {
		const char *name = tb_goal_name(job, kind, i);
		has = strlen(name) <= TB_GOAL_NAME_MOST && !strpbrk(name, "\r\n");
	}
	return has;
}
