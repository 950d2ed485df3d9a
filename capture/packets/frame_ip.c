#include "frame_walk.h"
#include "sflow.h"

#define ROCE_PORT	  4791
#define OFFLOADED_MAX	  (1u << 20) // Linux hands no more than 512 KiB to a card
#define PAYLOAD_IN_DIGEST 16
#define OPTIONS_IN_DIGEST 12 // the time stamp option and its padding

// Tunnels: packets within IP packets. The nodes sent the inner packets, so the inner
// addresses are the endpoints; the outer headers count as bytes on the wire.

#define UDP_BYTES 8

#define VXLAN_BYTES    8
#define VXLAN_INSTANCE 0x08 // the network identifier is valid; always set
#define VXLAN_GPE_NEXT 0x04 // the inner protocol is given; otherwise it is Ethernet
#define VXLAN_GPE_VER  0x30
#define GENEVE_BYTES   8
#define GENEVE_CONTROL 0x80

#define GTP_BYTES     8
#define GTP_VERSION   0xf0 // and the type of protocol
#define GTP_VERSION_1 0x30
#define GTP_OPTIONS   0x07 // any of them adds four bytes
#define GTP_EXTENDED  0x04
#define GTP_PACKET    255

#define TEREDO_AUTHENTICATION 1
#define TEREDO_ORIGIN	      0

#define GRE_CHECKSUM	    0x8000
#define GRE_ROUTING	    0x4000 // only in RFC 1701
#define GRE_KEY		    0x2000
#define GRE_SEQUENCE	    0x1000
#define GRE_ACKNOWLEDGEMENT 0x0080 // only in version 1
#define GRE_VERSION	    0x0007
#define GRE_ERSPAN	    0x88be // types I and II
#define GRE_ERSPAN_III	    0x22eb
#define ERSPAN_ETHERNET	    0
#define ERSPAN_IP	    2

// begin_anew forgets what the outer headers gave, except for the type that led here.
static void begin_anew(struct tb_walk *walk, uint32_t wire_bytes, enum tb_frame_kind kind)
{
	struct tb_frame *frame = walk->frame;
	*frame = (struct tb_frame){.wire_bytes = wire_bytes,
		.point = frame->point,
		.kind = kind & 15,
		.type = frame->type,
		.registry = frame->registry};
	walk->ends->source.kind = walk->ends->destination.kind = TB_ADDRESS_NONE;
}

// enter_tunnel decodes the packet that begins `header` bytes from here. It begins anew,
// so that a packet has the same digest inside and outside the tunnel, and counts once if
// both were captured. If it finds no endpoints, because the capture is cut off or a
// well-known port carries something else, it returns false and goes back to the header.
static bool enter_tunnel(struct tb_walk *walk, uint32_t header, uint16_t type)
{
	const struct tb_walk_place outside = tb_walk_here(walk);
	struct tb_frame *frame = walk->frame;
	tb_walk_on(walk, header);
	begin_anew(walk, frame->wire_bytes, frame->kind);
	frame->sliced = outside.frame.sliced;
	frame->marked = outside.frame.marked;
	walk->guessed = true;
	if (tb_walk_ether_type(walk, type) && !walk->broken &&
		walk->ends->source.kind != TB_ADDRESS_NONE)
		return true;
	tb_walk_return(walk, &outside);
	return false;
}

static bool walk_ip_tunnel(struct tb_walk *walk, uint8_t protocol)
{
	static const struct {
		uint8_t protocol;
		uint8_t header;
		uint16_t type;
	} rows[] = {
		{4, 0, TB_ETHER_TYPE_IPV4},   // RFC 2003
		{41, 0, TB_ETHER_TYPE_IPV6},  // RFC 4213
		{97, 2, TB_ETHER_TYPE_TEB},   // EtherIP, RFC 3378
		{137, 0, TB_ETHER_TYPE_MPLS}, // RFC 4023
		{143, 0, TB_ETHER_TYPE_TEB},  // RFC 8986: after segment routing
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].protocol == protocol)
			return enter_tunnel(walk, rows[i].header, rows[i].type);
	return false;
}

