// What the peers of a sweep say to each other. Private to analyze/sweep/.
//
// The program is the same on all machines of a job, so a message is a struct as it is in
// memory, cut off behind the bytes that it has.
#ifndef TB_SWEEP_MESSAGE_H
#define TB_SWEEP_MESSAGE_H

#include "digest.h"
#include "peers.h"

#include <string.h>

// In a silence after which a peer would be taken for lost, it says so many times that it
// is there.
#define TB_SWEEP_BEATS 10

// How long a peer sleeps when there is nothing to do.
#define TB_SWEEP_REST_NS 1000000

enum tb_sweep_word {
	// From the leader:
	TB_SWEEP_BEGIN = 1, // read the sweep, which has this digest, in `bytes`
	TB_SWEEP_POINT,	    // run `point`, as the run `run`
	TB_SWEEP_END,	    // that is all; `at` is 1 when no peer is lost
	// From a worker:
	TB_SWEEP_READY,	 // for the first point
	TB_SWEEP_PIECE,	 // of a result: of `total` bytes those from `at`
	TB_SWEEP_FAILED, // the struct tb_error in `bytes`
	// From both:
	TB_SWEEP_BEAT, // I am still there
};

#define TB_SWEEP_MESSAGE_HEAD offsetof(struct tb_sweep_message, bytes)
#define TB_SWEEP_PIECE_MOST   (TB_PEERS_MESSAGE_MOST - 40)

struct tb_sweep_message {
	uint32_t word; // enum tb_sweep_word
	uint32_t point;
	int64_t run;
	uint64_t at, total;
	unsigned char bytes[TB_SWEEP_PIECE_MOST];
};

_Static_assert(
	sizeof(struct tb_sweep_message) <= TB_PEERS_MESSAGE_MOST, "a message fits");
_Static_assert(sizeof(struct tb_error) <= TB_SWEEP_PIECE_MOST, "an error fits");

// tb_sweep_say sends a message with `n` of its bytes.
static inline int tb_sweep_say(const struct tb_peers *peers, uint32_t to,
	const struct tb_sweep_message *message, size_t n)
{
	return peers->send(peers->context, to, message, TB_SWEEP_MESSAGE_HEAD + n);
}

// tb_sweep_say_word sends one without bytes.
static inline int tb_sweep_say_word(
	const struct tb_peers *peers, uint32_t to, enum tb_sweep_word word)
{
	const struct tb_sweep_message message = {.word = word};
	return tb_sweep_say(peers, to, &message, 0);
}

// tb_sweep_hear takes the next message and stores how many bytes it has: 1, 0 when none
// has arrived. One that is too short is passed over.
static inline int tb_sweep_hear(const struct tb_peers *peers, uint32_t *from,
	struct tb_sweep_message *message, size_t *n)
{
	unsigned char bytes[TB_PEERS_MESSAGE_MOST];
	size_t size = 0;
	int status = peers->receive(peers->context, from, bytes, &size);
	if (status <= 0)
		return status;
	if (size < TB_SWEEP_MESSAGE_HEAD || size > sizeof *message)
		return 0;
	memcpy(message, bytes, size);
	*n = size - TB_SWEEP_MESSAGE_HEAD;
	return 1;
}

#endif
