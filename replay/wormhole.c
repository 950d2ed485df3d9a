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
		*lowest = 1 - first;
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

static struct hop *hop_before(const struct tb_engine *engine, struct hop *at)
{
	return (void *)((char *)at - engine->hop_bytes);
}

static struct hop *hop_after(const struct tb_engine *engine, struct hop *at)
{
	return (void *)((char *)at + engine->hop_bytes);
}

static void advance(struct tb_engine *engine, struct packet *packet, struct hop *at);

// middle_at is when a certain flit of a run begins to cross: the one in the place that
// the last flit of the whole packet has in its run. Kept only where rates differ.
static inline tb_time_ps *middle_at(
	const struct tb_engine *engine, struct hop *at, uint32_t run)
{
	return (tb_time_ps *)(void *)span_at(at, engine->runs_most) + run;
}

static inline tb_time_ps later(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

// last_flit is the place of the last flit of a run of `bytes`.
static uint32_t last_flit(const struct tb_engine *engine, uint32_t bytes)
{
	uint32_t size = engine->net->params.flit_bytes;
	return (bytes - 1) / size * size;
}

static tb_time_ps last_flit_ps(
	const struct tb_engine *engine, const struct link *link, uint32_t bytes)
{
	return link_time(link, bytes) - link_time(link, last_flit(engine, bytes));
}

// stretch is when a run of `bytes` that begins at `start` has crossed where rates differ:
// as late as its own link's rate, the flits' coming in and the room ahead make it. Its
// flits spread more and more the later they come, so what holds for the first and the
// last holds between; a last, shorter run needs the room of an earlier run's flit in the
// middle, which is why that is kept too.
static tb_time_ps stretch(struct tb_engine *engine, const struct packet *packet,
	struct hop *at, tb_time_ps start, uint32_t bytes)
{
	const struct link *link = &engine->links[at->link];
	uint32_t run = at->runs;
	uint32_t rest = packet->wire_bytes - (packet->n_runs - 1) * engine->run_bytes;
	tb_time_ps middle = start + link_time(link, last_flit(engine, rest));
	tb_time_ps last = start + link_time(link, last_flit(engine, bytes));
	if (at->number > 0) {
		struct hop *before = hop_before(engine, at);
		const struct link *from = &engine->links[before->link];
		middle = later(middle, *middle_at(engine, before, run) + from->hop_ps);
		last = later(last, span_at(before, run)->end -
					   last_flit_ps(engine, from, bytes) +
					   from->hop_ps);
	}
	if (run >= at->room) {
		struct hop *ahead = hop_after(engine, at);
		const struct link *to = &engine->links[ahead->link];
		middle = later(
			middle, *middle_at(engine, ahead, run - at->room) + link->hop_ps);
		if (run + 1 < packet->n_runs)
			last = later(last, span_at(ahead, run - at->room)->end -
						   last_flit_ps(engine, to, bytes) +
						   link->hop_ps);
	}
	*middle_at(engine, at, run) = middle;
	if (run + 1 == packet->n_runs)
		last = middle;
	return last + last_flit_ps(engine, link, bytes);
}

// begin lets the next run of a hop cross from `start` on: its end is known at once,
// because what holds back its last flit is known too. With equal rates that is its own
// length alone, the run having begun in time for the rest.
static void begin(
	struct tb_engine *engine, struct packet *packet, struct hop *at, tb_time_ps start)
{
	struct link *link = &engine->links[at->link];
	uint32_t run = at->runs;
	bool last_run = run + 1 == packet->n_runs;
	uint32_t bytes = last_run ? packet->wire_bytes - run * engine->run_bytes
				  : engine->run_bytes;
	tb_time_ps end = start + link_time(link, bytes);
	if (!engine->equal_rates)
		end = stretch(engine, packet, at, start, bytes);
	*span_at(at, run) = (struct span){start, end};
	at->runs = run + 1;
	at->armed = false;
	link->serving = at->vc;
	link->reserved_until = end;
	tb_recorder_run(&engine->recorder, at->link, start, end, bytes, run == 0);
	if (run == 0) {
		engine->stats.n_hops++;
		if (!link->ejection)
			tb_wheel_put(&engine->wheel, start + link->hop_ps, EV_HEADER,
				packet->id);
	} else if (at->number + 1u < packet->n_granted &&
		   hop_after(engine, at)->runs == run) {
		// The next hop waited for this run.
		advance(engine, packet, hop_after(engine, at));
	}
	if (at->number > 0) {
		struct hop *before = hop_before(engine, at);
		// The hop before waited for the room that this run makes.
		if (before->runs == run + before->room && before->runs < packet->n_runs)
			advance(engine, packet, before);
	}
	if (last_run) {
		if (link->ejection)
			tb_wheel_put(&engine->wheel, end + link->hop_ps - link->flit_ps,
				EV_TAIL, packet->id);
		return;
	}
	if (run + 1 < at->room || at->number + 1u < packet->n_granted)
		advance(engine, packet, at);
}

// advance looks whether the next run of a hop can cross and when. If that is exactly when
// the run before it ends, the link stays with the VC and nobody can come between: the run
// begins (perhaps in the future) without an event.
static void advance(struct tb_engine *engine, struct packet *packet, struct hop *at)
{
	uint32_t run = at->runs;
	if (at->armed || run == packet->n_runs)
		return;
	tb_time_ps ready = engine->now;
	struct link *link = &engine->links[at->link];
	if (run >= at->room) {
		struct hop *ahead = hop_after(engine, at);
		if (at->number + 1u >= packet->n_granted || ahead->runs <= run - at->room)
			return;
		tb_time_ps room = span_at(ahead, run - at->room)->start + link->hop_ps;
		if (room > ready)
			ready = room;
	}
	if (at->number > 0) {
		struct hop *before = hop_before(engine, at);
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
		begin(engine, packet, at, span_at(at, run - 1)->end);
		return;
	}
	at->armed = true;
	if (ready > engine->now) {
		tb_wheel_put(&engine->wheel, ready, EV_READY,
			packet->id * engine->hops_most + at->number);
		return;
	}
	link->ready |= (uint16_t)(1u << at->vc);
	list_add(&engine->links_now, at->link, &link->listed);
}

void tb_wormhole_ready(struct tb_engine *engine, uint32_t subject)
{
	struct packet *packet = packet_at(engine, subject / engine->hops_most);
	const struct hop *at = hop_at(engine, packet, subject % engine->hops_most);
	struct link *link = &engine->links[at->link];
	link->ready |= (uint16_t)(1u << at->vc);
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
		struct packet *packet = packet_at(engine, vc->packet);
		begin(engine, packet, hop_at(engine, packet, vc->hop), engine->now);
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
	engine->vcs[(size_t)link_id * engine->vcs_most + v] =
		(struct vc){.free_at = TB_TIME_NEVER,
			.granted_at = engine->now,
			.packet = id,
			.hop = hop,
			.flow = packet->flow};
	struct hop *at = hop_at(engine, packet, hop);
	*at = (struct hop){.link = link_id,
		.number = (uint8_t)hop,
		.vc = (uint8_t)v,
		.room = link->room_runs};
	packet->path_ps += link->hop_ps;
	if (link->ready == 0 && link->reserved_until <= engine->now)
		begin(engine, packet, at, engine->now);
	else
		advance(engine, packet, at);
}

void tb_wormhole_inject(struct tb_engine *engine, uint32_t packet, uint32_t vc)
{
	uint32_t message = packet_at(engine, packet)->message;
	uint32_t node = engine->messages[message].what.source.id;
	grant(engine, packet, engine->net->injection[node], vc);
}

// tie is the random number that decides between equals: a hash of seed, packet and
// switch, so that the choice does not depend on what else happens when.
static uint64_t tie(
	const struct tb_engine *engine, const struct waiter *waiter, uint32_t sw)
{
	return tb_random_mix(
		engine->seed ^ tb_random_mix(waiter->order) ^ (uint64_t)sw << 32);
}

// pick finds the least loaded link of a route that has a free VC; of n equals it takes,
// in the order of ports, number (tie mod n).
static uint32_t pick(const struct tb_engine *engine, const struct waiter *waiter,
	uint32_t sw, uint32_t *vc)
{
	if (!(waiter->route & TB_ROUTE_GROUP))
		return free_vcs(engine, waiter->route, vc) ? waiter->route : NOTHING;
	const struct tb_route_group *group =
		&engine->net->groups[waiter->route & ~TB_ROUTE_GROUP];
	const uint32_t *links = engine->net->group_links + group->first;
	uint32_t most = 0, n_equal = 0, chosen = NOTHING;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t lowest;
		uint32_t n = free_vcs(engine, links[i], &lowest);
		// Written without branches: which link is best cannot be predicted.
		n_equal = n > most ? 1 : n_equal + (n == most);
		chosen = n > most ? i : chosen;
		most = n > most ? n : most;
	}
	if (most == 0)
		return NOTHING;
	if (n_equal > 1) {
		uint32_t skip = (uint32_t)(tie(engine, waiter, sw) % n_equal);
		uint32_t lowest;
		while (skip)
			skip -= free_vcs(engine, links[++chosen], &lowest) == most;
	}
	free_vcs(engine, links[chosen], vc);
	return links[chosen];
}

