// Looking ahead: what the events to come will read is fetched into the cache before their
// turn, since a network of thousands of nodes does not fit into it.
//
// Reads that depend on each other would make the look itself wait. So an event is looked
// at three times, each time nearer to its turn, and each look reads only what the one
// before it fetched. Nothing here changes any state, and what a look finds may be out of
// date by then: it costs time, no more.
#include "headers.h"
#include "routes.h"

// The empty asm keeps gcc 12 from taking a function that does nothing but fetch for one
// without effect, whose calls it drops. To the second level: there is more room on the
// way to it.
static inline void fetch(const void *at)
{
	__builtin_prefetch(at, 0, 2);
	__asm__ volatile("");
}

static inline void fetch_lines(const void *from, size_t bytes)
{
	for (const char *at = from; at < (const char *)from + bytes; at += 64)
		fetch(at);
}

static inline void fetch_slot(const struct circuits *circuits, uint32_t slot)
{
	fetch(&circuits->links[slot]);
	fetch(&circuits->links[slot].cell);
	fetch(vcs_of(circuits, slot));
	if (circuits->trains)
		tb_link_tokens_fetch(circuits->trains, slot);
}

static inline void fetch_route(const struct circuits *circuits, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP)) {
		fetch(free_at(circuits, route));
		fetch_slot(circuits, route);
		return;
	}
	const struct group *group = group_at(circuits, route);
	fetch_lines(free_at(circuits, group->first),
		group->n * circuits->vcs_most * sizeof(tb_time_ps));
}

static inline struct packet *packet_of(const struct circuits *circuits, uint32_t subject)
{
	return packet_at(circuits, subject >> circuits->hops_shift);
}

static inline struct hop *hop_of(const struct circuits *circuits, uint32_t subject)
{
	return hop_at(circuits, packet_of(circuits, subject),
		subject & ((1u << circuits->hops_shift) - 1));
}

// first_look fetches what an event's subject alone gives away.
static inline void first_look(const struct circuits *circuits, struct tb_event event)
{
	uint32_t id = event.subject;
	const struct tb_replay *replay = &circuits->replay;
	if (event.kind == EV_HEADER || event.kind == EV_READY) {
		const char *at = (const char *)hop_of(circuits, id);
		fetch(packet_of(circuits, id));
		fetch(at);
		fetch(at + circuits->hop_bytes);
	} else if (event.kind == EV_TAIL) {
		fetch_lines(packet_at(circuits, id), replay->packet_bytes);
	} else if (event.kind == EV_SWITCH) {
		fetch(&circuits->switches[id]);
	} else if (event.kind == EV_LINK) {
		fetch_slot(circuits, id);
	} else if (event.kind == TB_EVENT_NODE) {
		fetch(&replay->nics[id]);
		fetch(free_at(circuits, circuits->first_injection + id));
		fetch_slot(circuits, circuits->first_injection + id);
	} else if (event.kind <= TB_EVENT_DELIVERED) {
		fetch_lines(&replay->messages[id], sizeof *replay->messages);
	}
}

void tb_circuits_look_first(
	struct circuits *circuits, const struct tb_event *events, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		first_look(circuits, events[i]);
}

static inline void second_look_at_tail(const struct circuits *circuits, uint32_t id)
{
	const struct tb_replay *replay = &circuits->replay;
	struct packet *packet = packet_at(circuits, id);
	const struct tb_posted *message = &replay->messages[packet->of.message];
	fetch_lines(message, sizeof *message);
	fetch(&replay->nics[packet->of.destination]);
	for (uint32_t i = 0; i < packet->of.n_hops; i++) {
		uint32_t slot = hop_at(circuits, packet, i)->link;
		fetch(&circuits->links[slot]);
		fetch(free_at(circuits, slot));
		fetch(vcs_of(circuits, slot));
	}
}

void tb_circuits_look_second(struct circuits *circuits, struct tb_event event)
{
	uint32_t id = event.subject;
	if (event.kind == EV_HEADER && !circuits->odd_routes) {
		const struct packet *packet = packet_of(circuits, id);
		fetch(&circuits->switches[packet->at]);
		fetch(&came_by(circuits, packet)->cell);
		fetch_route(circuits, route_of(circuits, packet->at, packet));
	} else if (event.kind == EV_TAIL) {
		second_look_at_tail(circuits, id);
	} else if (event.kind == EV_SWITCH) {
		const struct switch_state *at = &circuits->switches[id];
		fetch_lines(at->waiters, at->n_waiting * sizeof *at->waiters);
	} else if (event.kind == EV_READY) {
		fetch_slot(circuits, hop_of(circuits, id)->link);
	} else if (event.kind == TB_EVENT_NODE) {
		uint32_t fetched = circuits->replay.nics[id].fetched;
		if (fetched != TB_NOTHING)
			fetch_lines(packet_at(circuits, fetched),
				sizeof(struct packet) + circuits->hop_bytes);
	}
}

// third_look_at_header fetches the link that it would choose now: mostly it will.
static inline void third_look_at_header(struct circuits *circuits, uint32_t id)
{
	const struct packet *packet = packet_of(circuits, id);
	uint32_t route = route_of(circuits, packet->at, packet);
	if (!(route & TB_ROUTE_GROUP) || !group_at(circuits, route)->at_once)
		return;
	uint32_t slot = pick_at_once(
		circuits, group_at(circuits, route), packet->of.order, packet->at);
	if (slot != NOTHING)
		fetch_slot(circuits, slot);
}

static inline void third_look_at_tail(const struct circuits *circuits, uint32_t id)
{
	struct packet *packet = packet_at(circuits, id);
	fetch(&circuits->replay.nics[tb_packet_source(&circuits->replay, &packet->of)]);
	for (uint32_t i = 1; i < packet->of.n_hops; i++) {
		uint32_t slot = hop_at(circuits, packet, i)->link;
		fetch(&circuits->switches[circuits->links[slot].from]);
	}
}

void tb_circuits_look_third(struct circuits *circuits, struct tb_event event)
{
	uint32_t id = event.subject;
	if (event.kind == EV_HEADER && !circuits->odd_routes) {
		third_look_at_header(circuits, id);
	} else if (event.kind == EV_TAIL) {
		third_look_at_tail(circuits, id);
	} else if (event.kind == EV_SWITCH) {
		const struct switch_state *at = &circuits->switches[id];
		for (uint32_t i = 0; i < at->n_waiting; i++) {
			fetch(packet_at(circuits, at->waiters[i].packet));
			fetch_route(circuits, at->waiters[i].route);
		}
	}
}
