// Flits and credits: what crosses a link. Numbers of rules are those of docs/model.md.
#include "circuit_params.h"
#include "oracle_impl.h"

#include <assert.h>

void oracle_touch_link(struct oracle *oracle, uint32_t id)
{
	touch(&oracle->links_now, id, &oracle->links[id].touched);
}

// block_bytes is the length of the block that flit `number` belongs to.
static uint32_t block_bytes(
	const struct oracle *oracle, const struct packet *packet, uint32_t number)
{
	uint32_t full =
		oracle->block_flits * tb_circuit_params(&oracle->net->params)->flit_bytes;
	uint32_t rest = packet->wire_bytes - number / oracle->block_flits * full;
	return rest < full ? rest : full;
}

// flit_time is what a flit takes of the link (rule 12): those of a block add up to T(its
// bytes).
static tb_time_ps flit_time(const struct oracle *oracle, const struct packet *packet,
	const struct link *link, uint32_t number)
{
	uint32_t size = tb_circuit_params(&oracle->net->params)->flit_bytes;
	uint32_t from = number % oracle->block_flits * size;
	uint32_t bytes = block_bytes(oracle, packet, number);
	uint32_t to = from + size < bytes ? from + size : bytes;
	return rate_time(link->byte_q20, to) - rate_time(link->byte_q20, from);
}

static bool ends_block(
	const struct oracle *oracle, const struct packet *packet, uint32_t number)
{
	return number + 1 == packet->n_flits || (number + 1) % oracle->block_flits == 0;
}

// foresee_in puts down when a flit that begins to cross now is in at the far end, and
// when its place in the FIFO that it leaves is known to be free (rules 13 and 14).
static void foresee_in(
	struct oracle *oracle, struct packet *packet, uint32_t at, tb_time_ps crossed)
{
	const struct link *link = link_of(oracle, &packet->hops[at]);
	tb_time_ps in = oracle->now + link->hop_ps;
	if (link->info->kind == TB_LINK_EJECTION)
		in = crossed + link->info->latency_ps;
	oracle_foresee(
		oracle, (struct happening){
				.at = in, .what = FLIT_IN, .id = at, .packet = packet});
	if (at == 0)
		return;
	const struct link *before = link_of(oracle, &packet->hops[at - 1]);
	oracle_foresee(oracle, (struct happening){.at = oracle->now + before->hop_ps,
				       .what = CREDIT_IN,
				       .id = at - 1,
				       .packet = packet});
}

// note_block notes the block that a flit ends on all branches of its hop.
static void note_block(struct oracle *oracle, const struct packet *packet, uint32_t at,
	uint32_t number, tb_time_ps crossed)
{
	uint32_t n = oracle_links_at(oracle, packet, at);
	for (uint32_t i = 0; i < n; i++)
		oracle_note(&oracle->facts,
			(struct oracle_fact){.kind = ORACLE_CROSSED,
				.link = oracle->branches[i],
				.from = link_of(oracle, &packet->hops[at])->block_from,
				.to = crossed,
				.bytes = block_bytes(oracle, packet, number)});
}

static void note_header(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	uint32_t n = oracle_links_at(oracle, packet, at);
	for (uint32_t i = 0; i < n; i++)
		oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_ENTERED,
						    .link = oracle->branches[i],
						    .from = oracle->now,
						    .to = oracle->now});
	oracle->stats.n_hops += n;
	packet->hops[at].begun_at = oracle->now;
}

// n_crossed is how many flits of the packet on the VC served last have begun; 0 when that
// VC is free or has a new holder.
static uint32_t n_crossed(const struct link *link)
{
	const struct channel *channel = &link->channels[link->serving];
	return channel->holder ? channel->holder->hops[channel->hop].n_begun : 0;
}

// in_block returns whether the packet served last is in the middle of a block.
static bool in_block(const struct oracle *oracle, const struct link *link)
{
	uint32_t n = n_crossed(link);
	return n > 0 && !ends_block(oracle, link->channels[link->serving].holder, n - 1);
}

