// Ethernet and everything that an EtherType identifies: IEEE 802.3 (the frame), 802.1Q
// (VLAN tags), 802.2 (LLC), RFC 1042 (SNAP). Numbers: IANA ieee-802-numbers.
#include "frame_walk.h"

#define ETHERNET_BYTES 14
#define SNAP_BYTES     8 // three of LLC, three of organisation, two of protocol
#define FCS_BYTES      4

// No real frame nests as many headers. Decoders call each other, so this bounds the stack
// that a forged frame can use.
#define N_NESTED_MAX 16

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
static void walk_stamp(struct tb_walk *walk)
{
	uint16_t subtype = 0, version = 0, type;
	(void)tb_bytes_u16(walk->bytes, 0, &subtype);
	(void)tb_bytes_u16(walk->bytes, 2, &version);
	version &= 0xf0;
	uint32_t n = version == 0x10 ? 4 + 8 : 4 + 6;
	if ((version != 0x10 && version != 0x20) || subtype == 0 || subtype > 2 ||
		!tb_bytes_u16(walk->bytes, n, &type) || walk->wire_bytes < n + 2) {
		tb_walk_between_macs(walk);
		return;
	}
	tb_walk_on(walk, n + 2);
	walk->walked_bytes -= n + 2;
	walk->frame->wire_bytes -= n + 2;
	tb_walk_ether_type(walk, type);
}

// Types that lead on to network addresses, the most frequent first.
static const struct {
	uint16_t type;
	void (*walk)(struct tb_walk *walk);
} carriers[] = {
	{TB_ETHER_TYPE_IPV4, tb_walk_ip},
	{TB_ETHER_TYPE_IPV6, tb_walk_ip},
	{TB_ETHER_TYPE_ROCE, tb_walk_roce_v1},
	{TB_ETHER_TYPE_MPLS, tb_walk_mpls},
	{TYPE_MPLS_2, tb_walk_mpls},
	{TYPE_PPPOE, tb_walk_pppoe},
	{TB_ETHER_TYPE_PPP, tb_walk_ppp},
	{TB_ETHER_TYPE_TEB, tb_walk_ethernet},
	{TB_ETHER_TYPE_NSH, tb_walk_nsh},
	{TYPE_PBB, tb_walk_pbb},
	{TYPE_FABRICPATH, tb_walk_fabricpath},
	{TYPE_TRILL, tb_walk_trill},
	{TYPE_STAMP, walk_stamp},
	{TYPE_MACSEC, tb_walk_macsec},
};

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

// tag_bytes returns the length of the tag that an EtherType announces, up to and with the
// EtherType of what follows; 0: it announces no tag.
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

bool tb_walk_knows_type(uint16_t type)
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

void tb_walk_between_macs(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	const struct tb_frame_type type = {frame->type, frame->registry};
	if (frame->kind != TB_FRAME_DATA)
		return;
	if (walk->ends->source.kind != TB_ADDRESS_MAC ||
		walk->ends->destination.kind != TB_ADDRESS_MAC) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
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

void tb_walk_snap(struct tb_walk *walk, bool translate, uint32_t bridge_pad)
{
	uint32_t organisation;
	uint16_t type;
	if (!tb_bytes_u24(walk->bytes, 0, &organisation) ||
		!tb_bytes_u16(walk->bytes, 3, &type)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	tb_walk_on(walk, 5);
	if ((organisation == ORGANISATION_RFC1042 ||
		    organisation == ORGANISATION_802_1H) &&
		type >= TB_ETHER_TYPE_LEAST) {
		if (translate)
			tb_walk_as_ethernet(walk, 0);
		tb_walk_ether_type(walk, type);
	} else if (organisation == ORGANISATION_802_1 &&
		   (type == BRIDGED || type == BRIDGED_WITH_FCS)) {
		tb_walk_drop(walk, bridge_pad);
		if (type == BRIDGED_WITH_FCS &&
			walk->wire_bytes > ETHERNET_BYTES + FCS_BYTES) {
			tb_walk_limit(walk, walk->wire_bytes - FCS_BYTES);
			walk->frame->wire_bytes = walk->wire_bytes;
		}
		tb_walk_ethernet(walk);
	} else {
		if (organisation == ORGANISATION_CISCO)
			tb_walk_type(walk, TB_REGISTRY_CISCO, type);
		walk->frame->kind = TB_FRAME_CONTROL;
	}
}

void tb_walk_llc(struct tb_walk *walk, bool translate, uint32_t bridge_pad)
{
	uint8_t sap = 0;
	uint32_t head = 0;
	(void)tb_bytes_u8(walk->bytes, 0, &sap);
	(void)tb_bytes_u24(walk->bytes, 0, &head);
	tb_walk_type(walk, TB_REGISTRY_LLC, sap);
	if (head == 0xaaaa03 && tb_bytes_have(walk->bytes, 0, SNAP_BYTES)) {
		tb_walk_on(walk, 3);
		tb_walk_snap(walk, translate, bridge_pad);
	} else {
		walk->frame->kind = TB_FRAME_CONTROL; // spanning tree, IS-IS
	}
}

void tb_walk_ether_type(struct tb_walk *walk, uint16_t type)
{
	struct tb_frame *frame = walk->frame;
	if (!skip_tags(walk, &type) || walk->n_nested++ == N_NESTED_MAX) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if (type < TB_ETHER_TYPE_LEAST) {
		tb_walk_llc(walk, false, 0);
		return;
	}
	tb_walk_type(walk, TB_REGISTRY_ETHER, type);
	for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
		if (carriers[i].type == type) {
			carriers[i].walk(walk);
			return;
		}
	if (is_control(type)) {
		frame->kind = TB_FRAME_CONTROL;
		if (type == TYPE_PAUSE) {
			// Read a frame of MAC control (IEEE 802.3, annex 31B and 31D).
			struct tb_frame_pause *pause = &walk->ends->pause;
			uint16_t opcode, classes;
			if (tb_bytes_u16(walk->bytes, 0, &opcode) &&
				tb_bytes_u16(walk->bytes, 2, &classes) &&
				walk->ends->source.kind == TB_ADDRESS_MAC) {
				if (opcode == 1) {
					*pause = (struct tb_frame_pause){
						255, true, {classes}};
				} else if (opcode == 0x0101 &&
					   tb_bytes_have(walk->bytes, 4, 16)) {
					*pause = (struct tb_frame_pause){
						(uint8_t)classes, false, {0}};
					for (size_t i = 0; i < 8; i++)
						(void)tb_bytes_u16(walk->bytes, 4 + 2 * i,
							&pause->quanta[i]);
				}
			}
		}
	} else {
		tb_walk_between_macs(walk);
	}
}

void tb_walk_ethernet_tagged(struct tb_walk *walk, uint32_t tag)
{
	struct tb_frame *frame = walk->frame;
	uint16_t type;
	if (!tb_address_mac_at(walk->bytes, 0, &walk->ends->destination) ||
		!tb_address_mac_at(walk->bytes, 6, &walk->ends->source) ||
		!tb_bytes_u16(walk->bytes, 12 + tag, &type)) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if (walk->ends->destination.low == 0xffffffffffff)
		frame->kind = TB_FRAME_BROADCAST;
	else if (walk->ends->destination.low >> 40 & 1)
		frame->kind = TB_FRAME_MULTICAST;
	walk->guessed = false;
	tb_walk_on(walk, ETHERNET_BYTES + tag);
	tb_walk_ether_type(walk, type);
}

void tb_walk_ethernet(struct tb_walk *walk)
{
	tb_walk_ethernet_tagged(walk, 0);
}
