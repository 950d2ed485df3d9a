// Makes collective calls of known sizes in communicators of every kind.
#include <mpi.h>
#include <stdlib.h>

#define WORLD MPI_COMM_WORLD

static char out[100000], in[100000];
static int rank, n;

static void of_all(void)
{
	int counts[16], places[16];
	MPI_Request request;
	for (int i = 0; i < n; i++) {
		counts[i] = i + 1;
		places[i] = 100 * i;
	}
	MPI_Barrier(WORLD);
	MPI_Bcast(out, 12345, MPI_CHAR, 2, WORLD);
	MPI_Allreduce(MPI_IN_PLACE, in, 16, MPI_DOUBLE, MPI_SUM, WORLD);
	MPI_Gather(out, 100, MPI_CHAR, in, 100, MPI_CHAR, 1, WORLD);
	MPI_Gatherv(out, rank + 1, MPI_CHAR, in, counts, places, MPI_CHAR, 0, WORLD);
	MPI_Scatter(out, 50, MPI_CHAR, in, 50, MPI_CHAR, 0, WORLD);
	MPI_Scatterv(out, counts, places, MPI_CHAR, in, rank + 1, MPI_CHAR, 0, WORLD);
	MPI_Allgather(out, 10, MPI_CHAR, in, 10, MPI_CHAR, WORLD);
	MPI_Allgatherv(out, rank + 1, MPI_CHAR, in, counts, places, MPI_CHAR, WORLD);
	MPI_Alltoall(out, 20, MPI_CHAR, in, 20, MPI_CHAR, WORLD);
	MPI_Reduce(out, in, 8, MPI_INT, MPI_SUM, 3 % n, WORLD);
	MPI_Scan(out, in, 8, MPI_INT, MPI_SUM, WORLD);
	MPI_Reduce_scatter_block(out, in, 8, MPI_INT, MPI_SUM, WORLD);
	MPI_Iallreduce(out, in, 4, MPI_INT, MPI_SUM, WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// What a rank sends to each other one is 1000 * its rank + the other's.
static void of_sizes(void)
{
	int outs[16], ins[16], places[16] = {0};
	for (int i = 0; i < n; i++) {
		outs[i] = 1000 * rank + i;
		ins[i] = 1000 * i + rank;
	}
	MPI_Alltoallv(out, outs, places, MPI_CHAR, in, ins, places, MPI_CHAR, WORLD);
}

static void of_parts(void)
{
	MPI_Comm half, twin, both, merged, cart, group_comm;
	MPI_Group world, pair;
	int whole = n, round = 1, ranks[] = {0, 1};
	MPI_Comm_split(WORLD, rank % 2, -rank, &half);
	MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, half);
	MPI_Comm_dup(half, &twin);
	MPI_Bcast(out, 7, MPI_CHAR, 0, twin);
	MPI_Intercomm_create(half, 0, WORLD, n - 2 + (rank + 1) % 2, 5, &both);
	if (rank < 2)
		MPI_Sendrecv(out, 99, MPI_CHAR, 1, 0, in, 99, MPI_CHAR, 1, 0, both,
			MPI_STATUS_IGNORE);
	MPI_Bcast(out, 88, MPI_CHAR,
		rank % 2 ? 0 : (rank == 2 ? MPI_ROOT : MPI_PROC_NULL), both);
	MPI_Intercomm_merge(both, rank % 2, &merged);
	MPI_Barrier(merged);
	MPI_Comm_group(WORLD, &world);
	MPI_Group_incl(world, 2, ranks, &pair);
	if (rank < 2) {
		MPI_Comm_create_group(WORLD, pair, 3, &group_comm);
		MPI_Bcast(out, 9, MPI_CHAR, 1, group_comm);
		MPI_Comm_free(&group_comm);
	}
	MPI_Cart_create(WORLD, 1, &whole, &round, 0, &cart);
	MPI_Neighbor_allgather(out, 31, MPI_CHAR, in, 31, MPI_CHAR, cart);
	MPI_Comm_free(&cart);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&both);
	MPI_Comm_free(&twin);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &n);
	of_all();
	of_sizes();
	of_parts();
	MPI_Finalize();
	return 0;
}