static bool enter_vxlan(struct tb_walk *walk)
{
	uint8_t flags;
	return tb_bytes_u8(walk->bytes, UDP_BYTES, &flags) && (flags & VXLAN_INSTANCE) &&
	       enter_tunnel(walk, UDP_BYTES + VXLAN_BYTES, TB_ETHER_TYPE_TEB);
}

static bool enter_vxlan_gpe(struct tb_walk *walk)
{
	uint8_t flags;
	uint8_t next;
	uint16_t type = TB_ETHER_TYPE_TEB;
	if (!tb_bytes_u8(walk->bytes, UDP_BYTES, &flags) ||
		!tb_bytes_u8(walk->bytes, UDP_BYTES + 3, &next) ||
		(flags & VXLAN_GPE_VER) || !(flags & VXLAN_INSTANCE))
		return false;
	if ((flags & VXLAN_GPE_NEXT) && !tb_walk_next_protocol(next, &type))
		return false;
	return enter_tunnel(walk, UDP_BYTES + VXLAN_BYTES, type);
}

// Geneve: version 0 in two bits, length of the options in words of four bytes, flags, and
// the type of the inner packet.
static bool enter_geneve(struct tb_walk *walk)
{
	uint8_t options;
	uint8_t flags;
	uint16_t type;
	if (!tb_bytes_u8(walk->bytes, UDP_BYTES, &options) ||
		!tb_bytes_u8(walk->bytes, UDP_BYTES + 1, &flags) ||
		!tb_bytes_u16(walk->bytes, UDP_BYTES + 2, &type) || options >> 6 != 0 ||
		(flags & GENEVE_CONTROL) || type < TB_ETHER_TYPE_LEAST)
		return false;
	return enter_tunnel(walk, UDP_BYTES + GENEVE_BYTES + (options & 0x3fu) * 4, type);
}

// walk_mirrored treats the frame inside a mirror's headers as the captured one, with its
// own length: a mirror sends copies to an analyser, which is no traffic of the job.
static bool walk_mirrored(struct tb_walk *walk, uint32_t header, bool ip)
{
	tb_walk_on(walk, header);
	begin_anew(walk, walk->wire_bytes, TB_FRAME_DATA);
	walk->walked_bytes = walk->link_bytes = 0;
	walk->guessed = false;
	if (!ip)
		return tb_walk_ethernet(walk);
	tb_walk_as_ethernet(walk, 0);
	return tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV4); // or 6, by its first byte
}

// TZSP: version 1, type 0 or 1 with a packet, the protocol (1: Ethernet), and fields of a
// tag, a length and a value up to tag 1; tags 0 and 1 stand alone.
static bool enter_tzsp(struct tb_walk *walk)
{
	uint32_t head;
	uint32_t at = UDP_BYTES + 4;
	uint8_t tag, n = 0;
	if (!tb_bytes_u32(walk->bytes, UDP_BYTES, &head) || (head | 0x10000) != 0x1010001)
		return false;
	while (tb_bytes_u8(walk->bytes, at, &tag) && tag != 1) {
		if (tag != 0 && !tb_bytes_u8(walk->bytes, at + 1, &n))
			return false;
		at += tag == 0 ? 1 : n + 2u;
	}
	if (!tb_bytes_have(walk->bytes, at + 1, 1))
		return false;
	walk->broken |= !walk_mirrored(walk, at + 1, false);
	return true;
}

// enter_ip enters IP of the version that its first byte has; other bytes are none.
static bool enter_ip(struct tb_walk *walk, uint32_t header)
{
	uint8_t first;
	if (!tb_bytes_u8(walk->bytes, header, &first))
		return false;
	if (first >> 4 == 4)
		return enter_tunnel(walk, header, TB_ETHER_TYPE_IPV4);
	return first >> 4 == 6 && enter_tunnel(walk, header, TB_ETHER_TYPE_IPV6);
}

