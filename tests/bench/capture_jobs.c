// Making, writing and reading a job of ten million operations, and the memory that it
// takes.
#include "../support/job_read.h"
#include "collective.h"
#include "synth.h"
#include "trace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_NODES	   64
#define N_MESSAGES 79000 // a node; a send and a receive each
#define N_RANKS	   2240	 // of an all-to-all: 10 million operations too

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(int status, const struct tb_error *error)
{
	if (status == TB_OK)
		return;
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

static void make(const char *path, bool binary, uint32_t n_messages)
{
	struct tb_synth_options options = {.n_nodes = N_NODES,
		.message_bytes = 1024,
		.n_messages = n_messages,
		.size_dist = TB_SYNTH_EXPONENTIAL,
		.seed = 1};
	struct tb_job *job;
	struct tb_error error;
	must(tb_synth_pattern_find(&options.pattern, "uniform", &error), &error);
	must(tb_synth_job(&job, &options, &error), &error);
	must(binary ? tb_job_write_binary(job, path, &error)
		    : tb_job_write_text(job, path, &error),
		&error);
	tb_job_free(job);
}

static void make_alltoall(const char *path, bool binary, uint32_t n_ranks)
{
	struct tb_collective_options options = {
		.n_ranks = n_ranks, .n_ports = 1, .bytes = 1024};
	const struct tb_plan_job how = {.n_repeats = 1};
	struct tb_plan plan;
	struct tb_job *job;
	struct tb_error error;
	must(tb_algorithm_find(&options.algorithm, TB_COLL_ALLTOALL, NULL, &error),
		&error);
	must(tb_collective_plan(&plan, &options, &error), &error);
	must(tb_plan_to_job(&job, &plan, &how, &error), &error);
	tb_plan_fini(&plan);
	must(binary ? tb_job_write_binary(job, path, &error)
		    : tb_job_write_text(job, path, &error),
		&error);
	tb_job_free(job);
}

static void load_alltoall(const char *path, bool binary, uint32_t n_ranks)
{
	struct tb_job *job;
	struct tb_error error;
	(void)binary;
	must(job_read(&job, path, &error), &error);
	if (job->n_ops != 2 * n_ranks * (n_ranks - 1))
		exit(1);
	tb_job_free(job);
}

static void load(const char *path, bool binary, uint32_t n_messages)
{
	struct tb_job *job;
	struct tb_error error;
	(void)binary;
	must(job_read(&job, path, &error), &error);
	if (job->n_ops != 2 * N_NODES * n_messages)
		exit(1);
	tb_job_free(job);
}

// measure runs a step in a process of its own, whose peak is then its memory.
static void measure(const char *name, void (*step)(const char *, bool, uint32_t),
	const char *path, bool binary, uint32_t n)
{
	const char *form = binary ? "binary" : "text";
	double began_s = now_s();
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		step(path, binary, n);
		_exit(0);
	}
	struct rusage usage;
	int status;
	if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
		exit(1);
	printf("jobs.%s.%s,%.2f,s\n", name, form, now_s() - began_s);
	printf("jobs.%s.%s.peak,%ld,KiB\n", name, form, usage.ru_maxrss);
}

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	uint32_t n_messages = smoke ? 100 : N_MESSAGES;
	uint32_t n_ranks = smoke ? 100 : N_RANKS;
	char path[] = "bench_capture_jobs_XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	for (int binary = 0; binary < 2; binary++) {
		measure("make", make, path, binary, n_messages);
		measure("load", load, path, binary, n_messages);
		measure("make.alltoall", make_alltoall, path, binary, n_ranks);
		measure("load.alltoall", load_alltoall, path, binary, n_ranks);
	}
	unlink(path);
	return 0;
}
