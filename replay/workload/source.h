// Where messages come from: what the engine asks while it runs. Packet traces and jobs
// each implement one (workload_impl.h, workload_impl.h).
//
// The engine asks when the source next has something to post, takes the messages when
// that time has come, and reports messages that are sent and delivered. Calls come in the
// order of simulated time and never nest.
#ifndef TB_SOURCE_H
#define TB_SOURCE_H

#include "ids.h"
#include "status.h"
#include "units.h"

#include <stdbool.h>

struct tb_message {
	uint64_t cookie; // given back with `sent` and `delivered`
	struct tb_node source;
	struct tb_node destination;
	// Above 1: a broadcast to this many consecutive nodes, the destination first. It
	// counts as one message, delivered when all have it.
	uint32_t n_receivers;
	uint64_t bytes; // payload; 0 is a message too
	uint32_t job;	// below 2^16
	// Of the job, below 2^24; 0 where a trace has none. Only hosts look at these.
	uint32_t source_rank, destination_rank;
	uint32_t source_place, destination_place; // of them among those of their node
	uint32_t via; // 1 + the network interface that the trace names; 0: it names none
	uint32_t n_ranks; // of its job; 0: unknown
	bool one_node;	  // all these are on one
	bool planned;	  // as struct tb_op has it
	bool captured;	  // its hosts' overheads lie before the capture
};

static inline bool tb_is_broadcast(const struct tb_message *message)
{
	return message->n_receivers > 1;
}

// How the latency of a delivered message came about (docs/model.md, "Latency").
struct tb_latency_parts {
	tb_time_ps queue_ps;   // own queue
	tb_time_ps started_at; // its first packet entered the network
	tb_time_ps drained_at; // its last packet had been drained
	tb_time_ps paced_ps;   // as of its parts
};

// The same of a whole message, of processes. The first four add up to its latency.
struct tb_message_parts {
	tb_time_ps queue_ps, software_ps;
	tb_time_ps ideal_ps; // in the network, as long as that takes when it is idle
	tb_time_ps held_ps;  // in the network, beyond that
	// Of held_ps, and then of queue_ps: congestion control kept its packets while the
	// links that they wait for rested.
	tb_time_ps paced_ps;
};

struct tb_source {
	void *context;
	// when returns the time of the next message that can be posted if nothing else
	// happens before; TB_TIME_NEVER when there is none.
	tb_time_ps (*when)(void *context);
	// take stores the next message posted at `now`: 1, 0 when this instant has no
	// more, or a negative status.
	int (*take)(void *context, tb_time_ps now, struct tb_message *message,
		struct tb_error *error);
	// sent: the last packet is acknowledged and the sender's buffer is free.
	// delivered: the receiver has been notified of the last byte. Both may be NULL
	// (open loop).
	int (*sent)(
		void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error);
	int (*delivered)(
		void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error);
	// crossed: comes before `delivered`. May be NULL.
	void (*crossed)(
		void *context, uint64_t cookie, const struct tb_latency_parts *crossing);
	// measured: comes before `delivered`, once a message of processes. May be NULL.
	void (*measured)(
		void *context, uint64_t cookie, const struct tb_message_parts *parts);
	// undelivered: the message was given up because a link or switch is dead, and
	// none of its packets is under way any more. May be NULL.
	int (*undelivered)(
		void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error);
	// finish is called when nothing moves and nothing more is to be posted: TB_OK, or
	// TB_EDEADLOCK with the operations that wait for each other. May be NULL.
	int (*finish)(void *context, struct tb_error *error);
};

// tb_source_measure reports to a source that asks how a message took its time.
static inline void tb_source_measure(const struct tb_source *source, uint64_t cookie,
	const struct tb_message_parts *parts)
{
	if (source->measured)
		source->measured(source->context, cookie, parts);
}

// tb_source_is_open_loop returns whether a source posts the same messages whatever
// happens to them.
static inline bool tb_source_is_open_loop(const struct tb_source *source)
{
	return !source->sent && !source->delivered && !source->undelivered;
}

#endif
