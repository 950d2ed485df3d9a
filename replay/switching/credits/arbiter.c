// Crossbars: the links of a switch choose one after the other, each of
// its lanes by the tables (rules C11 and C13 of docs/credits.md).
//
// C12. Arbitration of VLs. The tables `vl_high` and `vl_low`, lists of entries
//   VL:weight, choose one of the VLs that can send. Each table has a current entry, at
//   first the first, with a weight left, at first its full weight. A table *takes* the
//   current entry if its VL can send and its weight left is above 0. Else it takes the
//   first entry whose VL can send and whose weight is above 0 among the next entries
//   in a circle, up to and including the current one; this entry becomes current with
//   its full weight. The link takes from `vl_high` if one of its VLs (with a weight
//   above 0) can send, unless the *limit* is reached and a VL of `vl_low` can send;
//   else from `vl_low`. The limit is reached when at least one packet was taken from
//   `vl_high` since the last one from `vl_low`, and those taken since come to
//   `vl_limit` · 4096 bytes on the wire or more; with 255 it never is. A packet lowers
//   the weight left of its entry by its blocks (not below 0). A preset with a VL in
//   neither table is refused, as such a VL never sends.
#include "credits.h"

#include "credit_params.h"
#include "queues.h"

enum { LOW, HIGH };

// arbiter_first returns the first input port in turn that has a candidate for a lane,
// among ports [from, end) that are not limited; or NOTHING.
static uint32_t arbiter_first(
	const uint64_t *heads, const uint64_t *limited, uint32_t from, uint32_t end)
{
	for (uint32_t port = next_bit(heads, from, end); port != NOTHING;
		port = next_bit(heads, port + 1, end))
		if (!has_bit(limited, port))
			return port;
	return NOTHING;
}

// turn_of returns the port whose candidate is next for a link and lane; NOTHING.
static inline uint32_t turn_of(struct credits *credits, const struct crossbar *crossbar,
	uint32_t slot, uint32_t vl)
{
	if (credits->words > 1) {
		uint32_t sw = queue_switch(credits, slot);
		uint32_t n_ports = credits->crossbars[sw].n_ports;
		struct lane *lane = lane_at(credits, slot, vl);
		const uint64_t *heads = heads_at(credits, lane, slot, vl);
		const uint64_t *limited = limited_at(credits, sw);
		uint32_t port = arbiter_first(heads, limited, lane->turn, n_ports);
		return port != NOTHING ? port
				       : arbiter_first(heads, limited, 0, lane->turn);
	}
	const struct lane *lane = lane_at(credits, slot, vl);
	uint64_t candidates = lane->heads & ~crossbar->limited;
	return candidates ? queue_in_turn(candidates, lane->turn) : NOTHING;
}

// arbiter_entry returns the next entry of a table whose lane can send, or NOTHING.
static uint32_t arbiter_entry(
	const struct tb_vl_table *table, uint32_t at, uint32_t left, uint32_t can)
{
	if (table->n == 0)
		return NOTHING;
	if (left > 0 && can >> table->at[at].vl & 1)
		return at;
	for (uint32_t i = 1; i <= table->n; i++) {
		uint32_t next = (at + i) % table->n;
		if (can >> table->at[next].vl & 1 && table->at[next].weight > 0)
			return next;
	}
	return NOTHING;
}

static bool can_take(const struct tb_vl_table *table, uint32_t can)
{
	for (uint32_t i = 0; i < table->n; i++)
		if (can >> table->at[i].vl & 1 && table->at[i].weight > 0)
			return true;
	return false;
}

// arbiter_table returns which table chooses next.
static int arbiter_table(
	const struct credits *credits, const struct arbiter *arbiter, uint32_t can)
{
	uint32_t limit = tb_credit_params(&credits->replay.net->params)->vl_limit;
	if (!can_take(&credits->tables[HIGH], can))
		return LOW;
	bool reached = limit != TB_VL_LIMIT_NONE && arbiter->took_high &&
		       arbiter->high_bytes >= (uint64_t)limit * TB_VL_LIMIT_BYTES;
	return reached && can_take(&credits->tables[LOW], can) ? LOW : HIGH;
}