// GTP-U (3GPP TS 29.281, section 5): flags, type, length, tunnel; four bytes, the last of
// them the type of an extension, if any option is flagged; extensions, which begin with
// their length in words of four bytes and end with the type of the next.
static bool enter_gtp(struct tb_walk *walk)
{
	uint8_t flags, type, next = 0, words;
	uint32_t at = UDP_BYTES + GTP_BYTES;
	if (!tb_bytes_u8(walk->bytes, UDP_BYTES, &flags) ||
		!tb_bytes_u8(walk->bytes, UDP_BYTES + 1, &type) ||
		(flags & GTP_VERSION) != GTP_VERSION_1 || type != GTP_PACKET)
		return false;
	if (flags & GTP_OPTIONS) {
		if (!tb_bytes_u8(walk->bytes, at + 3, &next))
			return false;
		at += 4;
	}
	while ((flags & GTP_EXTENDED) && next != 0) {
		if (!tb_bytes_u8(walk->bytes, at, &words) || words == 0 ||
			!tb_bytes_u8(walk->bytes, at + words * 4u - 1, &next))
			return false;
		at += words * 4u;
	}
	return enter_ip(walk, at);
}

// Teredo (RFC 4380, section 5.1.1): IPv6, after an authentication (lengths of a client's
// name and of a value, both, a nonce, a byte) and the origin's port and address, or not.
static bool enter_teredo(struct tb_walk *walk)
{
	uint32_t at = UDP_BYTES;
	uint16_t kind;
	uint8_t name, value;
	if (tb_bytes_u16(walk->bytes, at, &kind) && kind == TEREDO_AUTHENTICATION &&
		tb_bytes_u8(walk->bytes, at + 2, &name) &&
		tb_bytes_u8(walk->bytes, at + 3, &value))
		at += 4u + name + value + 9;
	if (tb_bytes_u16(walk->bytes, at, &kind) && kind == TEREDO_ORIGIN)
		at += 8;
	return enter_ip(walk, at);
}

// LISP (RFC 9300, section 5): flags and nonce, locator's status; then IP.
static bool enter_lisp(struct tb_walk *walk)
{
	return enter_ip(walk, UDP_BYTES + 8);
}

static bool enter_labels(struct tb_walk *walk)
{
	return enter_tunnel(walk, UDP_BYTES, TB_ETHER_TYPE_MPLS);
}

// note_sflow leaves the samples to the cleaning; the datagram itself is no tunnel.
static bool note_sflow(struct tb_walk *walk)
{
	walk->ends->sflow = tb_bytes_after(walk->bytes, UDP_BYTES);
	return false;
}

static bool walk_udp_tunnel(struct tb_walk *walk, uint32_t ports)
{
	static const struct {
		uint16_t port;
		bool of_either; // also as the source's port
		bool (*enter)(struct tb_walk *walk);
	} rows[] = {
		{4789, false, enter_vxlan},	// RFC 7348
		{8472, false, enter_vxlan},	// Linux's default, older than the RFC
		{4790, false, enter_vxlan_gpe}, // draft-ietf-nvo3-vxlan-gpe
		{6081, false, enter_geneve},	// RFC 8926
		{6635, false, enter_labels},	// RFC 7510
		{2152, true, enter_gtp},
		{3544, true, enter_teredo},
		{4341, false, enter_lisp},
		{37008, false, enter_tzsp},
		{TB_SFLOW_PORT, false, note_sflow},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].port == (ports & 0xffff) ||
			(rows[i].of_either && rows[i].port == ports >> 16))
			return rows[i].enter(walk);
	return false;
}

// gre_bytes returns the length of the GRE header (RFC 2784 and 2890): flags, type, and
// four bytes each for checksum, key and sequence number. Version 1 (RFC 2637) carries PPP
// and may end with an acknowledgement number.
static uint32_t gre_bytes(uint16_t flags)
{
	uint32_t n = 4;
	if (flags & GRE_CHECKSUM)
		n += 4;
	if (flags & GRE_KEY)
		n += 4;
	if (flags & GRE_SEQUENCE)
		n += 4;
	if ((flags & GRE_VERSION) == 1 && (flags & GRE_ACKNOWLEDGEMENT))
		n += 4;
	return n;
}

