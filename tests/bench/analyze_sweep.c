// How well a sweep of 100 points uses the cores, and what keeping a point costs.
//
// Efficiency is the time with one worker over the time with as many as there are cores,
// times their number: it wants a machine that does nothing else. What does not depend on
// others is the processor time that more workers cost.
#include "progress.h"
#include "sweep_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct cost {
	double wall_s, cpu_s;
};

static double cpu_s(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void check(int status, const struct tb_error *error)
{
	if (status == TB_OK)
		return;
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

static struct cost run(const char *experiment, const char *const *changes,
	size_t n_changes, unsigned n_workers, size_t *n_points)
{
	char path[] = "/tmp/tailback-bench-XXXXXX";
	int file = mkstemp(path);
	struct tb_error error = {0};
	struct tb_sweep sweep = {0};
	struct tb_sweep_progress progress;
	if (file < 0)
		exit(1);
	close(file);
	check(tb_sweep_read(&sweep, experiment, changes, n_changes, &error), &error);
	const struct tb_sweep_run_options options = {
		.output = path, .n_workers = n_workers};
	double wall = tb_clock_s(), cpu = cpu_s();
	check(tb_sweep_run(&progress, &sweep, &options, &error), &error);
	struct cost cost = {tb_clock_s() - wall, cpu_s() - cpu};
	*n_points = sweep.n_points;
	tb_sweep_fini(&sweep);
	unlink(path);
	return cost;
}

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	const char *const points[] = {smoke ? "load=0.5, 1" : "load=0.1..1 step 0.1",
		smoke ? "seed=1, 2" : "seed=1..10", "warm=2ms",
		smoke ? "window=2ms" : "window=10ms"};
	const char *const empty[] = {smoke ? "seed=1..5" : "seed=1..500"};
	size_t n = 0;
	unsigned n_cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	struct cost one = run("uniform", points, 4, 1, &n);
	struct cost all = run("uniform", points, 4, n_cores, &n);
	printf("sweep_points_a_second_one_core,%.2f,points/s\n", (double)n / one.wall_s);
	printf("sweep_efficiency,%.1f,%%\n", 100 * one.wall_s / (all.wall_s * n_cores));
	printf("sweep_processor_time,%.1f,%% of one worker's\n",
		100 * all.cpu_s / one.cpu_s);
	struct cost kept = run("latency", empty, 1, 1, &n);
	printf("sweep_keep_point,%.2f,ms\n", kept.wall_s / (double)n * 1e3);
	printf("sweep_keep_point_processor,%.2f,ms\n", kept.cpu_s / (double)n * 1e3);
	return 0;
}
