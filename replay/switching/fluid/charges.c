// What is counted of flows and links: bytes, busy times, and time that is lost to others.
//
// A flow loses what passes beyond the time that its bytes take at the rate that it has
// alone. That is counted as a wait at the switch before the link that limits it, for that
// link and by the one over which it comes there, as waits of packets are; the root is the
// link that limits, and those to blame are the flows that share it, each for its part of
// their rates. What its own node's link or bus holds back waits in its own queue, which
// is no wait in the network (C22). Times are whole picoseconds: of a sum, what is counted
// until now is taken from what is counted then.
#include "credit_params.h"
#include "fluid.h"
#include "order.h"

#include <assert.h>

// At most this many others are blamed, taking turns; of more flows than IN_TURN_MOST,
// whose pairs are too many to be kept, one other for each, as long as it is there.
enum { BLAMED_MOST = 4, IN_TURN_MOST = 64 };

uint32_t tb_fluid_link(const struct fluid *fluid, uint32_t id, uint32_t step)
{
	const struct tb_network *net = fluid->replay.net;
	uint32_t link = tb_shares_steps(&fluid->shares, id)[step].link;
	if (link < net->n_links)
		return link;
	uint32_t node = link - fluid->first_bus;
	bool sends = step + 2 == fluid->shares.flows[id].n_steps;
	return sends ? net->injection[node] : net->ejection[node];
}

// step_at_switch is the step of the network's link that stands for a step: of the bus
// that receives, that of the link to its node.
static uint32_t step_at_switch(const struct fluid *fluid, uint32_t id, uint32_t step)
{
	const struct tb_share_step *steps = tb_shares_steps(&fluid->shares, id);
	uint32_t link = tb_fluid_link(fluid, id, step);
	while (steps[step].link != link)
		step--;
	return step;
}

// flow_came_by is the link over which a flow comes to a link's step: of a split flow that
// of the first way by which it comes there.
static uint32_t flow_came_by(const struct fluid *fluid, uint32_t id, uint32_t step)
{
	const struct tb_network *net = fluid->replay.net;
	const struct tb_share_step *steps = tb_shares_steps(&fluid->shares, id);
	if (fluid->is_ideal)
		return steps[step].link;
	uint32_t sw = net->links[steps[step].link].from, s = 0;
	while (net->links[steps[s].link].to != sw ||
		net->links[steps[s].link].kind == TB_LINK_EJECTION ||
		(steps[s].ways & steps[step].ways) == 0)
		s++;
	return steps[s].link;
}

// A charge of lost time to those who share a link.
struct blame_charge {
	uint32_t link, root, victim; // victim: flow of the records
	tb_time_ps lost_ps, until;
	uint64_t others; // rates over the link of those who are blamed
	uint64_t blamed; // of these, until now
};

static uint64_t share_rate(const struct fluid *fluid, struct tb_share_use use)
{
	const struct tb_share_flow *flow = &fluid->shares.flows[use.flow];
	return use.weight * (flow->entered ? (uint64_t)flow->pace : flow->rate);
}

// charge_share_out blames the flows of a link but one.
static void charge_share_out(struct fluid *fluid, const struct tb_share_link *link,
	uint32_t id, struct blame_charge *charge)
{
	const struct tb_share_use *uses = tb_share_uses(link);
	bool all = link->n <= BLAMED_MOST + 1, in_turn = link->n <= IN_TURN_MOST;
	uint32_t first = all ? 0 : fluid->flows[id].turn % link->n;
	uint32_t most = all ? link->n : BLAMED_MOST + 1, n = 0;
	// A place that changes only when half of the flows have ended.
	if (!in_turn) {
		first = id & UINT32_MAX >> __builtin_clz(link->n) >> 1;
		most = 2;
	}
	// Flows that begin at this instant have no rate yet.
	while (n < most || (charge->others == 0 && n < link->n)) {
		struct tb_share_use other = uses[(first + n++) % link->n];
		charge->others += other.flow == id ? 0 : share_rate(fluid, other);
	}
	fluid->flows[id].turn = first + n;
	// Who has the link to itself, but for what is left of earlier rates, is blamed.
	if (charge->others == 0)
		tb_records_blame(&fluid->replay.records, charge->link, charge->root,
			charge->victim, charge->victim, charge->lost_ps, charge->until);
	for (uint32_t i = 0; i < n && charge->others; i++) {
		struct tb_share_use other = uses[(first + i) % link->n];
		if (other.flow != id) {
			const struct fluid_flow *flow = &fluid->flows[other.flow];
			fluid_amount lost = (uint64_t)charge->lost_ps;
			tb_time_ps before =
				(tb_time_ps)(lost * charge->blamed / charge->others);
			charge->blamed += share_rate(fluid, other);
			tb_time_ps part =
				(tb_time_ps)(lost * charge->blamed / charge->others) -
				before;
			if (part > 0)
				tb_records_blame(&fluid->replay.records, charge->link,
					charge->root, charge->victim,
					fluid->replay.messages[flow->message].flow, part,
					charge->until);
		}
	}
}

