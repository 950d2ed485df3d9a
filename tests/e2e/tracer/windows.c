// One-sided communication in all three kinds of epochs.
#include <mpi.h>
#include <stdlib.h>

#define WORLD MPI_COMM_WORLD

static int rank, n;
static char out[10000];

static void fenced(MPI_Win window)
{
	MPI_Win_fence(0, window);
	MPI_Put(out, 500, MPI_CHAR, (rank + 1) % n, 0, 500, MPI_CHAR, window);
	MPI_Put(out, 100, MPI_CHAR, (rank + 1) % n, 600, 100, MPI_CHAR, window);
	MPI_Win_fence(0, window);
	MPI_Get(out, 41, MPI_CHAR, (rank + 1) % n, 0, 41, MPI_CHAR, window);
	MPI_Win_fence(0, window);
}

static void locked(MPI_Win window)
{
	int one = 1, old = 0;
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
	if (rank == 1) {
		MPI_Put(out, 333, MPI_CHAR, 0, 0, 333, MPI_CHAR, window);
		MPI_Win_flush(0, window);
		MPI_Get(out, 222, MPI_CHAR, 0, 0, 222, MPI_CHAR, window);
	}
	if (rank == 2)
		MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 800, MPI_SUM, window);
	MPI_Win_unlock(0, window);
}

// Rank 0 is the target of rank 1.
static void posted(MPI_Win window)
{
	MPI_Group world, other;
	int peer = 1 - rank;
	MPI_Comm_group(WORLD, &world);
	MPI_Group_incl(world, 1, &peer, &other);
	if (rank == 0) {
		MPI_Win_post(other, 0, window);
		MPI_Win_wait(window);
	} else {
		MPI_Win_start(other, 0, window);
		MPI_Put(out, 777, MPI_CHAR, 0, 0, 777, MPI_CHAR, window);
		MPI_Win_complete(window);
	}
}

int main(int argc, char **argv)
{
	MPI_Win window;
	char *base;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &n);
	MPI_Win_allocate(1000, 1, MPI_INFO_NULL, WORLD, &base, &window);
	fenced(window);
	locked(window);
	if (rank < 2)
		posted(window);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
