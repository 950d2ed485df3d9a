// Counts what each rank of an MPI program sends, receives and enters, to compare a trace
// with: it knows nothing of the tracer, nor of the MPI but PROC_NULL and the size of a
// HANDLE. All arguments of MPI's functions are words, so every function here has as many
// as any takes and passes all on.
//
// Loaded by LD_PRELOAD; COUNT_FOLDER/RANK gets "sends bytes receives collectives" at
// MPI_Finalize. Making a communicator is a collective call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum kind {
	SEND,
	RECV,
	BOTH,
	REPLACE,
	SEND_INIT,
	RECV_INIT,
	MATCHED,
	START,
	STARTALL,
	CANCEL,
	COLLECTIVE,
	FINALIZE
};

static struct {
	unsigned long sends, bytes, receives, collectives;
} n;
static struct {
	HANDLE handle;
	unsigned long bytes;
	int sends;
} persistent[4096];
static unsigned n_persistent;
static _Thread_local int depth;

static unsigned long bytes_of(long count, long type)
{
	int size = 0;
	int (*type_size)(long, int *) =
		(int (*)(long, int *))dlsym(RTLD_DEFAULT, "PMPI_Type_size");
	type_size(type, &size);
	return (unsigned long)(int)count * (unsigned long)size;
}

static void sends(long count, long type, long to)
{
	n.sends += (int)to != PROC_NULL;
	n.bytes += (int)to != PROC_NULL ? bytes_of(count, type) : 0;
}

static void receives(long from)
{
	n.receives += (int)from != PROC_NULL;
}

static void define(const long *a, int is_send)
{
	if ((int)a[3] == PROC_NULL || n_persistent == 4096)
		return;
	persistent[n_persistent].handle = *(HANDLE *)a[6];
	persistent[n_persistent].bytes = is_send ? bytes_of(a[1], a[2]) : 0;
	persistent[n_persistent++].sends = is_send;
}

// The handle of a request that was freed may be another's: the last one counts.
static void start(HANDLE handle)
{
	for (unsigned i = n_persistent; i-- > 0;) {
		if (persistent[i].handle != handle)
			continue;
		n.sends += persistent[i].sends;
		n.bytes += persistent[i].bytes;
		n.receives += !persistent[i].sends;
		return;
	}
}

static void finish(void)
{
	char path[4096];
	const char *rank = getenv("OMPI_COMM_WORLD_RANK"),
		   *folder = getenv("COUNT_FOLDER");
	rank = rank ? rank : getenv("PMI_RANK");
	snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", rank ? rank : "0");
	FILE *file = fopen(path, "w");
	if (!file)
		return;
	fprintf(file, "%lu %lu %lu %lu\n", n.sends, n.bytes, n.receives, n.collectives);
	fclose(file);
}

static void count(enum kind kind, const long *a)
{
	if (kind == SEND || kind == BOTH || kind == REPLACE)
		sends(a[1], a[2], a[3]);
	if (kind == RECV || kind == BOTH || kind == REPLACE)
		receives(kind == RECV ? a[3] : kind == BOTH ? a[8] : a[5]);
	if (kind == SEND_INIT || kind == RECV_INIT)
		define(a, kind == SEND_INIT);
	n.receives += kind == MATCHED;
	if (kind == START)
		start(*(HANDLE *)a[0]);
	for (int i = 0; kind == STARTALL && i < (int)a[0]; i++)
		start(((HANDLE *)a[1])[i]);
	n.receives -= kind == CANCEL; // programs cancel receives that they no longer need
	n.collectives += kind == COLLECTIVE;
	if (kind == FINALIZE)
		finish();
}

#define WORDS                                                                            \
	long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,  \
		long k, long l
