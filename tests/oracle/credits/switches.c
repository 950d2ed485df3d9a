// Switches: queues, routes by load, and who goes next. Numbers of rules are those of
// docs/credits.md.
#include "credits.h"

#include <assert.h>
#include <stdlib.h>

void credits_touch(struct oracle *oracle, uint32_t sw)
{
	struct crossbar *crossbar = &oracle->credits->crossbars[sw];
	touch(&oracle->switches_now, sw, &crossbar->touched);
	touch(&oracle->credits->now, sw, &crossbar->seen);
}

static uint32_t n_ports(const struct oracle *oracle, uint32_t sw)
{
	return oracle->net->first_out[sw + 1] - oracle->net->first_out[sw];
}

// out_of is the link that leaves a switch by a port, in_to the one that comes in there;
// TB_ID_NONE where there is no cable.
static uint32_t out_of(const struct oracle *oracle, uint32_t sw, uint32_t port)
{
	return oracle->net->out_links[oracle->net->first_out[sw] + port];
}

static uint32_t in_to(const struct oracle *oracle, uint32_t sw, uint32_t port)
{
	uint32_t out = out_of(oracle, sw, port);
	return out == TB_ID_NONE ? out : oracle->links[out].info->reverse.id;
}

// same_queue returns whether two packets of a lane stand in one queue (C5).
static bool same_queue(
	const struct oracle *oracle, const struct packet *a, const struct packet *b)
{
	return oracle->credits->params->queues == TB_QUEUES_FIFO || a->route == b->route;
}

struct left *credits_left_of(struct oracle *oracle, const struct packet *packet)
{
	struct lane *lane = lane_of(oracle, came_by(packet), packet);
	if (oracle->credits->params->queues == TB_QUEUES_FIFO)
		return &lane->left[0];
	return &lane->left[oracle->links[packet->route].info->from_port];
}

static void join(struct oracle *oracle, struct packet *packet)
{
	struct lane *lane = lane_of(oracle, came_by(packet), packet);
	const struct hop *hop = &packet->hops[packet->n_granted - 1];
	const struct link *in = &oracle->links[hop->link];
	const struct link *out = &oracle->links[packet->route];
	tb_time_ps tail_in = hop->begun_at + in->info->latency_ps +
			     rate_time(in->byte_q20, packet->wire_bytes);
	tb_time_ps ready = tail_in - rate_time(out->byte_q20, packet->wire_bytes);
	lane->queue = oracle_one_more(lane->queue, lane->n_queue, sizeof *lane->queue);
	lane->queue[lane->n_queue++] = packet;
	packet->ready_at = oracle_later(ready, oracle->now);
	if (ready <= oracle->now)
		return;
	packet->n_events++;
	oracle_foresee(
		oracle, (struct happening){.at = ready, .what = READY, .packet = packet});
}

void credits_unqueue(struct oracle *oracle, struct packet *packet)
{
	struct lane *lane = lane_of(oracle, came_by(packet), packet);
	size_t i = 0;
	while (lane->queue[i] != packet)
		i++;
	for (lane->n_queue--; i < lane->n_queue; i++)
		lane->queue[i] = lane->queue[i + 1];
}

void credits_ready(struct oracle *oracle, struct packet *packet)
{
	if (!packet->failed)
		credits_touch(oracle, switch_of(oracle, packet));
	credits_event_over(oracle, packet);
}

// Routes.
//
// credits_waiting is how many bytes wait at a switch for a link on a VL.
uint64_t credits_waiting(
	const struct oracle *oracle, uint32_t sw, uint32_t link, uint32_t vl)
{
	uint64_t bytes = 0;
	for (uint32_t port = 0; port < n_ports(oracle, sw); port++) {
		uint32_t in = in_to(oracle, sw, port);
		if (in == TB_ID_NONE)
			continue;
		const struct lane *lane = &line_of(oracle, in)->lanes[vl];
		for (size_t i = 0; i < lane->n_queue; i++)
			if (lane->queue[i]->route == link)
				bytes += lane->queue[i]->wire_bytes;
	}
	return bytes;
}

// load_of (C4) counts the packets of a switch that are to take a link, and one that does.
static uint32_t load_of(const struct oracle *oracle, uint32_t sw, uint32_t link)
{
	uint32_t load = line_of(oracle, link)->crossing != NULL;
	for (uint32_t port = 0; port < n_ports(oracle, sw); port++) {
		uint32_t in = in_to(oracle, sw, port);
		for (uint32_t v = 0; in != TB_ID_NONE && v < oracle->credits->n_vls;
			v++) {
			const struct lane *lane = &line_of(oracle, in)->lanes[v];
			for (size_t i = 0; i < lane->n_queue; i++)
				load += lane->queue[i]->route == link;
		}
	}
	return load;
}

