// What nodes do only in a replay with faults: they try failed packets again, with newer
// tables, and give messages up. Private to replay/.
//
// Rules are those of docs/model.md, "Faults". Without faults a replay has none of this.
#ifndef TB_RETRIES_H
#define TB_RETRIES_H

#include "replay.h"

struct tb_attempt {	   // of a packet
	uint32_t tables;   // that its node routed by when it cut the packet
	uint32_t n_failed; // tries with these tables
	uint32_t dead;	   // link that its header met, TB_ID_NONE
};

// tb_retries_new gives the replay, its choice made, what it needs besides.
int tb_retries_new(struct tb_replay *replay) TB_MUST_USE;
void tb_retries_free(struct tb_replay *replay);

// tb_retries_grow makes room for so many packets; see tb_replay_grow.
int tb_retries_grow(struct tb_replay *replay, uint32_t n_packets) TB_MUST_USE;

// tb_retries_fail_links calls `fail_link` for each link that fails now.
void tb_retries_fail_links(struct tb_replay *replay,
	void (*fail_link)(struct tb_replay *replay, uint32_t link));

// tb_retries_attempt returns the attempt of a packet. The model routes by its `tables`,
// and stores in `dead` the failed link that the header met.
struct tb_attempt *tb_retries_attempt(const struct tb_replay *replay, uint32_t packet);

// tb_retries_put: a packet has failed, as its source learns at `at`. Then the node tries
// it again, or gives its message up.
void tb_retries_put(
	struct tb_replay *replay, uint32_t packet, uint32_t dead, tb_time_ps at);

// tb_retries_inject returns whether a fetched packet finds its node's cable failed, and
// then has the packet fail.
bool tb_retries_inject(struct tb_replay *replay, uint32_t packet);

// tb_retries_cut returns the next packet of a node, of the VL of `nic`: one that is tried
// again, or the next of its messages. It gives up messages that have no route.
// TB_NOTHING: none may go before `*at`, which stays where none is left.
uint32_t tb_retries_cut(
	struct tb_replay *replay, uint32_t node, struct tb_nic *nic, tb_time_ps *at);

// tb_retries_is_one returns whether a packet is tried again: its order counts its tries.
static inline bool tb_retries_is_one(const struct tb_packet *packet)
{
	return packet->order >> 56 > 0;
}

// tb_retries_error is TB_EVENT_ERROR. tb_retries_settle handles this round's errors at
// the end of phase 1.
void tb_retries_error(struct tb_replay *replay, uint32_t retry);
void tb_retries_settle(struct tb_replay *replay);
// tb_retries_error_alone is TB_EVENT_ERROR when nothing else happens in this instant. It
// returns the node that then has to look whether it has a packet to send.
uint32_t tb_retries_error_alone(struct tb_replay *replay, uint32_t retry);

// tb_retries_end ends a message that was given up once nothing of it is under way.
void tb_retries_end(struct tb_replay *replay, uint32_t message);

#endif
