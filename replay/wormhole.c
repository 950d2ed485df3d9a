// Links, virtual channels and runs of flits: who gets a VC, when a run crosses a link.
#include "engine_impl.h"

#include "random.h"

#include <assert.h>

static const struct vc *vcs_of(const struct tb_engine *engine, uint32_t link)
{
	return engine->vcs + (size_t)link * engine->vcs_most;
}

// free_vcs counts the link's free VCs and names one, the lowest.
static inline uint32_t free_vcs(
	const struct tb_engine *engine, uint32_t link, uint32_t *lowest)
{
	const struct vc *vcs = vcs_of(engine, link);
	if (engine->vcs_most == 2) { // the rule: spare the loop
		uint32_t first = vcs[0].free_at <= engine->now;
		*lowest = !first;
		return first + (vcs[1].free_at <= engine->now);
	}
	uint32_t n = 0;
	for (uint32_t v = engine->vcs_most; v-- > 0;)
		if (vcs[v].free_at <= engine->now) {
			n++;
			*lowest = v;
		}
	return n;
}

// settle_link counts the time that VCs of the link were held, up to `until`.
static void settle_link(struct tb_engine *engine, uint32_t id, tb_time_ps until)
{
	struct link *link = &engine->links[id];
	if (link->held_since == TB_TIME_NEVER)
		return;
	const struct vc *vcs = vcs_of(engine, id);
	tb_time_ps end = 0;
	for (uint32_t v = 0; v < engine->net->links[id].n_vcs; v++)
		if (vcs[v].free_at > end)
			end = vcs[v].free_at;
	bool over = end <= until;
	if (!over)
		end = until;
	if (end > link->held_since)
		tb_recorder_held(&engine->recorder, id, end - link->held_since);
	link->held_since = over ? TB_TIME_NEVER : until;
}

static void advance(
	struct tb_engine *engine, struct packet *packet, uint32_t id, uint32_t hop);

// last_flit is when the last flit of a run has crossed that begins at `start`: as late as
// its own link's rate, the flits' coming in and the room ahead make it. Where all rates
// are equal only the first counts, the run having begun in time for the others.
static tb_time_ps last_flit(struct tb_engine *engine, struct packet *packet, uint32_t hop,
	tb_time_ps start, uint32_t bytes)
{
	struct hop *at = hop_at(engine, packet, hop);
	const struct link *link = &engine->links[at->link];
	tb_time_ps end = start + link_time(link, bytes);
	if (engine->equal_rates)
		return end;
	if (hop > 0) {
		struct hop *before = hop_at(engine, packet, hop - 1);
		const struct link *from = &engine->links[before->link];
		tb_time_ps in = span_at(before, at->runs)->end + from->hop_ps -
				from->flit_ps + link->flit_ps;
		if (in > end)
			end = in;
	}
	if (at->runs >= at->room) {
		// A last, shorter run needs the room of as many flits of the run ahead.
		struct hop *ahead = hop_at(engine, packet, hop + 1);
		const struct span *span = span_at(ahead, at->runs - at->room);
		tb_time_ps room = span->start + link->hop_ps +
				  (span->end - span->start) * bytes / engine->run_bytes;
		if (room > end)
			end = room;
	}
	return end;
}

// begin lets the next run of a hop cross from `start` on: its end is known at once,
// because what holds back its last flit is known too.
static void begin(struct tb_engine *engine, struct packet *packet, uint32_t id,
	uint32_t hop, tb_time_ps start)
{
	struct hop *at = hop_at(engine, packet, hop);
	struct link *link = &engine->links[at->link];
	uint32_t run = at->runs;
	bool last_run = run + 1 == packet->n_runs;
	uint32_t bytes = last_run ? packet->wire_bytes - run * engine->run_bytes
				  : engine->run_bytes;
	tb_time_ps end = last_flit(engine, packet, hop, start, bytes);
	*span_at(at, run) = (struct span){start, end};
	at->runs = run + 1;
	at->armed = false;
	link->serving = (uint8_t)(at->vc - at->link * engine->vcs_most);
	link->reserved_until = end;
	tb_recorder_run(&engine->recorder, at->link, start, end, bytes, run == 0);
	if (run == 0) {
		engine->stats.n_hops++;
		if (!link->ejection)
			tb_wheel_put(&engine->wheel, start + link->hop_ps, EV_HEADER, id);
	}
	if (last_run && link->ejection)
		tb_wheel_put(
			&engine->wheel, end + link->hop_ps - link->flit_ps, EV_TAIL, id);
	// This run lets the same run of the next hop, the run of the hop before that
	// wanted its room, and the next of this hop go on.
	if (hop + 1 < packet->n_granted && hop_at(engine, packet, hop + 1)->runs == run)
		advance(engine, packet, id, hop + 1);
	if (hop > 0) {
		const struct hop *before = hop_at(engine, packet, hop - 1);
		if (before->runs == run + before->room)
			advance(engine, packet, id, hop - 1);
	}
	if (!last_run)
		advance(engine, packet, id, hop);
}

