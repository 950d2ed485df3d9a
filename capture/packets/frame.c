#include "frame.h"

#include "frame_walk.h"

#include <pcap/pcap.h>

#define ETHERNET_BYTES 14

#define TYPE_IPV4      0x0800
#define TYPE_ARP       0x0806
#define TYPE_RARP      0x8035
#define TYPE_VLAN      0x8100
#define TYPE_IPV6      0x86dd
#define TYPE_PAUSE     0x8808 // and PFC
#define TYPE_SLOW      0x8809 // LACP
#define TYPE_PPPOED    0x8863
#define TYPE_EAPOL     0x888e
#define TYPE_QINQ      0x88a8
#define TYPE_LLDP      0x88cc
#define TYPE_PTP       0x88f7
#define TYPE_CFM       0x8902
#define TYPE_FIP       0x8914
#define TYPE_LOOP      0x9000
#define TYPE_QINQ_9100 0x9100
#define TYPE_MIN       0x0600 // below it is a length

#define ERF_HEADER	    16
#define ERF_ETH		    2
#define ERF_COLOR_ETH	    11
#define ERF_DSM_COLOR_ETH   16
#define ERF_COLOR_HASH_ETH  20
#define ERF_INFINIBAND	    21
#define ERF_IPV4	    22
#define ERF_IPV6	    23
#define ERF_INFINIBAND_LINK 25

static bool is_control(uint16_t type)
{
	switch (type) {
	case TYPE_ARP:
	case TYPE_RARP:
	case TYPE_PAUSE:
	case TYPE_SLOW:
	case TYPE_PPPOED:
	case TYPE_EAPOL:
	case TYPE_LLDP:
	case TYPE_PTP:
	case TYPE_CFM:
	case TYPE_FIP:
	case TYPE_LOOP:
		return true;
	default:
		return type < TYPE_MIN; // LLC: spanning tree, IS-IS, CDP
	}
}

// between_macs takes a frame of a protocol that is not looked into: its MACs are its
// endpoints. A capture that kept only one of them (cooked) has none.
static void between_macs(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	if (frame->kind != TB_FRAME_DATA)
		return;
	if (walk->ends->source.kind != TB_ADDRESS_MAC ||
		walk->ends->destination.kind != TB_ADDRESS_MAC)
		frame->kind = TB_FRAME_CONTROL;
	walk->link_bytes = walk->walked_bytes;
	tb_walk_payload(walk, 0);
	tb_walk_digest(walk, frame->ether_type);
	tb_walk_digest(walk, walk->ends->source.low);
	tb_walk_digest(walk, walk->ends->destination.low);
	tb_walk_digest(walk, walk->wire_bytes);
	for (size_t at = 0; at < 64; at += 8) {
		uint64_t word = 0;
		(void)tb_bytes_u64(walk->bytes, at, &word);
		tb_walk_digest(walk, word);
	}
}

// skip_tags steps over VLAN tags; false when the frame ends within them.
static bool skip_tags(struct tb_walk *walk, uint16_t *type)
{
	while (*type == TYPE_VLAN || *type == TYPE_QINQ || *type == TYPE_QINQ_9100) {
		if (!tb_bytes_u16(walk->bytes, 2, type))
			return false;
		tb_walk_on(walk, 4);
	}
	return true;
}

void tb_walk_ether_type(struct tb_walk *walk, uint16_t type)
{
	struct tb_frame *frame = walk->frame;
	if (!skip_tags(walk, &type)) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	// 802.2 with SNAP names a type of Ethernet again.
	uint64_t llc;
	if (type < TYPE_MIN && tb_bytes_u64(walk->bytes, 0, &llc) &&
		llc >> 16 == 0xaaaa03000000) {
		type = (uint16_t)llc;
		tb_walk_on(walk, 8);
	}
	frame->ether_type = type < TYPE_MIN ? 0 : type;
	if (type == TYPE_IPV4 || type == TYPE_IPV6)
		tb_walk_ip(walk);
	else if (is_control(type))
		frame->kind = TB_FRAME_CONTROL;
	else if (type == TB_ETHER_TYPE_ROCE)
		tb_walk_roce_v1(walk);
	else
		between_macs(walk);
}

void tb_walk_ethernet(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint16_t type;
	if (!tb_address_mac_at(walk->bytes, 0, &walk->ends->destination) ||
		!tb_address_mac_at(walk->bytes, 6, &walk->ends->source) ||
		!tb_bytes_u16(walk->bytes, 12, &type)) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if (walk->ends->destination.low == 0xffffffffffff)
		frame->kind = TB_FRAME_BROADCAST;
	else if (walk->ends->destination.low >> 40 & 1)
		frame->kind = TB_FRAME_MULTICAST;
	tb_walk_on(walk, ETHERNET_BYTES);
	tb_walk_ether_type(walk, type);
}

// as_ethernet makes up for a link header that the capture replaced or left out: sizes are
// those of an Ethernet frame, so that one run has the same bytes wherever it was seen.
static void as_ethernet(struct tb_walk *walk, uint32_t header_bytes)
{
	tb_walk_on(walk, header_bytes);
	walk->walked_bytes = ETHERNET_BYTES;
	walk->frame->wire_bytes = walk->wire_bytes > UINT32_MAX - ETHERNET_BYTES
					  ? UINT32_MAX
					  : walk->wire_bytes + ETHERNET_BYTES;
}

