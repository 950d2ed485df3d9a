#include "frame_walk.h"

#define TYPE_ARP	0x0806
#define TYPE_CDP	0x2000
#define TYPE_RARP	0x8035 // also SLARP of Cisco HDLC
#define TYPE_VLAN	0x8100
#define TYPE_PAUSE	0x8808 // and PFC
#define TYPE_SLOW	0x8809 // LACP
#define TYPE_MPLS_2	0x8848 // once multicast, now upstream-assigned labels (RFC 5332)
#define TYPE_PPPOED	0x8863
#define TYPE_PPPOE	0x8864
#define TYPE_EAPOL	0x888e
#define TYPE_QINQ	0x88a8
#define TYPE_LLDP	0x88cc
#define TYPE_CISCO_META 0x8909 // security group tags
#define TYPE_FABRICPATH 0x8903
#define TYPE_HSR	0x892f
#define TYPE_MACSEC	0x88e5
#define TYPE_PBB	0x88e7
#define TYPE_PTP	0x88f7
#define TYPE_CFM	0x8902
#define TYPE_FIP	0x8914
#define TYPE_VN_TAG	0x8926
#define TYPE_E_TAG	0x893f
#define TYPE_LOOP	0x9000
#define TYPE_QINQ_9100	0x9100
#define TYPE_STAMP	0xd28b // Arista's
#define TYPE_TRILL	0x22f3
#define TYPE_OSI	0xfefe // on Cisco HDLC: IS-IS

// walk_knows_type returns whether the decoder handles an EtherType: decodes it, or
// knows it as a link protocol.
static bool walk_knows_type(uint16_t type);

// Labels and tags between Ethernet's MACs and the network header. The walk is after their
// EtherType.

#define LABEL_BYTES	4
#define LABEL_IPV4_NULL 0
#define LABEL_IPV6_NULL 2
#define LABEL_GAL	13 // RFC 5586: control channel of a label-switched path
#define CONTROL_WORD	4
#define MACS_BYTES	12

#define PPPOE_BYTES 6

#define MACSEC_VERSION	 0x80
#define MACSEC_SCI	 0x20
#define MACSEC_ENCRYPTED 0x08
#define MACSEC_CHANGED	 0x04
#define MACSEC_TAG	 6
#define MACSEC_SCI_BYTES 8
#define MACSEC_ICV	 16 // of all standard cipher suites
#define MACSEC_SHORT	 48 // only frames with less data give their length

// skip_labels steps over the stack of labels and stores the last one. An entry (RFC 3032,
// section 2.1) has 20 bits of label, 3 of traffic class, 1 that is set at the bottom of
// the stack, 8 of time to live.
static bool skip_labels(struct tb_walk *walk, uint32_t *label)
{
	uint32_t entry;
	do {
		if (!tb_bytes_u32(walk->bytes, 0, &entry))
			return false;
		tb_walk_on(walk, LABEL_BYTES);
	} while (!(entry & 0x100));
	*label = entry >> 12;
	return true;
}

// tag_bytes returns the length of the tag that an EtherType introduces, up to and with
// the EtherType of what follows; 0: it introduces no tag.
static uint32_t tag_bytes(uint16_t type)
{
	switch (type) {
	case TYPE_VLAN:
	case TYPE_QINQ:
	case TYPE_QINQ_9100:
		return 4;
	case TYPE_VN_TAG: // Cisco's: flags and interfaces
	case TYPE_HSR:	  // IEC 62439-3: path and size, sequence number
		return 6;
	case TYPE_E_TAG:      // IEEE 802.1BR, section 7.5
	case TYPE_CISCO_META: // version, length, option, group
		return 8;
	default:
		return 0;
	}
}

static bool is_control(uint16_t type)
{
	switch (type) {
	case TYPE_ARP:
	case TYPE_CDP:
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
	case TYPE_OSI:
		return true;
	default:
		return false;
	}
}

