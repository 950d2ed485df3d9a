// What nodes do only where something of the network dies: packets tried again, with newer
// tables, and messages given up. Private to replay/.
//
// Rules are those of docs/model.md, "Faults". Without faults a replay has none of this.
#ifndef TB_RETRIES_H
#define TB_RETRIES_H

#include "replay.h"

struct tb_trial {	   // of a packet
	uint32_t tables;   // that its node routed by when it cut the packet
	uint32_t n_failed; // tries with these tables
	uint32_t dead;	   // link that its header met, TB_ID_NONE
};

// tb_retries_new gives the replay, its choice made, what it needs beside its other parts.
int tb_retries_new(struct tb_replay *replay) TB_MUST_USE;
void tb_retries_free(struct tb_replay *replay);

// tb_retries_grow makes room for so many packets; see tb_replay_grow.
int tb_retries_grow(struct tb_replay *replay, uint32_t n_packets) TB_MUST_USE;

// tb_retries_strike lets die what dies now: calls `strike` for each link.
void tb_retries_strike(struct tb_replay *replay,
	void (*strike)(struct tb_replay *replay, uint32_t link));

// tb_retries_trial is that of a packet, for the model: it routes by `tables`, and writes
// down the `dead` link that the header met.
struct tb_trial *tb_retries_trial(const struct tb_replay *replay, uint32_t packet);

// tb_retries_put has a packet that failed dealt with at `at`, when its source knows.
void tb_retries_put(
	struct tb_replay *replay, uint32_t packet, uint32_t dead, tb_time_ps at);

// tb_retries_inject returns whether a fetched packet finds its node's cable dead, and has
// it fail.
bool tb_retries_inject(struct tb_replay *replay, uint32_t packet);

// tb_retries_cut is the next packet of a node: one to be tried again, or the next of its
// messages; TB_NOTHING when there is none. Messages without a way are given up.
uint32_t tb_retries_cut(struct tb_replay *replay, uint32_t node);

// TB_EVENT_ERROR, and what is made of this round's errors at the end of phase 1.
void tb_retries_error(struct tb_replay *replay, uint32_t retry);
void tb_retries_settle(struct tb_replay *replay);
// TB_EVENT_ERROR when nothing else happens in this instant. Returns the node that then
// has to look whether it has a packet to send.
uint32_t tb_retries_error_alone(struct tb_replay *replay, uint32_t retry);

// tb_retries_end ends a message that was given up once nothing of it is under way.
void tb_retries_end(struct tb_replay *replay, uint32_t message);

#endif
