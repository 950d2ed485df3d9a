// Rates of queue pairs, as DCQCN sets them (docs/credits.md, C33 to C37): how fast a node
// may send to another one of which it was told that packets met a long queue.
//
// A pair of nodes has a pace from its first marked packet on. Its timers make no events:
// what was due is done when its rate is asked for. Calls cost a look-up each, and looking
// for a packet to cut one for each queue pair that may not go yet.
#ifndef TB_PACES_H
#define TB_PACES_H

#include "replay.h"

struct tb_paces;

// tb_paces_new makes the paces of a network; NULL where it has no congestion control.
int tb_paces_new(struct tb_paces **paces, const struct tb_network *network) TB_MUST_USE;
void tb_paces_free(struct tb_paces *paces);

// tb_paces_cut cuts the next packet of a node, of the first queue pair in turn whose rate
// allows it; TB_NOTHING: there is none before `*at`, which may be TB_TIME_NEVER.
uint32_t tb_paces_cut(struct tb_replay *replay, uint32_t node, tb_time_ps *at);

// tb_paces_marked: a marked packet has come. Returns the number of the pair whose source
// is to be notified, TB_NOTHING: it was a short while ago.
uint32_t tb_paces_marked(struct tb_replay *replay, uint32_t source, uint32_t destination);
// tb_paces_notified: the source of a pair knows now.
void tb_paces_notified(struct tb_replay *replay, uint32_t pair);

#endif
