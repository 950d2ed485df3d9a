// Two ranks start a world of another two, whose ranks have the same numbers, and send.
#include <mpi.h>

int main(int argc, char **argv)
{
	char bytes[500] = {0};
	int rank;
	MPI_Comm parent, children;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL)
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
			MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	int n = parent == MPI_COMM_NULL ? 500 : 300;
	if (rank == 0)
		MPI_Send(bytes, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
	else
		MPI_Recv(bytes, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