// advance looks whether the next run of a hop can cross and when. If that is exactly when
// the run before it ends, the link stays with the VC and nobody can come between: the run
// begins (perhaps in the future) without an event.
static void advance(
	struct tb_engine *engine, struct packet *packet, uint32_t id, uint32_t hop)
{
	struct hop *at = hop_at(engine, packet, hop);
	uint32_t run = at->runs;
	if (at->armed || run == packet->n_runs)
		return;
	tb_time_ps ready = engine->now;
	struct link *link = &engine->links[at->link];
	if (run >= at->room) {
		struct hop *ahead = hop_at(engine, packet, hop + 1);
		if (hop + 1 >= packet->n_granted || ahead->runs <= run - at->room)
			return;
		tb_time_ps room = span_at(ahead, run - at->room)->start + link->hop_ps;
		if (room > ready)
			ready = room;
	}
	if (hop > 0) {
		struct hop *before = hop_at(engine, packet, hop - 1);
		if (before->runs <= run)
			return;
		tb_time_ps in =
			span_at(before, run)->start + engine->links[before->link].hop_ps;
		if (in > ready)
			ready = in;
	}
	if (run > 0 && span_at(at, run - 1)->end >= ready) {
		// The last run's end is still to come, so the link cannot have been given
		// away.
		assert(link->reserved_until == span_at(at, run - 1)->end);
		begin(engine, packet, id, hop, span_at(at, run - 1)->end);
		return;
	}
	at->armed = true;
	if (ready > engine->now) {
		tb_wheel_put(
			&engine->wheel, ready, EV_READY, id * engine->hops_most + hop);
		return;
	}
	link->ready |= (uint16_t)(1u << (at->vc - at->link * engine->vcs_most));
	list_add(&engine->links_now, at->link, &link->listed);
}

void tb_wormhole_ready(struct tb_engine *engine, uint32_t subject)
{
	struct packet *packet = packet_at(engine, subject / engine->hops_most);
	const struct hop *at = hop_at(engine, packet, subject % engine->hops_most);
	struct link *link = &engine->links[at->link];
	link->ready |= (uint16_t)(1u << (at->vc - at->link * engine->vcs_most));
	list_add(&engine->links_now, at->link, &link->listed);
}

// choose_vc picks among the VCs with a run ready: the packet served last goes on, else
// the one whose VC was granted longest ago, the lowest VC among equals.
static uint32_t choose_vc(const struct tb_engine *engine, uint32_t id)
{
	const struct link *link = &engine->links[id];
	const struct vc *vcs = vcs_of(engine, id);
	if (link->ready & 1u << link->serving) {
		const struct vc *vc = &vcs[link->serving];
		if (hop_at(engine, packet_at(engine, vc->packet), vc->hop)->runs > 0)
			return link->serving;
	}
	uint32_t chosen = NOTHING;
	for (uint32_t v = 0; v < engine->vcs_most; v++) {
		if (!(link->ready & 1u << v))
			continue;
		if (chosen == NOTHING || vcs[v].granted_at < vcs[chosen].granted_at)
			chosen = v;
	}
	return chosen;
}

void tb_wormhole_link(struct tb_engine *engine, uint32_t id)
{
	struct link *link = &engine->links[id];
	link->listed = false;
	if (link->ready && link->reserved_until <= engine->now) {
		uint32_t v = choose_vc(engine, id);
		const struct vc *vc = &vcs_of(engine, id)[v];
		link->ready &= (uint16_t) ~(1u << v);
		begin(engine, packet_at(engine, vc->packet), vc->packet, vc->hop,
			engine->now);
	}
	if (link->ready && !link->event_set) {
		link->event_set = true;
		tb_wheel_put(&engine->wheel, link->reserved_until, EV_LINK, id);
	}
}

