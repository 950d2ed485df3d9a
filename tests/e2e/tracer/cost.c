// How long calls take that do as little as calls can: messages of a rank to itself, and
// tests in vain. Prints the nanoseconds of a call of either kind, the quickest of 5
// rounds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char out[8] = "", in[8];
	MPI_Request requests[2];
	MPI_Status statuses[2];
	double least[2] = {1, 1};
	int n = argc > 1 ? atoi(argv[1]) : 100000, done;
	MPI_Init(&argc, &argv);
	for (int round = 0; round < 5; round++) {
		double begin = MPI_Wtime();
		for (int i = 0; i < n; i++) {
			MPI_Irecv(in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
			MPI_Isend(out, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[1]);
			MPI_Waitall(2, requests, statuses);
		}
		double middle = MPI_Wtime();
		MPI_Irecv(in, 8, MPI_CHAR, 0, 2, MPI_COMM_SELF, &requests[0]);
		double tests = MPI_Wtime();
		for (int i = 0; i < n; i++)
			MPI_Test(&requests[0], &done, statuses);
		double end = MPI_Wtime();
		MPI_Send(out, 8, MPI_CHAR, 0, 2, MPI_COMM_SELF);
		MPI_Wait(&requests[0], statuses);
		least[0] =
			(middle - begin) / 3 < least[0] ? (middle - begin) / 3 : least[0];
		least[1] = end - tests < least[1] ? end - tests : least[1];
	}
	printf("%.0f %.0f\n", least[0] / n * 1e9, least[1] / n * 1e9);
	MPI_Finalize();
	return 0;
}
