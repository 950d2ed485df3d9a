// A program drawn at random from a seed, the same for all ranks: messages of all kinds
// around rings and in pairs, types with holes, persistent requests, communicators,
// collective calls, MPI_PROC_NULL.
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

enum { BYTES_MOST = 40000 };

static uint64_t state;
static char out[2 * BYTES_MOST], in[2 * BYTES_MOST], back[16 * BYTES_MOST];

static int draw(int n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((state >> 33) % (uint64_t)n);
}

static void message(MPI_Comm comm, int kind, int bytes, int tag, MPI_Datatype type)
{
	int rank, n;
	MPI_Request both[2];
	MPI_Status status;
	MPI_Message message;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &n);
	int step = n > 1 ? 1 + draw(n - 1) : 0, to = (rank + step) % n,
	    from = (rank + n - step) % n;
	int open_to = rank + step < n ? rank + step : MPI_PROC_NULL;
	int open_from = rank >= step ? rank - step : MPI_PROC_NULL;
	switch (kind) {
	case 0:
		MPI_Sendrecv(out, bytes, type, open_to, tag, in, bytes, type, open_from,
			tag, comm, &status);
		break;
	case 1:
		MPI_Sendrecv_replace(
			in, bytes, type, to, tag, from, tag, comm, MPI_STATUS_IGNORE);
		break;
	case 2:
		MPI_Irecv(in, BYTES_MOST, type, MPI_ANY_SOURCE, tag, comm, &both[0]);
		MPI_Isend(out, bytes, type, to, tag, comm, &both[1]);
		MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
		break;
	case 3:
		MPI_Irecv(in, BYTES_MOST, type, open_from, MPI_ANY_TAG, comm, &both[0]);
		MPI_Ssend(out, bytes, type, open_to, tag, comm);
		for (int done = 0; !done;)
			MPI_Test(&both[0], &done, MPI_STATUS_IGNORE);
		break;
	case 4:
		MPI_Recv_init(in, BYTES_MOST, type, from, tag, comm, &both[0]);
		MPI_Send_init(out, bytes, type, to, tag, comm, &both[1]);
		for (int i = 0; i < 3; i++) {
			MPI_Startall(2, both);
			MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
		}
		MPI_Request_free(&both[0]);
		MPI_Request_free(&both[1]);
		break;
	default:
		MPI_Isend(out, bytes, type, to, tag, comm, &both[1]);
		MPI_Mprobe(from, tag, comm, &message, &status);
		MPI_Mrecv(in, BYTES_MOST, type, &message, &status);
		MPI_Wait(&both[1], MPI_STATUS_IGNORE);
	}
}

static void collective(MPI_Comm comm, int kind, int count)
{
	int rank, n, sizes[16], places[16];
	MPI_Request request;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &n);
	int root = draw(n);
	for (int i = 0; i < n; i++)
		sizes[i] = count + i, places[i] = i * (count + n);
	switch (kind) {
	case 0:
		MPI_Barrier(comm);
		break;
	case 1:
		MPI_Bcast(in, count, MPI_INT, root, comm);
		break;
	case 2:
		MPI_Iallreduce(out, in, count, MPI_DOUBLE, MPI_MAX, comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 3:
		MPI_Gatherv(out, sizes[rank], MPI_CHAR, back, sizes, places, MPI_CHAR,
			root, comm);
		break;
	case 4:
		MPI_Alltoall(out, count / 8, MPI_SHORT, back, count / 8, MPI_SHORT, comm);
		break;
	case 5:
		MPI_Allgatherv(
			out, sizes[rank], MPI_CHAR, back, sizes, places, MPI_CHAR, comm);
		break;
	case 6:
		MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, comm);
		break;
	default:
		MPI_Scan(out, in, count, MPI_INT, MPI_SUM, comm);
	}
}

int main(int argc, char **argv)
{
	MPI_Datatype types[3] = {MPI_CHAR, MPI_INT, MPI_DATATYPE_NULL};
	MPI_Comm comms[3];
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	state = (uint64_t)atoi(argv[1]);
	MPI_Type_vector(2, 1, 2, MPI_CHAR, &types[2]);
	MPI_Type_commit(&types[2]);
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
	for (int i = 0; i < 200; i++) {
		int choice = draw(2), kind = draw(8),
		    most = draw(8) ? 1000 : BYTES_MOST / 8;
		int amount = draw(most);
		if (choice)
			collective(comms[draw(2)], kind, amount);
		else
			message(comms[draw(2)], kind % 6, amount, i, types[draw(3)]);
		if (i % 20 == 0) {
			// The two halves may have different sizes: what is drawn there
			// stays in there.
			uint64_t before = state;
			message(comms[2], kind % 6, amount, i, types[1]);
			collective(comms[2], kind, amount);
			state = before;
		}
	}
	MPI_Finalize();
	return 0;
}