static bool ethernet_at(const struct tb_walk *walk, size_t at)
{
	uint16_t type;
	return tb_bytes_u16(walk->bytes, at + MACS_BYTES, &type) && walk_knows_type(type);
}

// under_labels guesses what the labels carry, since they do not identify it: IP by its
// version, with which no control word begins (RFC 4928); Ethernet by a known EtherType at
// the right offset, after a control word (RFC 4385) or without one (RFC 4448).
static bool under_labels(struct tb_walk *walk, uint32_t label, uint16_t *type)
{
	uint8_t first;
	if (!tb_bytes_u8(walk->bytes, 0, &first))
		return false;
	*type = TB_ETHER_TYPE_TEB;
	walk->guessed = true;
	if (label == LABEL_IPV4_NULL || first >> 4 == 4)
		*type = TB_ETHER_TYPE_IPV4;
	else if (label == LABEL_IPV6_NULL || first >> 4 == 6)
		*type = TB_ETHER_TYPE_IPV6;
	else if (first >> 4 == 0 && ethernet_at(walk, CONTROL_WORD))
		tb_walk_on(walk, CONTROL_WORD);
	else
		return ethernet_at(walk, 0);
	return true;
}

// Labels and tags. The walk is after their EtherType.
static bool walk_mpls(struct tb_walk *walk)
{
	const struct tb_walk_place before = tb_walk_here(walk);
	uint32_t label;
	uint16_t type;
	if (!skip_labels(walk, &label))
		return false;
	if (label == LABEL_GAL)
		return tb_walk_control(walk);
	if (under_labels(walk, label, &type) && tb_walk_ether_type(walk, type) &&
		!walk->broken)
		return true;
	tb_walk_return(walk, &before);
	return tb_walk_between_macs(walk);
}

// PPPoE (RFC 2516, section 4): version and type, both 1; code, 0 in a session; session;
// length of the rest.
bool tb_walk_pppoe(struct tb_walk *walk)
{
	uint8_t version, code;
	uint16_t length;
	if (!tb_bytes_u8(walk->bytes, 0, &version) ||
		!tb_bytes_u8(walk->bytes, 1, &code) ||
		!tb_bytes_u16(walk->bytes, 4, &length) || version != 0x11)
		return false;
	if (code != 0)
		return tb_walk_control(walk);
	tb_walk_on(walk, PPPOE_BYTES);
	tb_walk_limit(walk, length);
	return tb_walk_ppp(walk);
}

// enclosed decodes a whole frame behind a tag of `n` bytes, whose MACs are the endpoints:
// those before the tag are of the switches, and may flood what goes to one node.
static bool enclosed(struct tb_walk *walk, uint32_t n)
{
	walk->frame->kind = TB_FRAME_DATA;
	walk->ends->source.kind = walk->ends->destination.kind = TB_ADDRESS_NONE;
	tb_walk_on(walk, n);
	return tb_walk_ethernet(walk);
}

// PBB (IEEE 802.1Q, section 9.7): four bytes of priority and instance.
static bool walk_pbb(struct tb_walk *walk)
{
	return enclosed(walk, 4);
}

// Cisco's FabricPath: ten bits of forwarding tag, six of time to live.
static bool walk_fabricpath(struct tb_walk *walk)
{
	return enclosed(walk, 2);
}

// TRILL (RFC 6325, section 3): version, reserved, multicast, five bits of the options'
// length in words of four bytes, hop count; two bytes each of egress and ingress.
static bool walk_trill(struct tb_walk *walk)
{
	uint16_t head = 0;
	(void)tb_bytes_u16(walk->bytes, 0, &head);
	return enclosed(walk, 6 + (head >> 6 & 0x1fu) * 4);
}

bool tb_walk_next_protocol(uint8_t next, uint16_t *type)
{
	static const uint16_t types[] = {0, TB_ETHER_TYPE_IPV4, TB_ETHER_TYPE_IPV6,
		TB_ETHER_TYPE_TEB, TB_ETHER_TYPE_NSH, TB_ETHER_TYPE_MPLS};
	if (next == 0 || next >= sizeof types / sizeof *types)
		return false;
	*type = types[next];
	return true;
}

