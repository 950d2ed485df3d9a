#include "shares.h"

#include "array.h"
#include "heap.h"

#include <math.h>
#include <stdlib.h>

static inline bool share_is_less(
	const struct tb_share_entry *a, const struct tb_share_entry *b)
{
	return a->share != b->share ? a->share < b->share : a->link < b->link;
}

TB_HEAP(shares_heap, struct tb_share_entry, share_is_less)

int tb_shares_init(
	struct tb_shares *shares, uint32_t n_links, uint32_t n_steps_most, bool coupled)
{
	*shares = (struct tb_shares){.n_links = n_links,
		.n_steps_most = n_steps_most,
		.free_flow = TB_SHARES_NONE,
		.begun_at = -1,
		.coupled = coupled,
		.apart_least = 1e-3};
	shares->links = calloc(n_links + (size_t)1, sizeof *shares->links);
	if (coupled)
		shares->queues = calloc(n_links + (size_t)1, sizeof *shares->queues);
	return shares->links && (shares->queues || !coupled) ? TB_OK : TB_ENOMEM;
}

int tb_shares_take_tokens(struct tb_shares *shares, double tokens)
{
	size_t n = shares->n_links + (size_t)1;
	shares->tokens = tokens;
	shares->tokens_apart = TB_SHARE_TOKENS_APART;
	shares->reverse = malloc(n * sizeof *shares->reverse);
	if (!shares->queues)
		shares->queues = calloc(n, sizeof *shares->queues);
	for (uint32_t i = 0; i < shares->n_links && shares->reverse; i++)
		shares->reverse[i] = TB_SHARES_NONE;
	return shares->reverse && shares->queues ? TB_OK : TB_ENOMEM;
}

void tb_shares_fini(struct tb_shares *shares)
{
	for (uint32_t i = 0; shares->links && i < shares->n_links; i++)
		if (shares->links[i].room)
			free(shares->links[i].uses.many);
	free(shares->links);
	free(shares->flows);
	free(shares->steps);
	free(shares->group);
	free(shares->touched);
	free(shares->heap);
	free(shares->level_links);
	free(shares->queues);
	free(shares->ports);
	tb_map_fini(&shares->port_of);
	free(shares->crossings);
	tb_map_fini(&shares->crossing_of);
	free(shares->due);
	free(shares->ins);
	free(shares->outs);
	free(shares->ranks);
	free(shares->reverse);
	free(shares->changes);
	*shares = (struct tb_shares){0};
}

// States of a link in a solution.
enum { SPREAD = 1, TOUCHED = 2, LIMITS = 4, STIRRED = 8 };

static inline bool share_is_in(
	const struct tb_shares *shares, const struct tb_share_link *link, uint32_t state)
{
	return link->mark == shares->mark && (link->states & state);
}

static inline void share_put_in(
	const struct tb_shares *shares, struct tb_share_link *link, uint32_t state)
{
	link->states = state | (link->mark == shares->mark ? link->states : 0);
	link->mark = shares->mark;
}

// add_use adds a use to those of a link. Most links of a large network have one at most,
// for which nothing is allocated.
static int add_use(struct tb_share_link *link, struct tb_share_use use)
{
	if (link->room == 0 && link->n == 0) {
		link->uses.one = use;
		link->n = 1;
		return TB_OK;
	}
	size_t room = link->room;
	struct tb_share_use *many = room ? link->uses.many : NULL;
	if (TB_ARRAY_RESERVE(&many, &room, (size_t)link->n + 1) != TB_OK)
		return TB_ENOMEM;
	if (link->room == 0)
		many[0] = link->uses.one;
	link->uses.many = many;
	link->room = (uint32_t)room;
	many[link->n++] = use;
	return TB_OK;
}

