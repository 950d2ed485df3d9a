// Link types, by their numbers in libpcap. Each is described at tcpdump.org/linktypes.
#include "frame_walk.h"

#include <pcap/pcap.h>

#define ERF_HEADER	    16
#define ERF_ETH		    2
#define ERF_COLOR_ETH	    11
#define ERF_DSM_COLOR_ETH   16
#define ERF_COLOR_HASH_ETH  20
#define ERF_INFINIBAND	    21
#define ERF_IPV4	    22
#define ERF_IPV6	    23
#define ERF_INFINIBAND_LINK 25
#define FCS_BYTES	    4

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
	tb_walk_as_ethernet(walk, 16);
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
	tb_walk_as_ethernet(walk, 20);
	tb_walk_ether_type(walk, protocol);
}

// The loopback header is an address family in the byte order of the host or, for
// OpenBSD's, of the network; the families' numbers differ by system. IP's version says it
// better.
static void walk_loopback(struct tb_walk *walk)
{
	tb_walk_as_ethernet(walk, 4);
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
	tb_walk_type(walk, TB_REGISTRY_ERF, type);
	bool ethernet = type == ERF_ETH || type == ERF_COLOR_ETH ||
			type == ERF_DSM_COLOR_ETH || type == ERF_COLOR_HASH_ETH;
	if (ethernet)
		header += 2; // offset and padding
	if (!whole || !tb_bytes_have(walk->bytes, header, 1)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	walk->bytes = tb_bytes_after(walk->bytes, header);
	if (ethernet && wire_bytes > 14 + FCS_BYTES)
		wire_bytes = (uint16_t)(wire_bytes - FCS_BYTES); // ERF counts it
	tb_walk_limit(walk, wire_bytes);
	walk->wire_bytes = walk->frame->wire_bytes = wire_bytes;
	if (ethernet) {
		tb_walk_ethernet(walk);
	} else if (type == ERF_INFINIBAND || type == ERF_INFINIBAND_LINK) {
		tb_walk_infiniband(walk);
	} else if (type == ERF_IPV4 || type == ERF_IPV6) {
		tb_walk_as_ethernet(walk, 0);
		tb_walk_ip(walk);
	} else {
		walk->frame->kind = TB_FRAME_UNDECODABLE; // ATM, HDLC, status records
	}
}

static void walk_raw(struct tb_walk *walk)
{
	tb_walk_as_ethernet(walk, 0);
	tb_walk_ip(walk);
}

static const struct link {
	int type;
	void (*walk)(struct tb_walk *walk);
} links[] = {
	{DLT_EN10MB, tb_walk_ethernet},
	{DLT_LINUX_SLL, walk_cooked_v1},
	{DLT_LINUX_SLL2, walk_cooked_v2},
	{DLT_RAW, walk_raw},
	{DLT_IPV4, walk_raw},
	{DLT_IPV6, walk_raw},
	{DLT_NULL, walk_loopback},
	{DLT_LOOP, walk_loopback},
	{DLT_INFINIBAND, tb_walk_infiniband},
	{DLT_ERF, walk_erf},
};

static const struct link *link_of(int link_type)
{
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (links[i].type == link_type)
			return &links[i];
	return NULL;
}

bool tb_frame_reads_link_type(int link_type)
{
	return link_of(link_type) != NULL;
}

void tb_walk_link(struct tb_walk *walk, int link_type)
{
	const struct link *link = link_of(link_type);
	tb_walk_type(walk, TB_REGISTRY_LINK, (uint16_t)link_type);
	if (link)
		link->walk(walk);
	else
		walk->frame->kind = TB_FRAME_UNDECODABLE;
}
