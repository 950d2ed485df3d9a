// Link types, by libpcap's numbers. tcpdump.org/linktypes describes each.
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

#define NFLOG_HEADER	 4
#define NFLOG_PACKET	 1 // attribute with the packet's protocol
#define NFLOG_PAYLOAD	 9
#define NFLOG_TYPES	 0x3fff // the bits above are netlink's flags
#define IPOIB_HEADER	 44
#define PPI_HEADER	 8
#define PPI_WLAN	 2 // field with flags of 802.11, after eight bytes of time
#define PPI_WLAN_FCS	 0x1
#define PPI_WLAN_BAD_FCS 0x4

// cooked_kind sets the kind by the cooked header's packet type: 0 to this host, 1
// broadcast, 2 multicast, 3 to other hosts, 4 from this host.
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
	// The header has no interface, and a direction alone does not identify a point.
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

// The loopback header is an address family, in the host's byte order or (OpenBSD) the
// network's. The numbers of families differ between systems, so look at IP's version
// instead.
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
	// Bit 7 of the type, and of each 8-byte extension, is set if another one follows.
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
		wire_bytes = (uint16_t)(wire_bytes - FCS_BYTES); // ERF includes it
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

// PPPoE without the Ethernet header before it.
static void walk_pppoe(struct tb_walk *walk)
{
	tb_walk_as_ethernet(walk, 0);
	tb_walk_pppoe(walk);
}

// nflog_attribute reads the length of an attribute, which includes its four-byte header,
// and the type. Both have the byte order of the capturing machine, which pcapng does not
// convert. Types are below 256, so the zero byte of a type is the high one.
static bool nflog_attribute(
	struct tb_bytes bytes, size_t at, uint16_t *length, uint16_t *type)
{
	uint8_t first;
	if (!tb_bytes_u8(bytes, at + 2, &first))
		return false;
	bool little_endian = first != 0;
	if (!tb_bytes_u16_as(bytes, at, little_endian, length) ||
		!tb_bytes_u16_as(bytes, at + 2, little_endian, type))
		return false;
	*type &= NFLOG_TYPES;
	return *length >= 4;
}

// NFLOG has a header (family, version 0, resource) and attributes, padded to four bytes.
// One of them holds the packet from its network header on.
static void walk_nflog(struct tb_walk *walk)
{
	uint8_t version;
	uint16_t length;
	uint16_t attribute;
	uint16_t protocol = 0;
	uint32_t at = NFLOG_HEADER;
	bool known = tb_bytes_u8(walk->bytes, 1, &version) && version == 0;
	for (; known && nflog_attribute(walk->bytes, at, &length, &attribute);
		at += (length + 3u) & ~3u) {
		if (attribute == NFLOG_PACKET)
			(void)tb_bytes_u16(walk->bytes, at + 4, &protocol);
		if (attribute != NFLOG_PAYLOAD)
			continue;
		tb_walk_limit(walk, at + length);
		tb_walk_as_ethernet(walk, at + 4);
		if (protocol != 0)
			tb_walk_ether_type(walk, protocol);
		else
			tb_walk_ip(walk);
		return;
	}
	walk->frame->kind = TB_FRAME_UNDECODABLE;
}

