// What stands between the processes of a node and its network interfaces: a communication
// library's overheads and protocol, shared memory, and how messages are spread over
// rails.
//
// Numbers of rules are those of docs/model.md, "The host". A preset names libraries in
// sections [host.NAME] and one of them as its own (`host = NAME`); zeroed values do
// nothing.
#ifndef TB_HOST_PARAMS_H
#define TB_HOST_PARAMS_H

#include "units.h"

#include <stdbool.h>

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
};

#define TB_STRIPE_ABOVE_BYTES 1024 // papers 002, 6.4 and 003, 6

struct tb_host_params {
	char name[32];		   // of the library; "" when there is none
	tb_time_ps issue_ps;	   // the sending process is busy for this long per piece
	tb_time_ps notice_ps;	   // and the receiving process
	uint64_t copy_bytes_per_s; // and the sender copies at this rate; 0: does not
	uint32_t largest_bytes;	   // longer messages go in pieces; 0: in one
	uint32_t n_outstanding; // pieces of a process that are under way; 0: any number
	enum tb_rails_policy rails_policy;
	uint32_t stripe_above_bytes; // longer pieces are split, where any are
	enum tb_handshake handshake;
	uint32_t handshake_above_bytes; // shorter pieces go without
	enum tb_local local;
	tb_time_ps local_latency_ps;
	uint64_t local_bytes_per_s; // of a node's memory, copying, or of a process's
				    // link; 0: no limit
};

// tb_handshake_name, tb_local_name and tb_rails_policy_name are the words for them in
// presets; NULL beyond the last.
const char *tb_handshake_name(enum tb_handshake handshake);
const char *tb_local_name(enum tb_local local);
const char *tb_rails_policy_name(enum tb_rails_policy policy);

// tb_host_does_nothing returns whether a library leaves messages as they are, but for
// which of several rails they take.
bool tb_host_does_nothing(const struct tb_host_params *host);

#endif
