// How long it takes to make a job of what 512 ranks called, ten million calls of a halo
// exchange with an all-reduce now and then, and the memory that it takes at most.
#include "calls_job.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct tb_error error;

static void must(int status)
{
	char text[900];
	if (status == TB_OK)
		return;
	fprintf(stderr, "%s\n", tb_error_format(&error, text, sizeof text));
	exit(1);
}

// put_step adds a step: two receives, two sends, a wait for the four; 5 calls.
static void put_step(struct tb_calls *calls, uint32_t rank, uint32_t n, uint64_t bytes)
{
	uint32_t on[4];
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t peer = i % 2 ? (rank + 1) % n : (rank + n - 1) % n;
		on[i] = tb_calls_add(calls, rank,
			&(struct tb_call){.kind = i < 2 ? TB_CALL_RECV : TB_CALL_SEND,
				.peer = peer,
				// A rank's right face is its neighbour's left one.
				.tag = (i < 2) == (i % 2 != 0),
				.bytes = bytes,
				.starts = true,
				.calc_ns = i == 0 ? 5000 : 0});
	}
	tb_calls_add(calls, rank, &(struct tb_call){.kind = TB_CALL_JOINT});
	for (uint32_t i = 0; i < 4; i++)
		tb_calls_after(calls, rank, on[i]);
}

static struct tb_calls *make_calls(uint32_t n_ranks, uint32_t n_steps, uint64_t bytes)
{
	struct tb_calls *calls = NULL;
	must(tb_calls_new(&calls, n_ranks, &error));
	for (uint32_t r = 0; r < n_ranks; r++)
		for (uint32_t i = 0; i < n_steps; i++) {
			put_step(calls, r, n_ranks, bytes);
			if (i % 1000 == 999)
				tb_calls_add(calls, r,
					&(struct tb_call){.kind = TB_CALL_COLLECTIVE,
						.op = TB_COLL_ALLREDUCE,
						.bytes = 8});
		}
	return calls;
}

static double peak_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1e3;
}

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	uint32_t n_ranks = smoke ? 16 : 512, n_steps = smoke ? 20 : 3906;
	struct tb_calls *calls = make_calls(n_ranks, n_steps, 4096);
	double n_calls = 5.0 * n_ranks * n_steps;
	printf("calls,%.0f,MB\n", peak_mb());
	struct tb_job *job = NULL;
	double begin_s = tb_clock_s();
	must(tb_calls_job(calls, "bench", "openmpi", NULL, &job, &error));
	double took_s = tb_clock_s() - begin_s;
	printf("calls_job,%.2f,M calls/s\n", n_calls / took_s / 1e6);
	printf("calls_job_peak,%.0f,MB\n", peak_mb());
	tb_job_free(job);
	tb_calls_free(calls);
	return 0;
}
