// `tailback capture --watch`: a second process of this program replays the packets while
// they are captured, and shows the run. A replay that cannot keep up misses packets; the
// capture does not wait for it.
#ifndef TB_CMD_CAPTURE_WATCH_H
#define TB_CMD_CAPTURE_WATCH_H

#include "beside.h"
#include "capture_write.h"

struct capture_watch {
	FILE *stream; // to the replay; NULL: there is none
	struct tb_beside beside;
	int most_bytes; // that may be in the pipe to the replay
	uint64_t n_missed;
};

// capture_watch_begin starts a replay on `network` into a store that is removed at the
// end, and sends it the header of the capture. On failure it prints a warning, and the
// capture goes on unwatched.
void capture_watch_begin(struct capture_watch *watch, const char *network,
	const struct tb_capture_source *source);

// capture_watch_packet sends a packet, unless the replay is behind or has ended.
void capture_watch_packet(
	struct capture_watch *watch, const struct tb_capture_packet *packet);
void capture_watch_flush(struct capture_watch *watch);

// capture_watch_end ends the capture for the replay, waits until the user closes it, and
// removes the store. Harmless without a replay.
void capture_watch_end(struct capture_watch *watch, uint64_t from_ns, uint64_t to_ns,
	const struct tb_capture_counts *counts);

#endif
