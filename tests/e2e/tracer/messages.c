// Sends messages of known sizes around the ring, in every way that MPI has.
#include <mpi.h>
#include <stdlib.h>

#define WORLD MPI_COMM_WORLD

static char out[100000], in[100000];
static int rank, n, next, before;

static void plain(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	if (rank == 0)
		MPI_Send(out, 1000, MPI_CHAR, 1, 7, WORLD);
	if (rank == 1)
		MPI_Recv(in, 4000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD,
			MPI_STATUS_IGNORE);
	MPI_Irecv(in, 70000, MPI_CHAR, before, 3, WORLD, &requests[0]);
	MPI_Isend(out, 70000, MPI_CHAR, next, 3, WORLD, &requests[1]);
	MPI_Waitall(2, requests, statuses);
	MPI_Sendrecv(out, 64, MPI_DOUBLE, next, 1, in, 64, MPI_DOUBLE, before, 1, WORLD,
		MPI_STATUS_IGNORE);
	MPI_Send(out, 5, MPI_CHAR, MPI_PROC_NULL, 0, WORLD);
}

static void persistent(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	MPI_Recv_init(in, 64, MPI_CHAR, before, 4, WORLD, &requests[0]);
	MPI_Send_init(out, 64, MPI_CHAR, next, 4, WORLD, &requests[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, requests);
		MPI_Waitall(2, requests, statuses);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void probed(void)
{
	MPI_Request request;
	MPI_Message message;
	int done = 0;
	MPI_Isend(out, 33, MPI_CHAR, next, 5, WORLD, &request);
	MPI_Mprobe(MPI_ANY_SOURCE, 5, WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request other;
	MPI_Irecv(in, 5000, MPI_CHAR, MPI_ANY_SOURCE, 6, WORLD, &request);
	MPI_Isend(out, 4096, MPI_CHAR, next, 6, WORLD, &other);
	while (!done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	MPI_Wait(&other, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 5000, MPI_CHAR, MPI_ANY_SOURCE, 99, WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void several(void)
{
	MPI_Request recvs[2], sends[2];
	MPI_Status statuses[2];
	int which, indices[2], n_done = 0, sum = 0;
	for (int i = 0; i < 2; i++) {
		MPI_Irecv(in + 100 * i, 100, MPI_CHAR, before, 10 + i, WORLD, &recvs[i]);
		MPI_Isend(out, 11 + i, MPI_CHAR, next, 10 + i, WORLD, &sends[i]);
	}
	MPI_Waitany(2, recvs, &which, MPI_STATUS_IGNORE);
	MPI_Waitany(2, recvs, &which, MPI_STATUS_IGNORE);
	for (; sum < 2; sum += n_done)
		MPI_Waitsome(2, sends, &n_done, indices, statuses);
}

static void newer(void)
{
#if MPI_VERSION >= 4
	MPI_Request requests[2];
	MPI_Status statuses[2];
	MPI_Isendrecv(out, 77, MPI_CHAR, next, 20, in, 77, MPI_CHAR, before, 20, WORLD,
		&requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Precv_init(
		in, 4, 25, MPI_CHAR, before, 20, WORLD, MPI_INFO_NULL, &requests[0]);
	MPI_Psend_init(
		out, 4, 25, MPI_CHAR, next, 20, WORLD, MPI_INFO_NULL, &requests[1]);
	MPI_Startall(2, requests);
	MPI_Pready(0, requests[1]);
	MPI_Pready_range(1, 3, requests[1]);
	MPI_Waitall(2, requests, statuses);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
#endif
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &n);
	next = (rank + 1) % n;
	before = (rank + n - 1) % n;
	plain();
	persistent();
	probed();
	several();
	newer();
	MPI_Finalize();
	return 0;
}