// ERSPAN (draft-foschiano-erspan-03, section 4): type I has no header; type II has GRE's
// sequence number and 8 bytes; type III has 12, of which the last two hold a bit P, five
// bits of frame type (0: Ethernet, 2: IP), and in the lowest bit whether 8 more follow.
static bool walk_erspan(struct tb_walk *walk, uint32_t gre, uint16_t flags, uint16_t type)
{
	uint16_t last = 0;
	if (type == GRE_ERSPAN)
		return walk_mirrored(walk, gre + (flags & GRE_SEQUENCE ? 8 : 0), false);
	(void)tb_bytes_u16(walk->bytes, gre + 10, &last);
	uint16_t frame_type = last >> 10 & 0x1f;
	return (frame_type == ERSPAN_ETHERNET || frame_type == ERSPAN_IP) &&
	       walk_mirrored(walk, gre + (last & 1 ? 20 : 12), frame_type == ERSPAN_IP);
}

// digest_bytes adds `n` bytes if all of them were captured, otherwise none: capture
// points may have different snap lengths.
static void digest_bytes(struct tb_walk *walk, size_t at, size_t n)
{
	if (!walk->digest || !tb_bytes_have(walk->bytes, at, n))
		return;
	for (size_t i = 0; i < n; i++)
		tb_walk_digest(walk, walk->bytes.data[at + i]);
}

// walk_payload_at ends the decoding of IP: the payload begins `header` bytes from
// here.
static bool walk_payload_at(struct tb_walk *walk, uint32_t header)
{
	tb_walk_on(walk, header);
	if (walk->digest)
		digest_bytes(walk, 0,
			walk->wire_bytes < PAYLOAD_IN_DIGEST ? walk->wire_bytes
							     : PAYLOAD_IN_DIGEST);
	return tb_walk_payload(walk, 0);
}

// walk_rest does so where the header may be cut off: a replay needs only endpoints and
// sizes.
static bool walk_rest(struct tb_walk *walk, uint32_t header)
{
	return walk_payload_at(
		walk, walk->wire_bytes < header ? walk->wire_bytes : header);
}

// If there are no endpoints inside, the tunnel's ends are the endpoints.
static bool walk_gre(struct tb_walk *walk)
{
	uint16_t flags, type;
	bool whole = tb_bytes_u16(walk->bytes, 0, &flags) &&
		     tb_bytes_u16(walk->bytes, 2, &type);
	if (whole && (type == GRE_ERSPAN || type == GRE_ERSPAN_III))
		return walk_erspan(walk, gre_bytes(flags), flags, type);
	if (whole && type >= TB_ETHER_TYPE_LEAST && !(flags & GRE_ROUTING) &&
		enter_tunnel(walk, gre_bytes(flags), type))
		return true;
	return walk_rest(walk, 4);
}

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

static bool walk_tcp(struct tb_walk *walk)
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
		!tb_bytes_u16(walk->bytes, 14, &frame->window))
		return walk_rest(walk, 20);
	uint32_t header = (offset >> 4) * 4u;
	if (header < 20 || header > walk->wire_bytes)
		return false;
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
	walk_payload_at(walk, header); // or the walk is broken
	frame->acknowledgement =
		frame->payload_bytes == 0 &&
		(frame->flags & (TB_TCP_SYN | TB_TCP_FIN | TB_TCP_RST)) == 0;
	if (frame->flags & TB_TCP_SYN)
		read_tcp_options(frame, options);
	return true;
}

static bool walk_udp(struct tb_walk *walk, bool fragment)
{
	struct tb_frame *frame = walk->frame;
	uint16_t length;
	frame->offloadable = true;
	if (!tb_bytes_u32(walk->bytes, 0, &frame->channel) ||
		!tb_bytes_u16(walk->bytes, 4, &length))
		return walk_rest(walk, 8);
	// 0: a jumbogram, or the card was still to fill it in.
	if (length != 0 && length < 8)
		return false;
	if (length != 0 && !fragment)
		tb_walk_limit(walk, length);
	tb_walk_digest(walk, frame->channel);
	if ((frame->channel & 0xffff) == ROCE_PORT && !fragment) {
		tb_walk_on(walk, 8);
		frame->offloadable = false;
		return tb_walk_roce_v2(walk);
	}
	return (!fragment && walk_udp_tunnel(walk, frame->channel)) ||
	       walk_payload_at(walk, 8);
}

