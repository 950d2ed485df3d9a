#include "frame_walk.h"
#include "order.h"

#include <pcap/pcap.h>

struct wlan_flags {
	bool has_fcs; // the frame ends with its FCS
	bool bad_fcs; // the card found the FCS wrong
	bool padded;  // the header is padded to a multiple of four bytes
};

static bool walk_link(struct tb_walk *walk, int link_type);

// Point-to-point links, which have no addresses: PPP (RFC 1661, 1662), Cisco HDLC (RFC
// 1547, section 4.3.1), frame relay (RFC 2427), SLIP, SunATM.

#define PPP_FRAMING  2 // address and control
#define PPP_ADDRESS  0xff
#define PPP_CONTROL  0x03
#define PPP_IPV4     0x0021
#define PPP_IPV6     0x0057
#define PPP_MPLS     0x0281
#define PPP_MPLS_2   0x0283
#define PPP_NETWORKS 0x8000 // from here on: protocols that set up networks and the link

#define HDLC_UNICAST   0x0f
#define HDLC_BROADCAST 0x8f
#define HDLC_BYTES     4

#define UNNUMBERED_INFORMATION 0x03
#define NLPID_Q933	       0x08
#define NLPID_LMI	       0x09
#define NLPID_SNAP	       0x80
#define NLPID_CLNP	       0x81
#define NLPID_IS_IS	       0x83
#define NLPID_IPV6	       0x8e
#define NLPID_IPV4	       0xcc
#define NLPID_PPP	       0xcf

#define SUNATM_BYTES   4
#define SUNATM_RAW     0
#define SUNATM_LANE    1
#define SUNATM_LLC     2
#define LANE_BYTES     2
#define LANE_CONTROL   0xff00
#define ATM_BRIDGE_PAD 2 // RFC 2684, section 5.2

// ppp_header measures address and control, which may be missing, and the protocol, which
// may be a single odd byte (RFC 1661, section 6.5). libpcap's DLT_PPP_PPPD has the
// direction, 0 or 1, instead of the address.
static bool ppp_header(struct tb_bytes bytes, uint32_t *n, uint16_t *protocol)
{
	uint8_t address, control, first;
	if (!tb_bytes_u8(bytes, 0, &address) || !tb_bytes_u8(bytes, 1, &control))
		return false;
	bool framed = control == PPP_CONTROL && (address == PPP_ADDRESS || address <= 1);
	uint32_t at = framed ? PPP_FRAMING : 0;
	if (!tb_bytes_u8(bytes, at, &first))
		return false;
	*n = at + (first & 1 ? 1 : 2);
	*protocol = first;
	return (first & 1) || tb_bytes_u16(bytes, at, protocol);
}

static bool walk_ppp_protocol(struct tb_walk *walk, uint16_t protocol)
{
	tb_walk_type(walk, TB_REGISTRY_PPP, protocol);
	switch (protocol) {
	case PPP_IPV4:
		return tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV4);
	case PPP_IPV6:
		return tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV6);
	case PPP_MPLS:
	case PPP_MPLS_2:
		return tb_walk_ether_type(walk, TB_ETHER_TYPE_MPLS);
	default:
		return protocol >= PPP_NETWORKS ? tb_walk_control(walk)
						: tb_walk_between_macs(walk);
	}
}

bool tb_walk_ppp(struct tb_walk *walk)
{
	uint32_t n;
	uint16_t protocol;
	if (!ppp_header(walk->bytes, &n, &protocol))
		return false;
	tb_walk_on(walk, n);
	return walk_ppp_protocol(walk, protocol);
}

// Cisco HDLC: address, a zero byte, EtherType.
static bool walk_hdlc(struct tb_walk *walk)
{
	uint8_t address;
	uint16_t type;
	if (!tb_bytes_u8(walk->bytes, 0, &address) ||
		!tb_bytes_u16(walk->bytes, 2, &type))
		return false;
	if (address == HDLC_BROADCAST)
		walk->frame->kind = TB_FRAME_BROADCAST;
	tb_walk_as_ethernet(walk, HDLC_BYTES);
	return tb_walk_ether_type(walk, type);
}

