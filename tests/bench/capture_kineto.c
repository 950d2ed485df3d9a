// Reading a profile of PyTorch of 1 GB: how fast, and what memory does when the profile
// grows ten times but not its communication. Needs 1 GB of disk.
#include "kineto.h"

#include <stdbool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_COLLECTIVES 2000
#define N_RUNS	      3

static char path[] = "bench_kineto_XXXXXX";

static double seconds(struct timeval at)
{
	return (double)at.tv_sec + (double)at.tv_usec * 1e-6;
}

// put_work writes what a framework leaves of one kernel: an operation, a call of the
// runtime, the kernel and an arrow between the two; about 1 KB.
static void put_work(FILE *file, unsigned long i)
{
	double at = (double)i * 20;
	fprintf(file,
		"  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", "
		"\"pid\": "
		"4711, \"tid\": 4711,\n    \"ts\": %.3f, \"dur\": 9.500,\n    \"args\": "
		"{\n      "
		"\"External id\": %lu,\"Record function id\": %lu, \"Concrete Inputs\": "
		"[\"\", "
		"\"\"], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], \"Input "
		"Dims\": "
		"[[8192, 4096], [4096, 4096]], \"Ev Idx\": %lu\n    }\n  },\n",
		at, i, i, i);
	fprintf(file,
		"  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
		"\"cudaLaunchKernel\", \"pid\": 4711, \"tid\": 4711,\n    \"ts\": %.3f, "
		"\"dur\": "
		"4.100,\n    \"args\": {\n      \"External id\": %lu, \"cbid\": 211, "
		"\"correlation\": %lu\n    }\n  },\n",
		at + 2, i, i);
	fprintf(file,
		"  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		"\"ampere_bf16_s16816gemm_"
		"bf16_128x256_ldg8_f2f_stages_64x3_nn(float const*, \\\"x\\\", {int})\", "
		"\"pid\": "
		"0, \"tid\": 7,\n    \"ts\": %.3f, \"dur\": 15.250,\n    \"args\": {\n   "
		"   "
		"\"External id\": %lu, \"queued\": 0, \"device\": 0, \"context\": 1, "
		"\"stream\": "
		"7, \"correlation\": %lu, \"registers per thread\": 238, \"shared "
		"memory\": "
		"147456, \"blocks per SM\": 2.4, \"warps per SM\": 19.2, \"grid\": [16, "
		"32, 1], "
		"\"block\": [256, 1, 1], \"est. achieved occupancy %%\": 12\n    }\n  "
		"},\n",
		at + 6, i, i);
	fprintf(file,
		"  {\n    \"ph\": \"f\", \"id\": %lu, \"pid\": 0, \"tid\": 7, \"ts\": "
		"%.3f,\n    "
		"\"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  },\n",
		i, at + 6);
}

static void put_collective(FILE *file, unsigned long i)
{
	fprintf(file,
		"  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		"\"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)\", "
		"\"pid\": 0, "
		"\"tid\": 20,\n    \"ts\": %.3f, \"dur\": 120.500,\n    \"args\": {\n    "
		"  "
		"\"External id\": %lu, \"device\": 0, \"stream\": 20, \"correlation\": "
		"%lu, "
		"\"Collective name\": \"allreduce\", \"In msg nelems\": 33554432, \"Out "
		"msg "
		"nelems\": 33554432, \"Group size\": 1, \"dtype\": \"BFloat16\", "
		"\"Process Group "
		"Name\": \"0\", \"Process Group Ranks\": \"[0]\"\n    }\n  },\n",
		(double)i * 20 + 7, i, i);
}

static double put_profile(double megabytes)
{
	FILE *file = fopen(path, "wb");
	if (!file)
		exit(1);
	fputs("{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {\"backend\": "
	      "\"nccl\", "
	      "\"rank\": 0, \"world_size\": 1},\n  \"traceEvents\": [\n",
		file);
	double step = megabytes * 1e6 / N_COLLECTIVES;
	unsigned long i = 1, n_collectives = 0;
	while ((double)ftell(file) < megabytes * 1e6) {
		put_work(file, i++);
		if ((double)ftell(file) > step * (double)n_collectives) {
			put_collective(file, i++);
			n_collectives++;
		}
	}
	fputs("  {\"ph\": \"M\"}\n  ],\n  \"displayTimeUnit\": \"ms\"\n}\n", file);
	double size = (double)ftell(file) / 1e6;
	fclose(file);
	return size;
}

static void read_profile(void)
{
	const char *paths[] = {path}, *made;
	struct tb_calls *calls;
	struct tb_error error = {0};
	if (tb_kineto_read(&calls, &(struct tb_reading){0}, paths, 1, &made, &error) !=
		TB_OK) {
		fprintf(stderr, "%s\n", error.text);
		_exit(1);
	}
	tb_calls_free(calls);
	_exit(0);
}

// measure returns the processor time, the least of several, and the memory, in MB, of a
// process that reads the profile. It has one thread; others on the machine do not count.
static double measure(int n_runs, double *memory_mb)
{
	double best = 1e9;
	for (int i = 0; i < n_runs; i++) {
		struct rusage usage;
		int status;
		pid_t child = fork();
		if (child == 0)
			read_profile();
		if (wait4(child, &status, 0, &usage) < 0 || status != 0)
			exit(1);
		double took = seconds(usage.ru_utime) + seconds(usage.ru_stime);
		best = took < best ? took : best;
		*memory_mb = (double)usage.ru_maxrss / 1e3;
	}
	return best;
}

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	int fd = mkstemp(path), n_runs = smoke ? 1 : N_RUNS;
	if (fd < 0)
		return 1;
	close(fd);
	double small_mb, large_mb;
	put_profile(smoke ? 2 : 100);
	measure(n_runs, &small_mb);
	double size = put_profile(smoke ? 20 : 1000);
	double took = measure(n_runs, &large_mb);
	unlink(path);
	printf("kineto_read,%.0f,MB/s\n", size / took);
	printf("kineto_memory_tenth,%.1f,MB\n", small_mb);
	printf("kineto_memory,%.1f,MB\n", large_mb);
	return 0;
}
