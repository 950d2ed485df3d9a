// Tunnels: packets within IP packets. The nodes sent the inner packets, so the inner
// addresses are the endpoints; the outer headers count as bytes on the wire.
#include "frame_walk.h"
#include "sflow.h"

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
	tb_walk_ether_type(walk, type);
	if (!walk->broken && frame->kind != TB_FRAME_UNDECODABLE &&
		walk->ends->source.kind != TB_ADDRESS_NONE)
		return true;
	tb_walk_return(walk, &outside);
	return false;
}

bool tb_walk_ip_tunnel(struct tb_walk *walk, uint8_t protocol)
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
static void walk_mirrored(struct tb_walk *walk, uint32_t header, bool ip)
{
	tb_walk_on(walk, header);
	begin_anew(walk, walk->wire_bytes, TB_FRAME_DATA);
	walk->walked_bytes = walk->link_bytes = 0;
	walk->guessed = false;
	if (ip) {
		tb_walk_as_ethernet(walk, 0);
		tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV4); // or 6, by its first byte
	} else {
		tb_walk_ethernet(walk);
	}
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
	walk_mirrored(walk, at + 1, false);
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

bool tb_walk_udp_tunnel(struct tb_walk *walk, uint32_t ports)
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
static void walk_erspan(struct tb_walk *walk, uint32_t gre, uint16_t flags, uint16_t type)
{
	uint16_t last = 0;
	if (type == GRE_ERSPAN) {
		walk_mirrored(walk, gre + (flags & GRE_SEQUENCE ? 8 : 0), false);
		return;
	}
	(void)tb_bytes_u16(walk->bytes, gre + 10, &last);
	uint16_t frame_type = last >> 10 & 0x1f;
	if (frame_type != ERSPAN_ETHERNET && frame_type != ERSPAN_IP)
		walk->frame->kind = TB_FRAME_UNDECODABLE;
	else
		walk_mirrored(walk, gre + (last & 1 ? 20 : 12), frame_type == ERSPAN_IP);
}

void tb_walk_gre(struct tb_walk *walk)
{
	uint16_t flags;
	uint16_t type;
	bool whole = tb_bytes_u16(walk->bytes, 0, &flags) &&
		     tb_bytes_u16(walk->bytes, 2, &type);
	if (whole && (type == GRE_ERSPAN || type == GRE_ERSPAN_III)) {
		walk_erspan(walk, gre_bytes(flags), flags, type);
		return;
	}
	if (whole && type >= TB_ETHER_TYPE_LEAST && !(flags & GRE_ROUTING) &&
		enter_tunnel(walk, gre_bytes(flags), type))
		return;
	tb_walk_payload_at(walk, walk->wire_bytes < 4 ? walk->wire_bytes : 4);
}
