// Coupled rates: what packets that wait in queues do to those behind them.
//
// Each link gives its inputs, the links by which flows come to it, the same rate, its
// level, or less to those that have less. What comes by an input is served in order, so
// all of it goes at the pace of the slowest: an input that may not send more to one of
// the links behind it sends less to all of them, and lets its own inputs send less. So a
// full link is shared by input, and all flows of a node advance together.
//
// With buffers (docs/fluid.md, F7) that holds for a link whose buffer is full, and then
// for what waits there; before, the link lets in what it can carry, and what the next
// ones do not take stands in the buffer. Contents are known by input of the next link, as
// with queues by output: they change at the rates of the last look (tb_coupled_update),
// and buffer_foresee has a link looked at again when its buffer will be full or one of
// these be gone.
//
// Two things pass between a link and the next one: what it would send if only the next
// one did not hold it back, its demand, and what that one lets it send, the level. Links
// whose demands or levels change are looked at until nothing changes by more than a part
// that counts. That part grows with the number of links that one change has reached, and
// with the looks at them: where thousands of flows hold back one another, all would be
// looked at a dozen times whenever one ends, for rates that change by a hundredth.
#include "shares.h"

#include "array.h"
#include "heap.h"

#include <math.h>
#include <stdlib.h>

// A change is passed on from `apart_least` on; from twice as much when REACH_DOUBLES
// links are reached, and when each was looked at LOOKS_DOUBLE times more than LOOKS_FREE.
// After LOOKS_MOST looks at a link its level moves half of the way only, and after as
// many again it stays.
enum { REACH_DOUBLES = 64, LOOKS_FREE = 2, LOOKS_DOUBLE = 1, LOOKS_MOST = 12 };

// Less than this of a buffer is nothing, and a buffer that was full is not full any more
// with so much less in it.
#define NOTHING_HELD 1e-4
#define FULL_AGAIN   (1. / 32)
// Into so many parts the time is cut in which a link fills a buffer.
enum { CHANGES_A_BUFFER = 16 };

static inline bool change_is_sooner(
	const struct tb_share_change *a, const struct tb_share_change *b)
{
	return a->at != b->at ? a->at < b->at : a->link < b->link;
}

TB_HEAP(changes, struct tb_share_change, change_is_sooner)

static bool is_apart(const struct tb_shares *shares, double a, double b)
{
	return a != b && !(fabs(a - b) <= shares->apart * fmin(a, b));
}

static void set_apart(struct tb_shares *shares, uint64_t n_looks)
{
	uint64_t mean = n_looks / (shares->n_touched + 1);
	double apart =
		shares->apart_least * (1 + (double)shares->n_touched / REACH_DOUBLES);
	for (; mean >= LOOKS_FREE && apart < 1; mean -= LOOKS_DOUBLE)
		apart *= 2;
	shares->apart = apart;
}

// couple_port returns the number of the input of a link by which another one feeds it.
static uint32_t couple_port(struct tb_shares *shares, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;
	uint32_t id = shares->n_ports;
	if (tb_map_find(&shares->port_of, key, &id))
		return id;
	if (TB_ARRAY_RESERVE(&shares->ports, &shares->ports_room, (size_t)id + 1) !=
			TB_OK ||
		tb_map_put(&shares->port_of, key, id) != TB_OK) {
		shares->failed = true;
		return TB_SHARES_NONE;
	}
	shares->ports[id] = (struct tb_share_port){.from = from,
		.to = to,
		.weight = 1,
		.next = shares->queues[from].first_port};
	shares->queues[from].first_port = id + 1;
	return shares->n_ports++;
}

// tb_coupled_update has a buffer hold what has come and has not left until now.
void tb_coupled_update(struct tb_shares *shares, uint32_t link)
{
	struct tb_share_queue *queue = &shares->queues[link];
	double passed = (double)(shares->now - queue->since),
	       least = queue->room * NOTHING_HELD;
	queue->since = shares->now;
	if (queue->room <= 0 || passed <= 0)
		return;
	double sum = 0;
	for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next) {
		struct tb_share_port *port = &shares->ports[i - 1];
		port->held += (port->in - port->out) * passed;
		if (port->held < least)
			port->held = 0;
		sum += port->held;
	}
	// What solutions leave unequal does not count where a buffer stays full.
	if (queue->is_full && queue->is_held && sum > 0) {
		for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next)
			shares->ports[i - 1].held *= queue->held / sum;
		sum = queue->held;
	}
	queue->held = sum;
	if (sum >= queue->room * (1 - NOTHING_HELD))
		queue->is_full = true;
	else if (sum < queue->room * (1 - FULL_AGAIN))
		queue->is_full = false;
}