// grant gives a packet VC `v` of `link_id` as its next hop. Its first run is ready now;
// when nothing else wants the link it begins at once, which is what phase 3 would do.
static void grant(struct tb_engine *engine, uint32_t id, uint32_t link_id, uint32_t v)
{
	struct packet *packet = packet_at(engine, id);
	struct link *link = &engine->links[link_id];
	if (free_vcs(engine, link_id, &(uint32_t){0}) ==
		engine->net->links[link_id].n_vcs) {
		settle_link(engine, link_id, engine->now);
		link->held_since = engine->now;
	}
	uint32_t hop = packet->n_granted++;
	uint32_t vc = link_id * engine->vcs_most + v;
	engine->vcs[vc] = (struct vc){.free_at = TB_TIME_NEVER,
		.granted_at = engine->now,
		.packet = id,
		.hop = hop,
		.flow = packet->flow};
	struct hop *at = hop_at(engine, packet, hop);
	*at = (struct hop){.link = link_id, .vc = vc, .room = link->room_runs};
	packet->path_ps += link->hop_ps;
	if (link->ready == 0 && link->reserved_until <= engine->now)
		begin(engine, packet, id, hop, engine->now);
	else
		advance(engine, packet, id, hop);
}

void tb_wormhole_inject(struct tb_engine *engine, uint32_t packet, uint32_t vc)
{
	uint32_t message = packet_at(engine, packet)->message;
	uint32_t node = engine->messages[message].what.source.id;
	grant(engine, packet, engine->net->injection[node], vc);
}

// pick finds the least loaded link of a route that has a free VC, ties by a hash of
// packet, switch and seed, so that the choice does not depend on what else happens when.
static uint32_t pick(const struct tb_engine *engine, const struct waiter *waiter,
	uint32_t sw, uint32_t *vc)
{
	if (!(waiter->route & TB_ROUTE_GROUP))
		return free_vcs(engine, waiter->route, vc) ? waiter->route : NOTHING;
	const struct tb_route_group *group =
		&engine->net->groups[waiter->route & ~TB_ROUTE_GROUP];
	const uint32_t *links = engine->net->group_links + group->first;
	uint32_t most_free = 1, n_best = 0, chosen = NOTHING;
	uint64_t hash = 0;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t lowest = 0;
		uint32_t n = free_vcs(engine, links[i], &lowest);
		if (n < most_free)
			continue;
		if (n > most_free)
			n_best = 0;
		most_free = n;
		n_best++;
		// Reservoir of one: each of n equals stays with probability 1/n.
		if (n_best > 1) {
			hash = tb_random_mix(engine->seed ^ waiter->order ^
					     (uint64_t)sw << 40 ^ hash ^ n_best);
			if (hash % n_best)
				continue;
		}
		chosen = links[i];
		*vc = lowest;
	}
	return chosen;
}

// charge counts a header's wait from what is counted already up to `until`.
static void charge(struct tb_engine *engine, struct packet *packet, tb_time_ps until)
{
	uint32_t came_by = hop_at(engine, packet, packet->n_granted - 1)->link;
	tb_recorder_wait(&engine->recorder, came_by, packet->flow,
		until - packet->charged, until - packet->arrived);
	packet->charged = until;
}

void tb_wormhole_header(struct tb_engine *engine, uint32_t id)
{
	struct packet *packet = packet_at(engine, id);
	uint32_t came_by = hop_at(engine, packet, packet->n_granted - 1)->link;
	uint32_t sw = engine->net->links[came_by].to;
	struct switch_state *at = &engine->switches[sw];
	packet->arrived = packet->charged = engine->now;
	struct waiter waiter = {
		.since = engine->now, .order = packet->order, .packet = id};
	waiter.key = packet->arrived - ((packet->waited * engine->age_q10) >> 10);
	waiter.route = tb_network_route(engine->net, sw, packet->destination,
		packet->n_granted - 1, packet->ascending);
	uint32_t i = at->n_waiters++;
	for (; i > 0; i--) {
		const struct waiter *older = &at->waiters[i - 1];
		if (older->key < waiter.key ||
			(older->key == waiter.key && older->order < waiter.order))
			break;
		at->waiters[i] = *older;
	}
	at->waiters[i] = waiter;
	list_add(&engine->switches_now, sw, &at->listed);
}