// new_flow returns a free record.
static uint32_t new_flow(struct tb_shares *shares)
{
	uint32_t id = shares->free_flow;
	if (id != TB_SHARES_NONE) {
		shares->free_flow = shares->flows[id].next;
		return id;
	}
	size_t n = (size_t)shares->n_flows + 1;
	if (TB_ARRAY_RESERVE(&shares->flows, &shares->flows_room, n) != TB_OK ||
		TB_ARRAY_RESERVE(&shares->steps, &shares->steps_room,
			n * shares->n_steps_most) != TB_OK)
		return TB_SHARES_NONE;
	return shares->n_flows++;
}

void tb_shares_gather(struct tb_shares *shares, uint32_t flow)
{
	if (shares->flows[flow].gathered == shares->mark)
		return;
	shares->flows[flow].gathered = shares->mark;
	if (TB_ARRAY_RESERVE(&shares->group, &shares->group_room,
		    (size_t)shares->n_group + 1) != TB_OK) {
		shares->failed = true;
		return;
	}
	shares->group[shares->n_group++] = flow;
}

// begin_group begins the next solution with the first flow that begins or ends.
static void begin_group(struct tb_shares *shares)
{
	if (shares->n_group == 0)
		shares->mark++;
}

// full_capacity is that of a link without tokens of its reverse.
static uint64_t full_capacity(const struct tb_shares *shares, uint32_t id)
{
	return shares->queues && shares->queues[id].full ? shares->queues[id].full
							 : shares->links[id].capacity;
}

uint32_t tb_shares_begin(
	struct tb_shares *shares, const struct tb_share_step *given, uint32_t n)
{
	uint32_t id = new_flow(shares);
	if (id == TB_SHARES_NONE)
		return id;
	struct tb_share_step *steps = tb_shares_steps(shares, id);
	for (uint32_t i = 0; i < n; i++) {
		struct tb_share_link *link = &shares->links[given[i].link];
		steps[i] = given[i];
		steps[i].at = link->n;
		if (add_use(link, (struct tb_share_use){
					  id, (uint16_t)i, given[i].weight}) != TB_OK)
			return TB_SHARES_NONE;
		link->left = 0;
	}
	// Several ways may cross a link.
	uint64_t free_rate = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_share_link *link = &shares->links[given[i].link];
		link->left += given[i].weight;
		uint64_t capacity = full_capacity(shares, given[i].link);
		if (capacity / link->left < free_rate)
			free_rate = capacity / link->left;
	}
	shares->flows[id] = (struct tb_share_flow){.free_rate = free_rate,
		.limit = TB_SHARES_NONE,
		.next_limit = TB_SHARES_NONE,
		.origin = given[0].link,
		.n_steps = n,
		.n_hops = n,
		.share = 1,
		.begins = true};
	if (shares->coupled && tb_coupled_begin(shares, id) != TB_OK)
		return TB_SHARES_NONE;
	begin_group(shares);
	tb_shares_gather(shares, id);
	return id;
}

// wait_between returns the input of the link behind `passed` links of a way, in whose
// buffer the last byte of a flow is.
static struct tb_share_port *wait_between(struct tb_shares *shares, uint32_t id)
{
	struct tb_share_flow *flow = &shares->flows[id];
	const struct tb_share_step *steps = tb_shares_steps(shares, id) + flow->way;
	return &shares->ports[steps[flow->passed].port];
}

// wait_behind is the link behind which that buffer is.
static struct tb_share_queue *wait_behind(struct tb_shares *shares, uint32_t id)
{
	return &shares->queues[wait_between(shares, id)->from];
}

void tb_shares_end(struct tb_shares *shares, uint32_t id)
{
	struct tb_share_flow *flow = &shares->flows[id];
	if (shares->coupled && !flow->ends) {
		if (flow->entered && flow->passed < flow->n_hops)
			wait_behind(shares, id)->n_waiting--;
		tb_coupled_pass(
			shares, id, flow->entered ? flow->passed : 0, flow->n_steps);
	}
	flow->ends = true;
	flow->next_rate = 0;
	flow->next_limit = TB_SHARES_NONE;
	begin_group(shares);
	tb_shares_gather(shares, id);
}