// charge counts a header's wait from what is counted already up to `until`.
static void charge(struct tb_engine *engine, struct packet *packet, tb_time_ps until)
{
	uint32_t came_by = hop_at(engine, packet, packet->n_granted - 1)->link;
	tb_recorder_wait(&engine->recorder, came_by, packet->flow,
		until - packet->charged, until - packet->arrived);
	packet->charged = until;
}

static bool older(const struct waiter *a, const struct waiter *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

// insert puts a waiter among `n` that are sorted, oldest first.
static void insert(struct waiter *waiters, uint32_t n, struct waiter waiter)
{
	for (; n > 0 && older(&waiter, &waiters[n - 1]); n--)
		waiters[n] = waiters[n - 1];
	waiters[n] = waiter;
}

// A header joins those that came in this instant; whether it must wait shows in phase 2.
void tb_wormhole_header(struct tb_engine *engine, uint32_t id)
{
	struct packet *packet = packet_at(engine, id);
	uint32_t came_by = hop_at(engine, packet, packet->n_granted - 1)->link;
	uint32_t sw = engine->links[came_by].to;
	struct switch_state *at = &engine->switches[sw];
	packet->arrived = packet->charged = engine->now;
	struct waiter waiter = {.order = packet->order, .packet = id};
	waiter.key = packet->arrived - ((packet->waited * engine->age_q10) >> 10);
	waiter.route = tb_network_route(engine->net, sw, packet->destination,
		packet->n_granted - 1, packet->ascending);
	insert(at->waiters + at->n_waiting, at->n_new++, waiter);
	list_add(&engine->switches_now, sw, &at->listed);
}

// admit grants a waiter its VC and closes the account of its wait: it waited for the flow
// that held this VC, and in the end for what limited that.
static void admit(
	struct tb_engine *engine, const struct waiter *waiter, uint32_t link, uint32_t v)
{
	struct packet *packet = packet_at(engine, waiter->packet);
	tb_time_ps wait = engine->now - packet->arrived;
	const struct vc *vc = &vcs_of(engine, link)[v];
	uint32_t root = vc->root;
	if (wait > 0) {
		charge(engine, packet, engine->now);
		packet->waited += wait;
		tb_recorder_blame(&engine->recorder,
			hop_at(engine, packet, packet->n_granted - 1)->link, root,
			packet->flow, vc->flow, wait);
	}
	uint32_t hop = packet->n_granted;
	grant(engine, waiter->packet, link, v);
	struct hop *at = hop_at(engine, packet, hop);
	at->wait = wait;
	at->root = root;
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

// try_waiters lets waiters [first, end) of a switch, sorted, take VCs; those that find
// none stay, moved up to `first`. Returns how many stay.
static uint32_t try_waiters(struct tb_engine *engine, uint32_t sw, uint32_t first,
	uint32_t end, tb_time_ps *wake)
{
	struct waiter *waiters = engine->switches[sw].waiters;
	uint32_t n_left = first;
	uint32_t full = TB_ROUTE_NONE; // a route that has been found to have no free VC
	for (uint32_t i = first; i < end; i++) {
		struct waiter *waiter = &waiters[i];
		uint32_t vc = 0;
		if (waiter->route != full) {
			uint32_t link = pick(engine, waiter, sw, &vc);
			if (link != NOTHING) {
				admit(engine, waiter, link, vc);
				continue;
			}
			full = waiter->route;
			tb_time_ps frees = route_frees(engine, full);
			if (frees < *wake)
				*wake = frees;
		}
		if (n_left != i)
			waiters[n_left] = *waiter;
		n_left++;
	}
	return n_left - first;
}

// count_blocked counts the headers of this instant that must wait.
static void count_blocked(
	struct tb_engine *engine, const struct waiter *waiters, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct packet *packet = packet_at(engine, waiters[i].packet);
		if (packet->arrived == engine->now)
			tb_recorder_blocked(&engine->recorder,
				hop_at(engine, packet, packet->n_granted - 1)->link);
	}
}

// The oldest header first: each takes a VC of its route if one is free. Headers that
// found none before need not look again unless this instant was set as the one when one
// falls free.
void tb_wormhole_switch(struct tb_engine *engine, uint32_t sw)
{
	struct switch_state *at = &engine->switches[sw];
	uint32_t n_old = at->n_waiting, n_new = at->n_new;
	tb_time_ps wake = TB_TIME_NEVER;
	at->listed = false;
	at->n_new = 0;
	if (at->wake_at <= engine->now) {
		at->wake_at = TB_TIME_NEVER;
		for (uint32_t i = 0; i < n_new; i++)
			insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = try_waiters(engine, sw, 0, n_old + n_new, &wake);
		if (n_new)
			count_blocked(engine, at->waiters, at->n_waiting);
	} else {
		uint32_t n = try_waiters(engine, sw, n_old, n_old + n_new, &wake);
		count_blocked(engine, at->waiters + n_old, n);
		for (uint32_t i = 0; i < n; i++)
			insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = n_old + n;
	}
	wake_switch(engine, sw, wake);
}

// set_roots tells each VC of a packet what limited the packet while it held it: the root
// of its longest wait further on, or nothing but this link.
static void set_roots(struct tb_engine *engine, struct packet *packet)
{
	tb_time_ps longest = 0;
	uint32_t root = NOTHING;
	for (uint32_t hop = packet->n_granted; hop-- > 0;) {
		const struct hop *at = hop_at(engine, packet, hop);
		struct vc *vc =
			&engine->vcs[(size_t)at->link * engine->vcs_most + at->vc];
		vc->root = root == NOTHING ? at->link : root;
		if (at->wait > longest) {
			longest = at->wait;
			root = at->root;
		}
	}
}

void tb_wormhole_release(struct tb_engine *engine, uint32_t id, tb_time_ps eop_at)
{
	struct packet *packet = packet_at(engine, id);
	tb_time_ps passes = eop_at;
	set_roots(engine, packet);
	for (uint32_t hop = 0; hop < packet->n_granted; hop++) {
		const struct hop *at = hop_at(engine, packet, hop);
		const struct link *link = &engine->links[at->link];
		engine->vcs[(size_t)at->link * engine->vcs_most + at->vc].free_at =
			passes;
		if (!link->injection && engine->switches[link->from].n_waiting)
			wake_switch(engine, link->from, passes);
		passes += link->hop_ps;
	}
}

// first_link is a link of a route, the first of a group.
static uint32_t first_link(const struct tb_engine *engine, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP))
		return route;
	return engine->net
		->group_links[engine->net->groups[route & ~TB_ROUTE_GROUP].first];
}

void tb_wormhole_blame_open(struct tb_engine *engine, tb_time_ps until)
{
	for (uint32_t sw = 0; sw < engine->net->n_switches; sw++) {
		const struct switch_state *at = &engine->switches[sw];
		for (uint32_t i = 0; i < at->n_waiting; i++) {
			struct packet *packet = packet_at(engine, at->waiters[i].packet);
			uint32_t link = first_link(engine, at->waiters[i].route);
			if (until > packet->arrived)
				tb_recorder_blame(&engine->recorder,
					hop_at(engine, packet, packet->n_granted - 1)
						->link,
					link, packet->flow, vcs_of(engine, link)[0].flow,
					until - packet->arrived);
		}
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
		for (uint32_t i = 0; i < at->n_waiting; i++)
			charge(engine, packet_at(engine, at->waiters[i].packet), until);
		lasts |= at->n_waiting > 0;
	}
	return lasts;
}
