// Tunnels: packets within IP packets. The nodes sent the inner packets, so the inner
// addresses are the endpoints; the outer headers count as bytes on the wire.
#include "frame_walk.h"

#define PROTO_IPV4 4   // RFC 2003
#define PROTO_IPV6 41  // RFC 4213
#define PROTO_MPLS 137 // RFC 4023

#define UDP_BYTES	 8
#define PORT_VXLAN	 4789 // RFC 7348
#define PORT_VXLAN_LINUX 8472 // Linux's default, older than the RFC
#define PORT_VXLAN_GPE	 4790 // draft-ietf-nvo3-vxlan-gpe
#define PORT_GENEVE	 6081 // RFC 8926
#define PORT_MPLS	 6635 // RFC 7510

#define VXLAN_BYTES    8
#define VXLAN_INSTANCE 0x08 // the network identifier is valid; always set
#define VXLAN_GPE_NEXT 0x04 // the inner protocol is given; otherwise it is Ethernet
#define VXLAN_GPE_VER  0x30
#define GENEVE_BYTES   8
#define GENEVE_CONTROL 0x80

#define GRE_CHECKSUM	    0x8000
#define GRE_ROUTING	    0x4000 // only in RFC 1701
#define GRE_KEY		    0x2000
#define GRE_SEQUENCE	    0x1000
#define GRE_ACKNOWLEDGEMENT 0x0080 // only in version 1
#define GRE_VERSION	    0x0007
#define GRE_ERSPAN	    0x88be // types I and II
#define GRE_ERSPAN_III	    0x22eb

// begin_anew forgets what the outer headers gave, except for the type that led here.
static void begin_anew(struct tb_walk *walk, uint32_t wire_bytes, enum tb_frame_kind kind)
{
	struct tb_frame *frame = walk->frame;
	*frame = (struct tb_frame){.wire_bytes = wire_bytes,
		.point = frame->point,
		.kind = (uint8_t)kind,
		.type = frame->type,
		.registry = frame->registry};
	walk->ends->source.kind = walk->ends->destination.kind = TB_ADDRESS_NONE;
}

// enter decodes the packet that begins `header` bytes from here. It begins anew, so that
// a packet has the same digest inside and outside the tunnel, and counts once if both
// were captured. If it finds no endpoints, because the capture is cut off or a well-known
// port carries something else, it returns false and goes back to the header.
static bool enter(struct tb_walk *walk, uint32_t header, uint16_t type)
{
	const struct tb_walk_place outside = tb_walk_here(walk);
	struct tb_frame *frame = walk->frame;
	tb_walk_on(walk, header);
	begin_anew(walk, frame->wire_bytes, frame->kind);
	tb_walk_ether_type(walk, type);
	if (!walk->broken && frame->kind != TB_FRAME_UNDECODABLE &&
		walk->ends->source.kind != TB_ADDRESS_NONE)
		return true;
	tb_walk_return(walk, &outside);
	return false;
}

bool tb_walk_ip_tunnel(struct tb_walk *walk, uint8_t protocol)
{
	switch (protocol) {
	case PROTO_IPV4:
		return enter(walk, 0, TB_ETHER_TYPE_IPV4);
	case PROTO_IPV6:
		return enter(walk, 0, TB_ETHER_TYPE_IPV6);
	case PROTO_MPLS:
		return enter(walk, 0, TB_ETHER_TYPE_MPLS);
	default:
		return false;
	}
}

static bool enter_vxlan(struct tb_walk *walk)
{
	uint8_t flags;
	return tb_bytes_u8(walk->bytes, UDP_BYTES, &flags) && (flags & VXLAN_INSTANCE) &&
	       enter(walk, UDP_BYTES + VXLAN_BYTES, TB_ETHER_TYPE_TEB);
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
	return enter(walk, UDP_BYTES + VXLAN_BYTES, type);
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
	return enter(walk, UDP_BYTES + GENEVE_BYTES + (options & 0x3fu) * 4, type);
}

bool tb_walk_udp_tunnel(struct tb_walk *walk, uint16_t port)
{
	switch (port) {
	case PORT_VXLAN:
	case PORT_VXLAN_LINUX:
		return enter_vxlan(walk);
	case PORT_VXLAN_GPE:
		return enter_vxlan_gpe(walk);
	case PORT_GENEVE:
		return enter_geneve(walk);
	case PORT_MPLS:
		return enter(walk, UDP_BYTES, TB_ETHER_TYPE_MPLS);
	default:
		return false;
	}
}

// walk_mirrored treats the frame inside ERSPAN as the captured one, with its own length:
// a mirror sends copies to an analyser, which is no traffic of the job.
static void walk_mirrored(struct tb_walk *walk, uint32_t header)
{
	tb_walk_on(walk, header);
	begin_anew(walk, walk->wire_bytes, TB_FRAME_DATA);
	walk->walked_bytes = 0;
	walk->mirrored = true;
	tb_walk_ethernet(walk);
}

// erspan_bytes returns the length of the ERSPAN header (draft-foschiano-erspan): none in
// type I, 8 bytes in type II, which has GRE's sequence number; 12 in type III and, if
// flagged, 8 more.
static uint32_t erspan_bytes(
	const struct tb_walk *walk, uint32_t gre, uint16_t flags, uint16_t type)
{
	uint8_t last = 0;
	if (type == GRE_ERSPAN)
		return flags & GRE_SEQUENCE ? 8 : 0;
	(void)tb_bytes_u8(walk->bytes, gre + 11, &last);
	return last & 1 ? 20 : 12;
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

void tb_walk_gre(struct tb_walk *walk)
{
	uint16_t flags;
	uint16_t type;
	bool whole = tb_bytes_u16(walk->bytes, 0, &flags) &&
		     tb_bytes_u16(walk->bytes, 2, &type);
	if (whole && (type == GRE_ERSPAN || type == GRE_ERSPAN_III) && !walk->mirrored) {
		uint32_t header = gre_bytes(flags);
		walk_mirrored(walk, header + erspan_bytes(walk, header, flags, type));
		return;
	}
	if (whole && type >= TB_ETHER_TYPE_LEAST && !(flags & GRE_ROUTING) &&
		enter(walk, gre_bytes(flags), type))
		return;
	tb_walk_payload_at(walk, walk->wire_bytes < 4 ? walk->wire_bytes : 4);
}
