// Labels and tags between Ethernet's MACs and the network header. The walk is after their
// EtherType.
#include "frame_walk.h"

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

static bool ethernet_at(const struct tb_walk *walk, size_t at)
{
	uint16_t type;
	return tb_bytes_u16(walk->bytes, at + MACS_BYTES, &type) &&
	       tb_walk_knows_type(type);
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

void tb_walk_mpls(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	const struct tb_walk_place before = tb_walk_here(walk);
	uint32_t label;
	uint16_t type;
	if (!skip_labels(walk, &label)) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if (label == LABEL_GAL) {
		frame->kind = TB_FRAME_CONTROL;
		return;
	}
	if (under_labels(walk, label, &type)) {
		tb_walk_ether_type(walk, type);
		if (!walk->broken && frame->kind != TB_FRAME_UNDECODABLE)
			return;
	}
	tb_walk_return(walk, &before);
	tb_walk_between_macs(walk);
}

// PPPoE (RFC 2516, section 4): version and type, both 1; code, 0 in a session; session;
// length of the rest.
void tb_walk_pppoe(struct tb_walk *walk)
{
	uint8_t version;
	uint8_t code;
	uint16_t length;
	if (!tb_bytes_u8(walk->bytes, 0, &version) ||
		!tb_bytes_u8(walk->bytes, 1, &code) ||
		!tb_bytes_u16(walk->bytes, 4, &length) || version != 0x11) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if (code != 0) {
		walk->frame->kind = TB_FRAME_CONTROL;
		return;
	}
	tb_walk_on(walk, PPPOE_BYTES);
	tb_walk_limit(walk, length);
	tb_walk_ppp(walk);
}

// enclosed decodes a whole frame behind a tag of `n` bytes, whose MACs are the endpoints:
// those before the tag are of the switches, and may flood what goes to one node.
static void enclosed(struct tb_walk *walk, uint32_t n)
{
	walk->frame->kind = TB_FRAME_DATA;
	walk->ends->source.kind = walk->ends->destination.kind = TB_ADDRESS_NONE;
	tb_walk_on(walk, n);
	tb_walk_ethernet(walk);
}

// PBB (IEEE 802.1Q, section 9.7): four bytes of priority and instance.
void tb_walk_pbb(struct tb_walk *walk)
{
	enclosed(walk, 4);
}

// Cisco's FabricPath: ten bits of forwarding tag, six of time to live.
void tb_walk_fabricpath(struct tb_walk *walk)
{
	enclosed(walk, 2);
}

// TRILL (RFC 6325, section 3): version, reserved, multicast, five bits of the options'
// length in words of four bytes, hop count; two bytes each of egress and ingress.
void tb_walk_trill(struct tb_walk *walk)
{
	uint16_t head = 0;
	(void)tb_bytes_u16(walk->bytes, 0, &head);
	enclosed(walk, 6 + (head >> 6 & 0x1fu) * 4);
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
void tb_walk_nsh(struct tb_walk *walk)
{
	uint16_t head;
	uint8_t next;
	uint16_t type;
	if (!tb_bytes_u16(walk->bytes, 0, &head) || !tb_bytes_u8(walk->bytes, 3, &next)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	uint32_t length = (head & 0x3fu) * 4;
	if (head >> 14 != 0 || length < 8 || !tb_walk_next_protocol(next, &type)) {
		tb_walk_between_macs(walk);
		return;
	}
	tb_walk_on(walk, length);
	tb_walk_ether_type(walk, type);
}

// MACsec (IEEE 802.1AE, section 9): flags, short length, packet number and, if flagged,
// eight bytes of channel; then EtherType, data and integrity check. The data is readable
// if it is flagged neither as encrypted nor as changed.
void tb_walk_macsec(struct tb_walk *walk)
{
	uint8_t flags;
	uint8_t length;
	uint16_t type;
	if (!tb_bytes_u8(walk->bytes, 0, &flags) ||
		!tb_bytes_u8(walk->bytes, 1, &length)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	uint32_t tag = MACSEC_TAG + (flags & MACSEC_SCI ? MACSEC_SCI_BYTES : 0u);
	if (flags & (MACSEC_VERSION | MACSEC_ENCRYPTED | MACSEC_CHANGED) ||
		walk->wire_bytes < tag + 2 + MACSEC_ICV) {
		tb_walk_between_macs(walk);
		return;
	}
	tb_walk_limit(walk, walk->wire_bytes - MACSEC_ICV);
	length &= 0x3f;
	if (length > 0 && length < MACSEC_SHORT)
		tb_walk_limit(walk, tag + length);
	if (!tb_bytes_u16(walk->bytes, tag, &type)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	tb_walk_on(walk, tag + 2);
	tb_walk_ether_type(walk, type);
}
