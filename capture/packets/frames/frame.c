#include "frame.h"

#include "frame_walk.h"

#include <pcap/pcap.h>

bool tb_frame_has_point(int link_type)
{
	return link_type != DLT_LINUX_SLL;
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
	tb_walk_link(&walk, link_type);
	if (walk.broken)
		frame->kind = TB_FRAME_UNDECODABLE;
}