void tb_shares_weigh(struct tb_shares *shares, uint32_t id, uint32_t share)
{
	struct tb_share_flow *flow = &shares->flows[id];
	share = share < TB_SHARES_MOST ? share : TB_SHARES_MOST;
	if (flow->share == share)
		return;
	flow->share = share;
	begin_group(shares);
	tb_shares_gather(shares, id);
}

bool tb_shares_enter(struct tb_shares *shares, uint32_t id)
{
	struct tb_share_flow *flow = &shares->flows[id];
	const struct tb_share_step *steps = tb_shares_steps(shares, id);
	if (!shares->coupled)
		return false;
	if (!flow->entered) {
		// Of several ways the slowest counts.
		double longest = 0;
		for (uint32_t way = 0; way < flow->n_steps; way += flow->n_hops) {
			double waits = 0;
			for (uint32_t s = 1; s < flow->n_hops; s++) {
				tb_coupled_update(shares, steps[way + s - 1].link);
				const struct tb_share_port *port =
					&shares->ports[steps[way + s].port];
				if (port->held > 0)
					waits += port->held / port->out;
			}
			if (waits > longest) {
				longest = waits;
				flow->way = way;
			}
		}
		if (longest <= 0)
			return false;
		flow->pace = shares->queues[flow->origin].pace;
	} else {
		wait_behind(shares, id)->n_waiting--;
	}
	uint32_t from = flow->passed;
	for (flow->passed++; flow->passed < flow->n_hops; flow->passed++) {
		tb_coupled_update(shares, steps[flow->way + flow->passed - 1].link);
		if (wait_between(shares, id)->held > 0)
			break;
	}
	tb_coupled_pass(shares, id, from, flow->passed);
	flow->entered = true;
	if (flow->passed == flow->n_hops)
		return false;
	wait_behind(shares, id)->n_waiting++;
	flow->ahead = wait_between(shares, id)->held;
	flow->ahead_since = shares->now;
	flow->ahead_rate = 0;
	begin_group(shares);
	tb_shares_gather(shares, id);
	return true;
}

void tb_shares_look(struct tb_shares *shares, uint32_t link)
{
	struct tb_share_queue *queue = &shares->queues[link];
	if (queue->mark != shares->mark) {
		if (queue->mark == 0)
			queue->level = INFINITY;
		queue->mark = shares->mark;
		tb_coupled_update(shares, link);
		queue->n_looks = 0;
		queue->listed = false;
		if (TB_ARRAY_RESERVE(&shares->touched, &shares->touched_room,
			    (size_t)shares->n_touched + 1) != TB_OK) {
			shares->failed = true;
			return;
		}
		shares->touched[shares->n_touched++] = link;
	}
	if (queue->listed)
		return;
	// A ring with room for each link once.
	if (shares->n_due == shares->due_room) {
		size_t room = shares->due_room, old = room;
		if (TB_ARRAY_RESERVE(&shares->due, &room, old + 1) != TB_OK) {
			shares->failed = true;
			return;
		}
		// What lies before the first one goes behind the old end: the room has
		// doubled, at least.
		for (size_t i = 0; i < shares->first_due; i++)
			shares->due[old + i] = shares->due[i];
		shares->due_room = room;
	}
	shares->due[(shares->first_due + shares->n_due++) % shares->due_room] = link;
	queue->listed = true;
}

uint32_t tb_shares_next(struct tb_shares *shares, uint32_t most)
{
	while (shares->n_due > 0 && !shares->failed) {
		uint32_t link = shares->due[shares->first_due];
		shares->first_due = (shares->first_due + 1) % shares->due_room;
		shares->n_due--;
		shares->queues[link].listed = false;
		if (shares->queues[link].n_looks++ <= most && shares->links[link].n)
			return link;
	}
	return TB_SHARES_NONE;
}

