// Carries messages between peers over MPI (peers.h).
//
// Open MPI as it is in Debian has no way to go on with a communicator that lost a member.
// But messages between the others still arrive when mpirun was told to let them live
// (--enable-recovery), as long as nobody waits for the lost one: so all calls here return
// at once, messages are of the size that is sent without asking, and after a loss
// MPI_Finalize, which would wait for everybody, is left out.
#include "peers.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 1 };

// How long messages may take to leave when a peer is lost, and how long they and the end
// of MPI may take otherwise: these wait for ever when a peer is lost at the very end.
#define FLUSH_S	   1
#define FINALIZE_S 30

// A message on its way.
struct parcel {
	struct parcel *next;
	MPI_Request request;
	char bytes[];
};

struct world {
	struct parcel *parcels;
};

tb_peers_join_function tb_peers_join;

// reap frees the messages that have left.
static void reap(struct world *world)
{
	for (struct parcel **at = &world->parcels; *at;) {
		struct parcel *parcel = *at;
		int done = 0;
		if (MPI_Test(&parcel->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
			!done) {
			at = &parcel->next;
			continue;
		}
		*at = parcel->next;
		free(parcel);
	}
}

static int send_parcel(void *context, uint32_t to, const void *bytes, size_t n)
{
	struct world *world = context;
	struct parcel *parcel = malloc(sizeof *parcel + n);
	if (!parcel)
		return TB_ENOMEM;
	memcpy(parcel->bytes, bytes, n);
	// An error means that the receiver is lost: so is the message.
	if (MPI_Isend(parcel->bytes, (int)n, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD,
		    &parcel->request) != MPI_SUCCESS) {
		free(parcel);
		return TB_OK;
	}
	parcel->next = world->parcels;
	world->parcels = parcel;
	return TB_OK;
}

static int mpi_receive(void *context, uint32_t *from, void *bytes, size_t *n)
{
	MPI_Status status;
	int there = 0, size = 0;
	reap(context);
	if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) !=
			MPI_SUCCESS ||
		!there)
		return 0;
	if (MPI_Recv(bytes, TB_PEERS_MESSAGE_MOST, MPI_BYTE, status.MPI_SOURCE, TAG,
		    MPI_COMM_WORLD, &status) != MPI_SUCCESS ||
		MPI_Get_count(&status, MPI_BYTE, &size) != MPI_SUCCESS)
		return TB_EIO;
	*from = (uint32_t)status.MPI_SOURCE;
	*n = (size_t)size;
	return 1;
}

static void on_alarm(int signal_number)
{
	(void)signal_number;
	_exit(EXIT_FAILURE);
}

static void mpi_leave(void *context, bool together)
{
	struct world *world = context;
	time_t until = time(NULL) + FLUSH_S;
	if (together) {
		signal(SIGALRM, on_alarm);
		alarm(FINALIZE_S);
	}
	while (world->parcels && (together || time(NULL) <= until))
		reap(world);
	if (!together)
		return;
	MPI_Finalize();
	alarm(0);
	free(world);
}

int tb_peers_join(struct tb_peers *peers, char *text, size_t size)
{
	int provided = 0, rank = 0, n = 1;
	struct world *world = calloc(1, sizeof *world);
	// Another thread simulates meanwhile.
	if (!world || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) !=
			      MPI_SUCCESS) {
		snprintf(text, size, "it does not start");
		free(world);
		return -1;
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	*peers = (struct tb_peers){.context = world,
		.rank = (uint32_t)rank,
		.n = (uint32_t)n,
		.send = send_parcel,
		.receive = mpi_receive,
		.leave = mpi_leave};
	return 0;
}
