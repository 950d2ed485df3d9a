// When queue pairs may send: rates, as DCQCN sets them (docs/credits.md, C33 to C37) for
// the messages of a node to another one when it was notified that packets met a long
// queue, and gaps between messages that begin (C38).
//
// A pair of nodes has a pace from its first marked packet on. Its timers make no events:
// what was due is done when its rate is asked for. Of gaps a node keeps the messages that
// it began in the last queue_pair_gap, TB_GAPS_MOST + 1 at most. Calls cost a look-up
// each, and looking for a packet to cut one for each queue pair that may not go yet.
//
// Parts of a network share gaps, each node's being its part's; congestion control is for
// networks of one part.
#ifndef TB_PACES_H
#define TB_PACES_H

#include "credit_params.h"
#include "replay.h"

// The index of a queue pair into the congestion control table of its adapter, and the
// delay that the table gives (docs/credits.md, C40; IBTA, annex A10).
//
// An index falls with time but makes no events: what was due is done when it is asked
// for. All calls take constant time.

struct tb_congestion_index { // zeroed: it has never risen
	uint32_t above;	     // ccti_min
	tb_time_ps since;    // above 0: when it began to, or fell last
};

// tb_congestion_index_at is its value at `now`, not before that of any call before.
uint32_t tb_congestion_index_at(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now);

// tb_congestion_index_raise: the source is notified.
void tb_congestion_index_raise(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now);

// tb_congestion_delay is what a queue pair waits at an index after a packet that takes
// `packet_ps` of its link.
tb_time_ps tb_congestion_delay(
	const struct tb_credit_params *params, uint32_t index, tb_time_ps packet_ps);

struct tb_paces;

// tb_paces_new makes the paces of a network; NULL where it has neither congestion control
// nor gaps. A replay with faults has no congestion control.
int tb_paces_new(struct tb_paces **paces, const struct tb_network *network,
	bool has_faults) TB_MUST_USE;
void tb_paces_free(struct tb_paces *paces);

// tb_paces_control returns whether there is congestion control; NULL: there is none.
bool tb_paces_control(const struct tb_paces *paces);

// tb_paces_next returns the message of a node of which a packet may be cut now: that of
// the first queue pair in turn that may go. TB_NOTHING: there is none before `*at`, which
// may be TB_TIME_NEVER.
uint32_t tb_paces_next(struct tb_replay *replay, uint32_t node, tb_time_ps *at);
// tb_paces_cut cuts the next packet of that message.
uint32_t tb_paces_cut(struct tb_replay *replay, uint32_t node, uint32_t message);

// tb_paces_marked: a marked packet has come. Returns the number of the pair whose source
// is to be notified, TB_NOTHING: it was a short while ago.
uint32_t tb_paces_marked(struct tb_replay *replay, uint32_t source, uint32_t destination);
// tb_paces_notified: the source of a pair knows now.
void tb_paces_notified(struct tb_replay *replay, uint32_t pair);

#endif
