// The figures of a replay while it runs: what was sent, what arrived, what it cost.
#ifndef TB_ENGINE_STATS_H
#define TB_ENGINE_STATS_H

#include "units.h"

#include <stdint.h>

struct tb_engine_stats {
	tb_time_ps now_ps; // simulated time; after the end, of the last message sent or
			   // delivered
	uint64_t n_posted; // messages
	uint64_t n_delivered;	// messages
	uint64_t n_packets;	// delivered
	uint64_t payload_bytes; // delivered
	uint64_t wait_ps;	// of all headers at all switches, ended waits only
	uint64_t n_events;
	uint64_t n_hops;	// links crossed by packets
	uint32_t n_in_flight;	// packets; of records of one packet each counts
	uint32_t link_bytes;	// of the engine's memory, for each link
	uint32_t packet_bytes;	// and for each packet that can be in flight
	uint64_t n_retries;	// packets sent again after an error
	uint64_t n_undelivered; // messages given up
	uint64_t n_lost;	// frames for which a queue had no room
	uint64_t n_resent;	// segments that TCP sent again
};

#endif
