#include "frame_walk.h"

#define IPPROTO_HOP_BY_HOP 0
#define PROTO_ICMP	   1
#define PROTO_TCP	   6
#define PROTO_UDP	   17
#define PROTO_ROUTING	   43
#define PROTO_FRAGMENT	   44
#define PROTO_GRE	   47
#define PROTO_AH	   51
#define PROTO_ICMPV6	   58
#define PROTO_DESTINATION  60
#define PROTO_MOBILITY	   135
#define PROTO_HIP	   139
#define PROTO_SHIM6	   140

#define ROCE_PORT	  4791
#define OFFLOADED_MAX	  (1u << 20) // Linux hands no more than 512 KiB to a card
#define PAYLOAD_IN_DIGEST 16
#define OPTIONS_IN_DIGEST 12 // the time stamp option and its padding

// digest_bytes adds `n` bytes if all of them were captured, otherwise none: capture
// points may have different snap lengths.
static void digest_bytes(struct tb_walk *walk, size_t at, size_t n)
{
	if (!walk->digest || !tb_bytes_have(walk->bytes, at, n))
		return;
	for (size_t i = 0; i < n; i++)
		tb_walk_digest(walk, walk->bytes.data[at + i]);
}

void tb_walk_payload_at(struct tb_walk *walk, uint32_t header)
{
	tb_walk_on(walk, header);
	tb_walk_payload(walk, 0);
	digest_bytes(walk, 0,
		walk->wire_bytes < PAYLOAD_IN_DIGEST ? walk->wire_bytes
						     : PAYLOAD_IN_DIGEST);
}

// read_tcp_options reads the MSS and the window scale (RFC 7323) of a SYN.
static void read_tcp_options(struct tb_frame *frame, struct tb_bytes options)
{
	uint8_t kind, length, shift;
	for (size_t at = 0; at < options.n; at += length) {
		if (!tb_bytes_u8(options, at, &kind) || kind == 0)
			return;
		length = 1;
		if (kind == 1)
			continue;
		if (!tb_bytes_u8(options, at + 1, &length) || length < 2)
			return;
		if (kind == 2 && length == 4)
			(void)tb_bytes_u16(options, at + 2, &frame->mss);
		else if (kind == 3 && tb_bytes_u8(options, at + 2, &shift))
			frame->window_scale = (shift < 14 ? shift + 1u : 15u) & 15u;
	}
}

static void walk_tcp(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint32_t acknowledged;
	uint8_t offset;
	frame->offloadable = true;
	if (!tb_bytes_u32(walk->bytes, 0, &frame->channel) ||
		!tb_bytes_u32(walk->bytes, 4, &frame->sequence) ||
		!tb_bytes_u32(walk->bytes, 8, &acknowledged) ||
		!tb_bytes_u8(walk->bytes, 12, &offset) ||
		!tb_bytes_u8(walk->bytes, 13, &frame->flags) ||
		!tb_bytes_u16(walk->bytes, 14, &frame->window)) {
		// The capture cut the header off, but a replay needs only endpoints and
		// sizes.
		tb_walk_payload_at(walk, walk->wire_bytes < 20 ? walk->wire_bytes : 20);
		return;
	}
	uint32_t header = (offset >> 4) * 4u;
	if (header < 20 || header > walk->wire_bytes) {
		walk->broken = true;
		return;
	}
	frame->transport = TB_TRANSPORT_TCP;
	frame->acknowledged = acknowledged;
	frame->tcp_options = (uint8_t)(header - 20);
	struct tb_bytes options = tb_bytes_after(walk->bytes, 20);
	if (options.n > frame->tcp_options)
		options.n = frame->tcp_options;
	tb_walk_digest(walk, (uint64_t)frame->channel << 32 | frame->sequence);
	tb_walk_digest(walk, (uint64_t)acknowledged << 8 | frame->flags);
	digest_bytes(walk, 20,
		frame->tcp_options < OPTIONS_IN_DIGEST ? frame->tcp_options
						       : OPTIONS_IN_DIGEST);
	tb_walk_payload_at(walk, header);
	frame->acknowledgement =
		frame->payload_bytes == 0 &&
		(frame->flags & (TB_TCP_SYN | TB_TCP_FIN | TB_TCP_RST)) == 0;
	if (frame->flags & TB_TCP_SYN)
		read_tcp_options(frame, options);
}

