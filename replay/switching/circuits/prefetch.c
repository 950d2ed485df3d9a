// Prefetching: fetches into the cache what the next events will read, as a network of
// thousands of nodes does not fit into it.
//
// A read that depends on another one would make the prefetch itself wait for memory. So
// there are three stages for each event, each nearer to its turn, and each reads only
// what the stage before it has fetched. Nothing here changes any state. A stage may find
// state that changes before the event's turn: that wastes a fetch and does no other harm.
#include "circuits.h"
#include "routes.h"

// Without the empty asm gcc 12 takes a function that only prefetches for one without
// effect, and drops its calls. Locality 2 means the second-level cache, which has more
// room than the first.
static inline void circuits_fetch(const void *at)
{
	__builtin_prefetch(at, 0, 2);
	__asm__ volatile("");
}

static inline void circuits_fetch_lines(const void *from, size_t bytes)
{
	for (const char *at = from; at < (const char *)from + bytes; at += 64)
		circuits_fetch(at);
}

static inline void fetch_slot(const struct circuits *circuits, uint32_t slot)
{
	circuits_fetch(&circuits->links[slot]);
	circuits_fetch(&circuits->links[slot].cell);
	circuits_fetch(vcs_of(circuits, slot));
	if (circuits->trains) // not by link->train, which may not have come yet
		circuits_fetch_lines(tb_link_tokens_cable(circuits->trains, slot),
			2 * sizeof(struct train));
}

static inline void fetch_route(const struct circuits *circuits, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP)) {
		circuits_fetch(free_at(circuits, route));
		fetch_slot(circuits, route);
		return;
	}
	const struct link_group *group = group_at(circuits, route);
	circuits_fetch_lines(free_at(circuits, group->first),
		group->n * circuits->vcs_most * sizeof(tb_time_ps));
}

static inline struct circuit_packet *packet_of(
	const struct circuits *circuits, uint32_t subject)
{
	return circuit_packet_at(circuits, subject >> circuits->hops_shift);
}

static inline struct hop *hop_of(const struct circuits *circuits, uint32_t subject)
{
	return hop_at(circuits, packet_of(circuits, subject),
		subject & ((1u << circuits->hops_shift) - 1));
}

void tb_circuits_prefetch_first(
	struct tb_replay *replay, const struct tb_event *events, uint32_t n)
{
	struct circuits *circuits = (void *)replay;
	for (uint32_t i = 0; i < n; i++) {
		// Fetch what is known from an event's subject alone.
		struct tb_event event = events[i];
		uint32_t id = event.subject;
		if (event.kind == EV_HEADER || event.kind == EV_READY) {
			const char *at = (const char *)hop_of(circuits, id);
			circuits_fetch(packet_of(circuits, id));
			circuits_fetch(at);
			circuits_fetch(at + circuits->hop_bytes);
		} else if (event.kind == EV_TAIL) {
			tb_circuits_prefetch_packet(circuits, id);
		} else if (event.kind == EV_SWITCH) {
			circuits_fetch(&circuits->switches[id]);
		} else if (event.kind == EV_LINK) {
			fetch_slot(circuits, id);
		} else if (event.kind == TB_EVENT_NODE) {
			circuits_fetch(&replay->nics[id]);
			circuits_fetch(free_at(circuits, circuits->first_injection + id));
			fetch_slot(circuits, circuits->first_injection + id);
		} else if (event.kind <= TB_EVENT_DELIVERED) {
			circuits_fetch_lines(
				&replay->messages[id], sizeof *replay->messages);
		}
	}
}

void tb_circuits_prefetch_packet(const struct circuits *circuits, uint32_t id)
{
	circuits_fetch_lines(
		circuit_packet_at(circuits, id), circuits->replay.packet_bytes);
}

void tb_circuits_prefetch_path(
	const struct circuits *circuits, struct circuit_packet *packet, uint32_t n_hops)
{
	for (uint32_t i = n_hops; i-- > 0;) {
		const struct hop *at = hop_at(circuits, packet, i);
		if (at->place == TB_HOP_COPY)
			break;
		circuits_fetch(&circuits->links[at->link]);
		circuits_fetch(free_at(circuits, at->link));
		circuits_fetch(vcs_of(circuits, at->link));
	}
}