static bool walk_ppp_link(struct tb_walk *walk)
{
	uint32_t n;
	uint16_t protocol;
	uint8_t address = 0;
	(void)tb_bytes_u8(walk->bytes, 0, &address);
	// DLT_PPP_SERIAL may also be Cisco HDLC, which begins with 0x0f or 0x8f. PPP has
	// no such protocols.
	if (address == HDLC_UNICAST || address == HDLC_BROADCAST)
		return walk_hdlc(walk);
	if (!ppp_header(walk->bytes, &n, &protocol))
		return false;
	tb_walk_as_ethernet(walk, n);
	return walk_ppp_protocol(walk, protocol);
}

// address_bytes measures Q.922's address: two to four bytes, only the last of them odd.
static bool address_bytes(struct tb_bytes bytes, uint32_t *n)
{
	uint8_t byte;
	if (!tb_bytes_u8(bytes, 0, &byte) || (byte & 1))
		return false;
	for (*n = 2; tb_bytes_u8(bytes, *n - 1, &byte) && *n <= 4; ++*n)
		if (byte & 1)
			return true;
	return false;
}

// Frame relay (RFC 2427, section 3): address, control, a pad byte that may be missing,
// NLPID. Cisco's own encapsulation has an EtherType after the address.
static bool walk_frame_relay(struct tb_walk *walk)
{
	uint32_t n;
	uint8_t control, nlpid;
	if (!address_bytes(walk->bytes, &n) || !tb_bytes_u8(walk->bytes, n, &control) ||
		!tb_bytes_u8(walk->bytes, n + 1, &nlpid))
		return false;
	if (control != UNNUMBERED_INFORMATION) {
		tb_walk_as_ethernet(walk, n + 2);
		return tb_walk_ether_type(walk, (uint16_t)(control << 8 | nlpid));
	}
	n += nlpid == 0 ? 2 : 1;
	if (!tb_bytes_u8(walk->bytes, n, &nlpid))
		return false;
	tb_walk_as_ethernet(walk, n + 1);
	tb_walk_type(walk, TB_REGISTRY_NLPID, nlpid);
	switch (nlpid) {
	case NLPID_IPV4:
		return tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV4);
	case NLPID_IPV6:
		return tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV6);
	case NLPID_SNAP:
		return tb_walk_snap(walk, true, 0);
	case NLPID_PPP: // RFC 1973
		return tb_walk_ppp(walk);
	default:
		return (nlpid == NLPID_Q933 || nlpid == NLPID_LMI ||
			       (nlpid >= NLPID_CLNP && nlpid <= NLPID_IS_IS)) &&
		       tb_walk_control(walk);
	}
}

// SunATM: direction and kind of traffic, path, channel (two bytes). Raw traffic is IP if
// the channel carries nothing else (RFC 2684, section 6.1).
static bool walk_sunatm(struct tb_walk *walk)
{
	uint8_t kind;
	if (!tb_bytes_u8(walk->bytes, 0, &kind))
		return false;
	kind &= 0x0f;
	tb_walk_type(walk, TB_REGISTRY_SUNATM, kind);
	tb_walk_as_ethernet(walk, SUNATM_BYTES);
	if (kind == SUNATM_RAW)
		return tb_walk_ip(walk);
	if (kind == SUNATM_LLC)
		return tb_walk_llc(walk, true, ATM_BRIDGE_PAD);
	if (kind != SUNATM_LANE)
		return tb_walk_control(walk);
	// LAN emulation (ATM Forum af-lane-0021): the sender's identifier, or a mark for
	// control frames, then Ethernet.
	uint16_t client;
	if (!tb_bytes_u16(walk->bytes, 0, &client))
		return false;
	if (client == LANE_CONTROL)
		return tb_walk_control(walk);
	tb_walk_drop(walk, LANE_BYTES);
	return tb_walk_ethernet(walk);
}

// IEEE 802.11 (section 9, frame formats), with or without radiotap (radiotap.org) before
// it.

#define RADIOTAP_HEADER	 8
#define RADIOTAP_MORE	 0x80000000u // another presence word follows
#define RADIOTAP_TIME	 0x1	     // eight bytes, aligned, before the flags
#define RADIOTAP_FLAGS	 0x2
#define RADIOTAP_FCS	 0x10
#define RADIOTAP_PADDED	 0x20
#define RADIOTAP_BAD_FCS 0x40

