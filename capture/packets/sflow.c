#include "sflow.h"
#include "order.h"

#include <pcap/dlt.h>

#define RATE_MOST	(1u << 24) // no port samples more seldom; a packet is replayed as often
#define VERSION		5
#define FLOW_SAMPLE	1
#define EXPANDED_SAMPLE 3
#define PACKET_HEADER	1
#define IPV4_FIELDS	3
#define IPV6_FIELDS	4

#define AT_MOST 65536 // more samples or records do not fit into a datagram

// take_sflow_word reads a word and steps over it.
static bool take_sflow_word(struct tb_bytes *bytes, uint32_t *word)
{
	if (!tb_bytes_u32(*bytes, 0, word))
		return false;
	*bytes = tb_bytes_after(*bytes, 4);
	return true;
}

// take_part reads a type and a length, and steps over the part that has them.
static bool take_part(struct tb_bytes *bytes, uint32_t *type, struct tb_bytes *part)
{
	uint32_t n;
	if (!take_sflow_word(bytes, type) || !take_sflow_word(bytes, &n))
		return false;
	*part = *bytes;
	part->n = tb_min_u64(part->n, n);
	*bytes = tb_bytes_after(*bytes, n);
	return true;
}

bool tb_sflow_begin(struct tb_sflow *sflow, struct tb_bytes payload)
{
	uint32_t version, family;
	if (!take_sflow_word(&payload, &version) || version != VERSION ||
		!take_sflow_word(&payload, &family) || (family != 1 && family != 2))
		return false;
	// The agent's address and number, a sequence number, its uptime.
	payload = tb_bytes_after(payload, (family == 1 ? 4 : 16) + 12);
	sflow->left = payload;
	return take_sflow_word(&sflow->left, &sflow->n_left) && sflow->n_left < AT_MOST;
}

static void write_big_endian(uint8_t *to, uint32_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)(value >> (8 * (n - 1 - i)));
}

// take_sflow_header takes the first bytes of the packet: the protocol with which they
// begin, the length that it had, how much of its end (the FCS) was stripped.
static bool take_sflow_header(struct tb_bytes record, struct tb_sflow_sample *sample)
{
	static const int link_types[] = {[1] = DLT_EN10MB,
		[5] = DLT_FRELAY,
		[7] = DLT_PPP,
		[11] = DLT_RAW,
		[12] = DLT_RAW};
	uint32_t protocol, length, stripped, captured;
	if (!take_sflow_word(&record, &protocol) || !take_sflow_word(&record, &length) ||
		!take_sflow_word(&record, &stripped) ||
		!take_sflow_word(&record, &captured))
		return false;
	record.n = tb_min_u64(record.n, captured);
	sample->bytes = record;
	sample->wire_bytes = stripped < length ? length - stripped : 0;
	if (sample->wire_bytes < record.n)
		sample->wire_bytes = (uint32_t)record.n;
	sample->link_type = 65535;
	if (protocol < sizeof link_types / sizeof *link_types && link_types[protocol])
		sample->link_type = link_types[protocol];
	return true;
}

// take_fields makes an IP header, with the ports behind it, of what the agent read there:
// the length of the IP packet, its protocol, the addresses, the ports.
static bool take_fields(struct tb_bytes record, bool v6, uint8_t header[48],
	struct tb_sflow_sample *sample)
{
	const size_t address = v6 ? 16 : 4, begin = v6 ? 40 : 20;
	uint32_t length, protocol, from, to;
	if (!tb_bytes_u32(record, 0, &length) || !tb_bytes_u32(record, 4, &protocol) ||
		!tb_bytes_u32(record, 8 + 2 * address, &from) ||
		!tb_bytes_u32(record, 12 + 2 * address, &to) || length > UINT16_MAX ||
		length < begin)
		return false;
	memset(header, 0, 48);
	write_big_endian(header, v6 ? 0x60 : 0x45, 1);
	write_big_endian(header + (v6 ? 4 : 2), v6 ? length - 40 : length, 2);
	write_big_endian(header + (v6 ? 6 : 9), protocol, 1);
	memcpy(header + (v6 ? 8 : 12), record.data + 8, 2 * address);
	write_big_endian(header + begin, from, 2);
	write_big_endian(header + begin + 2, to, 2);
	// UDP's length, so that a datagram is not refused for having none.
	write_big_endian(header + begin + 4, length - (uint32_t)begin, 2);
	*sample = (struct tb_sflow_sample){.bytes = {header, begin + 8},
		.wire_bytes = length,
		.link_type = DLT_RAW,
		.stands_for = sample->stands_for};
	sample->bytes.n = tb_min_u64(sample->bytes.n, length);
	return true;
}

// take_sample reads the records of a flow sample; false when they hold no packet. The
// numbers before them: sequence, source (expanded: its class and index), rate, pool,
// drops, input and output (expanded: format and value of each), count of records.
static bool take_sample(struct tb_sflow *sflow, struct tb_bytes body, bool expanded,
	struct tb_sflow_sample *sample)
{
	uint32_t rate, n, type;
	struct tb_bytes record;
	bool found = false;
	if (!tb_bytes_u32(body, expanded ? 12 : 8, &rate) || rate > RATE_MOST ||
		!tb_bytes_u32(body, expanded ? 40 : 28, &n))
		return false;
	body = tb_bytes_after(body, expanded ? 44 : 32);
	sample->stands_for = rate ? rate : 1;
	for (uint32_t i = 0; i < n && i < AT_MOST && take_part(&body, &type, &record);
		i++) {
		if (type == PACKET_HEADER && take_sflow_header(record, sample))
			return true;
		if (!found && (type == IPV4_FIELDS || type == IPV6_FIELDS))
			found = take_fields(
				record, type == IPV6_FIELDS, sflow->header, sample);
	}
	return found;
}

bool tb_sflow_next(struct tb_sflow *sflow, struct tb_sflow_sample *sample)
{
	uint32_t type;
	struct tb_bytes body;
	while (sflow->n_left > 0 && take_part(&sflow->left, &type, &body)) {
		sflow->n_left--;
		if ((type == FLOW_SAMPLE || type == EXPANDED_SAMPLE) &&
			take_sample(sflow, body, type == EXPANDED_SAMPLE, sample))
			return true;
	}
	return false;
}
