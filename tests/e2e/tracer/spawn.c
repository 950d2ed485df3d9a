// Two ranks start a world of another two, whose ranks have the same numbers, and send:
// within each world, between them, and in what both become when they are merged.
#include <mpi.h>

static void meet(MPI_Comm other, int rank, int high)
{
	char bytes[77] = {0};
	int sum = 1;
	MPI_Comm all;
	MPI_Intercomm_merge(other, high, &all);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, all);
	if (sum != 4)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (rank == 0 && high)
		MPI_Send(bytes, 77, MPI_CHAR, 1, 5, other);
	if (rank == 1 && !high)
		MPI_Recv(bytes, 77, MPI_CHAR, 0, 5, other, MPI_STATUS_IGNORE);
	MPI_Comm_free(&all);
	MPI_Barrier(other);
	MPI_Comm_disconnect(&other);
}

int main(int argc, char **argv)
{
	char bytes[500] = {0};
	int rank;
	MPI_Comm parent, children;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	int is_child = parent != MPI_COMM_NULL;
	if (!is_child)
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
			MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	meet(is_child ? parent : children, rank, is_child);
	int n = is_child ? 300 : 500;
	if (rank == 0)
		MPI_Send(bytes, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
	else
		MPI_Recv(bytes, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
