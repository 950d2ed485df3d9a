// The MPI's own functions, the process's beginning and end, the making of communicators.
#include "wrap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tb_real tb_real;

static void real_find(void *function, size_t size, const char *name)
{
	void *there = dlsym(RTLD_NEXT, name);
	memcpy(function, &there, size);
}

// A function that an older MPI does not have stays NULL: then nobody can call it either.
static void __attribute__((constructor)) real_find_all(void)
{
#define FIND(name) real_find(&tb_real.name, sizeof tb_real.name, "PMPI_" #name);
	TB_WRAPPED(FIND)
}

static uint64_t members_mix(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *at = bytes; n > 0; at++, n--)
		hash = (hash ^ *at) * UINT64_C(1099511628211); // FNV-1a
	return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return text ? members_mix(hash, text, strlen(text) + 1) : hash;
}

// agree_on_world returns what no other world has: a hash of the launcher's job and of
// what Open MPI's mpirun draws at random for each run. Where the launcher says nothing,
// rank 0's process, host and time; only then ranks need to communicate.
static uint64_t agree_on_world(const struct tb_lanes_rank *rank)
{
	const pid_t pid = getpid();
	struct timespec now;
	uint64_t world = mix_text(UINT64_C(14695981039346656037), rank->job);
	world = mix_text(world, getenv("OMPI_MCA_orte_precondition_transports"));
	if (!*rank->job || rank->n_ranks == 1) {
		clock_gettime(CLOCK_REALTIME, &now);
		world = mix_text(world, rank->host);
		world = members_mix(world, &pid, sizeof pid);
		world = members_mix(world, &now, sizeof now);
	}
	world += world == 0;
	if (!*rank->job && rank->n_ranks > 1)
		tb_real.Bcast(&world, sizeof world, MPI_BYTE, 0, MPI_COMM_WORLD);
	return world;
}

// begin_trace opens the rank file in the folder that `tailback trace` names.
static void begin_trace(void)
{
	const char *folder = getenv("TAILBACK_TRACE_FOLDER");
	char host[256] = "", version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	char job[64] = "", parent[64] = "";
	int rank = 0, n = 0, threads = 0, length = 0;
	MPI_Comm spawner = MPI_COMM_NULL;
	if (!folder || !*folder)
		return;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &n);
	PMPI_Query_thread(&threads);
	PMPI_Get_library_version(version, &length);
	version[strcspn(version, ",\n")] = '\0';
	gethostname(host, sizeof host - 1);
	PMPI_Comm_get_parent(&spawner);
	// Store what the launcher calls this world, and in `parent` the world that
	// spawned it: PMIx (Open MPI, Slurm) names both, Slurm the step. MPICH's own
	// launcher names none to its processes, and leaves there what an outer launcher
	// said.
	const char *slurm = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	const char *port = getenv("OMPI_PARENT_PORT"), *given = getenv("PMIX_NAMESPACE");
	if (TB_MPI != TB_TBT_MPICH || (!getenv("PMI_FD") && !getenv("PMI_PORT"))) {
		if (given)
			snprintf(job, 64, "%s", given);
		else if (slurm && step)
			snprintf(job, 64, "%s.%s", slurm, step);
		// A port begins with the namespace of the process that opened it.
		if (port)
			snprintf(parent, 64, "%.*s", (int)strcspn(port, "."), port);
	}
	struct tb_lanes_rank own = {.rank = (uint32_t)rank,
		.n_ranks = (uint32_t)n,
		.mpi = TB_MPI,
		.host = host,
		.version = version,
		.threads = threads == MPI_THREAD_MULTIPLE,
		.origin = spawner == MPI_COMM_NULL ? TB_TBT_LAUNCHED : TB_TBT_SPAWNED,
		.job = job,
		.parent = parent};
	own.world = agree_on_world(&own);
	tb_lanes_open(folder, &own);
	struct tb_record_lane *lane = tb_lane_take();
	if (!lane)
		return;
	tb_comms_begin(lane);
	tb_ending_watch();
}

int MPI_Init(int *argc, char ***argv)
{
	int result = tb_real.Init(argc, argv);
	if (result == MPI_SUCCESS)
		begin_trace();
	return result;
}
TB_ALIAS(Init);

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int result = tb_real.Init_thread(argc, argv, required, provided);
	if (result == MPI_SUCCESS)
		begin_trace();
	return result;
}
TB_ALIAS(Init_thread);

int MPI_Finalize(void)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Finalize();
	if (tb_leave(&entry))
		tb_lane_record(&entry, TB_TBT_FINALIZE, NULL, NULL, 0);
	tb_lanes_close(TB_TBT_FINISHED);
	return result;
}
TB_ALIAS(Finalize);

int MPI_Abort(MPI_Comm comm, int code)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	if (tb_leave(&entry))
		tb_lane_record(&entry, TB_TBT_ABORT, NULL, NULL, 0);
	tb_lanes_close(TB_TBT_ABORTED);
	return tb_real.Abort(comm, code);
}
TB_ALIAS(Abort);

// Making a communicator is a collective call of its parent: its members agree on a number
// for it (an all-reduce) or, in a split, exchange colour and key (an all-gather).
enum { AGREE_BYTES = 4, SPLIT_BYTES = 8 };