uint32_t tb_arbiter_take(struct credits *credits, uint32_t slot, uint32_t can,
	struct credit_packet *const packets[TB_VLS_MOST])
{
	struct arbiter *arbiter = &credits->arbiters[slot];
	int t = arbiter_table(credits, arbiter, can);
	const struct tb_vl_table *table = &credits->tables[t];
	uint32_t entry = arbiter_entry(table, arbiter->at[t], arbiter->left[t], can);
	if (entry == NOTHING)
		return NOTHING;
	if (entry != arbiter->at[t] || arbiter->left[t] == 0)
		arbiter->left[t] = table->at[entry].weight;
	arbiter->at[t] = (uint8_t)entry;
	uint32_t bytes = packets[table->at[entry].vl]->of.wire_bytes;
	uint32_t blocks = blocks_of(bytes);
	arbiter->left[t] =
		blocks < arbiter->left[t] ? (uint8_t)(arbiter->left[t] - blocks) : 0;
	arbiter->took_high = t == HIGH;
	arbiter->high_bytes = t == HIGH ? arbiter->high_bytes + bytes : 0;
	return table->at[entry].vl;
}

// arbiter_choose_lane lets a link that is free take a packet of one of several lanes.
static __attribute__((noinline)) void arbiter_choose_lane(
	struct credits *credits, const struct crossbar *crossbar, uint32_t slot)
{
	const struct link_sender *sender = sender_at(credits, slot);
	struct credit_packet *packets[TB_VLS_MOST] = {NULL};
	const struct update *bys[TB_VLS_MOST];
	uint32_t can = 0;
	for (uint32_t vl = 0; vl < credits->n_vls; vl++) {
		uint32_t port = turn_of(credits, crossbar, slot, vl);
		if (port == NOTHING)
			continue;
		uint32_t queue = vl * credits->queues_of_vl +
				 (credits->queues_of_vl > 1 ? sender->port : 0u);
		uint32_t from = crossbar->first + port;
		packets[vl] =
			credit_packet_at(credits, queue_at(credits, from)[queue].first);
		if (lane_has(credits, lane_at(credits, slot, vl),
			    lane_needs(credits, packets[vl]->of.wire_bytes), &bys[vl]))
			can |= 1u << vl;
	}
	uint32_t taken = can ? tb_arbiter_take(credits, slot, can, packets) : NOTHING;
	if (taken != NOTHING) {
		tb_crossing_begin(credits, slot, packets[taken], bys[taken]);
		return;
	}
	for (uint32_t vl = 0; vl < credits->n_vls; vl++)
		if (packets[vl] && !(can >> vl & 1))
			tb_lanes_wait(credits, slot, lane_at(credits, slot, vl),
				lane_needs(credits, packets[vl]->of.wire_bytes));
}

// arbiter_choose_when_known lets a link take a packet if the updates of this instant give
// it enough credits; if not, the link chooses again when it has them.
static __attribute__((noinline)) void arbiter_choose_when_known(struct credits *credits,
	uint32_t slot, struct lane *lane, struct credit_packet *packet)
{
	int32_t need = lane_needs(credits, packet->of.wire_bytes);
	const struct update *by;
	if (lane_has(credits, lane, need, &by))
		tb_crossing_begin(credits, slot, packet, by);
	else
		tb_lanes_wait(credits, slot, lane, need);
}

// arbiter_choose lets a link take a packet if it is free. With one lane, as in most
// networks, there are no tables to ask.
static inline void arbiter_choose(
	struct credits *credits, struct crossbar *crossbar, uint32_t port)
{
	uint32_t slot = crossbar->first + port;
	struct link_sender *sender = sender_at(credits, slot);
	if (is_busy(credits, sender) || sender->n_heads == 0)
		return;
	if (credits->n_vls > 1) {
		arbiter_choose_lane(credits, crossbar, slot);
		return;
	}
	uint32_t from = turn_of(credits, crossbar, slot, 0);
	if (from == NOTHING)
		return;
	const struct queue *queues = queue_at(credits, crossbar->first + from);
	struct credit_packet *packet = credit_packet_at(
		credits, queues[credits->queues_of_vl > 1 ? port : 0].first);
	struct lane *lane = credits_lane(sender, 0);
	lane_settle(credits, lane);
	if (!credits->setup.pauses &&
		lane->credits >= (int32_t)blocks_of(packet->of.wire_bytes))
		tb_crossing_begin(credits, slot, packet, NULL);
	else
		arbiter_choose_when_known(credits, slot, lane, packet);
}