// couple_crossing returns the number of the crossing of a link from an input to a next
// link.
static uint32_t couple_crossing(
	struct tb_shares *shares, uint32_t link, uint32_t in, uint32_t out)
{
	// Ports are of one link; where none is there, the link is told apart by itself.
	uint64_t key =
		(uint64_t)(in == TB_SHARES_NONE ? link | 1u << 31 : in) << 32 | out;
	uint32_t id = shares->n_crossings;
	if (tb_map_find(&shares->crossing_of, key, &id))
		return id;
	if (TB_ARRAY_RESERVE(&shares->crossings, &shares->crossings_room,
		    (size_t)id + 1) != TB_OK ||
		tb_map_put(&shares->crossing_of, key, id) != TB_OK) {
		shares->failed = true;
		return TB_SHARES_NONE;
	}
	shares->crossings[id] = (struct tb_share_crossing){.in = in, .out = out};
	return shares->n_crossings++;
}

// crossing_use adds a use to the crossing of a step, which is listed while it has any.
static void crossing_use(
	struct tb_shares *shares, const struct tb_share_step *step, double pace)
{
	struct tb_share_crossing *crossing = &shares->crossings[step->crossing];
	if (crossing->n++ == 0) {
		uint32_t *first = &shares->queues[step->link].first_crossing;
		crossing->before = 0;
		crossing->next = *first;
		if (*first)
			shares->crossings[*first - 1].before = step->crossing + 1;
		*first = step->crossing + 1;
	}
	crossing->weight += step->weight;
	crossing->rate += step->weight * pace;
}

// crossing_leave takes a use off again.
static void crossing_leave(
	struct tb_shares *shares, const struct tb_share_step *step, double pace)
{
	struct tb_share_crossing *crossing = &shares->crossings[step->crossing];
	crossing->weight -= step->weight;
	crossing->rate -= step->weight * pace;
	if (--crossing->n > 0)
		return;
	crossing->rate = 0;
	if (crossing->next)
		shares->crossings[crossing->next - 1].before = crossing->before;
	*(crossing->before ? &shares->crossings[crossing->before - 1].next
			   : &shares->queues[step->link].first_crossing) = crossing->next;
}

// flow_pace is that of a flow, of each unit of its weight.
static double flow_pace(const struct tb_shares *shares, const struct tb_share_flow *flow)
{
	return flow->entered ? flow->pace : shares->queues[flow->origin].pace;
}

int tb_coupled_begin(struct tb_shares *shares, uint32_t id)
{
	struct tb_share_flow *flow = &shares->flows[id];
	struct tb_share_step *steps = tb_shares_steps(shares, id);
	for (uint32_t s = 0; s < flow->n_steps && !shares->failed; s++) {
		steps[s].port = TB_SHARES_NONE;
		if (steps[s].begins_way) {
			flow->n_hops = s && s < flow->n_hops ? s : flow->n_hops;
			continue;
		}
		steps[s].port = couple_port(shares, steps[s - 1].link, steps[s].link);
		if (!shares->failed && steps[s].is_chosen)
			shares->ports[steps[s].port].is_chosen = true;
	}
	for (uint32_t s = 0; s < flow->n_steps && !shares->failed; s++) {
		bool ends = s + 1 == flow->n_steps || steps[s + 1].begins_way;
		steps[s].crossing = couple_crossing(shares, steps[s].link, steps[s].port,
			ends ? TB_SHARES_NONE : steps[s + 1].port);
		if (!shares->failed)
			crossing_use(shares, &steps[s], flow_pace(shares, flow));
	}
	return shares->failed ? TB_ENOMEM : TB_OK;
}

void tb_coupled_pass(struct tb_shares *shares, uint32_t id, uint32_t from, uint32_t to)
{
	const struct tb_share_flow *flow = &shares->flows[id];
	const struct tb_share_step *steps = tb_shares_steps(shares, id);
	for (uint32_t s = 0, hop = 0; s < flow->n_steps; s++, hop++) {
		hop = steps[s].begins_way ? 0 : hop;
		if (hop >= from && hop < to)
			crossing_leave(shares, &steps[s], flow_pace(shares, flow));
	}
}

