// The ideal latency of a message (C25 of docs/credits.md).
#include "credit_params.h"
#include "credits.h"

struct lone { // a message on an idle network
	const struct oracle *oracle;
	const struct message *message;
	const struct path *path;
	uint64_t fetch_q20, drain_q20;
};

static uint64_t payload_of(const struct lone *lone, uint64_t i)
{
	uint64_t full = lone->oracle->net->params.packet_payload_bytes;
	uint64_t bytes = lone->message->what.bytes;
	return i + 1 < lone->message->n_packets ? full : bytes - i * full;
}

static uint64_t wire_of(const struct lone *lone, uint64_t payload, bool first)
{
	const struct tb_network_params *params = &lone->oracle->net->params;
	uint64_t wire = payload + params->packet_overhead_bytes +
			(first ? tb_credit_params(params)->first_overhead_bytes : 0);
	return wire ? wire : 1;
}

static tb_time_ps crossing(const struct lone *lone, uint32_t j, uint64_t wire)
{
	return rate_time(lone->path->links[j]->byte_q20, wire);
}

// step is b of link j + 1 less that of link j.
static tb_time_ps step(const struct lone *lone, uint32_t j, uint64_t wire)
{
	bool stores = lone->oracle->credits->params->forwarding == TB_FORWARDING_STORE;
	tb_time_ps here = crossing(lone, j, wire), next = crossing(lone, j + 1, wire);
	tb_time_ps stored = stores ? here : here > next ? here - next : 0;
	return lone->path->links[j]->info->latency_ps + stored;
}

static tb_time_ps in_after(const struct lone *lone, uint64_t wire)
{
	tb_time_ps at = 0;
	uint32_t last = lone->path->n - 1;
	for (uint32_t j = 0; j < last; j++)
		at += step(lone, j, wire);
	return at + lone->path->links[last]->info->latency_ps +
	       crossing(lone, last, wire);
}

static tb_time_ps slowest(const struct lone *lone, uint64_t wire)
{
	tb_time_ps most = 0;
	for (uint32_t j = 0; j < lone->path->n; j++)
		most = oracle_later(most, crossing(lone, j, wire));
	return most;
}

static tb_time_ps fetch(const struct lone *lone, uint64_t payload)
{
	return rate_time(lone->fetch_q20, payload);
}

static tb_time_ps drain(const struct lone *lone, uint64_t payload)
{
	return rate_time(lone->drain_q20, payload);
}

// loop is L of link j: until the blocks of a full packet are known to be free again.
static tb_time_ps loop(const struct lone *lone, uint32_t j, uint64_t full)
{
	const struct tb_link_info *link = lone->path->links[j]->info;
	uint64_t wire = wire_of(lone, full, false);
	tb_time_ps back = lone->oracle->net->links[link->reverse.id].latency_ps;
	if (j + 1 == lone->path->n)
		return link->latency_ps + crossing(lone, j, wire) + drain(lone, full) +
		       back;
	return step(lone, j, wire) + crossing(lone, j + 1, wire) + back;
}

// entry is e of packet i.
static tb_time_ps entry(const struct lone *lone, uint64_t i)
{
	uint64_t full = lone->oracle->net->params.packet_payload_bytes;
	uint64_t wire = wire_of(lone, full, false), blocks = (wire + 63) / 64;
	tb_time_ps pace = oracle_later(slowest(lone, wire), fetch(lone, full));
	tb_time_ps at = 0;
	// Those between the first and the last all are full.
	if (i >= 1)
		at = oracle_later(slowest(lone, wire_of(lone, payload_of(lone, 0), true)),
			fetch(lone, payload_of(lone, 1)));
	if (i >= 2)
		at += (tb_time_ps)(i - 2) * pace +
		      oracle_later(slowest(lone, wire), fetch(lone, payload_of(lone, i)));
	if (pauses(lone->oracle->credits))
		return at;
	for (uint32_t j = 0; j < lone->path->n; j++) {
		uint64_t n = lone->path->links[j]->info->fifo_bytes / 64 / blocks;
		at = oracle_later(at, (tb_time_ps)(i / n) * loop(lone, j, full) +
					      (tb_time_ps)(i % n) * pace);
	}
	return at;
}

static tb_time_ps through(const struct lone *lone)
{
	uint64_t n = lone->message->n_packets;
	uint64_t first = payload_of(lone, 0), last = payload_of(lone, n - 1);
	tb_time_ps in = in_after(lone, wire_of(lone, first, true));
	if (n == 1)
		return in + drain(lone, last);
	tb_time_ps at = entry(lone, n - 1) + in_after(lone, wire_of(lone, last, false));
	tb_time_ps before = in_after(lone, wire_of(lone, first, n == 2));
	at = oracle_later(at, entry(lone, n - 2) + before + drain(lone, first));
	at = oracle_later(at, in + (tb_time_ps)(n - 1) * drain(lone, first));
	return at + drain(lone, last);
}

tb_time_ps credits_ideal_ps(struct oracle *oracle, const struct message *message)
{
	const struct tb_network_params *params = &oracle->net->params;
	uint32_t source = message->what.source.id;
	struct lone lone = {.oracle = oracle,
		.message = message,
		.fetch_q20 = oracle->credits->adapters[source].byte_q20[OUT],
		.drain_q20 = oracle->credits->adapters[message->end].byte_q20[IN]};
	tb_time_ps overheads = params->send_overhead_ps + params->receive_overhead_ps;
	if (source == message->end)
		return overheads + oracle_later(fetch(&lone, message->what.bytes),
					   drain(&lone, message->what.bytes));
	struct path path = oracle_ideal_path(oracle, source, message->end);
	lone.path = &path;
	return overheads + credits_fetch_delay(oracle, message) +
	       fetch(&lone, payload_of(&lone, 0)) + through(&lone);
}
