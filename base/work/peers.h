// Processes that work together, on one machine or several, and the messages that they
// send each other.
//
// Model: a launcher such as mpirun starts them all at once; rank 0 leads. What carries
// messages is a module of its own, opened only when it is needed, so that the program
// does without MPI elsewhere (mpi/README.md). A message that was sent arrives once, and
// messages from one to another arrive in order; but a peer may be lost at any time,
// without notice. One thread at a time.
#ifndef TB_PEERS_H
#define TB_PEERS_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

// The longest message. Small enough that every network takes it without asking the
// receiver first: what is sent to or by a lost peer then holds up nobody.
#define TB_PEERS_MESSAGE_MOST 3968

struct tb_peers {
	void *context;
	uint32_t rank; // of this process
	uint32_t n;    // processes
	// send copies the message and returns at once. TB_ENOMEM.
	int (*send)(void *context, uint32_t to, const void *bytes, size_t n);
	// receive takes the next message, if one has arrived: 1 or 0. `bytes` has room
	// for TB_PEERS_MESSAGE_MOST. TB_EIO.
	int (*receive)(void *context, uint32_t *from, void *bytes, size_t *n);
	// leave ends it all. `together`: all peers do the same, so wait until what was
	// sent has arrived. Otherwise some are lost: the process should end soon.
	void (*leave)(void *context, bool together);
};

// tb_peers_launched returns how many processes the launcher has started: 1 when there was
// none.
uint32_t tb_peers_launched(void);

// tb_peers_open joins the others. TB_EUSAGE when the module is not installed, TB_EIO when
// MPI fails.
int tb_peers_open(struct tb_peers *peers, struct tb_error *error) TB_MUST_USE;

// What the module exports, under this name: 0, or -1 with a sentence in `text`.
#define TB_PEERS_JOIN "tb_peers_join"
typedef int tb_peers_join_function(struct tb_peers *peers, char *text, size_t size);

#endif