// admit grants a waiter its VC and closes the account of its wait.
static void admit(
	struct tb_engine *engine, const struct waiter *waiter, uint32_t link, uint32_t vc)
{
	struct packet *packet = packet_at(engine, waiter->packet);
	tb_time_ps wait = engine->now - packet->arrived;
	if (wait > 0) {
		charge(engine, packet, engine->now);
		packet->waited += wait;
		tb_recorder_blame(&engine->recorder,
			hop_at(engine, packet, packet->n_granted - 1)->link, packet->flow,
			vcs_of(engine, link)[vc].flow, wait);
	}
	grant(engine, waiter->packet, link, vc);
}

static tb_time_ps link_frees(const struct tb_engine *engine, uint32_t id)
{
	const struct vc *vcs = vcs_of(engine, id);
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t v = 0; v < engine->vcs_most; v++)
		if (vcs[v].free_at < first)
			first = vcs[v].free_at;
	return first;
}

// route_frees is when the first VC of a route is known to fall free.
static tb_time_ps route_frees(const struct tb_engine *engine, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP))
		return link_frees(engine, route);
	const struct tb_route_group *group =
		&engine->net->groups[route & ~TB_ROUTE_GROUP];
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t i = 0; i < group->n; i++) {
		tb_time_ps frees =
			link_frees(engine, engine->net->group_links[group->first + i]);
		if (frees < first)
			first = frees;
	}
	return first;
}

static void wake_switch(struct tb_engine *engine, uint32_t sw, tb_time_ps at)
{
	if (at >= engine->switches[sw].wake_at)
		return;
	engine->switches[sw].wake_at = at;
	tb_wheel_put(&engine->wheel, at, EV_SWITCH, sw);
}

// The oldest header first: each takes a VC of its route if one is free. Headers that
// found none before need not look again unless this instant was set as the one when one
// falls free.
void tb_wormhole_switch(struct tb_engine *engine, uint32_t sw)
{
	struct switch_state *at = &engine->switches[sw];
	uint32_t n_left = 0;
	bool freed = at->wake_at <= engine->now;
	tb_time_ps wake = TB_TIME_NEVER;
	at->listed = false;
	if (freed)
		at->wake_at = TB_TIME_NEVER;
	for (uint32_t i = 0; i < at->n_waiters; i++) {
		struct waiter waiter = at->waiters[i];
		uint32_t vc = 0;
		if (!freed && waiter.since < engine->now) {
			at->waiters[n_left++] = waiter;
			continue;
		}
		uint32_t link = pick(engine, &waiter, sw, &vc);
		if (link != NOTHING) {
			admit(engine, &waiter, link, vc);
			continue;
		}
		struct packet *packet = packet_at(engine, waiter.packet);
		if (packet->arrived == engine->now)
			tb_recorder_blocked(&engine->recorder,
				hop_at(engine, packet, packet->n_granted - 1)->link);
		tb_time_ps frees = route_frees(engine, waiter.route);
		if (frees < wake)
			wake = frees;
		at->waiters[n_left++] = waiter;
	}
	at->n_waiters = n_left;
	wake_switch(engine, sw, wake);
}

void tb_wormhole_release(struct tb_engine *engine, uint32_t id, tb_time_ps eop_at)
{
	struct packet *packet = packet_at(engine, id);
	tb_time_ps passes = eop_at;
	for (uint32_t hop = 0; hop < packet->n_granted; hop++) {
		const struct hop *at = hop_at(engine, packet, hop);
		const struct link *link = &engine->links[at->link];
		engine->vcs[at->vc].free_at = passes;
		if (!link->injection && engine->switches[link->from].n_waiters)
			wake_switch(engine, link->from, passes);
		passes += link->hop_ps;
	}
}

bool tb_wormhole_settle(struct tb_engine *engine, tb_time_ps until)
{
	bool lasts = false;
	for (uint32_t id = 0; id < engine->net->n_links; id++) {
		settle_link(engine, id, until);
		lasts |= engine->links[id].held_since != TB_TIME_NEVER;
	}
	for (uint32_t sw = 0; sw < engine->net->n_switches; sw++) {
		const struct switch_state *at = &engine->switches[sw];
		for (uint32_t i = 0; i < at->n_waiters; i++)
			charge(engine, packet_at(engine, at->waiters[i].packet), until);
		lasts |= at->n_waiters > 0;
	}
	return lasts;
}
