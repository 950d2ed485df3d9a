// Jobs in files: which form, which compression.
#include "flow_list.h"
#include "goal.h"
#include "infile.h"
#include "outfile.h"

static int read_stream(
	struct tb_job **job, FILE *stream, const char *name, struct tb_error *error)
{
	int first = getc(stream);
	if (first != EOF)
		ungetc(first, stream);
	bool flows = tb_flow_list_begins(first);
	int status = first == TB_GOAL_BINARY_FIRST
			     ? tb_goal_binary_read(job, stream, name, error)
		     : flows ? tb_flow_list_read(job, stream, name, error)
			     : tb_goal_text_read(job, stream, name, error);
	if (status == TB_OK)
		(*job)->form = flows ? "flow list" : "GOAL";
	return status;
}

int tb_job_read(struct tb_job **job, const char *path, struct tb_error *error)
{
	FILE *stream;
	struct tb_infile *input;
	int status = tb_infile_open(&stream, &input, path, error);
	if (status != TB_OK)
		return status;
	struct tb_job *made = NULL;
	const char *name = path[0] == '-' && path[1] == '\0' ? "standard input" : path;
	status = read_stream(&made, stream, name, error);
	// A cut stream also breaks what was read from it: tell the cause. What is no job
	// is left to other readers, who may make use of it up to the cut.
	int cause = status == TB_EFOREIGN ? TB_OK : tb_infile_check(input, error);
	fclose(stream);
	if (cause != TB_OK) {
		tb_job_free(made);
		return cause;
	}
	if (status == TB_OK)
		*job = made;
	return status;
}

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