// each_route calls `visit` for the link of each head of a receiver.
static void each_route(struct credits *credits, uint32_t from, uint32_t chooser,
	void (*visit)(struct credits *credits, uint32_t slot, uint32_t chooser))
{
	const uint64_t *used = used_queues_at(credits, receiver_at(credits, from), from);
	const struct queue *queues = queue_at(credits, from);
	for (uint32_t q = next_bit(used, 0, credits->n_queues); q != NOTHING;
		q = next_bit(used, q + 1, credits->n_queues)) {
		if (queues[q].first == NOTHING)
			continue;
		const struct credit_packet *packet =
			credit_packet_at(credits, queues[q].first);
		struct link_sender *sender = sender_at(credits, packet->route);
		if (!is_busy(credits, sender) &&
			has_bit(heads_before(credits, sender, packet), packet->port))
			visit(credits, packet->route, chooser);
	}
}

// arbiter_choose_again: the candidate of a waiting link has just become limited, so the
// link may take another one: in this round if its turn is after that of the link that
// chose now, else in the next round.
static void arbiter_choose_again(struct credits *credits, uint32_t slot, uint32_t chooser)
{
	struct crossbar *crossbar = &credits->crossbars[queue_switch(credits, slot)];
	uint32_t n = crossbar->n_ports;
	uint32_t place = (slot - crossbar->first + n - crossbar->began_with) % n;
	uint32_t present = (chooser - crossbar->first + n - crossbar->began_with) % n;
	if (place > present)
		list_sender(credits, slot);
	else if (place < present)
		tb_wheel_put(
			&credits->replay.wheel, credits->replay.now, EV_CHOOSE, slot);
}

void tb_arbiter_limit(struct credits *credits, uint32_t slot, uint32_t from)
{
	set_bit(limited_at(credits, queue_switch(credits, from)),
		sender_at(credits, from)->port);
	each_route(credits, from, slot, arbiter_choose_again);
}

static void list_route(struct credits *credits, uint32_t slot, uint32_t chooser)
{
	(void)chooser;
	list_sender(credits, slot);
}

void tb_arbiter_allow(struct credits *credits, uint32_t from)
{
	uint32_t sw = queue_switch(credits, from);
	clear_bit(limited_at(credits, sw), sender_at(credits, from)->port);
	each_route(credits, from, 0, list_route);
}

// arbiter_serve_ports lets the listed links with ports in [from, end) choose. A link that
// chooses may list others behind it (arbiter_choose_again).
static void arbiter_serve_ports(
	struct credits *credits, struct crossbar *crossbar, uint32_t from, uint32_t end)
{
	uint64_t *choosing =
		choosing_at(credits, (uint32_t)(crossbar - credits->crossbars));
	for (uint32_t port = next_bit(choosing, from, end); port != NOTHING;
		port = next_bit(choosing, port + 1, end)) {
		clear_bit(choosing, port);
		arbiter_choose(credits, crossbar, port);
	}
}

// serve_word does so at a switch of up to 64 ports, with those in `ports`.
static inline void serve_word(
	struct credits *credits, struct crossbar *crossbar, uint64_t ports)
{
	uint64_t choosing;
	while ((choosing = crossbar->choosing & ports) != 0) {
		crossbar->choosing &= ~(choosing & -choosing);
		arbiter_choose(credits, crossbar, (uint32_t)__builtin_ctzll(choosing));
	}
}

// serve_choosing serves all listed links of a switch.
static inline void serve_choosing(struct credits *credits, struct crossbar *crossbar)
{
	uint32_t began_with = crossbar->began_with;
	if (credits->words > 1) {
		arbiter_serve_ports(credits, crossbar, began_with, crossbar->n_ports);
		arbiter_serve_ports(credits, crossbar, 0, began_with);
	} else {
		serve_word(credits, crossbar, ~UINT64_C(0) << began_with);
		serve_word(credits, crossbar, ~UINT64_C(0));
	}
}

void tb_arbiter_serve(struct credits *credits)
{
	for (uint32_t i = 0; i < credits->switches_now.n; i++) {
		struct crossbar *crossbar =
			&credits->crossbars[credits->switches_now.ids[i]];
		crossbar->began_with = crossbar->n_begun;
		serve_choosing(credits, crossbar);
		crossbar->listed = false;
	}
	credits->switches_now.n = 0;
}

void tb_arbiter_serve_one(struct credits *credits, uint32_t slot)
{
	const struct link_sender *sender = sender_at(credits, slot);
	struct crossbar *crossbar = &credits->crossbars[sender->sw];
	crossbar->began_with = crossbar->n_begun;
	crossbar->listed = true; // look_again is to leave the list alone
	arbiter_choose(credits, crossbar, sender->port);
	if (crossbar->choosing)
		serve_choosing(credits, crossbar);
	crossbar->listed = false;
}
