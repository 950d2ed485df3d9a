// What tests of PyTorch's profiles share: profiles that are written event by event, in a
// folder that is empty for each test, and the calls that are read of them.
#ifndef TB_KINETO_PROFILE_TEST_H
#define TB_KINETO_PROFILE_TEST_H

#include "kineto.h"
#include "trace_folder.h"

#include <inttypes.h>

// The events of a profile, as text that grows.
static char events[1 << 16];

static inline void begin(void)
{
	strcpy(events, "");
}

static inline void event(
	const char *cat, const char *name, const char *rest, double ts, double dur)
{
	size_t n = strlen(events);
	snprintf(events + n, sizeof events - n,
		"%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 0, "
		"\"tid\": 7,"
		" \"ts\": %.3f, \"dur\": %.3f, \"args\": {%s}}",
		n ? "," : "", cat, name, ts, dur, rest);
}

// work adds a kernel of stream 7, in microseconds.
static inline void work(int order, double ts, double dur)
{
	char args[100];
	snprintf(args, sizeof args, "\"device\": 0, \"stream\": 7, \"correlation\": %d",
		order);
	event("kernel", "void gemm<float>(a \\\"b\\\" {)", args, ts, dur);
}

// The arguments of an operation; `more` begins with a comma.
static inline const char *arguments(
	const char *name, const char *dtype, unsigned in, unsigned out, const char *more)
{
	static char args[1000];
	snprintf(args, sizeof args,
		"\"Collective name\": \"%s\", \"dtype\": \"%s\", \"In msg nelems\": %u, "
		"\"Out msg nelems\": %u%s",
		name, dtype, in, out, more);
	return args;
}

#define WORLD                                                                            \
	", \"Group size\": 2, \"Process Group Name\": \"0\", \"Process Group Ranks\": "  \
	"\"[0, 1]\""

// nccl adds a kernel of NCCL on stream 20 that describes itself.
static inline void nccl(int order, double ts, double dur, const char *args)
{
	char all[1200];
	snprintf(all, sizeof all,
		"\"device\": 0, \"stream\": 20, \"correlation\": %d%s%s", order,
		*args ? ", " : "", args);
	event("kernel", "ncclDevKernel_Generic_4(ncclDevKernelArgs)", all, ts, dur);
}

static inline void call(int order, const char *name, int external)
{
	char args[100];
	snprintf(args, sizeof args, "\"correlation\": %d, \"External id\": %d", order,
		external);
	event("cuda_runtime", name, args, order, 1);
}

static inline void end_of(const char *name, const char *head)
{
	static char text[1 << 17];
	snprintf(text, sizeof text,
		"{\"schemaVersion\": 1, %s \"traceEvents\": [%s], \"displayTimeUnit\": "
		"\"ms\"}",
		head, events);
	put(name, text);
}

static inline void end(const char *name, unsigned rank, unsigned n_ranks)
{
	char head[200];
	snprintf(head, sizeof head,
		"\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, "
		"\"world_size\": %u},",
		rank, n_ranks);
	end_of(name, head);
}

static const char *made_with; // the library that read_files found

// read_files reads files of the folder; "" is the folder itself.
static inline int read_files(const char *one, const char *other)
{
	const char *paths[] = {in_folder(one), other ? in_folder(other) : NULL};
	made_with = NULL;
	tb_calls_free(calls);
	calls = NULL;
	error = (struct tb_error){0};
	int status = tb_kineto_read(
		&calls, &reading, paths, other ? 2 : 1, &made_with, &error);
	if (status != TB_OK)
		assert_null(calls);
	return status;
}

static inline void assert_read(const char *one, const char *other)
{
	if (read_files(one, other) != TB_OK)
		fail_msg("%s: %s", error.file, error.text);
}

static inline void assert_refused(int status, const char *sentence)
{
	assert_int_equal(error.code, status);
	if (!strstr(error.text, sentence))
		fail_msg("'%s' is not in '%s'", sentence, error.text);
}

// nth returns the n-th call of a kind of a rank.
static inline const struct tb_call *nth(uint32_t rank, enum tb_call_kind kind, uint32_t n)
{
	uint32_t n_calls;
	const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
	for (uint32_t i = 0; i < n_calls; i++)
		if (of[i].kind == kind && n-- == 0)
			return &of[i];
	fail_msg("rank %u has too few calls of kind %d", rank, kind);
	return NULL;
}

static inline void assert_note(const char *part)
{
	const char *note;
	for (size_t i = 0; (note = tb_calls_note_at(calls, i)); i++)
		if (strstr(note, part))
			return;
	fail_msg("no note has '%s'", part);
}

static inline uint32_t count(uint32_t rank, enum tb_call_kind kind)
{
	uint32_t n_calls, n = 0;
	const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
	for (uint32_t i = 0; i < n_calls; i++)
		n += of[i].kind == kind;
	return n;
}

// begins_ns computes when a call begins if collectives take `comm_ns`: the rule of
// calls.h, of one rank alone.
static inline uint64_t begins_ns(
	uint32_t rank, const struct tb_call *wanted, uint64_t comm_ns)
{
	uint32_t n_calls, n;
	uint64_t ends[200], lane_ends[20] = {0}, begins = 0;
	bool used[20] = {false};
	const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
	assert_true(n_calls <= 200);
	for (uint32_t i = 0; i < n_calls; i++) {
		const uint32_t *befores = tb_calls_befores(calls, rank, i, &n);
		uint64_t ready = 0;
		for (uint32_t j = 0; j < n; j++)
			if (ends[befores[j]] > ready)
				ready = ends[befores[j]];
		uint32_t lane = of[i].lane;
		assert_true(lane < 20);
		begins = lane_ends[lane] + of[i].calc_ns;
		if (!used[lane] && n > 0)
			begins = ready + of[i].calc_ns;
		if (begins < ready)
			begins = ready;
		used[lane] = true;
		ends[i] = begins + (of[i].kind == TB_CALL_COLLECTIVE ? comm_ns : 0);
		lane_ends[lane] = ends[i];
		if (&of[i] == wanted)
			return begins;
	}
	if (wanted)
		fail();
	uint64_t last = 0; // of all lanes
	for (int i = 0; i < 20; i++)
		if (lane_ends[i] > last)
			last = lane_ends[i];
	return last;
}

// Work from 0 to 100 us, a collective launched after it, and work beside it from 100 to
// 300; the collective takes 150. The program waits for it when it launches the last work,
// at 300.
static inline void put_overlap(const char *name, unsigned rank)
{
	begin();
	work(1, 0, 100);
	call(3, "cudaStreamWaitEvent", 77); // NCCL's own, in the operation
	nccl(5, 100, 150,
		arguments(
			"allreduce", "Float", 1000, 1000, WORLD ", \"External id\": 77"));
	call(5, "cudaLaunchKernelExC", 77);
	work(6, 100, 200);
	call(7, "cudaStreamWaitEvent", 99);
	work(8, 300, 50);
	event("cpu_op", "record_param_comms",
		arguments(
			"allreduce", "Float", 1000, 1000, WORLD ", \"External id\": 77"),
		3, 3);
	end(name, rank, 2);
}

#endif