// set_pace gives all flows of a node a pace.
static void set_pace(struct tb_shares *shares, uint32_t origin, double pace)
{
	const struct tb_share_link *link = &shares->links[origin];
	const struct tb_share_use *uses = tb_share_uses(link);
	double more = pace - shares->queues[origin].pace;
	if (more == 0)
		return;
	shares->queues[origin].pace = pace;
	for (uint32_t u = 0; u < link->n; u++) {
		const struct tb_share_flow *flow = &shares->flows[uses[u].flow];
		const struct tb_share_step *steps = tb_shares_steps(shares, uses[u].flow);
		uint32_t s = flow->ends || flow->entered ? flow->n_steps : uses[u].step;
		for (; s < flow->n_steps && (s == uses[u].step || !steps[s].begins_way);
			s++)
			shares->crossings[steps[s].crossing].rate +=
				steps[s].weight * more;
	}
}

// port_level is what the link behind an input lets that send.
static double port_level(const struct tb_shares *shares, uint32_t port)
{
	const struct tb_share_port *at = &shares->ports[port];
	return shares->queues[at->to].level * at->weight;
}

// What a look at a link collects. Its inputs and outputs are in `around`, from both ends.
struct look {
	struct tb_shares *shares;
	uint32_t link, n_in, n_out;
	uint32_t first_crossing;
};

// look_next goes through the crossings of the link; NULL ends them.
static const struct tb_share_crossing *look_next(
	const struct look *look, const struct tb_share_crossing *last)
{
	uint32_t next = last ? last->next : look->first_crossing;
	return next ? &look->shares->crossings[next - 1] : NULL;
}

static void look_list(struct look *look, uint32_t port, bool is_out)
{
	struct tb_shares *shares = look->shares;
	struct tb_share_port *at = &shares->ports[port];
	if (at->look == shares->n_looks)
		return;
	if (TB_ARRAY_RESERVE(is_out ? &shares->outs : &shares->ins,
		    is_out ? &shares->outs_room : &shares->ins_room,
		    (size_t)(is_out ? look->n_out : look->n_in) + 1) != TB_OK) {
		shares->failed = true;
		return;
	}
	at->look = shares->n_looks;
	at->sum = 0;
	at->most = 0;
	at->n_flows = 0;
	if (is_out)
		shares->outs[look->n_out++] = port;
	else
		shares->ins[look->n_in++] = port;
}

// The least of what holds a link back, and the least of what else does. Links that
// packets choose from hold it back as one.
struct holds {
	double least, second;
	uint32_t by; // a link; TB_SHARES_NONE: its own capacity
	bool by_chosen;
};

static void holds_add(struct holds *holds, double level, uint32_t by, bool is_chosen)
{
	bool as_one = is_chosen && holds->by_chosen;
	if (level < holds->least) {
		holds->second = as_one ? holds->second : holds->least;
		holds->least = level;
		holds->by = by;
		holds->by_chosen = is_chosen;
	} else if (level < holds->second && !as_one) {
		holds->second = level;
	}
}

// holds_beside is the least of what holds a link back beside one of the next links.
static double holds_beside(const struct holds *holds, const struct tb_share_port *out)
{
	return out->to == holds->by || (out->is_chosen && holds->by_chosen)
		       ? holds->second
		       : holds->least;
}

// set_demand notes what a link would send to a next one, and has that looked at.
static void set_demand(struct tb_shares *shares, uint32_t port, double demand)
{
	struct tb_share_port *at = &shares->ports[port];
	if (!is_apart(shares, at->demand, demand))
		return;
	at->demand = demand;
	tb_shares_look(shares, at->to);
}

// capacity_of is what a link has beside the tokens of its reverse.
static double capacity_of(const struct tb_shares *shares, uint32_t link)
{
	double capacity = (double)shares->links[link].capacity;
	uint32_t reverse = shares->reverse ? shares->reverse[link] : TB_SHARES_NONE;
	return reverse == TB_SHARES_NONE
		       ? capacity
		       : fmax(capacity / 2,
				 capacity - shares->tokens *
						    shares->queues[reverse].carried);
}

// take_tokens has links carry tokens of what now crosses their reverses; returns whether
// any has to be looked at for that.
static bool take_tokens(struct tb_shares *shares)
{
	for (uint32_t i = 0, n = shares->n_touched; i < n; i++) {
		uint32_t link = shares->touched[i], reverse = shares->reverse[link];
		struct tb_share_queue *queue = &shares->queues[link];
		queue->n_looks = 0;
		if (fabs(queue->carries - queue->carried) * TB_SHARE_TOKENS_APART <=
			(double)shares->links[link].capacity)
			continue;
		queue->carried = queue->carries;
		if (reverse != TB_SHARES_NONE && shares->links[reverse].n)
			tb_shares_look(shares, reverse);
	}
	return shares->n_due > 0;
}

