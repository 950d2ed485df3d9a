// Ten messages around the ring; then rank 1 ends, by MPI_Abort or, with an argument, by
// a signal ("killed", or "fault"), while the others wait.
#include <mpi.h>
#include <signal.h>

int main(int argc, char **argv)
{
	int rank, n;
	char out[128], in[128];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int i = 0; i < 10; i++)
		MPI_Sendrecv(out, 128, MPI_CHAR, (rank + 1) % n, 0, in, 128, MPI_CHAR,
			(rank + n - 1) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1 && argc > 1)
		raise(argv[1][0] == 'k' ? SIGKILL : SIGSEGV);
	else if (rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Recv(in, 1, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