// continues_train returns whether the flit that a link is about to take belongs to the
// train that crosses it: no gap has opened between two of its packet's blocks.
static bool continues_train(
	const struct oracle *oracle, const struct link *link, uint32_t vc, uint32_t flit)
{
	if (flit % oracle->block_flits != 0)
		return true;
	return flit > 0 && vc == link->serving && link->block_ended_at == oracle->now;
}

// note_train counts a block that begins to cross for what its train makes due (rule 33).
static void note_train(struct oracle *oracle, struct link *link,
	const struct packet *packet, uint32_t vc, uint32_t number)
{
	if (number % oracle->block_flits != 0)
		return;
	if (!continues_train(oracle, link, vc, number)) {
		link->ended_owes += link->train_owes;
		link->train_owes = 0;
	}
	link->in_train = true;
	link->train_owes +=
		rate_time(link->byte_q20, block_bytes(oracle, packet, number)) *
			oracle->tokens_q16 >>
		16;
}

// send_tokens sends what the link owes, now that its train is over (rule 34).
static void send_tokens(struct link *link)
{
	if (link->owed == 0)
		return;
	if (link->tokens_sent_at < link->block_ended_at)
		link->tokens_sent_at = link->block_ended_at;
	link->tokens_sent_at += link->owed;
	link->owed = 0;
}

// owe makes tokens due for a train that ended an instant ago.
static void owe(struct oracle *oracle, struct link *link, tb_time_ps tokens)
{
	if (link->in_train) {
		link->owed += tokens;
		return;
	}
	if (link->tokens_sent_at < oracle->now - 1)
		link->tokens_sent_at = oracle->now - 1;
	link->tokens_sent_at += tokens;
}

// A picosecond after a block has ended it is certain whether its train goes on.
void oracle_train_over(struct oracle *oracle, uint32_t id)
{
	struct link *link = &oracle->links[id];
	struct link *reverse = &oracle->links[link->info->reverse.id];
	tb_time_ps owes = link->ended_owes;
	link->ended_owes = 0;
	if (!link->crossing && !in_block(oracle, link)) {
		owes += link->train_owes;
		link->train_owes = 0;
		link->in_train = false;
		send_tokens(link);
	}
	if (owes > 0)
		owe(oracle, reverse, owes);
}

// may_begin returns whether a link has sent what it owes, so that a train may begin
// (rule 34). If not, it is looked at again when it has.
static bool may_begin(struct oracle *oracle, uint32_t id)
{
	struct link *link = &oracle->links[id];
	send_tokens(link);
	if (link->tokens_sent_at <= oracle->now)
		return true;
	oracle_foresee(oracle,
		(struct happening){
			.at = link->tokens_sent_at, .what = TOKENS_SENT, .id = id});
	return false;
}

// cross lets the next flit of a VC begin.
static void cross(struct oracle *oracle, uint32_t id, uint32_t vc)
{
	struct link *link = &oracle->links[id];
	struct packet *packet = link->channels[vc].holder;
	uint32_t at = link->channels[vc].hop;
	struct hop *hop = &packet->hops[at];
	uint32_t number = hop->n_begun++;
	tb_time_ps crossed = oracle->now + flit_time(oracle, packet, link, number);
	hop->n_here--;
	bool discarded = packet->refused && packet->n_granted == at + 1;
	if (link->info->kind != TB_LINK_EJECTION && !discarded)
		hop->room--;
	if (oracle->tokens_q16)
		note_train(oracle, link, packet, vc, number);
	link->serving = vc;
	link->crossing = true;
	oracle_foresee(oracle,
		(struct happening){.at = crossed, .what = FLIT_CROSSED, .id = id});
	if (oracle->tokens_q16 && ends_block(oracle, packet, number)) {
		link->block_ended_at = crossed;
		oracle_foresee(
			oracle, (struct happening){
					.at = crossed + 1, .what = TRAIN_OVER, .id = id});
	}
	foresee_in(oracle, packet, at, crossed);
	if (number == 0)
		note_header(oracle, packet, at);
	if (number % oracle->block_flits == 0)
		link->block_from = oracle->now;
	if (ends_block(oracle, packet, number))
		note_block(oracle, packet, at, number, crossed);
}