// look_set_demand notes what comes to a buffer for a link, and what would go there: what
// stands there already goes as fast as it can.
static void look_set_demand(struct look *look, uint32_t port, double in)
{
	struct tb_shares *shares = look->shares;
	struct tb_share_port *out = &shares->ports[port];
	out->in = in;
	set_demand(
		shares, port, out->held > 0 ? capacity_of(shares, look->link) : out->in);
}

// look_at_node_with_buffer: a node sends as fast as its link does until the buffer behind
// it is full; then as fast as all of that leaves for which there is no way on.
static void look_at_node_with_buffer(struct look *look, double alone)
{
	struct tb_shares *shares = look->shares;
	struct tb_share_queue *queue = &shares->queues[look->link];
	double pace = alone, capacity = capacity_of(shares, look->link);
	uint32_t bound = TB_SHARES_NONE;
	if (queue->is_full) {
		double level = 0, weight = 0, least = INFINITY;
		for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next) {
			struct tb_share_port *out = &shares->ports[i - 1];
			bool is_listed = out->look == shares->n_looks;
			double lets = fmin(port_level(shares, i - 1), capacity);
			out->is_backlog = out->held > 0;
			if (!out->is_backlog)
				continue;
			level += lets;
			weight += is_listed ? out->sum : 0;
			if (is_listed && lets / out->sum < least) {
				least = lets / out->sum;
				bound = out->to;
			}
		}
		bool again = true;
		while (again) {
			again = false;
			pace = weight > 0 ? fmin(alone, level / weight) : alone;
			for (uint32_t i = 0; i < look->n_out; i++) {
				struct tb_share_port *out =
					&shares->ports[shares->outs[i]];
				double lets = port_level(shares, shares->outs[i]);
				if (out->is_backlog || out->sum * pace <= lets)
					continue;
				out->is_backlog = again = true;
				level += lets;
				weight += out->sum;
				if (lets / out->sum < least) {
					least = lets / out->sum;
					bound = out->to;
				}
			}
		}
		queue->is_held = pace < alone;
	}
	queue->bound = queue->is_held ? bound : TB_SHARES_NONE;
	// Its own link carries no more than it can, and no less.
	if (is_apart(shares, queue->pace, pace) || pace == alone || queue->pace > alone)
		set_pace(shares, look->link, pace);
	for (uint32_t i = 0; i < look->n_out; i++) {
		struct tb_share_port *out = &shares->ports[shares->outs[i]];
		look_set_demand(look, shares->outs[i],
			out->sum * (queue->is_held && out->is_backlog ? alone : pace));
		out->in = out->sum * pace;
	}
	for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next)
		if (shares->ports[i - 1].look != shares->n_looks)
			look_set_demand(look, i - 1, 0);
}

// look_at_node looks at the link into the network of a node, whose flows take turns.
static void look_at_node(struct look *look)
{
	struct tb_shares *shares = look->shares;
	struct tb_share_queue *queue = &shares->queues[look->link];
	double sum = 0;
	for (const struct tb_share_crossing *at = NULL; (at = look_next(look, at));) {
		sum += (double)at->weight;
		if (at->out == TB_SHARES_NONE)
			continue;
		look_list(look, at->out, true);
		shares->ports[at->out].sum += (double)at->weight;
	}
	for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next)
		shares->ports[i - 1].in = 0;
	queue->is_held = false;
	if (sum == 0 && queue->room <= 0) {
		queue->carries = 0;
		return;
	}
	double alone = capacity_of(shares, look->link) / fmax(sum, 1);
	if (queue->room > 0) {
		look_at_node_with_buffer(look, alone);
		return;
	}
	struct holds holds = {alone, alone, TB_SHARES_NONE, false};
	for (uint32_t i = 0; i < look->n_out; i++) {
		const struct tb_share_port *out = &shares->ports[shares->outs[i]];
		holds_add(&holds, port_level(shares, shares->outs[i]) / out->sum, out->to,
			out->is_chosen);
	}
	queue->bound = holds.by;
	if (is_apart(shares, queue->pace, holds.least))
		set_pace(shares, look->link, holds.least);
	queue->carries = holds.least * sum;
	for (uint32_t i = 0; i < look->n_out; i++) {
		const struct tb_share_port *out = &shares->ports[shares->outs[i]];
		set_demand(shares, shares->outs[i], out->sum * holds_beside(&holds, out));
	}
}

