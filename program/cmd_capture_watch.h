// `tailback capture --watch`: the packets are replayed while they are captured, by this
// program once more, which shows them. A replay that cannot keep up misses packets; the
// capture does not wait for it.
#ifndef TB_CMD_CAPTURE_WATCH_H
#define TB_CMD_CAPTURE_WATCH_H

#include "beside.h"
#include "capture_write.h"

struct capture_watch {
	FILE *stream; // to the replay; NULL: nobody watches
	struct tb_beside beside;
	int most_bytes; // that may wait for the replay
	uint64_t n_missed;
};

// capture_watch_begin starts a replay on `network` into a store that is removed at the
// end, and sends it the header of the capture. A capture is not given up because it
// cannot be seen: what goes wrong is warned of.
void capture_watch_begin(struct capture_watch *watch, const char *network,
	const struct tb_capture_source *source);

// capture_watch_packet sends a packet, unless the replay is behind or gone.
void capture_watch_packet(
	struct capture_watch *watch, const struct tb_capture_packet *packet);
void capture_watch_flush(struct capture_watch *watch);

// capture_watch_end ends the capture for the replay, waits until whoever looks has seen
// enough, and removes the store. Harmless when nobody watches.
void capture_watch_end(struct capture_watch *watch, uint64_t from_ns, uint64_t to_ns,
	const struct tb_capture_counts *counts);

#endif
