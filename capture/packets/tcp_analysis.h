// Analyzes TCP connections, frame by frame: which segments were sent again and why,
// windows that closed or held the sender up, and round trips.
//
// The classes are those of Wireshark's user's guide ("TCP analysis", section 7.5), so
// counts compare with tshark's, but for copies from several points and traffic within a
// node. Everything is judged as it passed the point of the capture: near the sender a
// round trip is the path's, near the receiver it is the time of the receiver's answer.
//
// Use: the frames of a connection in the order of time, without copies, each with the
// state of both its ends. State per connection is constant. Round trips need the times of
// segments that were not acknowledged yet: the analysis remembers about 131,072 of them,
// for all connections, and forgets the oldest. Memory: 2 MB. Not thread safe.
#ifndef TB_TCP_ANALYSIS_H
#define TB_TCP_ANALYSIS_H

#include "congestion.h"
#include "frame.h"
#include "status.h"

// What a frame is; bits of tb_tcp_events.is. A segment that was sent again has exactly
// one of FAST, TIMEOUT, SPURIOUS and AGAIN.
enum tb_tcp_is {
	TB_TCP_IS_FAST = 1 << 0,     // sent again after two duplicate acknowledgements
	TB_TCP_IS_TIMEOUT = 1 << 1,  // sent again after both ends had been silent
	TB_TCP_IS_SPURIOUS = 1 << 2, // sent again, although it had been acknowledged
	TB_TCP_IS_AGAIN = 1 << 3, // sent again otherwise, as in the course of a recovery
	TB_TCP_IS_OUT_OF_ORDER = 1 << 4,
	TB_TCP_IS_KEEP_ALIVE = 1 << 5, // repeats the last byte, or sends none before it
	TB_TCP_IS_DUPLICATE_ACK = 1 << 6,
	TB_TCP_IS_KEEP_ALIVE_ACK = 1 << 7,
	TB_TCP_IS_ZERO_WINDOW = 1 << 8,	 // its sender takes no more bytes
	TB_TCP_IS_WINDOW_PROBE = 1 << 9, // one byte, to a window of zero
	TB_TCP_IS_PROBE_ACK = 1 << 10,	 // the answer: still zero
	TB_TCP_IS_WINDOW_FULL = 1 << 11, // it fills the receiver's window exactly
	TB_TCP_IS_WINDOW_UPDATE = 1 << 12,
	TB_TCP_IS_HANDSHAKE = 1 << 13, // answers a SYN, or a SYN/ACK; rtt_ns is this half
};

#define TB_TCP_IS_RETRANSMISSION                                                         \
	(TB_TCP_IS_FAST | TB_TCP_IS_TIMEOUT | TB_TCP_IS_SPURIOUS | TB_TCP_IS_AGAIN)

#define TB_TCP_WINDOW_UNKNOWN UINT32_MAX

// What the analysis found in one frame. "Peer" is its destination.
struct tb_tcp_events {
	uint32_t is;	 // TB_TCP_IS_...
	uint32_t window; // bytes beyond what it acknowledges that its sender can take
			 // TB_TCP_WINDOW_UNKNOWN: the handshake was not captured
	// Since the peer's segment that it acknowledges passed; -1: none, or that segment
	// was sent twice, so nobody knows which of them is acknowledged (Karn).
	int64_t rtt_ns;
	// How much of the time since the connection's last frame the window of this
	// frame's sender was zero, and its peer's. Their sums over a connection are how
	// long its windows were closed.
	int64_t closed_ns, peer_closed_ns;
	// How long the peer's window had left no room for a full segment before its
	// sender could send this one, and when that began (since the epoch). 0: it was
	// free, or did not go on within a round trip after there was room.
	int64_t limited_ns, limited_from_ns;
	// Of segments sent again: since the connection's last frame.
	int64_t silent_ns;
	// Where the time of both directions went since it was last told: of this frame's,
	// to which data puts an end, and of its peer's, to which an acknowledgement does.
	int64_t spent_ns[TB_FLOW_TIME_N], peer_spent_ns[TB_FLOW_TIME_N];
	bool spends, peer_spends; // whether there is any
};

#define TB_TCP_RECENT 4 // segments that a side remembers itself

// One end of a connection, as its frames show. A zeroed struct is one of which nothing
// has been seen.
struct tb_tcp_side {
	int64_t last_ns;    // its last frame
	int64_t next_ns;    // when `next` grew
	int64_t ack_ns;	    // its last acknowledgement
	int64_t full_ns;    // since when there was no room for a full segment
	int64_t room_ns;    // until when, if has_room
	int64_t half_ns;    // of the handshake: from its SYN to the answer
	int64_t told_ns;    // until when it is told where its time went; 0: not begun
	int64_t stopped_ns; // of that, behind the window, if its sender goes on
	uint32_t id;	    // in the table of segments
	uint32_t pair;	    // for who counts by pair of endpoints; 0: none yet
	uint32_t first;	    // sequence number of the SYN, or the first one seen
	uint32_t next;	    // after the highest sequence number
	uint32_t ack;	    // the last number that it acknowledged
	uint32_t again;	    // after the last segment sent again, if `ambiguous`
	uint32_t recovered; // what was under way when one was sent again, if `recovers`
	uint32_t spilled;   // after the last segment that is in the table, if has_spilled
	uint32_t ends[TB_TCP_RECENT]; // after its last segments, and when these passed
	int64_t times_ns[TB_TCP_RECENT];
	uint16_t window; // as it stood in its last frame
	uint16_t n_dup_acks;
	uint8_t window_scale; // of its SYN: shift + 1; 0: no option
	// Bytes, not bits: a word that is read just after one of its bits was written has
	// to wait for that.
	bool begun; // `next` is known
	bool acked; // `ack` is known
	bool syn;   // its SYN was seen
	bool last_was_syn;
	bool last_was_keep_alive;
	bool last_was_probe;
	bool closed; // its window is zero
	bool is_full;
	bool has_room;
	bool recovers;
	bool ambiguous; // bytes that were sent again are not acknowledged
	bool has_half;
	bool has_spilled;
	uint8_t first_recent; // the oldest of the segments above
	uint8_t n_recent;     // how many of them there are
};

struct tb_tcp_analysis; // opaque

int tb_tcp_analysis_new(struct tb_tcp_analysis **analysis) TB_MUST_USE;
void tb_tcp_analysis_free(struct tb_tcp_analysis *analysis);

// tb_tcp_analyze takes up a TCP frame from `there` to `back` and fills `events`.
// `full_bytes`: payload of a full segment, 0 when unknown. Constant cost.
void tb_tcp_analyze(struct tb_tcp_analysis *analysis, struct tb_tcp_side *there,
	struct tb_tcp_side *back, const struct tb_frame *frame, int64_t at_ns,
	uint32_t full_bytes, struct tb_tcp_events *events);

// tb_tcp_handshake_ns returns the round trip between both ends by their handshake: from
// the SYN until its answer was acknowledged; -1: it was not captured.
static inline int64_t tb_tcp_handshake_ns(
	const struct tb_tcp_side *a, const struct tb_tcp_side *b)
{
	return a->has_half && b->has_half ? a->half_ns + b->half_ns : -1;
}

#endif
