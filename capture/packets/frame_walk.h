// The decoder's position in a frame, and its steps. Only for frame*.c.
#ifndef TB_FRAME_WALK_H
#define TB_FRAME_WALK_H

#include "frame.h"
#include "random.h"

// EtherTypes (IANA ieee-802-numbers) that other headers than Ethernet's also use.
#define TB_ETHER_TYPE_IPV4  0x0800
#define TB_ETHER_TYPE_TEB   0x6558 // transparent Ethernet bridging: a whole frame
#define TB_ETHER_TYPE_IPV6  0x86dd
#define TB_ETHER_TYPE_PPP   0x880b
#define TB_ETHER_TYPE_MPLS  0x8847
#define TB_ETHER_TYPE_ROCE  0x8915
#define TB_ETHER_TYPE_NSH   0x894f
#define TB_ETHER_TYPE_LEAST 0x0600 // lower values are lengths

struct tb_walk {
	struct tb_frame *frame;
	struct tb_frame_ends *ends;
	struct tb_bytes bytes; // captured bytes, from the current header on
	uint32_t wire_bytes;   // bytes on the wire, from the current header on
	uint32_t walked_bytes; // bytes on the wire before the current header
	uint32_t link_bytes;   // part of them: before the network header
	uint8_t n_nested;      // EtherTypes followed so far
	bool digest;
	bool guessed; // no field names the current header, so a wrong length refutes it
	bool broken;  // stepped over more than there is
};

// A saved position, to which a decoder returns if it guessed the next header wrongly.
struct tb_walk_place {
	struct tb_walk walk;
	struct tb_frame frame;
	struct tb_frame_ends ends;
};

static inline struct tb_walk_place tb_walk_here(const struct tb_walk *walk)
{
	return (struct tb_walk_place){*walk, *walk->frame, *walk->ends};
}

static inline void tb_walk_return(struct tb_walk *walk, const struct tb_walk_place *place)
{
	*walk = place->walk;
	*walk->frame = place->frame;
	*walk->ends = place->ends;
}

// tb_walk_type stores the type of the next header. If decoding ends here, a summary lists
// the frame under this type.
static inline void tb_walk_type(
	struct tb_walk *walk, enum tb_frame_registry registry, uint16_t number)
{
	walk->frame->registry = registry & 15;
	walk->frame->type = number;
}

// tb_walk_on steps over a header of `n` bytes. If that exceeds the length on the wire,
// the walk is broken.
static inline void tb_walk_on(struct tb_walk *walk, uint32_t n)
{
	if (n > walk->wire_bytes) {
		walk->broken = true;
		n = walk->wire_bytes;
	}
	walk->bytes = tb_bytes_after(walk->bytes, n);
	walk->wire_bytes -= n;
	walk->walked_bytes += n;
}

// tb_walk_limit drops padding: all bytes after the next `n`.
static inline void tb_walk_limit(struct tb_walk *walk, uint32_t n)
{
	if (n < walk->wire_bytes)
		walk->wire_bytes = n;
	if (n < walk->bytes.n)
		walk->bytes.n = n;
}

// tb_walk_length takes the length that a header states for itself and what it carries:
// the rest is padding, or the frame was sliced and its missing bytes count again.
static inline void tb_walk_length(struct tb_walk *walk, uint32_t n)
{
	if (n > walk->wire_bytes) {
		struct tb_frame *frame = walk->frame;
		uint64_t whole = (uint64_t)walk->walked_bytes + n;
		if (frame->wire_bytes < whole)
			frame->wire_bytes =
				whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
		frame->sliced = true;
		walk->wire_bytes = n;
	}
	tb_walk_limit(walk, n);
}

// tb_walk_digest adds a number to the frame's digest.
static inline void tb_walk_digest(struct tb_walk *walk, uint64_t number)
{
	if (walk->digest)
		walk->frame->digest = tb_random_mix(walk->frame->digest * 3 + number + 1);
}

// tb_walk_payload ends the walk: the rest, except for `trailer_bytes`, is payload.
static inline bool tb_walk_payload(struct tb_walk *walk, uint32_t trailer_bytes)
{
	struct tb_frame *frame = walk->frame;
	uint32_t network = walk->walked_bytes - walk->link_bytes;
	if (walk->walked_bytes > UINT16_MAX || trailer_bytes > walk->wire_bytes)
		return false;
	frame->header_bytes = (uint16_t)walk->walked_bytes;
	frame->network_header_bytes = (uint16_t)network;
	frame->payload_bytes = walk->wire_bytes - trailer_bytes;
	if (!walk->broken)
		tb_walk_type(walk, TB_REGISTRY_NONE, 0);
	return true;
}

// tb_walk_control ends the walk of a frame of a link protocol.
static inline bool tb_walk_control(struct tb_walk *walk)
{
	walk->frame->kind = TB_FRAME_CONTROL;
	return true;
}

// tb_walk_group sets the kind by the destination's MAC.
static inline void tb_walk_group(struct tb_walk *walk)
{
	uint64_t destination = walk->ends->destination.low;
	if (destination == 0xffffffffffff)
		walk->frame->kind = TB_FRAME_BROADCAST;
	else if (destination >> 40 & 1)
		walk->frame->kind = TB_FRAME_MULTICAST;
}

// tb_walk_drop steps over `n` bytes that were not on the wire, and does not count them.
void tb_walk_drop(struct tb_walk *walk, uint32_t n);

// tb_walk_as_ethernet steps over a link header of `n` bytes that is not Ethernet's, or
// that the capture added, and counts an Ethernet header instead. So a job has the same
// bytes wherever it was captured.
void tb_walk_as_ethernet(struct tb_walk *walk, uint32_t n);

// tb_walk_between_macs ends the walk with the MACs as endpoints; without MACs the frame
// is undecodable. It keeps the stored type.
bool tb_walk_between_macs(struct tb_walk *walk);

// Each of these decodes from the walk's position on and sets the frame's kind; false if
// the frame ends within its headers, or they are broken.
bool tb_walk_ethernet(struct tb_walk *walk);
bool tb_walk_ethernet_tagged(struct tb_walk *walk, uint32_t tag);
bool tb_walk_ether_type(struct tb_walk *walk, uint16_t type);
bool tb_walk_ip(struct tb_walk *walk); // the version is in the first byte
bool tb_walk_infiniband(struct tb_walk *walk);
bool tb_walk_roce_v1(struct tb_walk *walk);
bool tb_walk_roce_v2(struct tb_walk *walk); // after UDP

// IEEE 802.2. On links other than Ethernet (`translate`), SNAP does not count, because a
// bridge to Ethernet would replace it by the EtherType. `bridge_pad` bytes precede a
// whole Ethernet frame within SNAP.
bool tb_walk_llc(struct tb_walk *walk, bool translate, uint32_t bridge_pad);
bool tb_walk_snap(struct tb_walk *walk, bool translate, uint32_t bridge_pad);

bool tb_walk_pppoe(struct tb_walk *walk);
bool tb_walk_ppp(struct tb_walk *walk); // within another header, not as a link

// tb_walk_next_protocol translates the "next protocol" of NSH and VXLAN-GPE to an
// EtherType; false if there is none.
bool tb_walk_next_protocol(uint8_t next, uint16_t *type);

#endif