// IP over InfiniBand: 40 bytes instead of the global route header, the last 20 of them a
// link_decoder address; then an EtherType and two reserved bytes (RFC 4391, section 6).
static void walk_ipoib(struct tb_walk *walk)
{
	uint16_t type;
	if (!tb_bytes_u16(walk->bytes, IPOIB_HEADER - 4, &type)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	tb_walk_as_ethernet(walk, IPOIB_HEADER);
	tb_walk_ether_type(walk, type);
}

// Linux's DSA: tags for a switch chip and its processor, between the MACs and the
// EtherType, or before the frame.
static void walk_dsa(struct tb_walk *walk)
{
	tb_walk_ethernet_tagged(walk, 4);
}

static void walk_edsa(struct tb_walk *walk)
{
	tb_walk_ethernet_tagged(walk, 8); // an EtherType, two zero bytes, the tag
}

static void walk_dsa_prepended(struct tb_walk *walk)
{
	tb_walk_on(walk, 4);
	tb_walk_ethernet(walk);
}

static struct tb_wlan_flags ppi_wlan_flags(struct tb_bytes header)
{
	uint16_t field;
	uint16_t length;
	uint16_t flags;
	for (size_t at = PPI_HEADER; tb_bytes_u16_as(header, at, true, &field) &&
				     tb_bytes_u16_as(header, at + 2, true, &length);
		at += 4u + length)
		if (field == PPI_WLAN && tb_bytes_u16_as(header, at + 12, true, &flags))
			return (struct tb_wlan_flags){.has_fcs = flags & PPI_WLAN_FCS,
				.bad_fcs = flags & PPI_WLAN_BAD_FCS};
	return (struct tb_wlan_flags){0};
}

// PPI, little-endian: version, flags, length of header and fields, link type of the rest.
static void walk_ppi(struct tb_walk *walk)
{
	uint16_t length;
	uint32_t link_type;
	if (!tb_bytes_u16_as(walk->bytes, 2, true, &length) ||
		!tb_bytes_u32_as(walk->bytes, 4, true, &link_type) ||
		length < PPI_HEADER || link_type == DLT_PPI || link_type == DLT_PKTAP ||
		link_type > UINT16_MAX) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	struct tb_bytes header = walk->bytes;
	if (header.n > length)
		header.n = length;
	tb_walk_drop(walk, length);
	if (link_type == DLT_IEEE802_11)
		tb_walk_wlan(walk, ppi_wlan_flags(header));
	else
		tb_walk_link(walk, (int)link_type);
}

// PKTAP of macOS, little-endian: the header's length, the type of record (1: a packet),
// the link type of the rest.
static void walk_pktap(struct tb_walk *walk)
{
	uint32_t length, type, link_type;
	if (!tb_bytes_u32_as(walk->bytes, 0, true, &length) ||
		!tb_bytes_u32_as(walk->bytes, 4, true, &type) ||
		!tb_bytes_u32_as(walk->bytes, 8, true, &link_type) || length < 12 ||
		type != 1 || link_type == DLT_PKTAP || link_type == DLT_PPI ||
		link_type > UINT16_MAX) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	tb_walk_drop(walk, length);
	tb_walk_link(walk, (int)link_type);
}

// Ethernet as Juniper's routers capture it: a magic number, flags (0x80: the length of
// extensions and they follow; 0x02: no link header), the frame.
static void walk_juniper(struct tb_walk *walk)
{
	uint32_t magic;
	uint8_t flags = 0;
	uint16_t extensions;
	uint32_t n = 4;
	if (!tb_bytes_u24(walk->bytes, 0, &magic) || magic != 0x4d4743 ||
		!tb_bytes_u8(walk->bytes, 3, &flags) || (flags & 0x02)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if ((flags & 0x80) && tb_bytes_u16(walk->bytes, 4, &extensions))
		n += 2u + extensions;
	tb_walk_drop(walk, n);
	tb_walk_ethernet(walk);
}

static void walk_wlan(struct tb_walk *walk)
{
	tb_walk_wlan(walk, (struct tb_wlan_flags){0});
}

// Link types "with direction" have a byte for it before the frame.
static void walk_ppp_directed(struct tb_walk *walk)
{
	tb_walk_drop(walk, 1);
	tb_walk_ppp_link(walk);
}

static void walk_hdlc_directed(struct tb_walk *walk)
{
	tb_walk_drop(walk, 1);
	tb_walk_hdlc(walk);
}

static void walk_frame_relay_directed(struct tb_walk *walk)
{
	tb_walk_drop(walk, 1);
	tb_walk_frame_relay(walk);
}

static const struct link_decoder {
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
	{DLT_IEEE802_11, walk_wlan},
	{DLT_IEEE802_11_RADIO, tb_walk_radiotap},
	{DLT_PPI, walk_ppi},
	{DLT_PPP, tb_walk_ppp_link},
	{DLT_PPP_SERIAL, tb_walk_ppp_link},
	{DLT_PPP_ETHER, walk_pppoe},
	{DLT_PPP_PPPD, tb_walk_ppp_link},
	{DLT_PPP_WITH_DIR, walk_ppp_directed},
	{DLT_C_HDLC, tb_walk_hdlc},
	{DLT_C_HDLC_WITH_DIR, walk_hdlc_directed},
	{DLT_FRELAY, tb_walk_frame_relay},
	{DLT_FRELAY_WITH_DIR, walk_frame_relay_directed},
	{DLT_SLIP, tb_walk_slip},
	{DLT_SUNATM, tb_walk_sunatm},
	{DLT_NFLOG, walk_nflog},
	{DLT_IPOIB, walk_ipoib},
	{DLT_DSA_TAG_BRCM, walk_dsa},
	{DLT_DSA_TAG_DSA, walk_dsa},
	{DLT_DSA_TAG_EDSA, walk_edsa},
	{DLT_DSA_TAG_BRCM_PREPEND, walk_dsa_prepended},
	{DLT_PKTAP, walk_pktap},
	{DLT_JUNIPER_ETHER, walk_juniper},
};

static const struct link_decoder *find_link_decoder(int link_type)
{
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (links[i].type == link_type)
			return &links[i];
	return NULL;
}

bool tb_frame_reads_link_type(int link_type)
{
	return find_link_decoder(link_type) != NULL;
}

void tb_walk_link(struct tb_walk *walk, int link_type)
{
	const struct link_decoder *link = find_link_decoder(link_type);
	tb_walk_type(walk, TB_REGISTRY_LINK, (uint16_t)link_type);
	if (link)
		link->walk(walk);
	else
		walk->frame->kind = TB_FRAME_UNDECODABLE;
}

bool tb_frame_has_point(int link_type)
{
	return link_type != DLT_LINUX_SLL;
}

void tb_frame_decode(struct tb_frame *frame, struct tb_frame_ends *ends, int link_type,
	struct tb_bytes bytes, uint32_t wire_bytes, bool digest)
{
	ends->source.kind = ends->destination.kind = TB_ADDRESS_NONE;
	ends->sflow.n = 0;
	ends->pause.classes = 0;
	*frame = (struct tb_frame){.wire_bytes = wire_bytes};
	struct tb_walk walk = {.frame = frame,
		.ends = ends,
		.bytes = bytes,
		.wire_bytes = wire_bytes,
		.digest = digest};
	tb_walk_link(&walk, link_type);
	if (walk.broken)
		frame->kind = TB_FRAME_UNDECODABLE;
}