#define TYPE_DATA    2
#define SUBTYPE_QOS  8
#define SUBTYPE_NONE 4 // no data
#define TO_DS	     0x01
#define FROM_DS	     0x02
#define MORE	     0x04 // fragments
#define PROTECTED    0x40
#define ORDER	     0x80 // with QoS: four bytes of HT control

#define QOS_AGGREGATE  0x80
#define SUBFRAME_BYTES 14
#define FCS_BYTES      4

// radiotap_flags reads the second field, which comes after the presence words and the
// time. The first presence word has a bit for each.
static uint8_t radiotap_flags(struct tb_bytes header)
{
	uint32_t present;
	uint32_t word;
	uint8_t flags = 0;
	size_t at = 4;
	if (!tb_bytes_u32_as(header, at, true, &present) || !(present & RADIOTAP_FLAGS))
		return 0;
	do {
		if (!tb_bytes_u32_as(header, at, true, &word))
			return 0;
		at += 4;
	} while (word & RADIOTAP_MORE);
	if (present & RADIOTAP_TIME)
		at = ((at + 7) & ~(size_t)7) + 8;
	(void)tb_bytes_u8(header, at, &flags);
	return flags;
}

// read_wlan_ends finds source and destination among the addresses (table 9-60): the
// receiver at byte 4, the transmitter at 10, those beyond the access points at 16 and 24.
static bool read_wlan_ends(struct tb_walk *walk, uint8_t flags)
{
	size_t destination = flags & TO_DS ? 16 : 4;
	size_t source = 10;
	if (flags & FROM_DS)
		source = flags & TO_DS ? 24 : 16;
	return tb_address_mac_at(walk->bytes, source, &walk->ends->source) &&
	       tb_address_mac_at(walk->bytes, destination, &walk->ends->destination);
}

// enter_aggregate decodes the first of the frames in an A-MSDU: MACs and a length like
// Ethernet's, then LLC. The other frames count only in the length.
static bool enter_aggregate(struct tb_walk *walk)
{
	uint16_t length;
	if (!tb_address_mac_at(walk->bytes, 0, &walk->ends->destination) ||
		!tb_address_mac_at(walk->bytes, 6, &walk->ends->source) ||
		!tb_bytes_u16(walk->bytes, 12, &length))
		return false;
	tb_walk_group(walk);
	uint32_t wire_bytes = walk->frame->wire_bytes;
	tb_walk_as_ethernet(walk, SUBFRAME_BYTES);
	tb_walk_limit(walk, length);
	bool whole = tb_walk_llc(walk, false, 0);
	if (walk->frame->wire_bytes < wire_bytes) // it is larger if it was sliced
		walk->frame->wire_bytes = wire_bytes;
	return whole;
}

static bool walk_data(struct tb_walk *walk, uint8_t subtype, uint8_t flags, bool padded)
{
	struct tb_frame *frame = walk->frame;
	uint32_t header = 24;
	if ((flags & TO_DS) && (flags & FROM_DS))
		header += 6;
	if (subtype & SUBTYPE_QOS)
		header += 2;
	if ((subtype & SUBTYPE_QOS) && (flags & ORDER))
		header += 4;
	uint16_t sequence;
	uint8_t qos = 0;
	if (!read_wlan_ends(walk, flags) ||
		!tb_bytes_u16_as(walk->bytes, 22, true, &sequence))
		return false;
	tb_walk_group(walk);
	if (subtype & SUBTYPE_QOS) {
		bool four = (flags & TO_DS) && (flags & FROM_DS);
		(void)tb_bytes_u8(walk->bytes, four ? 30 : 24, &qos);
	}
	tb_walk_as_ethernet(walk, padded ? (header + 3) & ~3u : header);
	bool fragment = (flags & MORE) || (sequence & 0x0f);
	if ((flags & PROTECTED) || fragment) {
		frame->type |= flags & PROTECTED ? TB_WLAN_ENCRYPTED : TB_WLAN_FRAGMENT;
		return tb_walk_between_macs(walk);
	}
	return qos & QOS_AGGREGATE ? enter_aggregate(walk) : tb_walk_llc(walk, true, 0);
}