// merit_of orders links of equal load.
static uint32_t merit_of(
	const struct oracle *oracle, const struct packet *packet, uint32_t link)
{
	const struct lane *lane = lane_of(oracle, link, packet);
	return pauses(oracle->credits) ? !lane->paused : lane->n_free;
}

// best_of leaves of a group the links with the smallest load, and of these the best.
static struct group best_of(const struct oracle *oracle, const struct packet *packet,
	uint32_t sw, const struct group *group)
{
	struct group best = {.n = 0};
	uint32_t least = UINT32_MAX, most = 0;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t load = load_of(oracle, sw, group->links[i]);
		uint32_t merit = merit_of(oracle, packet, group->links[i]);
		if (load > least || (load == least && merit < most))
			continue;
		if (load < least || merit > most)
			best.n = 0;
		least = load;
		most = merit;
		best.links[best.n++] = group->links[i];
	}
	return best;
}

static void choose_route(struct oracle *oracle, struct packet *packet)
{
	uint32_t sw = switch_of(oracle, packet);
	struct group group = oracle_group_on(oracle, packet, sw, oracle->now);
	assert(group.n > 0);
	packet->route = group.links[0];
	if (group.n > 1) {
		struct group best = best_of(oracle, packet, sw, &group);
		packet->route = oracle_one_of(oracle, packet, sw, &best);
	}
	join(oracle, packet);
}

static int by_order(const void *left, const void *right)
{
	const struct packet *const *a = left, *const *b = right;
	return oracle_compare((*a)->order, (*b)->order);
}

void credits_choose_routes(struct oracle *oracle)
{
	for (uint32_t i = 0; i < oracle->switches_now.n; i++) {
		struct crossbar *crossbar =
			&oracle->credits->crossbars[oracle->switches_now.ids[i]];
		if (crossbar->n_came)
			qsort(crossbar->came, crossbar->n_came, sizeof *crossbar->came,
				by_order);
		for (size_t j = 0; j < crossbar->n_came; j++)
			choose_route(oracle, crossbar->came[j]);
		crossbar->n_came = 0;
	}
}

void credits_come(struct oracle *oracle, struct packet *packet)
{
	uint32_t sw = switch_of(oracle, packet);
	struct crossbar *crossbar = &oracle->credits->crossbars[sw];
	if (oracle_group_on(oracle, packet, sw, oracle->now).n == 0) {
		uint32_t link = came_by(packet);
		credits_free(oracle, packet, link,
			(struct blamed){flow_of(packet), link, false, flow_of(packet)});
		credits_fail(oracle, packet);
		return;
	}
	crossbar->came =
		oracle_one_more(crossbar->came, crossbar->n_came, sizeof *crossbar->came);
	crossbar->came[crossbar->n_came++] = packet;
	credits_touch(oracle, sw);
}

// Who goes next.
//
struct candidate {
	struct packet *packet;
	uint32_t port; // by which it came in
};

struct candidates {
	struct candidate list[GROUP_MOST];
	uint32_t n;
};

// n_sending is how many packets that came by a link are crossing others (C7).
static uint32_t n_sending(const struct oracle *oracle, uint32_t sw, uint32_t in)
{
	uint32_t n = 0;
	for (uint32_t port = 0; port < n_ports(oracle, sw); port++) {
		uint32_t out = out_of(oracle, sw, port);
		const struct line *line = out == TB_ID_NONE ? NULL : line_of(oracle, out);
		if (line && line->crossing)
			n += line->crossing->hops[line->hop - 1].link == in;
	}
	return n;
}

static bool input_has_room(const struct oracle *oracle, uint32_t sw, uint32_t in)
{
	uint32_t most = oracle->credits->params->input_speedup;
	return most == 0 || n_sending(oracle, sw, in) < most;
}

// is_first returns whether packet i of a lane is the first of its queue.
static bool is_first(const struct oracle *oracle, const struct lane *lane, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (same_queue(oracle, lane->queue[j], lane->queue[i]))
			return false;
	return true;
}

// add_firsts adds those of an input's packets that are the first of their queues, and
// ready.
static void add_firsts(const struct oracle *oracle, struct candidates *candidates,
	uint32_t in, uint32_t port)
{
	for (uint32_t v = 0; v < oracle->credits->n_vls; v++) {
		const struct lane *lane = &line_of(oracle, in)->lanes[v];
		for (size_t i = 0; i < lane->n_queue; i++) {
			if (lane->queue[i]->ready_at > oracle->now ||
				!is_first(oracle, lane, i))
				continue;
			assert(candidates->n < GROUP_MOST);
			candidates->list[candidates->n++] =
				(struct candidate){lane->queue[i], port};
		}
	}
}

