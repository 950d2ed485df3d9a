// Makes figures of links of the counters of ports.
#include "measured_impl.h"

#include "array.h"

static void add_case(struct case_of *what, const struct tb_counter_port *port)
{
	if (what->n++ == 0)
		tb_counter_port_text(port, what->first, sizeof what->first);
}

static int keep_count(struct measuring *measuring, uint32_t link, int counter,
	const struct port_change *change)
{
	struct tb_measured *measured = measuring->measured;
	if (TB_ARRAY_RESERVE(&measured->counts, &measured->counts_room,
		    measured->n_counts + 1) != TB_OK)
		return tb_fail_memory(measuring->error, "the counts");
	measured->counts[measured->n_counts++] =
		(struct tb_measured_count){link, (enum tb_counter)counter,
			change->deltas[counter], change->at_least >> counter & 1};
	return TB_OK;
}

static struct link_amount amount_of(const struct port_change *change, int counter)
{
	if (!(change->known >> counter & 1))
		return (struct link_amount){.known = TB_NOT_MEASURED};
	return (struct link_amount){change->deltas[counter],
		change->at_least >> counter & 1 ? TB_AT_LEAST : TB_EXACT};
}

// improve_amount takes what is better known: what is exact goes before a bound, and a
// bound from below, which was counted, before one from above.
static void improve_amount(struct link_amount *to, struct link_amount by)
{
	if (by.known < to->known)
		*to = by;
}

// frames_hold bounds how long pause frames held a link. What may be all of the time, or
// was not counted to the end, bounds nothing.
static struct link_amount frames_hold(struct measuring *measuring, uint32_t link,
	const struct port_change *change, int counter)
{
	const uint64_t most_bytes = UINT64_C(65535) * 512 / 8;
	struct link_amount frames = amount_of(change, counter);
	if (frames.known != TB_EXACT || frames.amount == 0)
		return frames.known == TB_EXACT
			       ? frames
			       : (struct link_amount){.known = TB_NOT_MEASURED};
	uint64_t rate =
		tb_network_link(measuring->measured->network, (struct tb_link){link})
			.bytes_per_s;
	uint64_t most_ps = measured_time_ps(frames.amount, most_bytes, rate);
	return (struct link_amount){most_ps,
		most_ps < (uint64_t)measuring->measured->interval_ps ? TB_AT_MOST
								     : TB_NOT_MEASURED};
}

// take_sent takes what the sender of a link counted; it goes before what the receiver
// did.
static int take_sent(struct measuring *measuring, const struct tb_counter_port *port,
	uint32_t id, const struct port_change *change)
{
	const struct tb_network *network = measuring->measured->network;
	struct link_state *link = &measuring->links[id];
	improve_amount(&link->bytes, amount_of(change, TB_COUNTER_SENT_BYTES));
	improve_amount(&link->packets, amount_of(change, TB_COUNTER_SENT_PACKETS));
	struct link_amount paused = amount_of(change, TB_COUNTER_PAUSED_US);
	paused.amount = paused.amount > UINT64_MAX / 1000000 ? UINT64_MAX
							     : paused.amount * 1000000;
	improve_amount(&link->stall_ps, paused);
	struct link_amount ticks = amount_of(change, TB_COUNTER_WAIT_TICKS);
	if (ticks.known != TB_NOT_MEASURED) {
		uint64_t rate =
			tb_network_link(network, (struct tb_link){id}).bytes_per_s;
		uint64_t tick = measuring->measured->tick_bytes[id];
		if (tick == 0 && ticks.amount > 0) {
			add_case(&measuring->tickless, port);
			return keep_count(measuring, id, TB_COUNTER_WAIT_TICKS, change);
		}
		ticks.amount = measured_time_ps(ticks.amount, tick, rate);
		improve_amount(&link->stall_ps, ticks);
	}
	return TB_OK;
}