static int by_demand(const void *a, const void *b)
{
	const struct tb_share_rank *one = a, *other = b;
	if (one->demand != other->demand)
		return one->demand < other->demand ? -1 : 1;
	return (one->port > other->port) - (one->port < other->port);
}

// fill returns up to which level the inputs, in the order of their demands, carry `most`
// together, of each the part `part` alone.
static double fill(const struct look *look, double most)
{
	const struct tb_shares *shares = look->shares;
	double rest = 0, has = 0;
	for (uint32_t i = 0; i < look->n_in; i++) {
		const struct tb_share_port *in = &shares->ports[shares->ranks[i].port];
		rest += in->part * in->weight;
	}
	for (uint32_t i = 0; i < look->n_in; i++) {
		const struct tb_share_port *in = &shares->ports[shares->ranks[i].port];
		if (in->part <= 0)
			continue;
		if (has + in->demand / in->weight * rest >= most)
			return (most - has) / rest;
		has += in->demand * in->part;
		rest -= in->part * in->weight;
	}
	return INFINITY;
}

// fill_out is as `fill`, for what goes on to one link.
static double fill_out(struct look *look, uint32_t port)
{
	struct tb_shares *shares = look->shares;
	for (uint32_t i = 0; i < look->n_in; i++)
		shares->ports[shares->ins[i]].part = 0;
	for (const struct tb_share_crossing *at = NULL; (at = look_next(look, at));)
		if (at->out == port)
			shares->ports[at->in].part +=
				at->rate / shares->ports[at->in].sum;
	return fill(look, port_level(shares, port));
}

// send_on computes what would go on to each next link if it did not hold this one back.
static void send_on(struct look *look, const struct holds *holds)
{
	struct tb_shares *shares = look->shares;
	for (uint32_t i = 0; i < look->n_out; i++)
		shares->ports[shares->outs[i]].most = 0;
	for (const struct tb_share_crossing *at = NULL; (at = look_next(look, at));) {
		if (at->out == TB_SHARES_NONE)
			continue;
		const struct tb_share_port *in = &shares->ports[at->in];
		struct tb_share_port *out = &shares->ports[at->out];
		out->most += at->rate / in->sum *
			     fmin(in->demand, in->weight * holds_beside(holds, out));
	}
}

// fill_backlog is as `fill`, for what goes on to all links that it waits for in a full
// buffer.
static double fill_backlog(struct look *look, double capacity, uint32_t *bound)
{
	struct tb_shares *shares = look->shares;
	uint32_t first = shares->queues[look->link].first_port;
	double level = INFINITY, least = INFINITY;
	for (uint32_t i = first; i; i = shares->ports[i - 1].next)
		shares->ports[i - 1].is_backlog = shares->ports[i - 1].held > 0;
	for (;;) {
		double most = 0;
		bool any = false;
		for (uint32_t i = first; i; i = shares->ports[i - 1].next) {
			const struct tb_share_port *out = &shares->ports[i - 1];
			double lets = fmin(port_level(shares, i - 1), capacity);
			if (!out->is_backlog)
				continue;
			any = true;
			most += lets;
			if (lets < least) {
				least = lets;
				*bound = out->to;
			}
		}
		for (uint32_t i = 0; i < look->n_in; i++)
			shares->ports[shares->ins[i]].part = 0;
		for (const struct tb_share_crossing *at = NULL;
			any && (at = look_next(look, at));)
			if (at->out != TB_SHARES_NONE &&
				shares->ports[at->out].is_backlog)
				shares->ports[at->in].part +=
					at->rate / shares->ports[at->in].sum;
		level = any ? fill(look, most) : INFINITY;
		struct holds holds = {level, level, TB_SHARES_NONE, false};
		send_on(look, &holds);
		bool again = false;
		for (uint32_t i = 0; i < look->n_out; i++) {
			struct tb_share_port *out = &shares->ports[shares->outs[i]];
			if (out->is_backlog ||
				out->most <= port_level(shares, shares->outs[i]))
				continue;
			out->is_backlog = again = true;
		}
		if (!again)
			return level;
	}
}