static void candidates_of(
	const struct oracle *oracle, uint32_t sw, struct candidates *candidates)
{
	candidates->n = 0;
	for (uint32_t port = 0; port < n_ports(oracle, sw); port++) {
		uint32_t in = in_to(oracle, sw, port);
		if (in != TB_ID_NONE && input_has_room(oracle, sw, in))
			add_firsts(oracle, candidates, in, port);
	}
}

// first_in_turn (C11) is the candidate at which a link looks on a VL; NULL: none.
static const struct candidate *first_in_turn(const struct oracle *oracle, uint32_t sw,
	const struct candidates *candidates, uint32_t link, uint32_t vl)
{
	uint32_t n = n_ports(oracle, sw), turn = line_of(oracle, link)->lanes[vl].turn;
	const struct candidate *first = NULL;
	for (uint32_t i = 0; i < candidates->n; i++) {
		const struct candidate *it = &candidates->list[i];
		if (it->packet->route != link || it->packet->vl != vl ||
			!input_has_room(oracle, sw, came_by(it->packet)))
			continue;
		if (!first || (it->port + n - turn) % n < (first->port + n - turn) % n)
			first = it;
	}
	return first;
}

static bool can_send(const struct oracle *oracle, uint32_t link,
	struct packet *const packets[TB_VLS_MOST], uint32_t vl)
{
	return packets[vl] && credits_may_begin(oracle, link, packets[vl]);
}

static bool any_can_send(const struct oracle *oracle, uint32_t link,
	struct packet *const packets[TB_VLS_MOST], const struct tb_vl_table *table)
{
	for (uint32_t i = 0; i < table->n; i++)
		if (table->at[i].weight > 0 &&
			can_send(oracle, link, packets, table->at[i].vl))
			return true;
	return false;
}

// take (C12) is the VL that a table takes; one of its VLs can send.
static uint32_t take(const struct oracle *oracle, uint32_t link,
	struct packet *const packets[TB_VLS_MOST], const struct tb_vl_table *table,
	struct arbiter *arbiter)
{
	uint32_t at = arbiter->current;
	if (arbiter->weight_left == 0 ||
		!can_send(oracle, link, packets, table->at[at].vl)) {
		do
			at = (at + 1) % table->n;
		while (table->at[at].weight == 0 ||
			!can_send(oracle, link, packets, table->at[at].vl));
		arbiter->current = at;
		arbiter->weight_left = table->at[at].weight;
	}
	uint32_t vl = table->at[at].vl;
	uint32_t n = blocks_of(packets[vl]);
	arbiter->weight_left -= n < arbiter->weight_left ? n : arbiter->weight_left;
	return vl;
}

static bool limit_is_reached(const struct credits *credits, const struct line *line)
{
	uint64_t limit = (uint64_t)credits->params->vl_limit * 4096;
	return credits->params->vl_limit != 255 && line->n_high > 0 &&
	       line->n_high_bytes >= limit;
}

uint32_t credits_arbitrate(
	struct oracle *oracle, uint32_t link, struct packet *const packets[TB_VLS_MOST])
{
	const struct credits *credits = oracle->credits;
	struct line *line = line_of(oracle, link);
	bool high = any_can_send(oracle, link, packets, &credits->high);
	bool low = any_can_send(oracle, link, packets, &credits->low);
	if (!high && !low)
		return TB_ID_NONE;
	if (high && !(low && limit_is_reached(credits, line))) {
		uint32_t vl = take(oracle, link, packets, &credits->high, &line->high);
		line->n_high++;
		line->n_high_bytes += packets[vl]->wire_bytes;
		return vl;
	}
	line->n_high = 0;
	line->n_high_bytes = 0;
	return take(oracle, link, packets, &credits->low, &line->low);
}

// send_candidate lets a candidate begin.
static void send_candidate(
	struct oracle *oracle, uint32_t sw, const struct candidate *candidate)
{
	struct packet *packet = candidate->packet;
	uint32_t link = packet->route;
	struct lane *lane = lane_of(oracle, link, packet);
	credits_unqueue(oracle, packet);
	credits_end_wait(oracle, packet, link);
	lane->turn = (candidate->port + 1) % n_ports(oracle, sw);
	credits_mark(oracle, packet, link);
	credits_begin(oracle, packet, link);
	credits_touch(oracle, sw);
}