#define NAMES a, b, c, d, e, f, g, h, i, j, k, l
#define COUNTED(name, kind)                                                              \
	int MPI_##name(WORDS)                                                            \
	{                                                                                \
		static int (*next)(WORDS);                                               \
		const long args[] = {NAMES};                                             \
		if (!next)                                                               \
			next = (int (*)(WORDS))dlsym(RTLD_NEXT, "PMPI_" #name);          \
		depth++;                                                                 \
		int result = next(NAMES);                                                \
		if (--depth == 0 && result == 0)                                         \
			count(kind, args);                                               \
		return result;                                                           \
	}                                                                                \
	int PMPI_##name(WORDS) __attribute__((alias("MPI_" #name)));

COUNTED(Send, SEND)
COUNTED(Bsend, SEND)
COUNTED(Ssend, SEND)
COUNTED(Rsend, SEND)
COUNTED(Isend, SEND)
COUNTED(Ibsend, SEND)
COUNTED(Issend, SEND)
COUNTED(Irsend, SEND)
COUNTED(Recv, RECV)
COUNTED(Irecv, RECV)
COUNTED(Mrecv, MATCHED)
COUNTED(Imrecv, MATCHED)
COUNTED(Sendrecv, BOTH)
COUNTED(Sendrecv_replace, REPLACE)
COUNTED(Send_init, SEND_INIT)
COUNTED(Bsend_init, SEND_INIT)
COUNTED(Ssend_init, SEND_INIT)
COUNTED(Rsend_init, SEND_INIT)
COUNTED(Recv_init, RECV_INIT)
COUNTED(Start, START)
COUNTED(Startall, STARTALL)
COUNTED(Cancel, CANCEL)
COUNTED(Finalize, FINALIZE)
COUNTED(Barrier, COLLECTIVE)
COUNTED(Ibarrier, COLLECTIVE)
COUNTED(Bcast, COLLECTIVE)
COUNTED(Ibcast, COLLECTIVE)
COUNTED(Gather, COLLECTIVE)
COUNTED(Igather, COLLECTIVE)
COUNTED(Gatherv, COLLECTIVE)
COUNTED(Igatherv, COLLECTIVE)
COUNTED(Scatter, COLLECTIVE)
COUNTED(Iscatter, COLLECTIVE)
COUNTED(Scatterv, COLLECTIVE)
COUNTED(Iscatterv, COLLECTIVE)
COUNTED(Allgather, COLLECTIVE)
COUNTED(Iallgather, COLLECTIVE)
COUNTED(Allgatherv, COLLECTIVE)
COUNTED(Iallgatherv, COLLECTIVE)
COUNTED(Alltoall, COLLECTIVE)
COUNTED(Ialltoall, COLLECTIVE)
COUNTED(Alltoallv, COLLECTIVE)
COUNTED(Ialltoallv, COLLECTIVE)
COUNTED(Alltoallw, COLLECTIVE)
COUNTED(Ialltoallw, COLLECTIVE)
COUNTED(Reduce, COLLECTIVE)
COUNTED(Ireduce, COLLECTIVE)
COUNTED(Allreduce, COLLECTIVE)
COUNTED(Iallreduce, COLLECTIVE)
COUNTED(Reduce_scatter, COLLECTIVE)
COUNTED(Ireduce_scatter, COLLECTIVE)
COUNTED(Reduce_scatter_block, COLLECTIVE)
COUNTED(Ireduce_scatter_block, COLLECTIVE)
COUNTED(Scan, COLLECTIVE)
COUNTED(Iscan, COLLECTIVE)
COUNTED(Exscan, COLLECTIVE)
COUNTED(Iexscan, COLLECTIVE)
COUNTED(Neighbor_allgather, COLLECTIVE)
COUNTED(Neighbor_allgatherv, COLLECTIVE)
COUNTED(Neighbor_alltoall, COLLECTIVE)
COUNTED(Neighbor_alltoallv, COLLECTIVE)
COUNTED(Neighbor_alltoallw, COLLECTIVE)
COUNTED(Comm_dup, COLLECTIVE)
COUNTED(Comm_dup_with_info, COLLECTIVE)
COUNTED(Comm_idup, COLLECTIVE)
COUNTED(Comm_create, COLLECTIVE)
COUNTED(Comm_create_group, COLLECTIVE)
COUNTED(Comm_split, COLLECTIVE)
COUNTED(Comm_split_type, COLLECTIVE)
COUNTED(Cart_create, COLLECTIVE)
COUNTED(Cart_sub, COLLECTIVE)
COUNTED(Graph_create, COLLECTIVE)
COUNTED(Dist_graph_create, COLLECTIVE)
COUNTED(Dist_graph_create_adjacent, COLLECTIVE)
