#include "job_write.h"

#include "chakra_write.h"
#include "flow_list_write.h"

#include <string.h>

static int write_goal(
	const struct tb_job *job, const char *path, char **note, struct tb_error *error)
{
	(void)note;
	return tb_job_write_text(job, path, error);
}

static int write_goal_binary(
	const struct tb_job *job, const char *path, char **note, struct tb_error *error)
{
	(void)note;
	return tb_job_write_binary(job, path, error);
}

static const struct tb_job_form {
	const char *name, *suffix;
	int (*write)(const struct tb_job *job, const char *path, char **note,
		struct tb_error *error);
} forms[] = {
	{"goal", ".goal", write_goal},
	{"goal-binary", ".bin", write_goal_binary},
	{"flows", ".cm", tb_flow_list_write},
	{"chakra", ".et", tb_chakra_write},
};

#define N_FORMS (sizeof forms / sizeof *forms)

const char *tb_job_form(size_t i)
{
	return i < N_FORMS ? forms[i].name : NULL;
}

size_t tb_job_form_of(const char *path)
{
	size_t n = strlen(path);
	for (size_t i = 0; i < N_FORMS; i++) {
		size_t suffix = strlen(forms[i].suffix);
		if (n >= suffix && strcmp(path + n - suffix, forms[i].suffix) == 0)
			return i;
	}
	return TB_JOB_FORM_NONE;
}

int tb_job_write(const struct tb_job *job, size_t form, const char *path, char **note,
	struct tb_error *error)
{
	*note = NULL;
	return forms[form].write(job, path, note, error);
}