static bool tb_walk_wlan(struct tb_walk *walk, struct wlan_flags of_capture)
{
	uint8_t control, flags;
	if (!tb_bytes_u8(walk->bytes, 0, &control) ||
		!tb_bytes_u8(walk->bytes, 1, &flags))
		return false;
	uint8_t type = control >> 2 & 3;
	uint8_t subtype = control >> 4;
	tb_walk_type(walk, TB_REGISTRY_WLAN, (uint16_t)(type << 4 | subtype));
	if (of_capture.has_fcs && walk->wire_bytes > FCS_BYTES)
		tb_walk_limit(walk, walk->wire_bytes - FCS_BYTES);
	if ((control & 3) || of_capture.bad_fcs) {
		walk->frame->type |= of_capture.bad_fcs ? TB_WLAN_BAD_FCS : 0;
		return false;
	}
	return type != TYPE_DATA || (subtype & SUBTYPE_NONE)
		       ? tb_walk_control(walk)
		       : walk_data(walk, subtype, flags, of_capture.padded);
}

static bool walk_radiotap(struct tb_walk *walk)
{
	uint16_t length;
	if (!tb_bytes_u16_as(walk->bytes, 2, true, &length) || length < RADIOTAP_HEADER)
		return false;
	struct tb_bytes header = walk->bytes;
	header.n = tb_min_u64(header.n, length);
	uint8_t flags = radiotap_flags(header);
	tb_walk_drop(walk, length);
	return tb_walk_wlan(walk, (struct wlan_flags){.has_fcs = flags & RADIOTAP_FCS,
					  .bad_fcs = flags & RADIOTAP_BAD_FCS,
					  .padded = flags & RADIOTAP_PADDED});
}

// Link types, by libpcap's numbers. tcpdump.org/linktypes describes each.

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

static bool walk_cooked_v1(struct tb_walk *walk)
{
	uint16_t packet_type;
	uint16_t protocol;
	if (!tb_bytes_u16(walk->bytes, 0, &packet_type) ||
		!tb_bytes_u16(walk->bytes, 14, &protocol))
		return false;
	// The header has no interface, and a direction alone does not identify a point.
	cooked_kind(walk, packet_type);
	tb_walk_as_ethernet(walk, 16);
	return tb_walk_ether_type(walk, protocol);
}

static bool walk_cooked_v2(struct tb_walk *walk)
{
	uint16_t protocol;
	uint32_t interface;
	uint8_t packet_type;
	if (!tb_bytes_u16(walk->bytes, 0, &protocol) ||
		!tb_bytes_u32(walk->bytes, 4, &interface) ||
		!tb_bytes_u8(walk->bytes, 10, &packet_type))
		return false;
	walk->frame->point = (interface << 3 | (packet_type & 7u)) + 1;
	cooked_kind(walk, packet_type);
	tb_walk_as_ethernet(walk, 20);
	return tb_walk_ether_type(walk, protocol);
}

static bool walk_erf(struct tb_walk *walk)
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
	if (!whole || !tb_bytes_have(walk->bytes, header, 1))
		return false;
	walk->bytes = tb_bytes_after(walk->bytes, header);
	if (ethernet && wire_bytes > 14 + FCS_BYTES)
		wire_bytes = (uint16_t)(wire_bytes - FCS_BYTES); // ERF includes it
	tb_walk_limit(walk, wire_bytes);
	walk->wire_bytes = walk->frame->wire_bytes = wire_bytes;
	if (ethernet)
		return tb_walk_ethernet(walk);
	if (type == ERF_INFINIBAND || type == ERF_INFINIBAND_LINK)
		return tb_walk_infiniband(walk);
	if (type != ERF_IPV4 && type != ERF_IPV6)
		return false; // ATM, HDLC, status records
	tb_walk_as_ethernet(walk, 0);
	return tb_walk_ip(walk);
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
static bool walk_nflog(struct tb_walk *walk)
{
	uint8_t version;
	uint16_t length, attribute, protocol = 0;
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
		return protocol != 0 ? tb_walk_ether_type(walk, protocol)
				     : tb_walk_ip(walk);
	}
	return false;
}