// NSH (RFC 8300, section 2.2): version in the first two bits, length in words of four
// bytes in the low six bits of the second byte, next protocol in the fourth byte.
static bool walk_nsh(struct tb_walk *walk)
{
	uint16_t head;
	uint8_t next;
	uint16_t type;
	if (!tb_bytes_u16(walk->bytes, 0, &head) || !tb_bytes_u8(walk->bytes, 3, &next))
		return false;
	uint32_t length = (head & 0x3fu) * 4;
	if (head >> 14 != 0 || length < 8 || !tb_walk_next_protocol(next, &type)) {
		return tb_walk_between_macs(walk);
	}
	tb_walk_on(walk, length);
	return tb_walk_ether_type(walk, type);
}

// MACsec (IEEE 802.1AE, section 9): flags, short length, packet number and, if flagged,
// eight bytes of channel; then EtherType, data and integrity check. The data is readable
// if it is flagged neither as encrypted nor as changed.
static bool walk_macsec(struct tb_walk *walk)
{
	uint8_t flags;
	uint8_t length;
	uint16_t type;
	if (!tb_bytes_u8(walk->bytes, 0, &flags) || !tb_bytes_u8(walk->bytes, 1, &length))
		return false;
	uint32_t tag = MACSEC_TAG + (flags & MACSEC_SCI ? MACSEC_SCI_BYTES : 0u);
	if (flags & (MACSEC_VERSION | MACSEC_ENCRYPTED | MACSEC_CHANGED) ||
		walk->wire_bytes < tag + 2 + MACSEC_ICV) {
		return tb_walk_between_macs(walk);
	}
	tb_walk_limit(walk, walk->wire_bytes - MACSEC_ICV);
	length &= 0x3f;
	if (length > 0 && length < MACSEC_SHORT)
		tb_walk_limit(walk, tag + length);
	if (!tb_bytes_u16(walk->bytes, tag, &type))
		return false;
	tb_walk_on(walk, tag + 2);
	return tb_walk_ether_type(walk, type);
}

// Ethernet and everything that an EtherType identifies: IEEE 802.3 (the frame), 802.1Q
// (VLAN tags), 802.2 (LLC), RFC 1042 (SNAP). Numbers: IANA ieee-802-numbers.

#define ETHERNET_BYTES 14
#define SNAP_BYTES     8 // three of LLC, three of organisation, two of protocol
#define FCS_BYTES      4

// No real frame nests as many headers. Decoders call each other, so this bounds the stack
// that a forged frame can use.
#define N_NESTED_MAX 16

#define ORGANISATION_RFC1042 0x000000 // its protocols are EtherTypes
#define ORGANISATION_802_1H  0x0000f8
#define ORGANISATION_CISCO   0x00000c
#define ORGANISATION_802_1   0x0080c2 // whole frames, RFC 2427 and 2684
#define BRIDGED_WITH_FCS     1
#define BRIDGED		     7

// walk_stamp steps over the time stamp that Arista's switches insert into copies of
// frames (tcpdump's print-arista.c): subtype 1 or 2, a byte of time scale, four bits of
// format (1: 64 bits, 2: 48), four of hardware, the time, and the frame's own EtherType.
// The copied frame was shorter, so these bytes do not count.
static bool walk_stamp(struct tb_walk *walk)
{
	uint16_t subtype = 0, version = 0, type;
	(void)tb_bytes_u16(walk->bytes, 0, &subtype);
	(void)tb_bytes_u16(walk->bytes, 2, &version);
	version &= 0xf0;
	uint32_t n = version == 0x10 ? 4 + 8 : 4 + 6;
	if ((version != 0x10 && version != 0x20) || subtype == 0 || subtype > 2 ||
		!tb_bytes_u16(walk->bytes, n, &type) || walk->wire_bytes < n + 2) {
		return tb_walk_between_macs(walk);
	}
	tb_walk_on(walk, n + 2);
	walk->walked_bytes -= n + 2;
	walk->frame->wire_bytes -= n + 2;
	return tb_walk_ether_type(walk, type);
}