static void walk_udp(struct tb_walk *walk, bool fragment)
{
	struct tb_frame *frame = walk->frame;
	uint16_t length;
	frame->offloadable = true;
	if (!tb_bytes_u32(walk->bytes, 0, &frame->channel) ||
		!tb_bytes_u16(walk->bytes, 4, &length)) {
		tb_walk_payload_at(walk, walk->wire_bytes < 8 ? walk->wire_bytes : 8);
		return;
	}
	// 0: a jumbogram, or the card was still to fill it in.
	if (length != 0 && length < 8) {
		walk->broken = true;
		return;
	}
	if (length != 0 && !fragment)
		tb_walk_limit(walk, length);
	tb_walk_digest(walk, frame->channel);
	if ((frame->channel & 0xffff) == ROCE_PORT && !fragment) {
		tb_walk_on(walk, 8);
		frame->offloadable = false;
		tb_walk_roce_v2(walk);
	} else if (fragment || !tb_walk_udp_tunnel(walk, frame->channel)) {
		tb_walk_payload_at(walk, 8);
	}
}

// is_neighbour_talk returns whether an ICMPv6 message serves the link itself. Types 130
// to 137 and 143: multicast listeners, routers, neighbours, redirects.
static bool is_neighbour_talk(struct tb_walk *walk)
{
	uint8_t type;
	return tb_bytes_u8(walk->bytes, 0, &type) &&
	       ((type >= 130 && type <= 137) || type == 143);
}

static void walk_icmp_v6(struct tb_walk *walk)
{
	bool control = is_neighbour_talk(walk) && walk->frame->kind == TB_FRAME_DATA;
	tb_walk_payload_at(walk, walk->wire_bytes < 8 ? walk->wire_bytes : 8);
	if (control) {
		walk->frame->kind = TB_FRAME_CONTROL;
		tb_walk_type(walk, TB_REGISTRY_IP, PROTO_ICMPV6);
	}
}

// walk_transport decodes what IP carries. It does not enter a tunnel in a first fragment:
// later fragments lack the inner addresses, and all should have the same endpoints.
static void walk_transport(struct tb_walk *walk, uint8_t protocol, bool first_fragment)
{
	tb_walk_type(walk, TB_REGISTRY_IP, protocol);
	tb_walk_digest(walk, protocol);
	tb_walk_digest(walk, walk->wire_bytes);
	switch (protocol) {
	case PROTO_TCP:
		walk_tcp(walk);
		break;
	case PROTO_UDP:
		walk_udp(walk, first_fragment);
		break;
	case PROTO_GRE:
		if (first_fragment)
			tb_walk_payload_at(
				walk, walk->wire_bytes < 4 ? walk->wire_bytes : 4);
		else
			tb_walk_gre(walk);
		break;
	case PROTO_ICMPV6:
		walk_icmp_v6(walk);
		break;
	case PROTO_ICMP:
		tb_walk_payload_at(walk, walk->wire_bytes < 8 ? walk->wire_bytes : 8);
		break;
	default:
		if (first_fragment || !tb_walk_ip_tunnel(walk, protocol))
			tb_walk_payload_at(walk, 0);
	}
}

// reaches sets the kind by the address: a unicast packet stays one under a MAC with the
// group bit, which clusters behind one address have. A broadcast MAC makes a broadcast,
// since a subnet's broadcast address looks like any other.
static void reaches(struct tb_frame *frame, bool multicast)
{
	if (frame->kind == TB_FRAME_DATA || frame->kind == TB_FRAME_MULTICAST)
		frame->kind = multicast ? TB_FRAME_MULTICAST : TB_FRAME_DATA;
}

