// The parameters of a network: what its links, switches, nodes and host libraries are
// like, and which regular tree they form, if they do.
#ifndef TB_NETWORK_PARAMS_H
#define TB_NETWORK_PARAMS_H

#include "shape.h"
#include "units.h"

#include <stdbool.h>
#include <stdint.h>

// What stands between the processes of a node and its network interfaces: a communication
// library's overheads and protocol, shared memory, and how messages are spread over
// rails.
//
// Numbers of rules are those of docs/model.md, "The host". A preset names libraries in
// sections [host.NAME] and one of them as its own (`host = NAME`); zeroed values do
// nothing.

// What the two sides exchange before the data of a message.
enum tb_handshake {
	TB_HANDSHAKE_NONE,
	TB_HANDSHAKE_READ,	 // the receiver's request: it reads the sender's memory
	TB_HANDSHAKE_RENDEZVOUS, // the sender's announcement and the receiver's answer
};

// How a message travels between two processes of one node.
enum tb_local {
	TB_LOCAL_NETWORK, // through the network interface and back
	TB_LOCAL_MEMORY,  // copied through shared memory
	TB_LOCAL_LINKS,	  // over links that each process has by itself, as GPUs do
};

// How pieces of messages lie on rails (rule H6).
enum tb_rails_policy {
	TB_RAILS_STRIPING,    // long ones are split, the others take turns
	TB_RAILS_ROUND_ROBIN, // whole, in turn
	TB_RAILS_STATIC,      // by sender and receiver: a NIC has one direction
	TB_RAILS_LOCAL,	      // the sender's least busy NIC
	TB_RAILS_RESERVE,     // a NIC that is free at both ends, set aside before
	TB_RAILS_BY_RANK,     // each rank of a node is bound to one
};

// How a message goes between ranks that are bound to different rails.
enum tb_between_rails {
	TB_BETWEEN_PXN,	  // over the sender's link to whom the receiver's rail belongs
	TB_BETWEEN_SPINE, // from rail to rail, through switches that join them
};

#define TB_STRIPE_ABOVE_BYTES 1024 // papers 002, 6.4 and 003, 6

struct tb_host_params {
	char name[32];	      // of the library; "" when there is none
	tb_time_ps issue_ps;  // the sending process is busy for this long per piece
	tb_time_ps notice_ps; // and the receiving process
	tb_time_ps wake_ps;   // which sees it so much later, and is not busy meanwhile
	uint64_t copy_bytes_per_s; // and the sender copies at this rate; 0: does not
	uint64_t eager_copy_bytes_per_s; // and both ends copy what goes without a
					 // handshake; 0: they do not
	uint32_t largest_bytes;		 // longer messages go in pieces; 0: in one
	uint32_t n_outstanding; // pieces of a process that are under way; 0: any number
	// Of what no collective call sends between nodes (rule H10):
	tb_time_ps launch_ps;
	uint64_t channel_bytes_per_s; // of a channel of two processes; 0: no limit
	enum tb_rails_policy rails_policy;
	enum tb_between_rails between_rails; // of TB_RAILS_BY_RANK
	uint32_t n_gpus; // of a node, likewise: with fewer than rails each is bound to
			 // several of them; 0: each to one
	uint32_t stripe_above_bytes; // longer pieces are split, where any are
	enum tb_handshake handshake;
	uint32_t handshake_above_bytes; // shorter pieces go without
	tb_time_ps handshake_delay_ps;	// to each answer in a handshake
	enum tb_local local;
	tb_time_ps local_latency_ps;
	uint32_t local_inline_bytes; // through memory, longer ones take longer by
	tb_time_ps local_fetch_ps;
	uint64_t local_bytes_per_s; // of a process, copying, or of its link; 0: no limit
	// In collective calls, of MPIs: see struct tb_call_work; 0: takes no time.
	uint64_t combine_bytes_per_s, combine_cached_bytes_per_s, pack_bytes_per_s;
	uint64_t cache_bytes, shared_cache_bytes;
	uint64_t fresh_bytes_per_s; // of memory that a call takes from the system
	tb_time_ps pin_ps;	    // to register it for a message, at each end
	tb_time_ps call_ps;
	uint64_t memory_bytes_per_s; // of all that a node copies at once; likewise
};

