// InfiniBand, natively and over Ethernet. Fields as in the InfiniBand Architecture
// Specification, volume 1, chapters 7 (link), 8 (network) and 9 (transport).
#include "frame_walk.h"

#define LRH_BYTES	   8
#define GRH_BYTES	   40
#define BTH_BYTES	   12
#define SYNDROME_NOT_READY 1
#define ICRC_BYTES	   4

#define NEXT_IS_BTH    0x1b // the global route header's next header
#define LID_MULTICAST  0xc000
#define LID_PERMISSIVE 0xffff
#define NEXT_IS_GRH    3 // the link header's LNH
#define NEXT_IS_LOCAL  2

// Operations, the low five bits of the opcode; the high three are the service.
#define OP_ACKNOWLEDGE	      17
#define OP_ATOMIC_ACKNOWLEDGE 18
#define SERVICE_RC	      0
#define SERVICE_RD	      2
#define SERVICE_UD	      3
#define SERVICE_CNP	      4 // congestion notification, RoCE v2
#define SERVICE_XRC	      5
#define OPCODE_CNP	      0x81

// extended_bytes returns the length of the extended headers after the base transport
// header: by operation (specification, table 38), plus those of the service.
static uint32_t extended_bytes(uint8_t opcode)
{
	static const uint8_t of_operation[32] = {
		[3] = 4,   // send last with immediate
		[5] = 4,   // send only with immediate
		[6] = 16,  // write first
		[9] = 4,   // write last with immediate
		[10] = 16, // write only
		[11] = 20, // write only with immediate
		[12] = 16, // read request
		[13] = 4,  // read response first
		[15] = 4,  // read response last
		[16] = 4,  // read response only
		[17] = 4,  // acknowledge
		[18] = 12, // atomic acknowledge
		[19] = 28, // compare and swap
		[20] = 28, // fetch and add
		[22] = 4,  // send last with invalidate
		[23] = 4,  // send only with invalidate
	};
	switch (opcode >> 5) {
	case SERVICE_RD:
		return of_operation[opcode & 31] + 12u;
	case SERVICE_UD:
		return of_operation[opcode & 31] + 8u;
	case SERVICE_XRC:
		return of_operation[opcode & 31] + 4u;
	default:
		return of_operation[opcode & 31];
	}
}

static bool walk_bth(struct tb_walk *walk, uint32_t trailer_bytes)
{
	struct tb_frame *frame = walk->frame;
	uint8_t opcode, pad, syndrome, notes = 0; // forward and backward notification
	uint32_t queue_pair, sequence;
	if (!tb_bytes_u8(walk->bytes, 0, &opcode) || !tb_bytes_u8(walk->bytes, 1, &pad) ||
		!tb_bytes_u24(walk->bytes, 5, &queue_pair) ||
		!tb_bytes_u24(walk->bytes, 9, &sequence))
		return tb_walk_payload(walk, 0);
	(void)tb_bytes_u8(walk->bytes, 4, &notes);
	uint8_t operation = opcode & 31;
	uint8_t service = opcode >> 5;
	uint32_t extended = extended_bytes(opcode);
	trailer_bytes += pad >> 4 & 3;
	if (service == SERVICE_RC)
		frame->transport = TB_TRANSPORT_RC;
	frame->channel = queue_pair;
	frame->sequence = sequence;
	frame->cnp = opcode == OPCODE_CNP;
	frame->marked |= notes >> 7;
	frame->response = operation >= 13 && operation <= OP_ATOMIC_ACKNOWLEDGE;
	// Return what the operation says of messages (specification, table 38): 2 and 3
	// are the last of a send, 4 and 5 the only, and so on.
	static const uint8_t of_operation[32] = {[2] = TB_RC_ENDS,
		[3] = TB_RC_ENDS,
		[4] = TB_RC_ENDS,
		[5] = TB_RC_ENDS,
		[8] = TB_RC_ENDS,
		[9] = TB_RC_ENDS,
		[10] = TB_RC_ENDS,
		[11] = TB_RC_ENDS,
		[12] = TB_RC_ENDS | TB_RC_REQUEST,
		[15] = TB_RC_ENDS,
		[16] = TB_RC_ENDS,
		[OP_ATOMIC_ACKNOWLEDGE] = TB_RC_ENDS,
		[19] = TB_RC_ENDS | TB_RC_REQUEST,
		[20] = TB_RC_ENDS | TB_RC_REQUEST,
		[22] = TB_RC_ENDS,
		[23] = TB_RC_ENDS};
	frame->flags = of_operation[operation];
	frame->acknowledgement = service == SERVICE_CNP || operation == OP_ACKNOWLEDGE ||
				 operation == OP_ATOMIC_ACKNOWLEDGE;
	// The syndrome leads the extended header; its bits 6 and 5 tell what it
	// acknowledges.
	frame->not_ready = service == SERVICE_RC && operation == OP_ACKNOWLEDGE &&
			   tb_bytes_u8(walk->bytes, BTH_BYTES, &syndrome) &&
			   (syndrome >> 5 & 3) == SYNDROME_NOT_READY;
	tb_walk_digest(walk, (uint64_t)queue_pair << 32 | sequence);
	tb_walk_digest(walk, opcode);
	tb_walk_on(walk, BTH_BYTES + extended);
	return tb_walk_payload(walk, trailer_bytes);
}