static void charge_lost(
	struct fluid *fluid, uint32_t id, tb_time_ps lost_ps, tb_time_ps until)
{
	struct tb_records *records = &fluid->replay.records;
	const struct tb_network *net = fluid->replay.net;
	struct fluid_flow *flow = &fluid->flows[id];
	uint32_t limit = fluid->shares.flows[id].limit;
	uint32_t root = fluid->shares.flows[id].root;
	uint32_t held_by = tb_fluid_link(fluid, id, limit);
	flow->lost_ps += lost_ps;
	flow->held_ps = flow->held_by == held_by ? flow->held_ps + lost_ps : lost_ps;
	flow->held_by = held_by;
	if (net->links[held_by].kind == TB_LINK_INJECTION) {
		fluid->replay.messages[flow->message].queue_ps += lost_ps;
		return;
	}
	struct blame_charge charge = {
		.link = flow_came_by(fluid, id, step_at_switch(fluid, id, limit)),
		.root = root < net->n_links ? root : held_by,
		.victim = fluid->replay.messages[flow->message].flow,
		.lost_ps = lost_ps,
		.until = until};
	tb_records_flow_wait(records, charge.victim, lost_ps);
	tb_records_wait_by(records, &fluid->cell[charge.link], lost_ps);
	tb_records_wait_for(records, &fluid->cell[held_by], lost_ps);
	tb_records_longest(&fluid->cell[held_by], flow->held_ps);
	charge_share_out(fluid, &fluid->shares.links[root], id, &charge);
}

// n_among counts the ways of a step among others. Mostly a step has one.
static uint32_t n_among(uint32_t ways, uint32_t others)
{
	bool one = (ways & (ways - 1)) == 0;
	return one ? (ways & others) != 0 : (uint32_t)__builtin_popcount(ways & others);
}

// count_packets counts the packets whose headers have crossed the links: the ways of a
// flow take turns.
static void count_packets(struct fluid *fluid, uint32_t id, uint64_t bytes)
{
	const struct tb_replay *replay = &fluid->replay;
	struct fluid_flow *flow = &fluid->flows[id];
	uint64_t full = (uint64_t)replay->net->params.packet_payload_bytes +
			replay->net->params.packet_overhead_bytes;
	uint64_t n = bytes / full + 1;
	uint32_t most = flow->n_all;
	if (n > most || flow->left == 0)
		n = most;
	if (n == flow->n_packets)
		return;
	const struct tb_share_step *steps = tb_shares_steps(&fluid->shares, id);
	uint32_t n_ways =
		n_among(steps->ways, UINT32_MAX) * TB_SHARE_WHOLE / steps->weight;
	uint32_t n_turns = (uint32_t)n / n_ways - flow->n_packets / n_ways;
	uint32_t had = (1u << flow->n_packets % n_ways) - 1;
	uint32_t have = (1u << n % n_ways) - 1;
	for (uint32_t s = 0; s < fluid->shares.flows[id].n_steps; s++) {
		if (steps[s].link >= replay->net->n_links)
			break;
		struct tb_cell *cell = &fluid->cell[steps[s].link];
		uint32_t ways = steps[s].ways;
		cell->n_packets += n_turns * n_among(ways, UINT32_MAX) +
				   n_among(ways, have) - n_among(ways, had);
		tb_records_touch(&fluid->replay.records, cell);
	}
	flow->n_packets = (uint32_t)n;
}

// A flow ends at a whole picosecond: what its rate would have carried beyond its last
// byte is not counted.
static void charge_give_back(struct fluid *fluid, uint32_t id, fluid_amount amount)
{
	const struct tb_share_step *steps = tb_shares_steps(&fluid->shares, id);
	for (uint32_t s = 0; s < fluid->shares.flows[id].n_steps; s++)
		if (steps[s].link < fluid->replay.net->n_links)
			fluid->links[steps[s].link].moved -= amount * steps[s].weight;
}

void tb_fluid_move(struct fluid *fluid, uint32_t id, tb_time_ps until)
{
	struct fluid_flow *flow = &fluid->flows[id];
	const struct tb_share_flow *share = &fluid->shares.flows[id];
	fluid_amount amount = (fluid_amount)share->rate * (uint64_t)(until - flow->since);
	bool stops = share->ends || (share->entered && share->rate);
	if (stops || amount > flow->left) {
		if (stops)
			charge_give_back(fluid, id, amount - flow->left);
		amount = flow->left;
	}
	if (until == flow->since)
		return;
	flow->left -= amount;
	flow->since = until;
}