// can_cross returns whether the next flit of a VC has come and has room (rule 14).
static bool can_cross(const struct link *link, uint32_t vc)
{
	const struct channel *channel = &link->channels[vc];
	if (!channel->holder)
		return false;
	const struct packet *packet = channel->holder;
	const struct hop *hop = &packet->hops[channel->hop];
	bool discarded = packet->refused && channel->hop + 1 == packet->n_granted;
	return hop->n_here > 0 &&
	       (link->info->kind == TB_LINK_EJECTION || discarded || hop->room > 0);
}

// Rule 15: the link stays with a packet in the middle of a block, whatever comes, and
// beyond while that has a flit and room; else the VC granted longest ago, the lowest of
// equals.
void oracle_serve(struct oracle *oracle, uint32_t id)
{
	struct link *link = &oracle->links[id];
	link->touched = false;
	if (link->crossing)
		return;
	uint32_t number = n_crossed(link);
	bool goes_on = number > 0 && can_cross(link, link->serving);
	if (goes_on && continues_train(oracle, link, link->serving, number)) {
		cross(oracle, id, link->serving);
		return;
	}
	if (in_block(oracle, link) || !may_begin(oracle, id))
		return;
	if (goes_on) {
		cross(oracle, id, link->serving);
		return;
	}
	uint32_t chosen = TB_ID_NONE;
	for (uint32_t v = 0; v < link->info->n_vcs; v++)
		if (can_cross(link, v) &&
			(chosen == TB_ID_NONE ||
				link->channels[v].granted_at <
					link->channels[chosen].granted_at))
			chosen = v;
	if (chosen != TB_ID_NONE)
		cross(oracle, id, chosen);
}

void oracle_crossed(struct oracle *oracle, uint32_t id)
{
	oracle->links[id].crossing = false;
	oracle_touch_link(oracle, id);
}

void oracle_credit(struct oracle *oracle, struct packet *packet, uint32_t hop)
{
	packet->hops[hop].room++;
	assert(packet->hops[hop].room <= link_of(oracle, &packet->hops[hop])->fifo);
	oracle_touch_link(oracle, packet->hops[hop].link);
}

// header_meets lets a header choose from what leads on, or refuses it.
static void header_meets(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	if (oracle->dead_at && oracle_group_on(oracle, packet, sw, oracle->now).n == 0)
		oracle_refuse(oracle, packet);
	else
		oracle_header_in(oracle, packet, sw);
}

void oracle_in(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	struct hop *hop = &packet->hops[at];
	const struct link *link = link_of(oracle, hop);
	hop->n_in++;
	if (link->info->kind == TB_LINK_EJECTION) {
		if (hop->n_in == packet->n_flits)
			oracle_packet_in(oracle, packet);
		return;
	}
	if (packet->refused && at + 1 == packet->n_granted) {
		if (hop->n_in == packet->n_flits)
			oracle_send_error(oracle, packet);
		return;
	}
	struct hop *next = hop + 1;
	next->n_here++;
	assert(next->n_here <= link->fifo);
	if (hop->n_in == 1)
		header_meets(oracle, packet, link->info->to);
	else if (at + 1 < packet->n_granted)
		oracle_touch_link(oracle, next->link);
}

void oracle_note_crossing(struct oracle *oracle)
{
	for (uint32_t id = 0; id < oracle->net->n_links; id++) {
		const struct link *link = &oracle->links[id];
		if (in_block(oracle, link))
			oracle_note(&oracle->facts,
				(struct oracle_fact){.kind = ORACLE_CROSSED,
					.link = id,
					.from = link->block_from,
					.to = oracle->now,
					.bytes = n_crossed(link) % oracle->block_flits *
						 tb_circuit_params(&oracle->net->params)
							 ->flit_bytes});
	}
}
