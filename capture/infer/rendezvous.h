// Messages that ask before they send: rules L13 to L15 of docs/closed-loop.md. A request
// is answered, and the answer allows the data.
#ifndef TB_RENDEZVOUS_H
#define TB_RENDEZVOUS_H

#include "causes.h"

enum tb_role { TB_ROLE_NONE, TB_ROLE_REQUEST, TB_ROLE_ANSWER, TB_ROLE_DATA };

// What of a rendezvous a message is.
struct tb_asked {
	uint8_t role;	  // enum tb_role
	uint32_t replied; // what an answer answers, or the answer that allows data
	uint32_t round;	  // of a request or an answer; UINT32_MAX: none
};

// A round: requests of one node to different peers that it makes in one call.
struct tb_round {
	uint32_t node;
	uint32_t first_request; // the first of its messages
	uint32_t first, n;	// what it waits for, in rows of the causes
	int64_t gap_ns;		// of computation
	int64_t began_ns;
};

struct tb_rendezvous {
	struct tb_asked *of; // by message
	struct tb_round *rounds;
	size_t n_rounds, rounds_room;
};

// tb_rendezvous_find looks for them, and replaces the causes of their data. Time
// begins at `begin_ns`.
int tb_rendezvous_find(struct tb_rendezvous *rendezvous, struct tb_causes *causes,
	const struct tb_message_list *list, uint32_t n_nodes,
	int64_t begin_ns) TB_MUST_USE;
void tb_rendezvous_fini(struct tb_rendezvous *rendezvous);

#endif