bool tb_walk_roce_v2(struct tb_walk *walk)
{
	return walk_bth(walk, ICRC_BYTES);
}

// walk_grh makes the GIDs the endpoints. It returns whether a base transport header
// follows.
static bool walk_grh(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint8_t next;
	if (!tb_bytes_u8(walk->bytes, 6, &next) ||
		!tb_address_wide_at(
			walk->bytes, 8, TB_ADDRESS_GID, &walk->ends->source) ||
		!tb_address_wide_at(
			walk->bytes, 24, TB_ADDRESS_GID, &walk->ends->destination)) {
		walk->broken = true;
		return false;
	}
	if (walk->ends->destination.high >> 56 == 0xff && frame->kind == TB_FRAME_DATA)
		frame->kind = TB_FRAME_MULTICAST;
	tb_walk_digest(walk, walk->ends->source.high);
	tb_walk_digest(walk, walk->ends->source.low);
	tb_walk_digest(walk, walk->ends->destination.high);
	tb_walk_digest(walk, walk->ends->destination.low);
	tb_walk_on(walk, GRH_BYTES);
	return next == NEXT_IS_BTH;
}

static bool unknown_transport(struct tb_walk *walk)
{
	tb_walk_digest(walk, walk->wire_bytes);
	return tb_walk_payload(walk, 0);
}

bool tb_walk_roce_v1(struct tb_walk *walk)
{
	uint16_t payload;
	if (tb_bytes_u16(walk->bytes, 4, &payload))
		tb_walk_length(walk, payload + (uint32_t)GRH_BYTES);
	walk->link_bytes = walk->walked_bytes;
	return walk_grh(walk) ? walk_bth(walk, ICRC_BYTES)
			      : !walk->broken && unknown_transport(walk);
}

bool tb_walk_infiniband(struct tb_walk *walk)
{
	struct tb_frame *frame = walk->frame;
	uint8_t next;
	uint16_t to, from, words;
	if (!tb_bytes_u8(walk->bytes, 1, &next) || !tb_bytes_u16(walk->bytes, 2, &to) ||
		!tb_bytes_u16(walk->bytes, 4, &words) ||
		!tb_bytes_u16(walk->bytes, 6, &from))
		return false;
	walk->ends->source = (struct tb_address){.low = from, .kind = TB_ADDRESS_LID};
	walk->ends->destination = (struct tb_address){.low = to, .kind = TB_ADDRESS_LID};
	tb_walk_type(walk, TB_REGISTRY_ETHER, TB_ETHER_TYPE_ROCE); // as if over Ethernet
	if (to == LID_PERMISSIVE)
		frame->kind = TB_FRAME_CONTROL; // a direct-routed management packet
	else if (to >= LID_MULTICAST)
		frame->kind = TB_FRAME_MULTICAST;
	tb_walk_digest(walk, (uint64_t)from << 32 | (uint64_t)to << 16 | words);
	// The length counts words of four bytes, without the variant CRC at the end.
	uint32_t length = (words & 0x7ffu) * 4;
	if (length < LRH_BYTES)
		return false;
	tb_walk_length(walk, length);
	tb_walk_on(walk, LRH_BYTES);
	next &= 3;
	bool transport = next == NEXT_IS_LOCAL || (next == NEXT_IS_GRH && walk_grh(walk));
	bool whole = transport ? walk_bth(walk, ICRC_BYTES)
			       : !walk->broken && unknown_transport(walk);
	if (frame->kind == TB_FRAME_CONTROL)
		tb_walk_type(walk, TB_REGISTRY_ETHER, TB_ETHER_TYPE_ROCE);
	return whole;
}