// Their words in presets; NULL behind the last.
extern const char *const tb_handshake_words[];
extern const char *const tb_local_words[];
extern const char *const tb_rails_policy_words[];
extern const char *const tb_between_rails_words[];

// tb_host_does_nothing returns whether a library leaves messages as they are, but for
// which of several rails they take.
bool tb_host_does_nothing(const struct tb_host_params *host);

// How a header chooses where several links lead on; the adaptive ones take a least
// loaded link with a free VC and differ in what they do with equals.
enum tb_ascent {
	TB_ASCENT_ADAPTIVE,		// of equals one at random (seeded)
	TB_ASCENT_ADAPTIVE_LOWEST,	// of equals the lowest port
	TB_ASCENT_ADAPTIVE_ROUND_ROBIN, // of equals the next after the last one taken
	TB_ASCENT_DETERMINISTIC,	// by the destination: its digits (d-mod-k), else
					// balanced
	TB_ASCENT_SOURCE,		// by the source's digits (s-mod-k)
	TB_ASCENT_RANDOM,		// any, whatever its load (seeded)
	TB_ASCENT_ECMP,			// by a hash of source and destination (seeded)
	TB_ASCENT_TABLE,		// by the tables of a route file, up and down
};

// Their words in presets, stores and reports; NULL behind the last.
extern const char *const tb_ascent_words[];

// Bytes for what one switching has alone, with some to spare.
enum { TB_CIRCUIT_ROOM = 128, TB_CREDIT_ROOM = 1536, TB_ETHERNET_ROOM = 128 };

// The parameters of a network, as a preset file gives them
// (schemas/*.ini). Sources stand with each preset value.
struct tb_network_params {
	char name[32];
	char switching[16];  // how links and switches carry packets: circuits, credits,
			     // ethernet, fluid
	unsigned stands_for; // with `fluid`: the number of the switching that the network
			     // has with packets
	// With `fluid`, the window in which it has packets all the same; both 0: none.
	tb_time_ps exact_from_ps, exact_to_ps;
	uint32_t arity;		   // k: links down and up of a switch
	uint32_t n_ports;	   // of a switch as it is sold; 0: not known
	uint32_t levels;	   // n: k^n nodes, n k^(n-1) switches
	char shape[TB_SHAPE_TEXT]; // of another regular tree (shape.h), or ""; arity is
				   // 0. A fabric that was read has TB_SHAPE_FABRIC
	uint32_t n_rails;	   // networks of that shape, side by side
	enum tb_ascent ascent;
	unsigned broadcast; // 1: sends to a range of nodes become one (docs/inputs.md)
	uint64_t link_bytes_per_s;
	tb_time_ps hop_latency_ps; // flow-through of a switch plus wire, header in to
				   // header out
	char level_rates[TB_SHAPE_TEXT]; // by level (shape.h), or ""; then the rate above
					 // is that of the nodes' links
	char level_latencies[TB_SHAPE_TEXT]; // likewise
	uint32_t n_vcs;	     // virtual channels per link; of credits virtual lanes
	uint32_t fifo_bytes; // per VC, at the receiving end
	uint32_t packet_payload_bytes;	// the most that one packet carries
	uint32_t packet_overhead_bytes; // added to each packet on the wire
	tb_time_ps send_overhead_ps;	// from the post of a message to its first fetch
	tb_time_ps
		receive_overhead_ps; // from the last byte in memory to the notification
	uint32_t retries; // of a packet that met an error, before its node routes
			  // around
	tb_time_ps retry_delay_ps; // from an error's return to the next try
	struct tb_host_params host;
	// What one switching has alone: its header declares it (circuit_params.h,
	// credit_params.h, ethernet_params.h) and returns a pointer to it. It lies here
	// as bytes so that parameters are copied by assignment and need not be freed, and
	// that a new one concerns only the files that include that header.
	_Alignas(8) char circuit_room[TB_CIRCUIT_ROOM];
	_Alignas(8) char credit_room[TB_CREDIT_ROOM];
	_Alignas(8) char ethernet_room[TB_ETHERNET_ROOM];
};

// tb_network_payload_rate returns the most payload per second, at least 1, that one link
// of a node sends: its rate times the payload of a full packet over what that is on the
// wire, or the node's bus or PCIe where that is less. Of qsnet TB_SYNTH_RATE_BYTES_PER_S.
uint64_t tb_network_payload_rate(const struct tb_network_params *params);

#endif