// is_neighbour_talk returns whether an ICMPv6 message serves the link itself. Types 130
// to 137 and 143: multicast listeners, routers, neighbours, redirects.
static bool is_neighbour_talk(struct tb_walk *walk)
{
	uint8_t type;
	return tb_bytes_u8(walk->bytes, 0, &type) &&
	       ((type >= 130 && type <= 137) || type == 143);
}

// walk_transport decodes what IP carries. It does not enter a tunnel in a first fragment:
// later fragments lack the inner addresses, and all should have the same endpoints.
static bool walk_transport(struct tb_walk *walk, uint8_t protocol, bool first_fragment)
{
	tb_walk_type(walk, TB_REGISTRY_IP, protocol);
	tb_walk_digest(walk, protocol);
	tb_walk_digest(walk, walk->wire_bytes);
	switch (protocol) {
	case PROTO_TCP:
		return walk_tcp(walk);
	case PROTO_UDP:
		return walk_udp(walk, first_fragment);
	case PROTO_GRE:
		return first_fragment ? walk_rest(walk, 4) : walk_gre(walk);
	case PROTO_ICMPV6:
		if (is_neighbour_talk(walk) && walk->frame->kind == TB_FRAME_DATA) {
			bool whole = walk_rest(walk, 8);
			tb_walk_type(walk, TB_REGISTRY_IP, PROTO_ICMPV6);
			return tb_walk_control(walk) && whole;
		}
		return walk_rest(walk, 8);
	case PROTO_ICMP:
		return walk_rest(walk, 8);
	default:
		return (!first_fragment && walk_ip_tunnel(walk, protocol)) ||
		       walk_payload_at(walk, 0);
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

static bool walk_ipv4(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint8_t version_ihl, service, protocol;
	uint16_t total, identification, fragment;
	if (!tb_address_ipv4_at(walk->bytes, 12, &walk->ends->source) ||
		!tb_address_ipv4_at(walk->bytes, 16, &walk->ends->destination) ||
		!tb_bytes_u8(walk->bytes, 0, &version_ihl) ||
		!tb_bytes_u8(walk->bytes, 1, &service) ||
		!tb_bytes_u16(walk->bytes, 2, &total) ||
		!tb_bytes_u16(walk->bytes, 4, &identification) ||
		!tb_bytes_u16(walk->bytes, 6, &fragment) ||
		!tb_bytes_u8(walk->bytes, 9, &protocol))
		return false;
	uint32_t header = (version_ihl & 15) * 4u;
	// A total length of 0 means more than 64 KB, captured before the card cut it.
	if (header < 20 || (total != 0 && total < header) ||
		(total == 0 && walk->wire_bytes > OFFLOADED_MAX) ||
		(total > walk->wire_bytes && walk->guessed &&
			!is_whole_ipv4(walk->bytes, header)))
		return false;
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
	// Only the first fragment has a transport header.
	return fragment & 0x1fff ? walk_payload_at(walk, 0)
				 : walk_transport(walk, protocol, fragment & 0x2000);
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
		uint8_t after, length;
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

static bool walk_ipv6(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint16_t payload, service;
	uint8_t next;
	if (!tb_address_wide_at(walk->bytes, 8, TB_ADDRESS_IPV6, &walk->ends->source) ||
		!tb_address_wide_at(
			walk->bytes, 24, TB_ADDRESS_IPV6, &walk->ends->destination) ||
		!tb_bytes_u16(walk->bytes, 0, &service) ||
		!tb_bytes_u16(walk->bytes, 4, &payload) ||
		!tb_bytes_u8(walk->bytes, 6, &next) ||
		(walk->guessed && payload + 40u > walk->wire_bytes))
		return false;
	// A payload length of 0 is a jumbogram (RFC 2675): the frame's own length counts.
	if (payload == 0 && walk->wire_bytes > OFFLOADED_MAX)
		return false;
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
	return walk_extensions(walk, &next, &first_fragment)
		       ? walk_transport(walk, next, first_fragment)
		       : walk_payload_at(walk, 0);
}

bool tb_walk_ip(struct tb_walk *walk)
{
	uint8_t version;
	if (!tb_bytes_u8(walk->bytes, 0, &version))
		return false;
	return version >> 4 == 4 ? walk_ipv4(walk) : version >> 4 == 6 && walk_ipv6(walk);
}
