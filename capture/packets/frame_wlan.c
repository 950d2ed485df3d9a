// IEEE 802.11 (section 9, frame formats), with or without radiotap (radiotap.org) before
// it.
#include "frame_walk.h"

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

void tb_walk_radiotap(struct tb_walk *walk)
{
	uint16_t length;
	if (!tb_bytes_u16_as(walk->bytes, 2, true, &length) || length < RADIOTAP_HEADER) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	struct tb_bytes header = walk->bytes;
	if (header.n > length)
		header.n = length;
	uint8_t flags = radiotap_flags(header);
	tb_walk_drop(walk, length);
	tb_walk_wlan(walk, (struct tb_wlan_flags){.has_fcs = flags & RADIOTAP_FCS,
				   .bad_fcs = flags & RADIOTAP_BAD_FCS,
				   .padded = flags & RADIOTAP_PADDED});
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

static void note_group(struct tb_walk *walk)
{
	uint64_t destination = walk->ends->destination.low;
	if (destination == 0xffffffffffff)
		walk->frame->kind = TB_FRAME_BROADCAST;
	else if (destination >> 40 & 1)
		walk->frame->kind = TB_FRAME_MULTICAST;
}

// enter_aggregate decodes the first of the frames in an A-MSDU: MACs and a length like
// Ethernet's, then LLC. The other frames count only in the length.
static void enter_aggregate(struct tb_walk *walk)
{
	uint16_t length;
	if (!tb_address_mac_at(walk->bytes, 0, &walk->ends->destination) ||
		!tb_address_mac_at(walk->bytes, 6, &walk->ends->source) ||
		!tb_bytes_u16(walk->bytes, 12, &length)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	note_group(walk);
	uint32_t wire_bytes = walk->frame->wire_bytes;
	tb_walk_as_ethernet(walk, SUBFRAME_BYTES);
	tb_walk_limit(walk, length);
	tb_walk_llc(walk, false, 0);
	if (walk->frame->wire_bytes < wire_bytes) // it is larger if it was sliced
		walk->frame->wire_bytes = wire_bytes;
}

static uint32_t header_bytes(uint8_t subtype, uint8_t flags)
{
	uint32_t n = 24;
	if ((flags & TO_DS) && (flags & FROM_DS))
		n += 6;
	if (subtype & SUBTYPE_QOS)
		n += 2;
	if ((subtype & SUBTYPE_QOS) && (flags & ORDER))
		n += 4;
	return n;
}

static void walk_data(struct tb_walk *walk, uint8_t subtype, uint8_t flags, bool padded)
{
	struct tb_frame *frame = walk->frame;
	uint32_t header = header_bytes(subtype, flags);
	uint16_t sequence;
	uint8_t qos = 0;
	if (!read_wlan_ends(walk, flags) ||
		!tb_bytes_u16_as(walk->bytes, 22, true, &sequence)) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	note_group(walk);
	if (subtype & SUBTYPE_QOS) {
		bool four = (flags & TO_DS) && (flags & FROM_DS);
		(void)tb_bytes_u8(walk->bytes, four ? 30 : 24, &qos);
	}
	tb_walk_as_ethernet(walk, padded ? (header + 3) & ~3u : header);
	bool fragment = (flags & MORE) || (sequence & 0x0f);
	if ((flags & PROTECTED) || fragment) {
		frame->type |= flags & PROTECTED ? TB_WLAN_ENCRYPTED : TB_WLAN_FRAGMENT;
		tb_walk_between_macs(walk);
	} else if (qos & QOS_AGGREGATE) {
		enter_aggregate(walk);
	} else {
		tb_walk_llc(walk, true, 0);
	}
}

void tb_walk_wlan(struct tb_walk *walk, struct tb_wlan_flags of_capture)
{
	struct tb_frame *frame = walk->frame;
	uint8_t control;
	uint8_t flags;
	if (!tb_bytes_u8(walk->bytes, 0, &control) ||
		!tb_bytes_u8(walk->bytes, 1, &flags)) {
		frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	uint8_t type = control >> 2 & 3;
	uint8_t subtype = control >> 4;
	tb_walk_type(walk, TB_REGISTRY_WLAN, (uint16_t)(type << 4 | subtype));
	if (of_capture.has_fcs && walk->wire_bytes > FCS_BYTES)
		tb_walk_limit(walk, walk->wire_bytes - FCS_BYTES);
	if ((control & 3) || of_capture.bad_fcs) {
		frame->type |= of_capture.bad_fcs ? TB_WLAN_BAD_FCS : 0;
		frame->kind = TB_FRAME_UNDECODABLE;
	} else if (type != TYPE_DATA || (subtype & SUBTYPE_NONE)) {
		frame->kind = TB_FRAME_CONTROL;
	} else {
		walk_data(walk, subtype, flags, of_capture.padded);
	}
}