// Types that lead on to network addresses, the most frequent first.
static const struct {
	uint16_t type;
	bool (*walk)(struct tb_walk *walk);
} carriers[] = {
	{TB_ETHER_TYPE_IPV4, tb_walk_ip},
	{TB_ETHER_TYPE_IPV6, tb_walk_ip},
	{TB_ETHER_TYPE_ROCE, tb_walk_roce_v1},
	{TB_ETHER_TYPE_MPLS, walk_mpls},
	{TYPE_MPLS_2, walk_mpls},
	{TYPE_PPPOE, tb_walk_pppoe},
	{TB_ETHER_TYPE_PPP, tb_walk_ppp},
	{TB_ETHER_TYPE_TEB, tb_walk_ethernet},
	{TB_ETHER_TYPE_NSH, walk_nsh},
	{TYPE_PBB, walk_pbb},
	{TYPE_FABRICPATH, walk_fabricpath},
	{TYPE_TRILL, walk_trill},
	{TYPE_STAMP, walk_stamp},
	{TYPE_MACSEC, walk_macsec},
};

static bool walk_knows_type(uint16_t type)
{
	for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
		if (carriers[i].type == type)
			return true;
	return tag_bytes(type) > 0 || is_control(type);
}

void tb_walk_drop(struct tb_walk *walk, uint32_t n)
{
	tb_walk_on(walk, n);
	walk->walked_bytes = 0;
	walk->frame->wire_bytes = walk->wire_bytes;
}

void tb_walk_as_ethernet(struct tb_walk *walk, uint32_t n)
{
	tb_walk_on(walk, n);
	walk->walked_bytes = ETHERNET_BYTES;
	walk->frame->wire_bytes = walk->wire_bytes > UINT32_MAX - ETHERNET_BYTES
					  ? UINT32_MAX
					  : walk->wire_bytes + ETHERNET_BYTES;
}

bool tb_walk_between_macs(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	const struct tb_frame_type type = {frame->type, frame->registry};
	if (frame->kind != TB_FRAME_DATA)
		return true;
	if (walk->ends->source.kind != TB_ADDRESS_MAC ||
		walk->ends->destination.kind != TB_ADDRESS_MAC)
		return false;
	walk->link_bytes = walk->walked_bytes;
	tb_walk_payload(walk, 0);
	tb_walk_type(walk, type.registry, type.number);
	tb_walk_digest(walk, type.number);
	tb_walk_digest(walk, walk->ends->source.low);
	tb_walk_digest(walk, walk->ends->destination.low);
	tb_walk_digest(walk, walk->wire_bytes);
	// Without a known protocol only the bytes themselves distinguish frames.
	for (size_t at = 0; at < 64; at += 8) {
		uint64_t word = 0;
		(void)tb_bytes_u64(walk->bytes, at, &word);
		tb_walk_digest(walk, word);
	}
	return !walk->broken;
}

// skip_tags steps over tags; false if the frame ends within them.
static bool skip_tags(struct tb_walk *walk, uint16_t *type)
{
	uint32_t n;
	while ((n = tag_bytes(*type)) > 0) {
		tb_walk_type(walk, TB_REGISTRY_ETHER, *type);
		if (!tb_bytes_u16(walk->bytes, n - 2, type))
			return false;
		tb_walk_on(walk, n);
	}
	return true;
}