static void share_spread(struct tb_shares *shares, uint32_t id)
{
	struct tb_share_link *link = &shares->links[id];
	if (share_is_in(shares, link, SPREAD))
		return;
	share_put_in(shares, link, SPREAD);
	const struct tb_share_use *uses = tb_share_uses(link);
	for (uint32_t i = 0; i < link->n; i++)
		tb_shares_gather(shares, uses[i].flow);
}

// spread_from adds the flows that share a limiting link with flows of the group, from
// number `first` on.
static void spread_from(struct tb_shares *shares, uint32_t first)
{
	for (uint32_t i = first; i < shares->n_group; i++) {
		uint32_t flow = shares->group[i];
		const struct tb_share_step *steps = tb_shares_steps(shares, flow);
		for (uint32_t s = 0; s < shares->flows[flow].n_steps; s++)
			if (shares->links[steps[s].link].n_limited)
				share_spread(shares, steps[s].link);
	}
}

// share_touch computes the capacity of a link that flows outside the group leave.
static struct tb_share_link *share_touch(struct tb_shares *shares, uint32_t id)
{
	struct tb_share_link *link = &shares->links[id];
	if (share_is_in(shares, link, TOUCHED))
		return link;
	if (TB_ARRAY_RESERVE(&shares->touched, &shares->touched_room,
		    (size_t)shares->n_touched + 1) != TB_OK) {
		shares->failed = true;
		return link;
	}
	shares->touched[shares->n_touched++] = id;
	share_put_in(shares, link, TOUCHED);
	link->states &= ~(uint32_t)LIMITS;
	link->rest = link->capacity - link->rate;
	link->left = 0;
	return link;
}

// next_limit takes the link with the least share from the heap, TB_SHARES_NONE when there
// is none up to `most`. Shares only grow, so an entry may be too low but not too high.
static uint32_t next_limit(struct tb_shares *shares, size_t *n, uint64_t most)
{
	while (*n > 0 && shares->heap[0].share <= most) {
		uint32_t id = shares->heap[0].link;
		const struct tb_share_link *link = &shares->links[id];
		uint64_t share = link->left ? link->rest / link->left : 0;
		if (link->left && share > shares->heap[0].share) {
			shares_heap_replace(
				shares->heap, *n, (struct tb_share_entry){share, id});
			continue;
		}
		(void)shares_heap_take(shares->heap, (*n)--);
		if (link->left)
			return id;
	}
	return TB_SHARES_NONE;
}

// settle_flow gives a flow its rate; what limits it is the first such link of its path.
static void settle_flow(struct tb_shares *shares, uint32_t id, uint64_t rate)
{
	struct tb_share_flow *flow = &shares->flows[id];
	const struct tb_share_step *steps = tb_shares_steps(shares, id);
	flow->solved = shares->mark;
	flow->next_rate = rate;
	flow->next_limit = TB_SHARES_NONE;
	for (uint32_t s = 0; s < flow->n_steps; s++) {
		struct tb_share_link *link = &shares->links[steps[s].link];
		if (flow->next_limit == TB_SHARES_NONE &&
			share_is_in(shares, link, LIMITS)) {
			flow->next_limit = s;
			flow->next_root = steps[s].link;
		}
		link->rest -= steps[s].weight * flow->next_rate;
		link->left -= steps[s].weight * flow->share;
	}
}

static void share_settle_link(struct tb_shares *shares, uint32_t id)
{
	const struct tb_share_link *link = &shares->links[id];
	const struct tb_share_use *uses = tb_share_uses(link);
	for (uint32_t i = 0; i < link->n && link->left; i++) {
		const struct tb_share_flow *flow = &shares->flows[uses[i].flow];
		if (flow->gathered == shares->mark && !flow->ends &&
			flow->solved != shares->mark)
			settle_flow(shares, uses[i].flow,
				link->n == 1 ? link->rest / uses[i].weight
					     : link->level * flow->share);
	}
}