// IP over InfiniBand: 40 bytes instead of the global route header, the last 20 of them a
// link address; then an EtherType and two reserved bytes (RFC 4391, section 6).
static bool walk_ipoib(struct tb_walk *walk)
{
	uint16_t type;
	if (!tb_bytes_u16(walk->bytes, IPOIB_HEADER - 4, &type))
		return false;
	tb_walk_as_ethernet(walk, IPOIB_HEADER);
	return tb_walk_ether_type(walk, type);
}

// Linux's DSA: tags for a switch chip and its processor, between the MACs and the
// EtherType, or before the frame.
static bool walk_dsa(struct tb_walk *walk)
{
	return tb_walk_ethernet_tagged(walk, 4);
}

static bool walk_edsa(struct tb_walk *walk)
{
	// An EtherType, two zero bytes, the tag.
	return tb_walk_ethernet_tagged(walk, 8);
}

static struct wlan_flags ppi_wlan_flags(struct tb_bytes header)
{
	uint16_t field;
	uint16_t length;
	uint16_t flags;
	for (size_t at = PPI_HEADER; tb_bytes_u16_as(header, at, true, &field) &&
				     tb_bytes_u16_as(header, at + 2, true, &length);
		at += 4u + length)
		if (field == PPI_WLAN && tb_bytes_u16_as(header, at + 12, true, &flags))
			return (struct wlan_flags){.has_fcs = flags & PPI_WLAN_FCS,
				.bad_fcs = flags & PPI_WLAN_BAD_FCS};
	return (struct wlan_flags){0};
}

// PPI, little-endian: version, flags, length of header and fields, link type of the rest.
static bool walk_ppi(struct tb_walk *walk)
{
	uint16_t length;
	uint32_t link_type;
	if (!tb_bytes_u16_as(walk->bytes, 2, true, &length) ||
		!tb_bytes_u32_as(walk->bytes, 4, true, &link_type) ||
		length < PPI_HEADER || link_type == DLT_PPI || link_type == DLT_PKTAP ||
		link_type > UINT16_MAX)
		return false;
	struct tb_bytes header = walk->bytes;
	header.n = tb_min_u64(header.n, length);
	tb_walk_drop(walk, length);
	return link_type == DLT_IEEE802_11 ? tb_walk_wlan(walk, ppi_wlan_flags(header))
					   : walk_link(walk, (int)link_type);
}

// PKTAP of macOS, little-endian: the header's length, the type of record (1: a packet),
// the link type of the rest.
static bool walk_pktap(struct tb_walk *walk)
{
	uint32_t length, type, link_type;
	if (!tb_bytes_u32_as(walk->bytes, 0, true, &length) ||
		!tb_bytes_u32_as(walk->bytes, 4, true, &type) ||
		!tb_bytes_u32_as(walk->bytes, 8, true, &link_type) || length < 12 ||
		type != 1 || link_type == DLT_PKTAP || link_type == DLT_PPI ||
		link_type > UINT16_MAX)
		return false;
	tb_walk_drop(walk, length);
	return walk_link(walk, (int)link_type);
}

// Ethernet as Juniper's routers capture it: a magic number, flags (0x80: the length of
// extensions and they follow; 0x02: no link header), the frame.
static bool walk_juniper(struct tb_walk *walk)
{
	uint32_t magic;
	uint8_t flags = 0;
	uint16_t extensions;
	uint32_t n = 4;
	if (!tb_bytes_u24(walk->bytes, 0, &magic) || magic != 0x4d4743 ||
		!tb_bytes_u8(walk->bytes, 3, &flags) || (flags & 0x02))
		return false;
	if ((flags & 0x80) && tb_bytes_u16(walk->bytes, 4, &extensions))
		n += 2u + extensions;
	tb_walk_drop(walk, n);
	return tb_walk_ethernet(walk);
}

static bool walk_wlan(struct tb_walk *walk)
{
	return tb_walk_wlan(walk, (struct wlan_flags){0});
}