bool tb_walk_snap(struct tb_walk *walk, bool translate, uint32_t bridge_pad)
{
	uint32_t organisation;
	uint16_t type;
	if (!tb_bytes_u24(walk->bytes, 0, &organisation) ||
		!tb_bytes_u16(walk->bytes, 3, &type))
		return false;
	tb_walk_on(walk, 5);
	if ((organisation == ORGANISATION_RFC1042 ||
		    organisation == ORGANISATION_802_1H) &&
		type >= TB_ETHER_TYPE_LEAST) {
		if (translate)
			tb_walk_as_ethernet(walk, 0);
		return tb_walk_ether_type(walk, type);
	}
	if (organisation == ORGANISATION_802_1 &&
		(type == BRIDGED || type == BRIDGED_WITH_FCS)) {
		tb_walk_drop(walk, bridge_pad);
		if (type == BRIDGED_WITH_FCS &&
			walk->wire_bytes > ETHERNET_BYTES + FCS_BYTES) {
			tb_walk_limit(walk, walk->wire_bytes - FCS_BYTES);
			walk->frame->wire_bytes = walk->wire_bytes;
		}
		return tb_walk_ethernet(walk);
	}
	if (organisation == ORGANISATION_CISCO)
		tb_walk_type(walk, TB_REGISTRY_CISCO, type);
	return tb_walk_control(walk);
}

bool tb_walk_llc(struct tb_walk *walk, bool translate, uint32_t bridge_pad)
{
	uint8_t sap = 0;
	uint32_t head = 0;
	(void)tb_bytes_u8(walk->bytes, 0, &sap);
	(void)tb_bytes_u24(walk->bytes, 0, &head);
	tb_walk_type(walk, TB_REGISTRY_LLC, sap);
	if (head != 0xaaaa03 || !tb_bytes_have(walk->bytes, 0, SNAP_BYTES))
		return tb_walk_control(walk); // spanning tree, IS-IS
	tb_walk_on(walk, 3);
	return tb_walk_snap(walk, translate, bridge_pad);
}

// read_pause reads a frame of MAC control (IEEE 802.3, annex 31B and 31D).
static void read_pause(struct tb_walk *walk)
{
	struct tb_frame_pause *pause = &walk->ends->pause;
	uint16_t opcode, classes;
	if (!tb_bytes_u16(walk->bytes, 0, &opcode) ||
		!tb_bytes_u16(walk->bytes, 2, &classes) ||
		walk->ends->source.kind != TB_ADDRESS_MAC)
		return;
	if (opcode == 1) {
		*pause = (struct tb_frame_pause){255, true, {classes}};
	} else if (opcode == 0x0101 && tb_bytes_have(walk->bytes, 4, 16)) {
		*pause = (struct tb_frame_pause){(uint8_t)classes, false, {0}};
		for (size_t i = 0; i < 8; i++)
			(void)tb_bytes_u16(walk->bytes, 4 + 2 * i, &pause->quanta[i]);
	}
}

bool tb_walk_ether_type(struct tb_walk *walk, uint16_t type)
{
	if (!skip_tags(walk, &type) || walk->n_nested++ == N_NESTED_MAX)
		return false;
	if (type < TB_ETHER_TYPE_LEAST)
		return tb_walk_llc(walk, false, 0);
	tb_walk_type(walk, TB_REGISTRY_ETHER, type);
	for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
		if (carriers[i].type == type)
			return carriers[i].walk(walk);
	if (!is_control(type))
		return tb_walk_between_macs(walk);
	if (type == TYPE_PAUSE)
		read_pause(walk);
	return tb_walk_control(walk);
}

bool tb_walk_ethernet_tagged(struct tb_walk *walk, uint32_t tag)
{
	uint16_t type;
	if (!tb_address_mac_at(walk->bytes, 0, &walk->ends->destination) ||
		!tb_address_mac_at(walk->bytes, 6, &walk->ends->source) ||
		!tb_bytes_u16(walk->bytes, 12 + tag, &type))
		return false;
	tb_walk_group(walk);
	walk->guessed = false;
	tb_walk_on(walk, ETHERNET_BYTES + tag);
	return tb_walk_ether_type(walk, type);
}

bool tb_walk_ethernet(struct tb_walk *walk)
{
	return tb_walk_ethernet_tagged(walk, 0);
}
