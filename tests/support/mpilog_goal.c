// Writes as GOAL what MPI programs logged that they called (mpilog.h):
//
//     mpilog_goal [--cpu] [--from NS] [--to NS] [--library NAME] [--lenient] LOGS
//     JOB.goal
//
// LOGS is a folder or an archive; NS are nanoseconds since the epoch.
#include "calls_job.h"
#include "mpilog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const struct tb_error *error)
{
	char text[900];
	fprintf(stderr, "mpilog_goal: %s\n", tb_error_format(error, text, sizeof text));
	return 1;
}

int main(int argc, char **argv)
{
	struct tb_mpilog_options options = {0};
	struct tb_reading reading = {.sends_wait = true}; // they ran over sockets
	struct tb_calls *calls = NULL;
	struct tb_job *job = NULL;
	struct tb_error error;
	int at = 1;
	for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
		if (strcmp(argv[at], "--cpu") == 0)
			options.cpu = true;
		else if (strcmp(argv[at], "--lenient") == 0)
			reading.lenient = true;
		else if (strcmp(argv[at], "--from") == 0 && at + 1 < argc)
			options.from_ns = strtoull(argv[++at], NULL, 10);
		else if (strcmp(argv[at], "--to") == 0 && at + 1 < argc)
			options.to_ns = strtoull(argv[++at], NULL, 10);
		else if (strcmp(argv[at], "--library") == 0 && at + 1 < argc)
			reading.library = argv[++at];
	}
	if (argc - at != 2) {
		fprintf(stderr, "usage: mpilog_goal [--cpu] [--from NS] [--to NS] "
				"[--library NAME] [--lenient] LOGS JOB.goal\n");
		return 2;
	}
	int status = tb_mpilog_read(&calls, argv[at], &options, &error);
	if (status == TB_OK)
		status = tb_calls_job(calls, argv[at], "openmpi", &reading, &job, &error);
	if (status == TB_OK)
		status = tb_job_write_text(job, argv[at + 1], &error);
	if (status == TB_OK && job->notes)
		fprintf(stderr, "%s\n", job->notes);
	tb_job_free(job);
	tb_calls_free(calls);
	return status == TB_OK ? 0 : fail(&error);
}