static void take_received(
	struct measuring *measuring, uint32_t id, const struct port_change *change)
{
	struct link_state *link = &measuring->links[id];
	improve_amount(&link->bytes, amount_of(change, TB_COUNTER_RECEIVED_BYTES));
	improve_amount(&link->packets, amount_of(change, TB_COUNTER_RECEIVED_PACKETS));
	struct link_amount paused = amount_of(change, TB_COUNTER_PAUSING_US);
	paused.amount = paused.amount > UINT64_MAX / 1000000 ? UINT64_MAX
							     : paused.amount * 1000000;
	improve_amount(&link->stall_ps, paused);
}

// take_frames takes pause frames, which bound what nobody timed.
static void take_frames(struct measuring *measuring, const struct tb_counter_port *port,
	uint32_t id, const struct port_change *change, int counter)
{
	struct link_amount *stall_ps = &measuring->links[id].stall_ps;
	if (stall_ps->known != TB_NOT_MEASURED)
		return;
	struct link_amount held = frames_hold(measuring, id, change, counter);
	if (held.known == TB_AT_MOST)
		add_case(&measuring->bounded, port);
	else if (held.amount)
		add_case(&measuring->unbounded, port);
	improve_amount(stall_ps, held);
}

static int take_counts(struct measuring *measuring, const struct port_links *links,
	const struct port_change *change)
{
	int status = TB_OK;
	for (int i = 0; status == TB_OK && i < TB_N_COUNTERS; i++)
		if (tb_counter_infos[i].class != TB_COUNTS_TRAFFIC && change->deltas[i])
			status = keep_count(measuring,
				tb_counter_infos[i].side == TB_COUNTS_SENT
					? links->sent
					: links->received,
				i, change);
	return status;
}

// The passes over the ports: senders come before receivers, and times before frames.
enum counter_pass { PASS_SENT, PASS_RECEIVED, PASS_FRAMES, N_PASSES };

static int count_port(struct measuring *measuring, const struct tb_counter_port *port,
	enum counter_pass pass)
{
	struct port_links links;
	struct port_change change;
	const struct tb_counter_port *before = NULL;
	if (!port_index_find(&measuring->index, port, &links)) {
		if (pass == PASS_SENT)
			add_case(&measuring->foreign, port);
		return TB_OK;
	}
	if (measuring->options->before &&
		!(before = tb_counters_find(&measuring->before, port))) {
		if (pass == PASS_SENT)
			add_case(&measuring->unseen, port);
		return TB_OK;
	}
	port_change_find(&change, before, port);
	if (pass == PASS_RECEIVED)
		take_received(measuring, links.received, &change);
	if (pass == PASS_FRAMES) {
		take_frames(
			measuring, port, links.sent, &change, TB_COUNTER_PAUSES_RECEIVED);
		take_frames(
			measuring, port, links.received, &change, TB_COUNTER_PAUSES_SENT);
	}
	if (pass != PASS_SENT)
		return TB_OK;
	measuring->measured->n_matched++;
	if (change.is_reset)
		add_case(&measuring->reset, port);
	if (change.wrapped)
		add_case(&measuring->wrapped, port);
	if (change.full & ~change.unknown)
		add_case(&measuring->full, port);
	if (change.unknown)
		add_case(&measuring->unknown, port);
	int status = take_sent(measuring, port, links.sent, &change);
	return status == TB_OK ? take_counts(measuring, &links, &change) : status;
}

int measuring_links(struct measuring *measuring)
{
	const struct tb_counters *before = &measuring->before, *after = &measuring->after;
	struct port_links links;
	int status = TB_OK;
	for (uint32_t i = 0; i < tb_network_n_links(measuring->measured->network); i++)
		measuring->links[i] = (struct link_state){
			{0, TB_NOT_MEASURED}, {0, TB_NOT_MEASURED}, {0, TB_NOT_MEASURED}};
	for (enum counter_pass pass = PASS_SENT; pass < N_PASSES; pass++)
		for (size_t i = 0; status == TB_OK && i < after->n; i++)
			status = count_port(measuring, &after->ports[i], pass);
	for (size_t i = 0; status == TB_OK && i < before->n; i++)
		if (!tb_counters_find(after, &before->ports[i]) &&
			port_index_find(&measuring->index, &before->ports[i], &links))
			add_case(&measuring->gone, &before->ports[i]);
	return status;
}