// set_level notes what a link lets its inputs send, and has those that it holds back, or
// held back, looked at.
static double set_level(struct look *look, double level)
{
	struct tb_shares *shares = look->shares;
	struct tb_share_queue *queue = &shares->queues[look->link];
	double old = queue->level;
	if (!is_apart(shares, old, level))
		return old;
	if (queue->n_looks > LOOKS_MOST && old < INFINITY && level < INFINITY)
		level = (old + level) / 2;
	queue->level = level;
	for (uint32_t i = 0; i < look->n_in; i++) {
		const struct tb_share_port *in = &shares->ports[shares->ins[i]];
		if (in->demand * (1 + 4 * shares->apart) > in->weight * fmin(old, level))
			tb_shares_look(shares, in->from);
	}
	return level;
}

// rank_inputs sorts the inputs by their demands.
static void rank_inputs(struct look *look)
{
	struct tb_shares *shares = look->shares;
	if (TB_ARRAY_RESERVE(&shares->ranks, &shares->ranks_room, (size_t)look->n_in) !=
		TB_OK) {
		shares->failed = true;
		look->n_in = 0;
		return;
	}
	for (uint32_t i = 0; i < look->n_in; i++) {
		struct tb_share_port *in = &shares->ports[shares->ins[i]];
		in->part = 1;
		shares->ranks[i] =
			(struct tb_share_rank){in->demand / in->weight, shares->ins[i]};
	}
	qsort(shares->ranks, look->n_in, sizeof *shares->ranks, by_demand);
}

// look_at_buffer looks at a link with a buffer behind it, to which `all` would come.
static void look_at_buffer(struct look *look, double all, double capacity)
{
	struct tb_shares *shares = look->shares;
	struct tb_share_queue *queue = &shares->queues[look->link];
	rank_inputs(look);
	double alone = all > capacity ? fill(look, capacity) : INFINITY, level = alone;
	queue->bound = TB_SHARES_NONE;
	queue->is_held = false;
	if (queue->is_full) {
		uint32_t bound = TB_SHARES_NONE;
		level = fmin(alone, fill_backlog(look, capacity, &bound));
		queue->is_held = level < alone;
		queue->bound = queue->is_held ? bound : TB_SHARES_NONE;
	}
	level = set_level(look, level);
	struct holds now = {level, level, TB_SHARES_NONE, false};
	if (queue->is_held) {
		// To where much waits would go what came if this buffer held nothing up.
		struct holds open = {alone, alone, TB_SHARES_NONE, false};
		send_on(look, &open);
		for (uint32_t i = 0; i < look->n_out; i++)
			if (shares->ports[shares->outs[i]].is_backlog)
				look_set_demand(look, shares->outs[i],
					shares->ports[shares->outs[i]].most);
	}
	send_on(look, &now);
	for (uint32_t i = 0; i < look->n_out; i++) {
		struct tb_share_port *out = &shares->ports[shares->outs[i]];
		if (!queue->is_held || !out->is_backlog)
			look_set_demand(look, shares->outs[i], out->most);
		out->in = out->most;
	}
	for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next)
		if (shares->ports[i - 1].look != shares->n_looks)
			look_set_demand(look, i - 1, 0);
}

static void look_at_queue(struct look *look)
{
	struct tb_shares *shares = look->shares;
	struct tb_share_queue *queue = &shares->queues[look->link];
	double capacity = capacity_of(shares, look->link), all = 0;
	for (const struct tb_share_crossing *at = NULL; (at = look_next(look, at));) {
		look_list(look, at->in, false);
		shares->ports[at->in].sum += at->rate;
		shares->ports[at->in].n_flows += at->n;
		if (at->out != TB_SHARES_NONE)
			look_list(look, at->out, true);
	}
	for (uint32_t i = 0; i < look->n_in; i++) {
		struct tb_share_port *in = &shares->ports[shares->ins[i]];
		all += in->demand;
		if (shares->by_flow > 0)
			in->weight = pow(in->n_flows, shares->by_flow);
	}
	for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next)
		shares->ports[i - 1].in = 0;
	if (queue->room > 0) {
		look_at_buffer(look, all, capacity);
		return;
	}
	struct holds holds = {INFINITY, INFINITY, TB_SHARES_NONE, false};
	send_on(look, &holds);
	bool is_full = all > capacity;
	for (uint32_t i = 0; i < look->n_out; i++) {
		const struct tb_share_port *out = &shares->ports[shares->outs[i]];
		is_full |= out->most > port_level(shares, shares->outs[i]);
	}
	if (is_full) {
		rank_inputs(look);
		if (all > capacity)
			holds_add(&holds, fill(look, capacity), TB_SHARES_NONE, false);
		for (uint32_t i = 0; i < look->n_out; i++) {
			const struct tb_share_port *out = &shares->ports[shares->outs[i]];
			if (out->most <= port_level(shares, shares->outs[i]))
				continue;
			holds_add(&holds, fill_out(look, shares->outs[i]), out->to,
				out->is_chosen);
		}
	}
	queue->bound = holds.by;
	holds.least = set_level(look, holds.least);
	if (is_full)
		send_on(look, &holds);
	queue->carries = 0;
	for (uint32_t i = 0; i < look->n_in; i++)
		queue->carries += fmin(holds.least * shares->ports[shares->ins[i]].weight,
			shares->ports[shares->ins[i]].demand);
	for (uint32_t i = 0; i < look->n_out; i++)
		set_demand(shares, shares->outs[i], shares->ports[shares->outs[i]].most);
}