void tb_fluid_settle(struct fluid *fluid, uint32_t id, tb_time_ps until)
{
	struct fluid_flow *flow = &fluid->flows[id];
	const struct tb_share_flow *share = &fluid->shares.flows[id];
	tb_fluid_move(fluid, id, until);
	if (until == flow->counted_at)
		return;
	flow->counted_at = until;
	fluid_amount moved = flow->all - flow->left;
	count_packets(fluid, id, (uint64_t)(moved / BYTE_AMOUNT));
	// A lone flow may lose a fraction of a picosecond at its end.
	if (share->rate == share->free_rate)
		return;
	tb_time_ps lost_ps = until - flow->begun_at -
			     tb_fluid_duration(moved, share->free_rate) - flow->lost_ps;
	if (lost_ps > 0)
		charge_lost(fluid, id, lost_ps, until);
}

uint32_t tb_fluid_round_up(struct fluid *fluid, uint32_t id)
{
	struct fluid_flow *flow = &fluid->flows[id];
	const struct tb_network_params *params = &fluid->replay.net->params;
	uint64_t full =
		(uint64_t)params->packet_payload_bytes + params->packet_overhead_bytes;
	uint64_t first =
		flow->n_before ? 0 : tb_credit_params(params)->first_overhead_bytes;
	assert(flow->n_packets > 0); // what begins at the edge is not a flow yet
	fluid_amount whole = (fluid_amount)(flow->n_packets * full + first) * BYTE_AMOUNT;
	if (whole > flow->all || flow->n_packets == flow->n_all)
		whole = flow->all;
	fluid_amount rest = whole - (flow->all - flow->left);
	const struct tb_share_step *steps = tb_shares_steps(&fluid->shares, id);
	for (uint32_t s = 0; s < fluid->shares.flows[id].n_steps; s++)
		if (steps[s].link < fluid->replay.net->n_links)
			fluid->links[steps[s].link].moved += rest * steps[s].weight;
	flow->left -= rest;
	return flow->n_packets;
}

void tb_fluid_account(struct fluid *fluid, uint32_t id)
{
	struct fluid_link *link = &fluid->links[id];
	tb_time_ps now = fluid->replay.now;
	if (link->listed && link->since == now)
		return;
	link->moved += (fluid_amount)fluid->shares.links[id].rate *
		       (uint64_t)(now - link->since);
	link->since = now;
	if (!link->listed) {
		fluid->listed[fluid->n_listed++] = id;
		link->counted_at = now;
	}
	link->listed = true;
}

bool tb_fluid_settle_all(struct fluid *fluid, tb_time_ps until)
{
	for (uint32_t i = 0; i < fluid->n_ends; i++)
		tb_fluid_settle(fluid, fluid->ends[i], until);
	uint32_t n = 0;
	for (uint32_t i = 0; i < fluid->n_listed; i++) {
		uint32_t id = fluid->listed[i];
		// Count what a link has carried into the open bin.
		struct fluid_link *link = &fluid->links[id];
		struct tb_cell *cell = &fluid->cell[id];
		link->moved += (fluid_amount)fluid->shares.links[id].rate *
			       (uint64_t)(until - link->since);
		link->since = until;
		uint64_t rate = (fluid->replay.net->links[id].bytes_per_s << RATE_SHIFT) *
				TB_SHARE_WHOLE;
		uint64_t bytes = (uint64_t)(link->moved / (TB_SHARE_WHOLE * BYTE_AMOUNT));
		uint64_t busy_ps = (uint64_t)(link->moved / rate);
		// Rates are rounded up, but no link is busy for longer than passes.
		uint64_t passed = (uint64_t)(until - link->counted_at);
		uint64_t busy_most = link->busy_ps + passed;
		// What is in buffers before a link has not passed it yet.
		bool is_backlog = false;
		if (fluid->buffer_bytes) {
			uint64_t most = link->bytes +
					(uint64_t)((fluid_amount)(rate / TB_SHARE_WHOLE) *
						   passed / BYTE_AMOUNT);
			is_backlog = busy_ps > busy_most || bytes > most;
			bytes = tb_min_u64(bytes, most);
		}
		busy_ps = tb_min_u64(busy_ps, busy_most);
		link->counted_at = until;
		if (bytes > link->bytes) {
			cell->bytes += bytes - link->bytes;
			link->bytes = bytes;
		}
		if (busy_ps > link->busy_ps) {
			cell->busy_ps += busy_ps - link->busy_ps;
			link->busy_ps = busy_ps;
		}
		tb_records_touch(&fluid->replay.records, cell);
		fluid->links[id].listed = is_backlog || fluid->shares.links[id].n > 0;
		if (fluid->links[id].listed)
			fluid->listed[n++] = id;
	}
	fluid->n_listed = n;
	return fluid->n_ends > 0 || n > 0;
}
