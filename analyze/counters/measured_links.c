// Makes figures of links of the counters of ports.
#include "measured_impl.h"

#include "array.h"

static void add_case(struct case_of *what, const struct tb_counter_port *port)
{
	if (what->n++ == 0)
		tb_counter_port_text(port, what->first, sizeof what->first);
}

static int keep_count(
	struct measuring *measuring, uint32_t link, int counter, uint64_t count)
{
	struct tb_measured *measured = measuring->measured;
	if (TB_ARRAY_RESERVE(&measured->counts, &measured->counts_room,
		    measured->n_counts + 1) != TB_OK)
		return tb_fail_memory(measuring->error, "the counts");
	measured->counts[measured->n_counts++] =
		(struct tb_measured_count){link, (enum tb_counter)counter, count};
	return TB_OK;
}

static bool knows(const struct port_change *change, int counter)
{
	return change->known >> counter & 1;
}

// take_sent takes what the sender of a link counted; it goes before what the receiver
// did.
static void take_sent(struct measuring *measuring, struct link_state *link, uint32_t id,
	const struct port_change *change)
{
	struct tb_link_info at =
		tb_network_link(measuring->measured->network, (struct tb_link){id});
	const uint64_t *deltas = change->deltas;
	if (knows(change, TB_COUNTER_SENT_BYTES)) {
		link->bytes = deltas[TB_COUNTER_SENT_BYTES];
		link->has_bytes = true;
	}
	if (knows(change, TB_COUNTER_SENT_PACKETS)) {
		link->packets = deltas[TB_COUNTER_SENT_PACKETS];
		link->has_packets = true;
	}
	if (knows(change, TB_COUNTER_PAUSED_US))
		link->stall = 1e6 * (double)deltas[TB_COUNTER_PAUSED_US];
	else if (knows(change, TB_COUNTER_WAIT_TICKS))
		link->stall = (double)deltas[TB_COUNTER_WAIT_TICKS] *
			      measuring->tick_bytes * 1e12 / (double)at.bytes_per_s;
	link->has_stall |=
		knows(change, TB_COUNTER_PAUSED_US) ||
		(knows(change, TB_COUNTER_WAIT_TICKS) && measuring->tick_bytes > 0);
	if (measuring->tick_bytes == 0 && knows(change, TB_COUNTER_WAIT_TICKS))
		link->frames = (double)deltas[TB_COUNTER_WAIT_TICKS];
	if (knows(change, TB_COUNTER_PAUSES_RECEIVED))
		link->frames = (double)deltas[TB_COUNTER_PAUSES_RECEIVED];
}

static void take_received(struct link_state *link, const struct port_change *change)
{
	const uint64_t *deltas = change->deltas;
	if (knows(change, TB_COUNTER_RECEIVED_BYTES) && !link->has_bytes) {
		link->bytes = deltas[TB_COUNTER_RECEIVED_BYTES];
		link->has_bytes = true;
	}
	if (knows(change, TB_COUNTER_RECEIVED_PACKETS) && !link->has_packets) {
		link->packets = deltas[TB_COUNTER_RECEIVED_PACKETS];
		link->has_packets = true;
	}
	if (knows(change, TB_COUNTER_PAUSING_US) && !link->has_stall) {
		link->stall = 1e6 * (double)deltas[TB_COUNTER_PAUSING_US];
		link->has_stall = true;
	}
	if (knows(change, TB_COUNTER_PAUSES_SENT) && link->frames == 0)
		link->frames = (double)deltas[TB_COUNTER_PAUSES_SENT];
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
				i, change->deltas[i]);
	return status;
}

static void note_change(struct measuring *measuring, const struct tb_counter_port *port,
	const struct port_change *change)
{
	if (change->is_reset)
		add_case(&measuring->reset, port);
	if (change->wrapped)
		add_case(&measuring->wrapped, port);
	if (change->full & ~change->unknown)
		add_case(&measuring->full, port);
	if (change->unknown)
		add_case(&measuring->unknown, port);
}

static int take_port(
	struct measuring *measuring, const struct tb_counter_port *port, bool sent)
{
	struct port_links links;
	struct port_change change;
	const struct tb_counter_port *before = NULL;
	if (!port_index_find(&measuring->index, port, &links)) {
		if (sent)
			add_case(&measuring->foreign, port);
		return TB_OK;
	}
	if (measuring->options->before &&
		!(before = tb_counters_find(&measuring->before, port))) {
		if (sent)
			add_case(&measuring->unseen, port);
		return TB_OK;
	}
	port_change_find(&change, before, port);
	measuring->links[sent ? links.sent : links.received].is_measured |=
		change.known != 0;
	if (!sent) {
		take_received(&measuring->links[links.received], &change);
		return TB_OK;
	}
	measuring->measured->n_matched++;
	note_change(measuring, port, &change);
	take_sent(measuring, &measuring->links[links.sent], links.sent, &change);
	return take_counts(measuring, &links, &change);
}

// take_ports goes over the ports twice, so that senders come first.
int measuring_links(struct measuring *measuring)
{
	const struct tb_counters *before = &measuring->before, *after = &measuring->after;
	struct port_links links;
	int status = TB_OK;
	for (int sent = 1; sent >= 0; sent--)
		for (size_t i = 0; status == TB_OK && i < after->n; i++)
			status = take_port(measuring, &after->ports[i], sent);
	for (size_t i = 0; status == TB_OK && i < before->n; i++)
		if (!tb_counters_find(after, &before->ports[i]) &&
			port_index_find(&measuring->index, &before->ports[i], &links))
			add_case(&measuring->gone, &before->ports[i]);
	return status;
}