// find_limit finds at which step a flow is held back, and by which link in the end.
static void find_limit(struct tb_shares *shares, struct tb_share_flow *flow,
	const struct tb_share_step *steps)
{
	uint32_t step = flow->entered ? flow->way + flow->passed : 0;
	uint32_t at = steps[step].link;
	for (uint32_t n = 0; n < flow->n_steps; n++) {
		uint32_t next = shares->queues[at].bound;
		if (next == TB_SHARES_NONE)
			break;
		at = next;
		if (step + 1 < flow->n_steps && !steps[step + 1].begins_way &&
			steps[step + 1].link == at)
			step++;
	}
	flow->next_limit = step;
	flow->next_root = at;
}

// couple_flow gives a flow its rate, and lists it when anything changes for it.
static void couple_flow(struct tb_shares *shares, uint32_t id, double rate)
{
	struct tb_share_flow *flow = &shares->flows[id];
	if (flow->ends || flow->entered)
		return;
	// A buffer takes more than the links behind it carry.
	uint64_t next = rate < (double)flow->free_rate || shares->has_buffers
				? (uint64_t)rate
				: flow->free_rate;
	flow->next_rate = next ? next : 1;
	find_limit(shares, flow, tb_shares_steps(shares, id));
	if (flow->begins || tb_shares_is_stirred(shares, id))
		tb_shares_gather(shares, id);
}

int64_t tb_shares_change_at(struct tb_shares *shares)
{
	// Drop what was foreseen before a link was looked at again.
	while (shares->n_changes && shares->queues[shares->changes[0].link].changes_at !=
					    shares->changes[0].at)
		(void)changes_take(shares->changes, shares->n_changes--);
	return shares->n_changes ? shares->changes[0].at : INT64_MAX;
}

// buffer_foresee finds when a buffer that was looked at changes by itself, and how fast
// it goes on for those whose last byte is in it.
static void buffer_foresee(struct tb_shares *shares, uint32_t link)
{
	struct tb_share_queue *queue = &shares->queues[link];
	double more = 0, takes = INFINITY, capacity = capacity_of(shares, link);
	for (uint32_t i = queue->first_port; i; i = shares->ports[i - 1].next) {
		struct tb_share_port *port = &shares->ports[i - 1];
		double level = fmin(port_level(shares, i - 1), capacity);
		// What rounding left in a buffer goes with its last flow.
		if (shares->links[link].n == 0)
			port->in = port->held = port->demand = 0;
		bool waits = port->held > 0 || port->in > level * (1 + 4 * shares->apart);
		port->out = waits ? level : port->in;
		more += port->in - port->out;
		if (port->held > 0 && port->out > port->in)
			takes = fmin(takes, port->held / (port->out - port->in));
	}
	queue->is_full &= shares->links[link].n > 0;
	if (more > 0 && !queue->is_full)
		takes = fmin(takes, (queue->room - queue->held) / more);
	queue->changes_at = INT64_MAX;
	if (takes < (double)(INT64_MAX / 4)) {
		// Buffers of one size that change at nearly the same time do so at once.
		int64_t grid =
			(int64_t)(queue->room / (double)shares->links[link].capacity) /
			CHANGES_A_BUFFER;
		queue->changes_at = shares->now + (int64_t)ceil(fmax(takes, 1));
		int64_t passed = queue->changes_at - shares->begun_at - 1;
		if (grid > 1)
			queue->changes_at += grid - 1 - passed % grid;
		if (TB_ARRAY_RESERVE(&shares->changes, &shares->changes_room,
			    shares->n_changes + 1) != TB_OK) {
			shares->failed = true;
			return;
		}
		changes_put(shares->changes, shares->n_changes++,
			(struct tb_share_change){queue->changes_at, link});
	}
	const struct tb_share_use *uses = tb_share_uses(&shares->links[link]);
	for (uint32_t u = 0; u < shares->links[link].n && queue->n_waiting; u++) {
		uint32_t id = uses[u].flow;
		struct tb_share_flow *flow = &shares->flows[id];
		if (flow->ends || !flow->entered ||
			uses[u].step + 1u != flow->way + flow->passed)
			continue;
		const struct tb_share_port *port =
			&shares->ports[tb_shares_steps(shares, id)[uses[u].step + 1]
					       .port];
		double passed = (double)(shares->now - flow->ahead_since);
		flow->ahead = fmax(0, flow->ahead - flow->ahead_rate * passed);
		flow->ahead_since = shares->now;
		flow->ahead_rate = port->out;
		if (port->held <= 0)
			flow->ahead = 0;
		flow->next_rate = 0;
		find_limit(shares, flow, tb_shares_steps(shares, id));
		tb_shares_gather(shares, id);
	}
}

