// When queue pairs may send: rates, as DCQCN sets them (docs/credits.md, C33 to C37) for
// the messages of a node to another one when it was notified that packets met a long
// queue, and gaps between messages that begin (C38).
//
// A pair of nodes has a pace, one a VL, from its first marked packet on. Its timers make
// no events: what was due is done when its rate is asked for. Of gaps a node keeps the
// messages that it began in the last queue_pair_gap, TB_GAPS_MOST + 1 at most. Calls cost
// a look-up each, and looking for a packet to cut one for each queue pair that may not go
// yet.
//
// Parts of a network share gaps, each node's being its part's; congestion control is for
// networks of one part.
//
// Rules, as in docs/credits.md:
//
// C33. Marks. When a packet begins to cross a link out of a switch, q is the bytes of
//   the packets of its VL that still wait there for this link. The packet is not marked
//   for q up to `ecn_min`, always above `ecn_max`, and between them with p =
//   `ecn_probability` · (q - `ecn_min`) / (`ecn_max` - `ecn_min`): if the last 20 bits
//   of its random number (rule 18), with the link's number plus the number of all
//   switches as switch, are below p · 2^20.
// C34. Notifications. The node to which a marked packet has come notifies its source,
//   for each pair of nodes and VL at most once per `cnp_interval`. The source learns of
//   it with the packet's acknowledgement (C18).
// C35. Rates. A pair of nodes has no limit until then. When a packet of w bytes has
//   been cut at rate R, the pair's next one is cut at least w / R later. A queue pair
//   that may not go yet is passed over and keeps its place (C15).
// C36. Down. Without a limit R is the injection link's rate and α is 1. A notification
//   sets the target to R, subtracts R · α / 2 from R (not below 100 Mbit/s), then adds
//   1/256 - α / 256 to α, in units of 2^-20. Every 55 us after it, α loses α / 256.
// C37. Up. There is a step every `rate_timer` after the notification, and after every
//   `rate_bytes` cut. If there have been more than 5 of both kinds, a step adds ten
//   times `rate_step` to the target; else, with 5 of one kind, once. The target is at
//   most the link's rate. R becomes the mean of R and the target, rounded up; at the
//   link's rate the limit ends. In one instant α goes first, then steps, notifications,
//   packets.
// C40. FECN. With `fecn` a packet *can be marked* if q is more than (16 -
//   `fecn_threshold`) / 16 of the network's `buffer`, it has at least
//   `fecn_packet_size` blocks, and the link is the root of congestion: the packet's
//   wait at this switch, if any, did not end by *credit* (C23). A link in
//   `fecn_victims` (those to `nodes`, or `all`) need not be a root. Of packets that can
//   be marked each link and VL skips `marking_rate` and marks the next. C34 holds for
//   the notification (BECN). In place of C35 to C37 a pair of nodes has an index i, at
//   first `ccti_min`. A notification adds `ccti_increase`, up to `ccti_limit`; every
//   `ccti_timer` after i left `ccti_min` it loses 1, until it is there again. When a
//   packet has been cut, the next one is cut at least T(w) + floor(T(w) /
//   2^`cct_shift`) · m later, with the i of this instant, T of the injection link and m
//   = min(floor(`cct_square` · i²), 16383); with a delay of 0 at once. In one instant
//   the index goes first, then notifications, packets.
//
// Sources:
//
// C33 to C37: Zhu et al., Congestion control for large-scale RDMA deployments, SIGCOMM
//   2015; in C37 "ten" and 100 Mbit/s as in ns-3 for HPCC (Li et al., SIGCOMM 2019),
//   whose thresholds exceed a port's `buffer` here. OpenSM's default is
//   `congestion_control FALSE`.
// C40: [IBTA, annex A10]; the timer from the first BECN: Linux, `hfi1`. Thresholds are
//   the vendor's: the even fractions are a choice; all published tables have i². Left
//   out: `Trigger_Threshold`, credit starvation.
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

// tb_paces_next returns the message of a node, of the VL of `nic`, of which a packet may
// be cut now: that of the first queue pair in turn that may go. TB_NOTHING: there is none
// before `*at`, which may be TB_TIME_NEVER.
uint32_t tb_paces_next(struct tb_replay *replay, uint32_t node, const struct tb_nic *nic,
	tb_time_ps *at);
// tb_paces_begin puts that message before the others there, to be cut, and
// tb_paces_cut cuts its next packet besides.
void tb_paces_begin(
	struct tb_replay *replay, uint32_t node, struct tb_nic *nic, uint32_t message);
uint32_t tb_paces_cut(
	struct tb_replay *replay, uint32_t node, struct tb_nic *nic, uint32_t message);

// tb_paces_vain returns for how long in all, until its last packet, the pair of a message
// had a packet to send, its node sent nothing, and only its pace kept it, while the link
// to its destination rested, and those at which its packets were marked last.
tb_time_ps tb_paces_vain(const struct tb_paces *paces, const struct tb_posted *message);

// tb_paces_queued: a packet of a pair is marked, as packets queue for a link.
void tb_paces_queued(
	struct tb_replay *replay, const struct tb_packet *packet, uint32_t link);
// tb_paces_marked: a marked packet has come. Returns the number of the pair whose source
// is to be notified, TB_NOTHING: it was a short while ago.
uint32_t tb_paces_marked(struct tb_replay *replay, const struct tb_packet *packet);
// tb_paces_notified: the source of a pair knows now.
void tb_paces_notified(struct tb_replay *replay, uint32_t pair);

#endif