// serve_link lets a free link choose; it returns whether something begins.
static bool serve_link(struct oracle *oracle, uint32_t sw,
	const struct candidates *candidates, uint32_t link)
{
	const struct candidate *firsts[TB_VLS_MOST];
	struct packet *packets[TB_VLS_MOST] = {NULL};
	for (uint32_t v = 0; v < oracle->credits->n_vls; v++) {
		firsts[v] = first_in_turn(oracle, sw, candidates, link, v);
		packets[v] = firsts[v] ? firsts[v]->packet : NULL;
	}
	uint32_t vl = credits_arbitrate(oracle, link, packets);
	if (vl != TB_ID_NONE)
		send_candidate(oracle, sw, firsts[vl]);
	return vl != TB_ID_NONE;
}

// serve_switch is a round of a switch (C13).
static void serve_switch(struct oracle *oracle, uint32_t sw)
{
	struct crossbar *crossbar = &oracle->credits->crossbars[sw];
	uint32_t n = n_ports(oracle, sw), first = (uint32_t)(crossbar->n_begun % n);
	struct candidates candidates;
	candidates_of(oracle, sw, &candidates);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t link = out_of(oracle, sw, (first + i) % n);
		if (link != TB_ID_NONE && !line_of(oracle, link)->crossing)
			crossbar->n_begun += serve_link(oracle, sw, &candidates, link);
	}
}

void credits_serve(struct oracle *oracle)
{
	uint32_t n = oracle->switches_now.n, *ids = oracle_zeroed(n, sizeof *ids);
	for (uint32_t i = 0; i < n; i++) {
		ids[i] = oracle->switches_now.ids[i];
		oracle->credits->crossbars[ids[i]].touched = false;
	}
	oracle->switches_now.n = 0; // those where something begins have another round
	for (uint32_t i = 0; i < n; i++)
		serve_switch(oracle, ids[i]);
	free(ids);
}

// What is noted of an instant.
//
static void note_blocked(struct oracle *oracle, uint32_t in)
{
	for (uint32_t v = 0; v < oracle->credits->n_vls; v++) {
		const struct lane *lane = &line_of(oracle, in)->lanes[v];
		for (size_t i = 0; i < lane->n_queue; i++)
			if (lane->queue[i]->ready_at == oracle->now)
				oracle_note(&oracle->facts,
					(struct oracle_fact){.kind = ORACLE_BLOCKED,
						.link = lane->queue[i]->route,
						.from = oracle->now,
						.to = oracle->now});
	}
}

static void note_stall(struct oracle *oracle, uint32_t link, bool stalls)
{
	struct line *line = line_of(oracle, link);
	if (line->stalled == stalls)
		return;
	if (line->stalled && line->stalled_from < oracle->now)
		oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_STALLED,
						    .link = link,
						    .from = line->stalled_from,
						    .to = oracle->now});
	line->stalled = stalls;
	line->stalled_from = oracle->now;
}

static void note_switch(struct oracle *oracle, uint32_t sw)
{
	struct candidates firsts = {.n = 0};
	for (uint32_t port = 0; port < n_ports(oracle, sw); port++) {
		uint32_t in = in_to(oracle, sw, port);
		if (in == TB_ID_NONE)
			continue;
		note_blocked(oracle, in);
		add_firsts(oracle, &firsts, in, port);
	}
	for (uint32_t port = 0; port < n_ports(oracle, sw); port++) {
		uint32_t out = out_of(oracle, sw, port);
		bool stalls = false;
		for (uint32_t i = 0; i < firsts.n; i++)
			stalls |= firsts.list[i].packet->route == out;
		if (out != TB_ID_NONE)
			note_stall(
				oracle, out, stalls && !line_of(oracle, out)->crossing);
	}
}

void credits_note_instant(struct oracle *oracle)
{
	struct touched *now = &oracle->credits->now;
	for (uint32_t i = 0; i < now->n; i++) {
		oracle->credits->crossbars[now->ids[i]].seen = false;
		note_switch(oracle, now->ids[i]);
	}
	now->n = 0;
	for (uint32_t i = 0; i < oracle->net->n_nodes; i++) {
		uint32_t link = oracle->net->injection[i];
		bool waits = false;
		for (uint32_t v = 0; v < oracle->credits->n_vls; v++)
			waits |= oracle->nodes[i].ahead[v].fetched != NULL;
		note_stall(oracle, link, waits && !line_of(oracle, link)->crossing);
	}
}

void credits_note_lasting(struct oracle *oracle)
{
	for (uint32_t link = 0; link < oracle->net->n_links; link++) {
		note_stall(oracle, link, false);
		for (uint32_t v = 0; v < oracle->credits->n_vls; v++) {
			const struct lane *lane = &line_of(oracle, link)->lanes[v];
			for (size_t i = 0; i < lane->n_queue; i++)
				credits_note_open(oracle, lane->queue[i]);
		}
	}
}
