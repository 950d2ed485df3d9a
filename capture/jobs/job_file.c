// Writes jobs to files.
#include "goal.h"
#include "outfile.h"

static int write_file(const struct tb_job *job, const char *path,
	int (*write)(const struct tb_job *job, FILE *stream, struct tb_error *error),
	struct tb_error *error)
{
	struct tb_outfile out;
	int status = tb_outfile_open(&out, path, error);
	if (status != TB_OK)
		return status;
	status = write(job, out.stream, error);
	if (status == TB_OK)
		return tb_outfile_commit(&out, error);
	tb_outfile_abandon(&out);
	return status;
}

int tb_job_write_text(const struct tb_job *job, const char *path, struct tb_error *error)
{
	return write_file(job, path, tb_goal_text_write, error);
}

int tb_job_write_binary(
	const struct tb_job *job, const char *path, struct tb_error *error)
{
	return write_file(job, path, tb_goal_binary_write, error);
}