void tb_circuits_prefetch_switches(
	const struct circuits *circuits, struct circuit_packet *packet, uint32_t n_hops)
{
	for (uint32_t i = n_hops; i-- > 1;) {
		const struct hop *at = hop_at(circuits, packet, i);
		if (at->place == TB_HOP_COPY)
			break;
		circuits_fetch(&circuits->switches[circuits->links[at->link].from]);
	}
}

void tb_circuits_prefetch_second(struct tb_replay *replay, struct tb_event event)
{
	struct circuits *circuits = (void *)replay;
	uint32_t id = event.subject;
	if (event.kind == EV_HEADER && !circuits->odd_routes) {
		const struct circuit_packet *packet = packet_of(circuits, id);
		circuits_fetch(&circuits->switches[packet->at]);
		circuits_fetch(came_by(circuits, packet));
		circuits_fetch(&came_by(circuits, packet)->cell);
		if (circuits->trains)
			circuits_fetch(
				tb_link_tokens_of(circuits->trains, packet->came_by));
		fetch_route(circuits, packet->route);
	} else if (event.kind == EV_TAIL) {
		struct circuit_packet *packet = circuit_packet_at(circuits, id);
		const struct tb_posted *message = &replay->messages[packet->of.message];
		circuits_fetch_lines(message, sizeof *message);
		circuits_fetch(&replay->nics[packet->of.destination]);
		tb_circuits_prefetch_path(circuits, packet, packet->of.n_hops);
	} else if (event.kind == EV_SWITCH) {
		const struct switch_state *at = &circuits->switches[id];
		circuits_fetch_lines(at->waiters, at->n_waiting * sizeof *at->waiters);
	} else if (event.kind == EV_READY) {
		fetch_slot(circuits, hop_of(circuits, id)->link);
	} else if (event.kind == EV_LINK && circuits->links[id].ready) {
		uint32_t v = (uint32_t)__builtin_ctz(circuits->links[id].ready);
		const struct vc *vc = &vcs_of(circuits, id)[v];
		struct circuit_packet *packet = circuit_packet_at(circuits, vc->packet);
		circuits_fetch(packet);
		circuits_fetch(hop_at(circuits, packet, vc->hop));
	} else if (event.kind == TB_EVENT_NODE) {
		uint32_t fetched = circuits->replay.nics[id].fetched;
		uint32_t queue = circuits->replay.nics[id].queue;
		if (queue != TB_NOTHING)
			circuits_fetch_lines(
				&replay->messages[queue], sizeof *replay->messages);
		if (fetched != TB_NOTHING)
			circuits_fetch_lines(circuit_packet_at(circuits, fetched),
				sizeof(struct circuit_packet) + circuits->hop_bytes);
	}
}

void tb_circuits_prefetch_third(struct tb_replay *replay, struct tb_event event)
{
	struct circuits *circuits = (void *)replay;
	uint32_t id = event.subject;
	if (event.kind == EV_HEADER && !circuits->odd_routes) {
		// Fetch the link that the header would take now; mostly it will
		// take that one.
		const struct circuit_packet *packet = packet_of(circuits, id);
		uint32_t route = packet->route;
		if ((route & TB_ROUTE_GROUP) && group_at(circuits, route)->at_once) {
			uint32_t slot = pick_at_once(circuits, group_at(circuits, route),
				packet->of.order, packet->at);
			if (slot != NOTHING)
				fetch_slot(circuits, slot);
		}
	} else if (event.kind == EV_TAIL) {
		struct circuit_packet *packet = circuit_packet_at(circuits, id);
		circuits_fetch(
			&circuits->replay
				 .nics[tb_packet_source(&circuits->replay, &packet->of)]);
		tb_circuits_prefetch_switches(circuits, packet, packet->of.n_hops);
	} else if (event.kind == EV_SWITCH) {
		const struct switch_state *at = &circuits->switches[id];
		for (uint32_t i = 0; i < at->n_waiting; i++) {
			circuits_fetch(
				circuit_packet_at(circuits, at->waiters[i].packet));
			fetch_route(circuits, at->waiters[i].route);
			circuits_fetch(&circuits->links[at->waiters[i].came_by]);
			circuits_fetch(&circuits->links[at->waiters[i].came_by].cell);
			circuits_fetch(
				&circuits->replay.records.flows[at->waiters[i].flow]
					 .wait_ps);
		}
	}
}
