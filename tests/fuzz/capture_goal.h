// Common to both fuzz targets of GOAL: a job that is accepted must be written and read
// back unchanged, in both forms.
#ifndef FUZZ_CAPTURE_GOAL_H
#define FUZZ_CAPTURE_GOAL_H

#include "goal.h"

#include "../job_equal.h"

#include <stdio.h>
#include <stdlib.h>

typedef int goal_writer(const struct tb_job *, FILE *, struct tb_error *);
typedef int goal_reader(struct tb_job **, FILE *, const char *, struct tb_error *);

static void round_trip(const struct tb_job *job, goal_writer *write, goal_reader *read)
{
	char *bytes = NULL;
	size_t n;
	struct tb_job *back = NULL;
	FILE *stream = open_memstream(&bytes, &n);
	if (write(job, stream, NULL) != TB_OK)
		abort();
	fclose(stream);
	stream = fmemopen(bytes, n, "rb");
	if (read(&back, stream, "back", NULL) != TB_OK || !job_equal(job, back))
		abort();
	fclose(stream);
	tb_job_free(back);
	free(bytes);
}

static void fuzz_goal(const uint8_t *data, size_t size, goal_reader *read)
{
	struct tb_job *job = NULL;
	struct tb_error error;
	FILE *stream = fmemopen((void *)(uintptr_t)data, size, "rb");
	if (!stream) // some systems refuse size 0
		return;
	// A few bytes can ask for millions of ranks without operations, which take long
	// to write.
	if (read(&job, stream, "fuzz", &error) == TB_OK && job->n_ranks < 10000) {
		round_trip(job, tb_goal_text_write, tb_goal_text_read);
		round_trip(job, tb_goal_binary_write, tb_goal_binary_read);
	}
	fclose(stream);
	tb_job_free(job);
}

#endif
