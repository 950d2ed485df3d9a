// Reading an OTF2 archive of ten million events in 512 ranks, half of them of regions
// that are not MPI's, and the memory that it takes; then a job is made of it.
#include "calls_job.h"
#include "otf2_trace.h"

#include "../support/otf2_archive.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_RANKS	 512
#define N_ROUNDS 977 // of 20 events a rank

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t write_computation(struct otf2_archive *to, uint64_t time)
{
	for (int i = 0; i < 5; i++) {
		otf2_enter(to, time++, OTF2_REGION_MAIN);
		otf2_leave(to, time += 100, OTF2_REGION_MAIN);
	}
	return time;
}

// write_round has a rank send to the next and receive from the one before.
static uint64_t write_round(
	struct otf2_archive *to, uint32_t rank, uint32_t n, uint64_t t)
{
	uint32_t after = (rank + 1) % n, before = (rank + n - 1) % n;
	t = write_computation(to, t);
	otf2_enter(to, t++, OTF2_REGION_IRECV);
	OTF2_DO(OTF2_EvtWriter_MpiIrecvRequest(to->events, NULL, t++, 1));
	otf2_leave(to, t++, OTF2_REGION_IRECV);
	otf2_enter(to, t++, OTF2_REGION_ISEND);
	OTF2_DO(OTF2_EvtWriter_MpiIsend(to->events, NULL, t++, after, 0, 7, 4096, 2));
	otf2_leave(to, t++, OTF2_REGION_ISEND);
	otf2_enter(to, t++, OTF2_REGION_WAITALL);
	OTF2_DO(OTF2_EvtWriter_MpiIsendComplete(to->events, NULL, t++, 2));
	OTF2_DO(OTF2_EvtWriter_MpiIrecv(to->events, NULL, t++, before, 0, 7, 4096, 1));
	otf2_leave(to, t++, OTF2_REGION_WAITALL);
	return t;
}

static void define(struct otf2_archive *to)
{
	otf2_processes(to);
	otf2_world(to);
}

static void make(const char *folder, uint32_t n_ranks, uint32_t n_rounds)
{
	static struct otf2_archive out;
	otf2_begin(&out, folder);
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		uint64_t time = 0;
		otf2_location(&out);
		for (uint32_t i = 0; i < n_rounds; i++)
			time = write_round(&out, rank, n_ranks, time);
		otf2_location_end(&out);
	}
	otf2_end(&out, define, NULL);
}

static void must(int status, const struct tb_error *error)
{
	if (status == TB_OK)
		return;
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

static double peak_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void measure(const char *folder)
{
	struct tb_calls *calls;
	struct tb_job *job;
	struct tb_error error;
	const struct tb_reading reading = {0};
	const char *made;
	double begin = now_s();
	must(tb_otf2_read(&calls, &reading, &folder, 1, &made, &error), &error);
	printf("read_otf2,%.2f,s\n", now_s() - begin);
	printf("read_otf2_memory,%.0f,MB\n", peak_mb());
	begin = now_s();
	must(tb_calls_job(calls, "bench", made, &reading, &job, &error), &error);
	printf("job_of_otf2,%.2f,s\n", now_s() - begin);
	printf("job_of_otf2_memory,%.0f,MB\n", peak_mb());
	fflush(stdout);
	tb_calls_free(calls);
	tb_job_free(job);
}

// in_child runs one part in a process of its own, whose memory is its alone.
static int in_child(const char *folder, bool is_writer, bool smoke)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		if (is_writer)
			make(folder, smoke ? 16 : N_RANKS, smoke ? 10 : N_ROUNDS);
		else
			measure(folder);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	char folder[] = "bench_otf2_XXXXXX", command[64];
	if (!mkdtemp(folder))
		return 1;
	int failed = in_child(folder, true, smoke) || in_child(folder, false, smoke);
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command) != 0 || failed;
}