static void look_at_due(struct tb_shares *shares)
{
	uint32_t due;
	uint64_t before = shares->n_looks;
	while ((due = tb_shares_next(shares, 2 * LOOKS_MOST)) != TB_SHARES_NONE) {
		set_apart(shares, shares->n_looks++ - before);
		struct look look = {.shares = shares,
			.link = due,
			.first_crossing = shares->queues[due].first_crossing};
		const struct tb_share_use *first = tb_share_uses(&shares->links[due]);
		if (tb_shares_steps(shares, first->flow)[first->step].begins_way)
			look_at_node(&look);
		else
			look_at_queue(&look);
	}
}

void tb_coupled_solve(struct tb_shares *shares)
{
	shares->n_touched = 0;
	while (shares->n_changes && shares->changes[0].at <= shares->now) {
		struct tb_share_change change =
			changes_take(shares->changes, shares->n_changes--);
		if (shares->queues[change.link].changes_at == change.at)
			tb_shares_look(shares, change.link);
	}
	uint32_t n_changed = shares->n_group;
	for (uint32_t i = 0; i < n_changed; i++) {
		uint32_t id = shares->group[i];
		const struct tb_share_step *steps = tb_shares_steps(shares, id);
		for (uint32_t s = 0; s < shares->flows[id].n_steps; s++)
			tb_shares_look(shares, steps[s].link);
	}
	int rounds = 0;
	do {
		look_at_due(shares);
	} while (shares->reverse && rounds++ < TB_SHARE_TOKENS_ROUNDS &&
		 take_tokens(shares));
	// Links carry no more than they can, whatever was not passed on.
	for (uint32_t i = 0; i < shares->n_touched; i++) {
		uint32_t link = shares->touched[i];
		if (shares->queues[link].room > 0 || shares->has_buffers) {
			if (shares->queues[link].room > 0)
				buffer_foresee(shares, link);
			continue;
		}
		const struct tb_share_use *uses = tb_share_uses(&shares->links[link]);
		double sum = 0;
		for (uint32_t c = shares->queues[link].first_crossing; c;
			c = shares->crossings[c - 1].next)
			sum += shares->crossings[c - 1].rate;
		double over = sum / capacity_of(shares, link);
		for (uint32_t u = 0; u < shares->links[link].n && over > 1; u++)
			if (!shares->flows[uses[u].flow].ends) {
				uint32_t origin = shares->flows[uses[u].flow].origin;
				struct tb_share_queue *queue = &shares->queues[origin];
				if (queue->scaled == link + 1 &&
					queue->scaled_mark == shares->mark)
					continue;
				queue->scaled = link + 1;
				queue->scaled_mark = shares->mark;
				set_pace(shares, origin, queue->pace / over);
			}
	}
	for (uint32_t i = 0; i < shares->n_touched; i++) {
		uint32_t link = shares->touched[i];
		const struct tb_share_use *uses = tb_share_uses(&shares->links[link]);
		if (shares->links[link].n == 0 ||
			!tb_shares_steps(shares, uses[0].flow)[uses[0].step].begins_way)
			continue;
		for (uint32_t u = 0; u < shares->links[link].n; u++)
			if (uses[u].step == 0)
				couple_flow(
					shares, uses[u].flow, shares->queues[link].pace);
	}
}
