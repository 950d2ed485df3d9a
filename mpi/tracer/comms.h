// Communicators and windows: the numbers under which a rank's records name them.
//
// A communicator is defined in the trace, with its members as ranks of MPI_COMM_WORLD,
// when it is made or first seen. Ranks number them on their own; which are the same is
// found later, from members and order. Thread safe if the program's threads may call MPI.
#ifndef TB_COMMS_H
#define TB_COMMS_H

#include "lane.h"
#include "real.h"

// tb_comms_begin defines MPI_COMM_WORLD and MPI_COMM_SELF as 0 and 1.
void tb_comms_begin(struct tb_lane *lane);

// tb_comm_id returns the number of a communicator.
uint64_t tb_comm_id(struct tb_lane *lane, MPI_Comm comm);

// tb_comm_made defines a new communicator, unless it is MPI_COMM_NULL. `like` has its
// members: itself, or while it is not ready (MPI_Comm_idup) the one it will be equal to.
struct tb_comm_birth {
	MPI_Comm parent, like;
	enum tb_tbt_how how;
	int tag;
};
void tb_comm_made(struct tb_lane *lane, MPI_Comm comm, const struct tb_comm_birth *birth);

// tb_comm_gone forgets a handle, which MPI may use again.
void tb_comm_gone(MPI_Comm comm);

// The same for windows.
uint64_t tb_window_id(struct tb_lane *lane, MPI_Win window);
void tb_window_made(struct tb_lane *lane, MPI_Win window, MPI_Comm comm);
void tb_window_gone(MPI_Win window);

#endif