// fill_heap reserves room for all links of the group in the heap and in a level.
static size_t fill_heap(struct tb_shares *shares)
{
	size_t n = 0;
	if (TB_ARRAY_RESERVE(&shares->heap, &shares->heap_room,
		    (size_t)shares->n_touched) != TB_OK ||
		TB_ARRAY_RESERVE(&shares->level_links, &shares->level_room,
			(size_t)shares->n_touched) != TB_OK) {
		shares->failed = true;
		return 0;
	}
	for (uint32_t i = 0; i < shares->n_touched; i++) {
		const struct tb_share_link *link = &shares->links[shares->touched[i]];
		if (link->left)
			shares_heap_put(shares->heap, n++,
				(struct tb_share_entry){
					link->rest / link->left, shares->touched[i]});
	}
	return n;
}

// has_faster returns whether a flow outside the group is faster than a link that limits
// flows of the group lets these be, by more than what divisions leave.
static bool has_faster(const struct tb_shares *shares, const struct tb_share_link *link)
{
	const struct tb_share_use *uses = tb_share_uses(link);
	for (uint32_t i = 0; i < link->n; i++) {
		const struct tb_share_flow *flow = &shares->flows[uses[i].flow];
		if (flow->gathered != shares->mark &&
			flow->rate > (link->level + link->n) * flow->share)
			return true;
	}
	return false;
}

// share_widen brings the flows into the group that must become slower; returns whether
// there are any.
static bool share_widen(struct tb_shares *shares)
{
	uint32_t n = shares->n_group;
	for (uint32_t i = 0; i < shares->n_touched; i++) {
		uint32_t id = shares->touched[i];
		const struct tb_share_link *link = &shares->links[id];
		if (share_is_in(shares, link, LIMITS) &&
			!share_is_in(shares, link, SPREAD) && has_faster(shares, link))
			share_spread(shares, id);
	}
	spread_from(shares, n);
	return shares->n_group > n;
}

// share_take_tokens has links carry tokens of what now crosses their reverses; returns
// whether rates change by that. No link's tokens depend on those of another one of this
// round: links that carry the same go on doing so.
static bool share_take_tokens(struct tb_shares *shares)
{
	uint32_t n = shares->n_group;
	bool changes = false;
	for (uint32_t i = 0; shares->reverse && i < shares->n_touched; i++) {
		const struct tb_share_link *link = &shares->links[shares->touched[i]];
		shares->queues[shares->touched[i]].carried =
			(double)(link->capacity - link->rest);
	}
	for (uint32_t i = 0; shares->reverse && i < shares->n_touched; i++) {
		uint32_t id = shares->touched[i], reverse = shares->reverse[id];
		if (reverse == TB_SHARES_NONE || shares->links[reverse].capacity == 0)
			continue;
		uint64_t full = full_capacity(shares, reverse);
		double tokens = shares->tokens * shares->queues[id].carried;
		uint64_t rest = full - (uint64_t)fmin(tokens, (double)full / 2);
		struct tb_share_link *link = &shares->links[reverse];
		uint64_t apart = rest > link->capacity ? rest - link->capacity
						       : link->capacity - rest;
		if (apart <= full / shares->tokens_apart)
			continue;
		shares->queues[reverse].full = full;
		link->capacity = rest;
		changes |= link->n > 0;
		if (link->n)
			share_spread(shares, reverse);
	}
	spread_from(shares, n);
	return changes;
}