// is_whole_ipv4 returns whether the checksum of an IPv4 header is right (RFC 791).
static bool is_whole_ipv4(struct tb_bytes bytes, uint32_t header)
{
	uint32_t sum = 0;
	for (uint32_t at = 0; at < header; at += 2) {
		uint16_t word;
		if (!tb_bytes_u16(bytes, at, &word))
			return false;
		sum += word;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

static void walk_ipv4(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint8_t version_ihl;
	uint8_t service;
	uint16_t total;
	uint16_t identification;
	uint16_t fragment;
	uint8_t protocol;
	if (!tb_address_ipv4_at(walk->bytes, 12, &walk->ends->source) ||
		!tb_address_ipv4_at(walk->bytes, 16, &walk->ends->destination) ||
		!tb_bytes_u8(walk->bytes, 0, &version_ihl) ||
		!tb_bytes_u8(walk->bytes, 1, &service) ||
		!tb_bytes_u16(walk->bytes, 2, &total) ||
		!tb_bytes_u16(walk->bytes, 4, &identification) ||
		!tb_bytes_u16(walk->bytes, 6, &fragment) ||
		!tb_bytes_u8(walk->bytes, 9, &protocol)) {
		walk->broken = true;
		return;
	}
	uint32_t header = (version_ihl & 15) * 4u;
	// A total length of 0 means more than 64 KB, captured before the card cut it.
	if (header < 20 || (total != 0 && total < header) ||
		(total == 0 && walk->wire_bytes > OFFLOADED_MAX) ||
		(total > walk->wire_bytes && walk->guessed &&
			!is_whole_ipv4(walk->bytes, header))) {
		walk->broken = true;
		return;
	}
	if (total != 0)
		tb_walk_length(walk, total);
	walk->link_bytes = walk->walked_bytes;
	frame->marked |= (service & 3) == 3;
	if (walk->ends->destination.low == 0xffffffff)
		frame->kind = TB_FRAME_BROADCAST;
	else
		reaches(frame, walk->ends->destination.low >> 28 == 0xe);
	tb_walk_digest(walk, walk->ends->source.low << 32 | walk->ends->destination.low);
	tb_walk_digest(walk, (uint64_t)identification << 16 | fragment);
	tb_walk_on(walk, header);
	if (fragment & 0x1fff) // only the first fragment has a transport header
		tb_walk_payload_at(walk, 0);
	else
		walk_transport(walk, protocol, fragment & 0x2000);
}

static bool is_extension(uint8_t next)
{
	return next == IPPROTO_HOP_BY_HOP || next == PROTO_ROUTING ||
	       next == PROTO_FRAGMENT || next == PROTO_AH || next == PROTO_DESTINATION ||
	       next == PROTO_MOBILITY || next == PROTO_HIP || next == PROTO_SHIM6;
}

// walk_extensions steps over IPv6's extension headers and returns whether `next` is the
// transport's header. It is not if headers were not captured, or after the first
// fragment; the endpoints are known by then.
static bool walk_extensions(struct tb_walk *walk, uint8_t *next, bool *first_fragment)
{
	while (is_extension(*next)) {
		uint8_t after;
		uint8_t length;
		uint16_t fragment = 0;
		if (!tb_bytes_u8(walk->bytes, 0, &after) ||
			!tb_bytes_u8(walk->bytes, 1, &length))
			return false;
		uint32_t header = (length + 1) * 8u;
		if (*next == PROTO_AH)
			header = (length + 2) * 4u;
		if (*next == PROTO_FRAGMENT) {
			header = 8;
			uint32_t identification = 0;
			(void)tb_bytes_u16(walk->bytes, 2, &fragment);
			(void)tb_bytes_u32(walk->bytes, 4, &identification);
			tb_walk_digest(walk, (uint64_t)identification << 16 | fragment);
		}
		tb_walk_on(walk, header);
		*next = after;
		if (walk->broken || fragment & 0xfff8)
			return false;
		*first_fragment |= fragment & 1;
	}
	return true;
}

static void walk_ipv6(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint16_t payload;
	uint16_t service;
	uint8_t next;
	if (!tb_address_wide_at(walk->bytes, 8, TB_ADDRESS_IPV6, &walk->ends->source) ||
		!tb_address_wide_at(
			walk->bytes, 24, TB_ADDRESS_IPV6, &walk->ends->destination) ||
		!tb_bytes_u16(walk->bytes, 0, &service) ||
		!tb_bytes_u16(walk->bytes, 4, &payload) ||
		!tb_bytes_u8(walk->bytes, 6, &next) ||
		(walk->guessed && payload + 40u > walk->wire_bytes)) {
		walk->broken = true;
		return;
	}
	// A payload length of 0 is a jumbogram (RFC 2675): the frame's own length counts.
	if (payload == 0 && walk->wire_bytes > OFFLOADED_MAX) {
		walk->broken = true;
		return;
	}
	if (payload != 0 || next != IPPROTO_HOP_BY_HOP)
		tb_walk_length(walk, payload + 40u);
	walk->link_bytes = walk->walked_bytes;
	reaches(frame, walk->ends->destination.high >> 56 == 0xff);
	frame->marked |= (service >> 4 & 3) == 3;
	tb_walk_digest(walk, walk->ends->source.high);
	tb_walk_digest(walk, walk->ends->source.low);
	tb_walk_digest(walk, walk->ends->destination.high);
	tb_walk_digest(walk, walk->ends->destination.low);
	tb_walk_on(walk, 40);
	bool first_fragment = false;
	if (walk_extensions(walk, &next, &first_fragment))
		walk_transport(walk, next, first_fragment);
	else
		tb_walk_payload_at(walk, 0);
}

void tb_walk_ip(struct tb_walk *walk)
{
	uint8_t version;
	if (!tb_bytes_u8(walk->bytes, 0, &version))
		walk->broken = true;
	else if (version >> 4 == 4)
		walk_ipv4(walk);
	else if (version >> 4 == 6)
		walk_ipv6(walk);
	else
		walk->broken = true;
}
