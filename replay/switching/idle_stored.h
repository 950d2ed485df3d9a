// What a message takes on an idle network whose switches store and forward: rule E20 of
// docs/ethernet.md. Private to replay/.
#ifndef TB_IDLE_STORED_H
#define TB_IDLE_STORED_H

#include "idle.h"

// tb_idle_stored_ps is the least time of a message from post to delivery: each link on
// the way begins with a full bucket. Cost: on an irregular network a few looks at each
// link of the path.
tb_time_ps tb_idle_stored_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

// What a frame of so many bytes meets between two nodes, each link with a full bucket.
struct tb_idle_frame {
	tb_time_ps injection, ejection; // they carry it for so long
	tb_time_ps between; // from when it has passed the injection link until it has
			    // come to the ejection link
	tb_time_ps behind;  // latency of the ejection link
};

struct tb_idle_frame tb_idle_frame(const struct tb_network *network, uint32_t source,
	uint32_t destination, uint64_t wire_bytes);

// tb_idle_burst returns what the bucket of a link's shaper holds, as the time that the
// link takes for it.
tb_time_ps tb_idle_burst(const struct tb_network *network, uint32_t link);

#endif
