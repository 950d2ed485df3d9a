// The formats in which a job is written, in one table: a name, the end of a file's name,
// and a function. What a format cannot hold is refused where the job would be another
// one, and else said in a note.
#ifndef TB_JOB_WRITE_H
#define TB_JOB_WRITE_H

#include "job.h"

#define TB_JOB_FORM_NONE ((size_t)-1)

// tb_job_form returns the name of format i ("goal"), NULL beyond the last.
const char *tb_job_form(size_t i);

// tb_job_form_of returns the format whose files are called like `path`, TB_JOB_FORM_NONE
// when none are.
size_t tb_job_form_of(const char *path);

// tb_job_write writes a job to a file ("-" is standard output) or, in a format with a
// file a rank, to several beside it. `note` gets a sentence a line on what was left out,
// malloc'ed, or NULL. TB_EUSAGE when the format cannot hold the job, naming the
// operation; errors of tb_outfile_open.
int tb_job_write(const struct tb_job *job, size_t form, const char *path, char **note,
	struct tb_error *error) TB_MUST_USE;

#endif
