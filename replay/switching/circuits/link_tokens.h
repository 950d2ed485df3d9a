// Link tokens: the flow-control traffic of one direction of a cable, which takes time of
// the other. Private to this room.
//
// Model (docs/model.md, rules 33 to 35). A train is a sequence of bursts of one packet
// that follow each other on a link without a gap. A train that has crossed makes the
// reverse link owe tokens: a share of what its bytes take. A link sends what it owes
// while no train crosses it, and begins no train before it has sent what it owed before
// this instant. So idle links pay at no cost, and a busy cable shares its time.
//
// A link is looked at only when it begins a train: what came due meanwhile is made up
// for then. Thread rule: one at a time.
#ifndef TB_LINK_TOKENS_H
#define TB_LINK_TOKENS_H

#include "units.h"

#include <stdbool.h>
#include <stdint.h>

struct trains; // opaque: those of all links

// tb_link_tokens_new prepares `n_slots` links for trains of which a byte makes the
// reverse link owe `share` (0 to 1) bytes, kept with 16 binary places. NULL: no memory.
struct trains *tb_link_tokens_new(uint32_t n_slots, double share);
void tb_link_tokens_free(struct trains *trains);

// tb_link_tokens_pair makes `reverse` the link that owes for what crosses `slot`.
void tb_link_tokens_pair(struct trains *trains, uint32_t slot, uint32_t reverse);

// tb_link_tokens_fetch fetches into the cache what the other calls for `slot` read.
void tb_link_tokens_fetch(const struct trains *trains, uint32_t slot);

// tb_link_tokens_begin begins a train on `slot`, now or at the instant foreseen.
void tb_link_tokens_begin(struct trains *trains, uint32_t slot, tb_time_ps start);

// tb_link_tokens_cross lets the next burst of the train on `slot` cross until `end`; it
// takes `burst_ps` by itself.
void tb_link_tokens_cross(
	struct trains *trains, uint32_t slot, tb_time_ps end, tb_time_ps burst_ps);

// tb_link_tokens_sent returns when `slot`, which no train crosses, has sent what it owed
// before `now`; 0 or any instant up to `now` when nothing is left to send.
tb_time_ps tb_link_tokens_sent(struct trains *trains, uint32_t slot, tb_time_ps now);

// tb_link_tokens_foreseen returns from when on `slot` can take a train after the one that
// crosses it: its end and the tokens due by then. TB_TIME_NEVER when that is not certain
// yet, as the reverse link may end a train before.
tb_time_ps tb_link_tokens_foreseen(const struct trains *trains, uint32_t slot);

#endif