// The cooked header's packet type: 0 to us, 1 broadcast, 2 multicast, 3 to others, 4 from
// us.
static void cooked_kind(struct tb_walk *walk, uint32_t type)
{
	if (type == 1)
		walk->frame->kind = TB_FRAME_BROADCAST;
	else if (type == 2)
		walk->frame->kind = TB_FRAME_MULTICAST;
}

static void walk_cooked_v1(struct tb_walk *walk)
{
	uint16_t packet_type;
	uint16_t protocol;
	if (!tb_bytes_u16(walk->bytes, 0, &packet_type) ||
		!tb_bytes_u16(walk->bytes, 14, &protocol)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	// No interface stands here, and a direction alone is no place.
	cooked_kind(walk, packet_type);
	as_ethernet(walk, 16);
	tb_walk_ether_type(walk, protocol);
}

static void walk_cooked_v2(struct tb_walk *walk)
{
	uint16_t protocol;
	uint32_t interface;
	uint8_t packet_type;
	if (!tb_bytes_u16(walk->bytes, 0, &protocol) ||
		!tb_bytes_u32(walk->bytes, 4, &interface) ||
		!tb_bytes_u8(walk->bytes, 10, &packet_type)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	walk->frame->point = (interface << 3 | (packet_type & 7u)) + 1;
	cooked_kind(walk, packet_type);
	as_ethernet(walk, 20);
	tb_walk_ether_type(walk, protocol);
}

// The loopback header is an address family in the byte order of the host or, for
// OpenBSD's, of the network; the families' numbers differ by system. IP's version says it
// better.
static void walk_loopback(struct tb_walk *walk)
{
	as_ethernet(walk, 4);
	tb_walk_ip(walk);
}

static void walk_erf(struct tb_walk *walk)
{
	uint8_t type = 0;
	uint16_t wire_bytes = 0;
	uint32_t header = ERF_HEADER;
	uint8_t more = 0;
	bool whole = tb_bytes_u8(walk->bytes, 8, &type) &&
		     tb_bytes_u16(walk->bytes, 14, &wire_bytes);
	// Bit 7 of the type and of each 8-byte extension says that another one follows.
	for (more = type; whole && (more & 0x80); header += 8)
		whole = tb_bytes_u8(walk->bytes, header, &more);
	type &= 0x7f;
	bool ethernet = type == ERF_ETH || type == ERF_COLOR_ETH ||
			type == ERF_DSM_COLOR_ETH || type == ERF_COLOR_HASH_ETH;
	if (ethernet)
		header += 2; // offset and padding
	if (!whole || !tb_bytes_have(walk->bytes, header, 1)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	walk->bytes = tb_bytes_after(walk->bytes, header);
	if (ethernet && wire_bytes > ETHERNET_BYTES + 4)
		wire_bytes = (uint16_t)(wire_bytes - 4); // ERF counts the FCS
	tb_walk_limit(walk, wire_bytes);
	walk->wire_bytes = walk->frame->wire_bytes = wire_bytes;
	if (ethernet) {
		tb_walk_ethernet(walk);
	} else if (type == ERF_INFINIBAND || type == ERF_INFINIBAND_LINK) {
		tb_walk_infiniband(walk);
	} else if (type == ERF_IPV4 || type == ERF_IPV6) {
		as_ethernet(walk, 0);
		tb_walk_ip(walk);
	} else {
		walk->frame->kind = TB_FRAME_UNDECODABLE; // ATM, HDLC, status records
	}
}

bool tb_frame_reads_link_type(int link_type)
{
	switch (link_type) {
	case DLT_EN10MB:
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
	case DLT_NULL:
	case DLT_LOOP:
	case DLT_INFINIBAND:
	case DLT_ERF:
		return true;
	default:
		return false;
	}
}

bool tb_frame_tells_point(int link_type)
{
	return link_type != DLT_LINUX_SLL;
}

static void walk_link(struct tb_walk *walk, int link_type)
{
	switch (link_type) {
	case DLT_EN10MB:
		tb_walk_ethernet(walk);
		break;
	case DLT_LINUX_SLL:
		walk_cooked_v1(walk);
		break;
	case DLT_LINUX_SLL2:
		walk_cooked_v2(walk);
		break;
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
		as_ethernet(walk, 0);
		tb_walk_ip(walk);
		break;
	case DLT_NULL:
	case DLT_LOOP:
		walk_loopback(walk);
		break;
	case DLT_INFINIBAND:
		tb_walk_infiniband(walk);
		break;
	case DLT_ERF:
		walk_erf(walk);
		break;
	default:
		walk->frame->kind = TB_FRAME_UNDECODABLE;
	}
}

void tb_frame_decode(struct tb_frame *frame, struct tb_frame_ends *ends, int link_type,
	struct tb_bytes bytes, uint32_t wire_bytes, bool digest)
{
	ends->source.kind = ends->destination.kind = TB_ADDRESS_NONE;
	*frame = (struct tb_frame){.wire_bytes = wire_bytes};
	struct tb_walk walk = {.frame = frame,
		.ends = ends,
		.bytes = bytes,
		.wire_bytes = wire_bytes,
		.digest = digest};
	walk_link(&walk, link_type);
	if (walk.broken)
		frame->kind = TB_FRAME_UNDECODABLE;
}