// record_made defines what a call made, and that the members of `agreeing` agreed on it.
static void record_made(struct tb_traced_call *entry, MPI_Comm made,
	const struct tb_comm_birth *birth, MPI_Comm agreeing, bool split)
{
	tb_comm_made(entry->lane, made, birth);
	int inter = 0;
	PMPI_Comm_test_inter(agreeing, &inter);
	if (inter) {
		tb_lane_poll(entry);
		return;
	}
	const uint64_t fields[] = {split ? TB_TBT_ALLGATHER : TB_TBT_ALLREDUCE,
		tb_comm_id(entry->lane, agreeing), 0, split ? SPLIT_BYTES : AGREE_BYTES,
		0};
	tb_lane_record(entry, TB_TBT_COLL, fields, NULL, 0);
}
#define BIRTH(...) (&(const struct tb_comm_birth){__VA_ARGS__})

// MAKER defines a function that makes `*made` of `comm`.
#define MAKER(name, split, parameters, arguments)                                        \
	TB_TRACED(name, parameters, arguments,                                           \
		record_made(&entry, *made, BIRTH(comm, *made, TB_TBT_BY_PARENT, 0),      \
			comm, split))

MAKER(Comm_dup, false, (MPI_Comm comm, MPI_Comm *made), (comm, made));
MAKER(Comm_dup_with_info, false, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
	(comm, info, made));
MAKER(Comm_create, false, (MPI_Comm comm, MPI_Group group, MPI_Comm *made),
	(comm, group, made));
MAKER(Comm_split, true, (MPI_Comm comm, int colour, int key, MPI_Comm *made),
	(comm, colour, key, made));
MAKER(Comm_split_type, true,
	(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
	(comm, type, key, info, made));
MAKER(Cart_create, false,
	(MPI_Comm comm, int n, const int sizes[], const int periods[], int reorder,
		MPI_Comm *made),
	(comm, n, sizes, periods, reorder, made));
MAKER(Cart_sub, true, (MPI_Comm comm, const int remain[], MPI_Comm *made),
	(comm, remain, made));
MAKER(Graph_create, false,
	(MPI_Comm comm, int n, const int index[], const int edges[], int reorder,
		MPI_Comm *made),
	(comm, n, index, edges, reorder, made));
MAKER(Dist_graph_create, false,
	(MPI_Comm comm, int n, const int sources[], const int degrees[], const int to[],
		const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
	(comm, n, sources, degrees, to, weights, info, reorder, made));
MAKER(Dist_graph_create_adjacent, false,
	(MPI_Comm comm, int n_in, const int in[], const int in_weights[], int n_out,
		const int out[], const int out_weights[], MPI_Info info, int reorder,
		MPI_Comm *made),
	(comm, n_in, in, in_weights, n_out, out, out_weights, info, reorder, made));

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Comm_idup(comm, made, request);
	if (!tb_leave(&entry) || result != MPI_SUCCESS)
		return result;
	const struct tb_comm_birth birth = {comm, comm, TB_TBT_BY_PARENT, 0};
	tb_comm_made(entry.lane, *made, &birth);
	const uint64_t fields[] = {TB_TBT_ALLREDUCE, tb_comm_id(entry.lane, comm), 0,
		AGREE_BYTES, tb_started(*request, false) + 1};
	tb_lane_record(&entry, TB_TBT_COLL, fields, NULL, 0);
	return result;
}
TB_ALIAS(Comm_idup);

TB_TRACED_IF(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
	(comm, group, tag, made), (void)0,
	result == MPI_SUCCESS && *made != MPI_COMM_NULL,
	record_made(
		&entry, *made, BIRTH(comm, *made, TB_TBT_BY_GROUP, tag), *made, false));

// Both groups agree by their leaders; only what each does by itself is recorded.
TB_TRACED(Intercomm_create,
	(MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag,
		MPI_Comm *made),
	(comm, leader, peers, remote_leader, tag, made),
	record_made(&entry, *made, BIRTH(comm, *made, TB_TBT_INTER, tag), comm, false));
TB_TRACED(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made),
	record_made(
		&entry, *made, BIRTH(comm, *made, TB_TBT_BY_PARENT, 0), *made, false));

#define ENDER(name)                                                                      \
	int MPI_##name(MPI_Comm *comm)                                                   \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		MPI_Comm gone = *comm;                                                   \
		tb_enter(&entry);                                                        \
		if (tb_outermost(&entry))                                                \
			tb_comm_gone(gone);                                              \
		int result = tb_real.name(comm);                                         \
		tb_leave(&entry);                                                        \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)

ENDER(Comm_free);
ENDER(Comm_disconnect);

// Processes that come from elsewhere have no rank in this trace.
static void record_left_out(struct tb_traced_call *entry, const char *name)
{
	uint64_t letters[64];
	size_t n = 0;
	for (; name[n] && n < 64; n++)
		letters[n] = (uint8_t)name[n];
	const uint64_t fields[] = {1};
	tb_lane_record(entry, TB_TBT_LEFT_OUT, fields, letters, n);
}

#define LEFT_OUT(name, parameters, arguments)                                            \
	TB_TRACED_IF(name, parameters, arguments, (void)0, true,                         \
		record_left_out(&entry, "MPI_" #name))

LEFT_OUT(Comm_spawn,
	(const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm,
		MPI_Comm *made, int errors[]),
	(command, argv, n, info, root, comm, made, errors));
LEFT_OUT(Comm_spawn_multiple,
	(int count, char *commands[], char **argv[], const int n[], const MPI_Info info[],
		int root, MPI_Comm comm, MPI_Comm *made, int errors[]),
	(count, commands, argv, n, info, root, comm, made, errors));
LEFT_OUT(Comm_accept,
	(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
	(port, info, root, comm, made));
LEFT_OUT(Comm_connect,
	(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
	(port, info, root, comm, made));
LEFT_OUT(Comm_join, (int fd, MPI_Comm *made), (fd, made));