void tb_shares_solve(struct tb_shares *shares)
{
	if (shares->begun_at < 0)
		shares->begun_at = shares->now;
	if (shares->coupled) {
		begin_group(shares);
		tb_coupled_solve(shares);
		return;
	}
	spread_from(shares, 0);
	int rounds = 0;
	do {
		// Take back the rates of the group.
		for (uint32_t i = 0; i < shares->n_touched; i++)
			shares->links[shares->touched[i]].states &= ~(uint32_t)TOUCHED;
		shares->n_touched = 0;
		for (uint32_t i = 0; i < shares->n_group; i++) {
			struct tb_share_flow *flow = &shares->flows[shares->group[i]];
			const struct tb_share_step *steps =
				tb_shares_steps(shares, shares->group[i]);
			flow->solved = 0;
			for (uint32_t s = 0; s < flow->n_steps; s++) {
				struct tb_share_link *link =
					share_touch(shares, steps[s].link);
				link->rest += steps[s].weight * flow->rate;
				link->left +=
					flow->ends ? 0 : steps[s].weight * flow->share;
			}
		}
		// Raise all rates of the group until links limit them, level by level.
		size_t n = fill_heap(shares);
		uint32_t id;
		while ((id = next_limit(shares, &n, UINT64_MAX)) != TB_SHARES_NONE) {
			uint64_t level = shares->links[id].rest / shares->links[id].left;
			uint32_t n_level = 0;
			for (; id != TB_SHARES_NONE; id = next_limit(shares, &n, level)) {
				shares->links[id].level = level;
				share_put_in(shares, &shares->links[id], LIMITS);
				shares->level_links[n_level++] = id;
			}
			for (uint32_t i = 0; i < n_level; i++)
				share_settle_link(shares, shares->level_links[i]);
		}
	} while (!shares->failed &&
		 (share_widen(shares) || (rounds++ < TB_SHARE_TOKENS_ROUNDS &&
						 share_take_tokens(shares))));
	for (uint32_t i = 0; i < shares->n_group; i++) {
		const struct tb_share_flow *flow = &shares->flows[shares->group[i]];
		const struct tb_share_step *steps =
			tb_shares_steps(shares, shares->group[i]);
		if (flow->next_rate == flow->rate)
			continue;
		for (uint32_t s = 0; s < flow->n_steps; s++)
			share_put_in(shares, &shares->links[steps[s].link], STIRRED);
	}
}

bool tb_shares_is_stirred(const struct tb_shares *shares, uint32_t id)
{
	const struct tb_share_flow *flow = &shares->flows[id];
	if (flow->next_rate != flow->rate || flow->next_limit != flow->limit ||
		flow->next_root != flow->root)
		return true;
	const struct tb_share_step *steps = tb_shares_steps(shares, id);
	return flow->limit != TB_SHARES_NONE &&
	       share_is_in(shares, &shares->links[steps[flow->limit].link], STIRRED);
}

void tb_shares_apply(struct tb_shares *shares)
{
	for (uint32_t i = 0; i < shares->n_group; i++) {
		uint32_t id = shares->group[i];
		struct tb_share_flow *flow = &shares->flows[id];
		struct tb_share_step *steps = tb_shares_steps(shares, id);
		if (flow->limit != TB_SHARES_NONE)
			shares->links[steps[flow->limit].link].n_limited--;
		if (flow->next_limit != TB_SHARES_NONE)
			shares->links[steps[flow->next_limit].link].n_limited++;
		for (uint32_t s = 0; s < flow->n_steps && flow->next_rate != flow->rate;
			s++)
			shares->links[steps[s].link].rate +=
				steps[s].weight * (flow->next_rate - flow->rate);
		flow->rate = flow->next_rate;
		flow->limit = flow->next_limit;
		flow->root = flow->next_root;
		flow->begins = false;
		if (!flow->ends)
			continue;
		for (uint32_t s = 0; s < flow->n_steps; s++) {
			// Take a flow out of a link's list; the last of the list takes
			// its place.
			struct tb_share_step step = steps[s];
			struct tb_share_link *link = &shares->links[step.link];
			if (--link->n == 0)
				continue;
			struct tb_share_use last = link->uses.many[link->n];
			link->uses.many[step.at] = last;
			tb_shares_steps(shares, last.flow)[last.step].at = step.at;
		}
		flow->next = shares->free_flow;
		shares->free_flow = id;
	}
	shares->n_group = 0;
}