// A decoder, and what is done before it with so many bytes that are not its own.
static const struct link_decoder {
	int type;
	bool (*walk)(struct tb_walk *walk);
	void (*before)(struct tb_walk *walk, uint32_t n); // NULL: nothing
	uint32_t n;
} links[] = {
	{DLT_EN10MB, tb_walk_ethernet, NULL, 0},
	{DLT_LINUX_SLL, walk_cooked_v1, NULL, 0},
	{DLT_LINUX_SLL2, walk_cooked_v2, NULL, 0},
	{DLT_RAW, tb_walk_ip, tb_walk_as_ethernet, 0},
	{DLT_IPV4, tb_walk_ip, tb_walk_as_ethernet, 0},
	{DLT_IPV6, tb_walk_ip, tb_walk_as_ethernet, 0},
	// An address family, in the host's byte order or (OpenBSD) the network's. The
	// numbers of families differ between systems, so look at IP's version instead.
	{DLT_NULL, tb_walk_ip, tb_walk_as_ethernet, 4},
	{DLT_LOOP, tb_walk_ip, tb_walk_as_ethernet, 4},
	{DLT_INFINIBAND, tb_walk_infiniband, NULL, 0},
	{DLT_ERF, walk_erf, NULL, 0},
	{DLT_IEEE802_11, walk_wlan, NULL, 0},
	{DLT_IEEE802_11_RADIO, walk_radiotap, NULL, 0},
	{DLT_PPI, walk_ppi, NULL, 0},
	{DLT_PPP, walk_ppp_link, NULL, 0},
	{DLT_PPP_SERIAL, walk_ppp_link, NULL, 0},
	{DLT_PPP_ETHER, tb_walk_pppoe, tb_walk_as_ethernet, 0},
	{DLT_PPP_PPPD, walk_ppp_link, NULL, 0},
	{DLT_PPP_WITH_DIR, walk_ppp_link, tb_walk_drop, 1}, // the direction
	{DLT_C_HDLC, walk_hdlc, NULL, 0},
	{DLT_C_HDLC_WITH_DIR, walk_hdlc, tb_walk_drop, 1},
	{DLT_FRELAY, walk_frame_relay, NULL, 0},
	{DLT_FRELAY_WITH_DIR, walk_frame_relay, tb_walk_drop, 1},
	// The direction and the compressed header. BSD decompresses it before it hands
	// the packet out, so IP follows.
	{DLT_SLIP, tb_walk_ip, tb_walk_as_ethernet, 16},
	{DLT_SUNATM, walk_sunatm, NULL, 0},
	{DLT_NFLOG, walk_nflog, NULL, 0},
	{DLT_IPOIB, walk_ipoib, NULL, 0},
	{DLT_DSA_TAG_BRCM, walk_dsa, NULL, 0},
	{DLT_DSA_TAG_DSA, walk_dsa, NULL, 0},
	{DLT_DSA_TAG_EDSA, walk_edsa, NULL, 0},
	{DLT_DSA_TAG_BRCM_PREPEND, tb_walk_ethernet, tb_walk_on, 4},
	{DLT_PKTAP, walk_pktap, NULL, 0},
	{DLT_JUNIPER_ETHER, walk_juniper, NULL, 0},
};

static const struct link_decoder *find_link_decoder(int link_type)
{
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (links[i].type == link_type)
			return &links[i];
	return NULL;
}

static bool walk_link(struct tb_walk *walk, int link_type)
{
	const struct link_decoder *link = find_link_decoder(link_type);
	tb_walk_type(walk, TB_REGISTRY_LINK, (uint16_t)link_type);
	if (!link)
		return false;
	if (link->before)
		link->before(walk, link->n);
	return link->walk(walk);
}

bool tb_frame_reads_link_type(int link_type)
{
	return find_link_decoder(link_type) != NULL;
}

bool tb_frame_tells_network(int link_type)
{
	static const int told[] = {DLT_EN10MB, DLT_INFINIBAND, DLT_ERF, DLT_DSA_TAG_BRCM,
		DLT_DSA_TAG_DSA, DLT_DSA_TAG_EDSA, DLT_DSA_TAG_BRCM_PREPEND,
		DLT_JUNIPER_ETHER};
	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		if (told[i] == link_type)
			return true;
	return false;
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
	if (!walk_link(&walk, link_type) || walk.broken)
		frame->kind = TB_FRAME_UNDECODABLE;
}
