// Prints what collective calls put on the wire: for each, the TCP payload that leaves
// each of two hosts. Run by two_hosts.sh, ranks in blocks, the hosts joined by eth0.
//
// The kernel's counters of eth0 give bytes and packets. A packet has 66 bytes of headers
// (Ethernet 14, IPv4 20, TCP 20 with 12 of timestamps), whatever was segmented, so
// payload is bytes less 66 a packet; a pure acknowledgement has none. The counters are
// read in a barrier's shadow, whose payload is measured alone and taken off.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS = 66, REPEATS = 3 };

static int rank, size;
static char *in, *out;

static long counter(const char *name)
{
	char path[128];
	long value = 0;
	snprintf(path, sizeof path, "/sys/class/net/eth0/statistics/%s", name);
	FILE *file = fopen(path, "r");
	if (!file || fscanf(file, "%ld", &value) != 1)
		MPI_Abort(MPI_COMM_WORLD, 1);
	fclose(file);
	return value;
}

static long payload(void)
{
	return counter("tx_bytes") - HEADERS * counter("tx_packets");
}

static const int *blocks_of(int n)
{
	static int blocks[1024];
	for (int i = 0; i < size; i++)
		blocks[i] = n / size;
	return blocks;
}

static void call(const char *op, int bytes, int root)
{
	int n = bytes % 8 == 0 ? bytes / 8 : bytes;
	MPI_Datatype type = bytes % 8 == 0 ? MPI_DOUBLE : MPI_CHAR;
	MPI_Comm all = MPI_COMM_WORLD;
	if (!strcmp(op, "barrier"))
		MPI_Barrier(all);
	else if (!strcmp(op, "broadcast"))
		MPI_Bcast(in, n, type, root, all);
	else if (!strcmp(op, "reduce"))
		MPI_Reduce(in, out, n, type, MPI_SUM, root, all);
	else if (!strcmp(op, "allreduce"))
		MPI_Allreduce(in, out, n, type, MPI_SUM, all);
	else if (!strcmp(op, "scan"))
		MPI_Scan(in, out, n, type, MPI_SUM, all);
	else if (!strcmp(op, "exscan"))
		MPI_Exscan(in, out, n, type, MPI_SUM, all);
	else if (!strcmp(op, "gather"))
		MPI_Gather(in, n, type, out, n, type, root, all);
	else if (!strcmp(op, "scatter"))
		MPI_Scatter(in, n, type, out, n, type, root, all);
	else if (!strcmp(op, "allgather"))
		MPI_Allgather(in, n, type, out, n, type, all);
	else if (!strcmp(op, "alltoall"))
		MPI_Alltoall(in, n, type, out, n, type, all);
	else if (!strcmp(op, "reduce-scatter"))
		MPI_Reduce_scatter(in, out, blocks_of(n), type, MPI_SUM, all);
	else
		MPI_Abort(all, 1);
}

// settle waits until all that was sent has left: retransmissions aside, TCP sends at
// once.
static void settle(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	usleep(30000);
}

// measured returns the payload that left each host, per call.
static void measured(const char *op, int bytes, int root, long *sums)
{
	long begin[2], mine;
	int hosts[2] = {0, size / 2};
	for (int repeats = 0; repeats <= REPEATS; repeats += REPEATS) {
		settle();
		mine = payload();
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < repeats; i++)
			call(op, bytes, root);
		settle();
		mine = payload() - mine;
		for (int h = 0; h < 2; h++) {
			long sent = mine;
			MPI_Bcast(&sent, 1, MPI_LONG, hosts[h], MPI_COMM_WORLD);
			if (repeats == 0)
				begin[h] = sent;
			else
				sums[h] = (sent - begin[h]) / REPEATS;
		}
	}
}

int main(int argc, char **argv)
{
	char op[32];
	int bytes, root, used;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	in = calloc(1, 1 << 24);
	out = calloc(1, 1 << 24);
	// Arguments: OPERATION:BYTES:ROOT.
	for (int i = 1; i < argc; i++) {
		long sums[2];
		if (sscanf(argv[i], "%31[^:]:%d:%d%n", op, &bytes, &root, &used) != 3)
			MPI_Abort(MPI_COMM_WORLD, 2);
		// Connections are opened, and MPICH's shared memory, by the first few.
		for (int k = 0; k < 6; k++)
			call(op, bytes, root);
		measured(op, bytes, root, sums);
		if (rank == 0) {
			printf("%s %d %d %d %ld %ld\n", op, size, bytes, root, sums[0],
				sums[1]);
			fflush(stdout);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("end\n");
	fflush(stdout);
#ifdef MPICH_VERSION
	// With 16 ranks on a few cores UCX's disconnecting takes minutes at times.
	usleep(300000);
	_exit(0);
#endif
	MPI_Finalize();
	return 0;
}
