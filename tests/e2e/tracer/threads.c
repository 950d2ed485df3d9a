// Four threads of each of two ranks exchange 100 messages each, each thread with its own
// tag; then one thread begins what another waits for.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int rank;
static MPI_Request handed;

static void *exchange(void *own)
{
	char out[64], in[64];
	int number = *(int *)own;
	for (int i = 0; i < 100; i++) {
		MPI_Request request;
		MPI_Irecv(in, 64, MPI_CHAR, 1 - rank, number, MPI_COMM_WORLD, &request);
		MPI_Send(out, 10 + number, MPI_CHAR, 1 - rank, number, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	return NULL;
}

static char handed_in[64];

static void *hand_over(void *own)
{
	(void)own;
	MPI_Irecv(handed_in, 64, MPI_CHAR, 1 - rank, 50, MPI_COMM_WORLD, &handed);
	return NULL;
}

int main(int argc, char **argv)
{
	int level, numbers[4];
	char out[64];
	pthread_t threads[4];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (level < MPI_THREAD_MULTIPLE)
		puts("no threads");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 4 && level == MPI_THREAD_MULTIPLE; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, exchange, &numbers[i]);
	}
	for (int i = 0; i < 4 && level == MPI_THREAD_MULTIPLE; i++)
		pthread_join(threads[i], NULL);
	pthread_create(&threads[0], NULL, hand_over, NULL);
	pthread_join(threads[0], NULL);
	MPI_Send(out, 51, MPI_CHAR, 1 - rank, 50, MPI_COMM_WORLD);
	MPI_Wait(&handed, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
