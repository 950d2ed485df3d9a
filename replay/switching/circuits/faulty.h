// What the engine does only where something of the network dies: routes around it, errors
// that come back to their source, tries, messages given up. Private to replay/.
//
// Rules are those of docs/model.md, "Faults". Without faults an engine has none of this.
#ifndef TB_FAULTY_H
#define TB_FAULTY_H

#include "engine_impl.h"

// tb_faulty_new gives the engine, its choice made, what it needs beside its other parts.
int tb_faulty_new(struct tb_engine *engine) TB_MUST_USE;
void tb_faulty_free(struct tb_engine *engine);

// tb_faulty_strike lets die what dies now: headers that wait for it turn elsewhere or
// meet an error.
void tb_faulty_strike(struct tb_engine *engine);

// tb_faulty_route is the way on from a switch: a slot, a group, or TB_ROUTE_NONE when the
// header meets a dead link.
uint32_t tb_faulty_route(
	struct tb_engine *engine, uint32_t sw, const struct packet *packet);

// tb_faulty_tail says whether a packet whose last flit is in has failed, and sends its
// error back.
bool tb_faulty_tail(struct tb_engine *engine, uint32_t packet);

// tb_faulty_inject says whether a fetched packet finds its node's cable dead, and sends
// its error back.
bool tb_faulty_inject(struct tb_engine *engine, uint32_t packet);

// tb_faulty_cut is the next packet of a node: one to be tried again, or the next of its
// messages; NOTHING when there is none. Messages without a way are given up.
uint32_t tb_faulty_cut(struct tb_engine *engine, uint32_t node);

// EV_ERROR, and what is made of this round's errors at the end of phase 1.
void tb_faulty_error(struct tb_engine *engine, uint32_t retry);
void tb_faulty_settle(struct tb_engine *engine);
// EV_ERROR when nothing else happens in this instant: phase 2 included.
void tb_faulty_error_alone(struct tb_engine *engine, uint32_t retry);

// tb_faulty_end ends a message that was given up once nothing of it is under way.
void tb_faulty_end(struct tb_engine *engine, uint32_t message);

#endif
