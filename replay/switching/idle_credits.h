// What a message takes on an idle network with credits: rule C25 of docs/credits.md.
// Private to replay/.
#ifndef TB_IDLE_CREDITS_H
#define TB_IDLE_CREDITS_H

#include "idle.h"

// tb_idle_credits_ps is the time of a message from post to delivery. Cost: on an
// irregular network a few looks at each link of the path.
tb_time_ps tb_idle_credits_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

// tb_idle_credits_trip is that of a packet of so many bytes on the wire. Cost: likewise.
struct tb_idle_trip tb_idle_credits_trip(const struct tb_network *network,
	uint32_t source, uint32_t destination, uint64_t wire_bytes);

#endif
