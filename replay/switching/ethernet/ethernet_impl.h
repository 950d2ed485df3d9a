// The inside of Ethernet: ports with their queues, frames, and the streams of TCP.
//
// A node hands over packets, each of which is a segment. The model keeps them in the
// queue of a stream, one direction of a connection (streams.c, send.c), carries them in
// frames (ports.c), and gives them back to the receiving node in the order of the stream
// (receive.c). What an acknowledgement changes is in receive.c, the window in cubic.c.
// Captured frames belong to no stream.
//
// Parts (model.c): a port and its queue belong to the part of the link's sending
// end, what sends a stream to that of its source, what receives it to that of its
// destination. All that one of them learns of the other comes in a frame, but for the
// numbers of written packets, which the frame counts and a list passes on.
//
// Rules of TCP, which go on from E1 to E8 of docs/ethernet.md:
//
// E9. Connections. Each two nodes have one connection per job, which carries the
//   messages of both directions, those of a direction in the order of posting. A
//   segment holds what is written and not sent, up to `payload`, of any number of
//   messages; a message of no bytes takes one. The first message opens the connection,
//   of equals the lower node's: a frame of `overhead` bytes there, one back, then
//   segments; the other side sends once it has had one of these. Both sides so measure
//   their first round trip. These frames are never lost. A connection stays open.
// E10. The window. A connection has at most `receive_window` bytes and cwnd segments
//   under way. cwnd begins at `initial_window`. Below its threshold it grows by what is
//   acknowledged (slow start); above, as CUBIC with C = 0.4 and β = 0.7, at least as
//   fast as Reno does, and until the first loss by at least 5 % in a round trip. It
//   grows only if cwnd limited what was sent, in slow start also if more than half of
//   it was used. With `tcp = reno` it grows by one in a round trip above the threshold,
//   is halved by a loss, and E11 ends nothing. With `tcp = bbr` E21 replaces E10 to
//   E12.
// E11. End of slow start. From 16 segments on, the threshold becomes cwnd when one of
//   two holds. The shortest round trip of the first 8 acknowledgements of a round
//   exceeds the shortest of all by an eighth of that (at least 4, at most 16 ms). Or
//   acknowledgements at most 2 ms apart have been coming since the round began for half
//   of the sum of the shortest round trip and the time in which 256 KiB are sent (E14;
//   at most 1 ms), however small cwnd was then. That happens once, and again only after
//   a timeout.
// E12. After an idle time. With `idle_restart = yes` cwnd of a connection that had
//   nothing under way for longer than its timeout is halved for each timeout, down to
//   the initial window. For one that used less than cwnd for a timeout, cwnd goes
//   halfway to what it used. The threshold stays at least at three quarters of the
//   earlier cwnd.
// E13. Loss. Each acknowledgement names the segment, and its copy, that caused it, as
//   SACK does.
//   - Of all segments that have come, R is the one sent last, and r the time it took
//     (ignored for a repeated one if less than the least round trip). A segment sent
//     before R is lost r plus a margin after it was sent. The margin is a quarter of
//     the least round trip, or the smoothed one if less; none once three segments
//     behind it have come, or while losses are repaired, until one that was sent once
//     has come late. It is sent again before anything new, and cwnd shrinks once for
//     all losses until what was under way then is acknowledged.
//   - A copy that comes twice is reported (DSACK): once per round trip the margin grows
//     by another quarter, for 16 repairs. When all copies sent since a loss have come
//     twice, what the loss took from cwnd is given back.
//   - If nothing is known to be lost two smoothed round trips and 2 ms (`rto_min` if
//     one segment is under way) after the last segment or acknowledgement, a new
//     segment, or the last one again, *probes* beyond the window; if it repaired a
//     loss, cwnd shrinks.
//   - Without any acknowledgement for the timeout, all that is under way counts as
//     lost, cwnd is 1, and the next timeout is twice as long. If then a segment is
//     acknowledged that was not sent again, or a copy sent before, that is undone. The
//     timeout is at first 1 s, then the smoothed round trip plus four deviations of it,
//     the latter at least `rto_min` and falling slowly.
// E14. Batches. Segments leave a connection in batches (TSO) of at most half of cwnd.
//   - A batch is what the connection sends in a millisecond, at cwnd in a round trip
//     (twice that below half of the threshold, else 1.2 times), plus 64 KiB halved for
//     each half millisecond (512 µs in Linux) of the least round trip that its side has
//     measured; at least 2 segments, at most 64 KiB.
//   - While two batches are not acknowledged, the connection sends none if more of it
//     is in its node's queue than twice the batch takes, or than it sends in a
//     millisecond if that is more (at most 4 MiB; twice that for what is sent again).
//     So connections take turns there. A segment takes its payload and 640 +
//     `header_room` bytes; all that is not sent yet takes that addition once.
//   - What a program writes while something is not acknowledged, and while more of the
//     connection is in its node's queue than what is not sent takes, waits until the
//     latter is more or is 64 KiB, a frame has left, or an acknowledgement comes.
// E15. Coming in order. A receiver gives its node the segments of a connection in their
//   order. It drains at any rate.
// E16. Acknowledgements. These are acknowledged at once: more than a full segment; what
//   comes out of order or fills a gap; the end of a message, which its program then
//   reads; and each of the first 16 segments (or of those that fill half of
//   `receive_window`) of a connection or after a gap longer than the timeout. If the
//   program has sent something within `delayed_ack` (more, if segments come more
//   slowly) after one came, it is expected to reply: the last two cases then wait until
//   two messages have ended or for `delayed_ack`; after that no reply is expected.
//   Segments of the other direction carry the acknowledgement, too. Acknowledgements
//   queue like any frame (E4).
// E17. Sent. A message is sent when its connection's send buffer has all of it; so its
//   program goes on while it is under way, and one that writes into a socket (inputs)
//   waits for it. The buffer holds what is not acknowledged, and only what it holds is
//   sent: 2 · cwnd · (S + 256) bytes, at most 4 MiB, where S is the least power of two
//   that is not below `payload` + 320 + `header_room`. It begins with that of
//   `initial_window`, and becomes that of cwnd when an acknowledgement finds the buffer
//   full, but not the window. `header_room` is MAX_TCP_HEADER: 320 where the kernel
//   knows wireless LANs, 192 on the nodes measured in docs/ethernet.md.
// E21. BBR. With `tcp = bbr` a connection measures how fast its segments are delivered
//   (the largest of 10 rounds) and its least round trip (of 10 s). It *paces* its
//   batches by 0.99 of that rate times a gain, in bytes of frames; cwnd is twice what
//   fills the path, plus three of what is sent in a millisecond (two segments at
//   least). The gain is 2 / ln 2 until three rounds have
//   not brought a quarter more, then its inverse until the queue is drained, then 5/4,
//   3/4 and six times 1, a round trip each, from a phase that the seed chooses. After
//   10 s without a shorter round trip cwnd is 4 for 200 ms. A loss subtracts what it
//   took from cwnd, for a round; a full queue of the own node (E4) and idle times
//   subtract nothing. `bbr.h` lists what is left out.
//
// Sources:
//
// E9: [RFC 9293; tcp_sendmsg]; one connection per pair, opened by the lower node: Open
//   MPI; the rest is simplest.
// E10: [RFC 6928, 5681, 9438, 7661; Linux].
// E11: HyStart (Ha, Rhee, Taming the elephants: new TCP slow start, Computer Networks
//   55, 2011); bounds, and how often: `tcp_cubic.c`.
// E13: RACK and tail loss probes [RFC 8985]; timeouts [RFC 6298, 5682, 3522].
// E14: tcp_cwnd_test, tcp_small_queue_check (where a shaper splits batches),
//   tcp_should_autocork; tcp_limit_output_bytes, tcp_min_tso_segs, tcp_tso_rtt_log; 640
//   bytes: sk_buff, skb_shared_info and GRO's padding in SKB_SMALL_HEAD_SIZE of Linux
//   6.
// E16: [RFC 5681, 4.2]; __tcp_ack_snd_check, tcp_cleanup_rbuf, tcp_event_data_recv,
//   TCP_MAX_QUICKACKS, TCP_PINGPONG_THRESH = 1.
// E17: tcp_sndbuf_expand, tcp_should_expand_sndbuf, tcp_wmem.
// E21: version 1, `tcp_bbr.c` and `tcp_rate.c`; Cardwell et al., CACM 60, 2017; pacing
//   by frames as its scheduler fq.
#ifndef TB_ETHERNET_IMPL_H
#define TB_ETHERNET_IMPL_H

#include "bbr.h"
#include "ethernet_params.h"
#include "map.h"
#include "random.h"
#include "switching.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How many segments a TCP connection may have under way: slow start, when that ends, and
// CUBIC after it.
//
// Windows are counted in segments, as Linux does it. All arithmetic is in integers, so
// that a replay is the same on every machine. Sources: RFC 5681 (slow start), RFC 9438
// (CUBIC), RFC 2861 and RFC 5681 4.1 (after an idle time), Ha and Rhee, "Taming the
// elephants: New TCP slow start", Computer Networks 55, 2011 (HyStart).

#define TB_CUBIC_NO_THRESHOLD UINT32_MAX

struct tb_cubic {
	uint32_t window;    // segments that may be under way
	uint32_t threshold; // below it the window is in slow start
	uint32_t credit;    // acknowledged since the window last grew, in 1/1024 segments
	uint32_t restart;   // the initial window
	bool is_reno;	    // as RFC 5681 has it, without CUBIC and HyStart
	// CUBIC, since its last loss or from slow start on.
	tb_time_ps epoch; // TB_TIME_NEVER: has not begun
	uint32_t most;	  // the window at the last loss; 0: none was lost
	uint32_t origin;  // of the curve, where it is flat
	uint64_t k;	  // when the curve reaches it, in 1/1024 s from the epoch
	uint64_t reno;	  // what Reno would have, in 1/1024 segments
	// HyStart, of this round: one begins when what was sent at the beginning of the
	// one before is acknowledged.
	tb_time_ps least;	// round trip of all
	tb_time_ps round_least; // of this round's first acknowledgements
	tb_time_ps round_at, train_at;
	uint64_t round_end; // segment
	uint32_t n_samples;
	bool has_ended; // slow start; HyStart looks for its end once, until a timeout
};

// One acknowledgement, as the window sees it.
struct tb_cubic_ack {
	tb_time_ps now;
	tb_time_ps round_trip; // of the newest segment acknowledged; 0: not known
	tb_time_ps spread;     // by which batches may put off acknowledgements of a train
	uint32_t n;	       // segments that it acknowledges
	bool is_limited;       // the window, not the program, limited what was sent
	uint64_t acked, next;  // segments acknowledged so far, and sent so far
};

void tb_cubic_init(struct tb_cubic *cubic, uint32_t initial_window);

// tb_cubic_acked grows the window.
void tb_cubic_acked(struct tb_cubic *cubic, const struct tb_cubic_ack *ack);

// tb_cubic_lost shrinks it for a segment that was lost; tb_cubic_timed_out to one
// segment, for a connection whose retransmission timer has run out.
void tb_cubic_lost(struct tb_cubic *cubic);
void tb_cubic_timed_out(struct tb_cubic *cubic);

// tb_cubic_idle: nothing was under way for `idle`. Beyond the timeout the window is
// halved for each, down to the initial one.
void tb_cubic_idle(struct tb_cubic *cubic, tb_time_ps idle, tb_time_ps timeout);

// tb_cubic_unused: in the last timeout no more than `used` segments of the window were
// under way.
void tb_cubic_unused(struct tb_cubic *cubic, uint32_t used);

// tb_cubic_root3 returns the integer cube root, rounded down.
uint64_t tb_cubic_root3(uint64_t value);

#define NOTHING UINT32_MAX

enum ethernet_event_kind {
	EV_FREE =
		TB_EVENT_OF_MODEL, // port: its link has carried a frame; see its `tells`
	EV_COME,		   // frame: all of it is at the far end of a link
	EV_TIMEOUT,		   // stream: nothing was acknowledged for long
	EV_ACK,			   // stream: an acknowledgement was put off
	EV_PACE,		   // stream: pacing lets a batch go
};

// Rows of the wheel (base/containers/wheel.h). Over equal links, of frames of one size,
// those come later that begin to cross later: full ones, and mostly the others,
// acknowledgements.
enum { ROW_FULL, ROW_SHORT, ROWS };

enum frame_kind { FRAME_SEGMENT, FRAME_ACK, FRAME_OPEN, FRAME_OPENED, FRAME_CAPTURED };

struct tcp_frame {
	tb_time_ps made_at;  // with `order`, which is of its node, breaks ties
	uint64_t order;	     // node, and how many frames it had made before
	tb_time_ps ready_at; // it has come to the queue in which it stands
	uint64_t number;     // of the segment that it carries
	uint64_t end;	     // of that segment's bytes in the stream
	uint64_t n_taken;    // packets of the stream taken so far
	uint64_t acked;	     // segments of the reverse stream that have come in order
	uint64_t newest;     // the segment for which it acknowledges
	uint8_t newest_copy; // of that
	bool again;	     // which had come before (DSACK)
	bool is_pushed;	     // see struct segment
	uint32_t stream;  // in whose direction it goes; it acknowledges the reverse one
	uint32_t message; // of a captured frame, with `number` in it
	uint32_t flow;	  // that its waits are counted for
	uint32_t to;	  // node
	uint32_t from;	  // node
	uint32_t bytes;
	uint32_t link; // over which it came last
	uint32_t next; // in its queue, or of the free ones
	uint8_t kind;
	uint8_t n_hops, ascending;
	uint8_t copy; // of its segment
};

struct frame_waits { // of frames that wait now, in the open bin
	uint32_t n;
	uint32_t n_begun;   // of them, that began to wait in the bin
	tb_time_ps late_ps; // sum of the times from the bin's begin until they did
};

struct ethernet_port { // what sends on one link
	tb_time_ps free_at;
	uint64_t byte_q20;
	tb_time_ps latency_ps;
	tb_time_ps burst_ps; // what a shaper's burst takes at the rate
	uint32_t link, reverse;
	uint32_t first, last;	    // frames
	uint32_t queued, most;	    // bytes
	uint32_t waits, waits_last; // streams that wait for room in their node's queue
	uint32_t flow;	 // of the frame that crosses the link, or was the last to
	uint32_t stream; // of the segment that leaves its node on it; NOTHING: none
	uint32_t bytes;	 // of that segment's frame
	struct frame_waits waits_for; // frames that wait for the link
	struct frame_waits came_by;   // those that came by its reverse
	tb_time_ps passed_at;	      // the link lets the next frame cross
	bool crosses;		      // a frame does, perhaps until passed_at only
	bool tells; // an EV_FREE follows each frame; else only while others wait
};

enum timer_kind {
	TIMER_TIMEOUT, // all that is under way is given up
	TIMER_PROBE,   // a segment is sent to find out what has come
	TIMER_REORDER, // what should have come by now is lost
};

enum segment_state {
	SEGMENT_QUEUED, // not sent yet
	SEGMENT_SENT,
	SEGMENT_LOST,	// as its sender believes
	SEGMENT_SACKED, // has come out of order, as an acknowledgement said
};

struct written_packet { // what a program has written into a stream
	uint64_t end;	// of its bytes in the stream
	uint32_t message, number;
};

// Packets that are written into a stream and not given to the receiving node yet stand in
// a list of blocks: the sender adds at its end, the receiver takes from its beginning,
// and frees, what a frame says has been taken.
#define PACKETS_A_BLOCK 15u
struct written_block {
	struct written_block *next;
	struct written_packet at[PACKETS_A_BLOCK];
};

struct segment {
	tb_time_ps sent_at;
	uint64_t end;	// of its bytes in the stream
	uint32_t bytes; // on the wire
	uint8_t state;	// as its sender knows it
	bool is_pushed; // nothing was written behind it when it was sent first
	bool resent;	// was sent more than once
	uint8_t copy;	// the last one sent
	bool is_early;	// an earlier one has come, as an acknowledgement said
};

// What sends one direction of a connection. Numbers of segments, packets and bytes count
// from 0 and never wrap.
struct tcp_stream {
	uint32_t source, destination;
	uint32_t flow; // NOTHING: nothing was posted for it
	struct segment *ring;
	uint64_t mask;
	uint64_t acked, next; // segments acknowledged, and sent, so far
	// Packets: so far written, and taken into the send buffer.
	struct written_block *first, *taken_of, *last;
	uint64_t n_written, n_taken;
	uint64_t written, taken, sent, cleared; // bytes; cleared: acknowledged
	uint64_t room;				// bytes that the send buffer holds
	uint32_t n_lost, n_sacked;		// of those between acked and next
	bool is_opener;				// of its connection
	tb_time_ps first_at; // its first message is written; TB_TIME_NEVER: none posted
	bool is_open, opens, is_held; // held: by what of it stands in its node's queue
	tb_time_ps opens_at;
	tb_time_ps least;  // round trip
	uint32_t in_nic;   // memory of its segments in its node's queue, bytes
	uint64_t limit;	   // of in_nic, beyond which it is held
	uint64_t batch_at; // the first segment of the last batch
	uint32_t next_waiting;
	bool waits; // for room there
	struct tb_cubic cubic;
	struct tb_cubic before_timeout; // restored if the timeout proves wrong
	struct rated *rated;		// of tcp = bbr, once it is open; else NULL
	uint64_t recover;		// recovery ends when this is acknowledged
	bool recovers, timed_out;
	// Reordering: whether it was seen, how many quarters of the least round trip RACK
	// waits for what may be late, since when, and for how many repairs.
	bool reorders;
	uint8_t n_quarters, n_repairs;
	tb_time_ps quarters_at;
	uint64_t sacked_most; // the last segment sacked, and 1
	// What the last loss took, and how many copies sent since have not come twice.
	bool may_undo;
	uint32_t n_copies, window_then, threshold_then;
	uint64_t undo_from;
	// The timeout is srtt + rttvar, which Linux keeps as tb_acks_measure does: the
	// smoothed round trip, its mean deviation, four times the largest of that until
	// segment mdev_end is acknowledged, and the margin that falls towards that.
	tb_time_ps srtt, rttvar, mdev, mdev_max;
	uint64_t mdev_end;
	uint32_t n_timeouts;	      // since anything was acknowledged
	tb_time_ps sent_at, timer_at; // timer_at: of the event under way
	tb_time_ps timer_from;	      // when it was started anew
	tb_time_ps timeout_at;	      // the timer, of a timer_kind, runs out
	tb_time_ps give_up_at;	      // the retransmission timer would
	uint8_t timer_kind;
	// The last probe: it is over when all before probe_end are acknowledged.
	bool probes, probe_resent;
	uint64_t probe_end;
	// RACK: of all segments that have come the one that was sent last.
	tb_time_ps rack_at, rack_took;
	uint64_t rack_number;
	// Whether the window limits the sender in the round that ends when `round_end` is
	// acknowledged, and the most segments that were under way in that round.
	uint64_t round_end;
	uint32_t round_most;
	bool is_limited;
	uint32_t used; // the most segments under way while it did not, since used_since
	tb_time_ps used_since;
};

// What receives it.
struct tcp_receiver {
	uint32_t source, destination, flow; // as of its stream
	uint64_t *ends; // ring: of segments that have come; 0: has not
	uint64_t mask;
	uint64_t come;	    // segments that have come in order
	uint64_t come_most; // the last that has come, and 1
	uint64_t newest;
	uint64_t n_taken, n_given; // packets: that it knows of, and given to its node
	struct written_block *given_of;
	uint64_t block_end; // the number of the packet behind that block
	uint8_t newest_copy;
	bool again;	     // the newest had come before
	uint32_t unanswered; // payload
	uint8_t n_quick;     // acknowledgements that are not put off
	uint8_t n_pushed;    // ends of messages that were not acknowledged
	bool replies;	     // the program answers soon, which acknowledges
	tb_time_ps came_at;  // the last segment; TB_TIME_NEVER: none has
	tb_time_ps soon;     // how soon after the one before the next one is expected
	tb_time_ps answer_at, answer_timer_at;
};

struct tcp_table {		 // the streams of all parts; the whole adds to it
	struct tb_map stream_of; // by job and nodes
	struct tcp_stream *streams;
	struct tcp_receiver *receivers;
	// By stream, and by how many links a frame has crossed: the link over which it
	// goes on, NOTHING: not known yet. hops_most 0: frames take different ways.
	uint32_t *ways;
	uint32_t hops_most;
	uint32_t *of_message; // the stream
	uint32_t n;
	size_t streams_room, receivers_room, ways_room, of_message_room;
};

struct frame_arrival { // of this instant
	uint64_t turn; // drawn, of a pair of nodes
	tb_time_ps made_at;
	uint64_t order;
	struct tb_event event;
};

struct ethernet {
	struct tb_replay replay;
	// What parts share.
	struct ethernet_port *ports; // by link
	struct tb_cell **cells;
	struct tb_cell *cell; // by link
	uint64_t *n_made;     // frames, by node
	struct tcp_table *tcp;
	// What each has: links that begin in it, frames, and what arrives.
	uint32_t *own_links;
	uint32_t n_own;
	struct tcp_frame *frames;
	uint32_t n_frames, free_frame;
	size_t frames_room;
	struct frame_arrival *arrivals;
	uint32_t full_bytes;	     // of a frame
	uint32_t *freed, n_freed;    // links that fall free, among what arrives
	uint32_t n_arrivals, n_come; // n_come: frames among them
	size_t arrivals_room;
};

// tb_ethernet_draw returns a number of this instant for two nodes (rule E5).
static inline uint64_t tb_ethernet_draw(
	const struct ethernet *ethernet, uint32_t a, uint32_t b)
{
	uint64_t nodes = (uint64_t)a << 32 | b;
	return tb_random_mix(
		ethernet->replay.choice.seed ^
		tb_random_mix((uint64_t)ethernet->replay.now ^ tb_random_mix(nodes)));
}

static inline struct tcp_stream *tb_stream_at(
	const struct ethernet *ethernet, uint32_t stream)
{
	return &ethernet->tcp->streams[stream];
}

static inline struct tcp_receiver *tb_receiver_at(
	const struct ethernet *ethernet, uint32_t stream)
{
	return &ethernet->tcp->receivers[stream];
}

static inline const struct tb_ethernet_params *ethernet_params(
	const struct ethernet *ethernet)
{
	return tb_ethernet_params(&ethernet->replay.net->params);
}

static inline struct segment *segment_at(const struct tcp_stream *stream, uint64_t number)
{
	return &stream->ring[number & stream->mask];
}

// ports.c
//
// tb_ports_send puts a frame into the queue of its node's own port. tb_ports_make makes a
// frame of a node, zeroed but for that and what breaks ties, and returns its number, or
// NOTHING without memory. tb_ports_adopt takes one that crosses a link from another part
// and comes at `at`.
uint32_t tb_ports_make(struct ethernet *ethernet, uint32_t node);
void tb_ports_adopt(
	struct ethernet *ethernet, const struct tcp_frame *frame, tb_time_ps at);
// tb_ports_await returns whether the queue of a stream's own node has room for a segment
// of so many bytes. If not, tb_send_more is called when there is room again.
bool tb_ports_await(struct ethernet *ethernet, uint32_t stream, uint32_t bytes);
void tb_ports_send(struct ethernet *ethernet, uint32_t frame);
void tb_ports_free(struct ethernet *ethernet, uint32_t link);
// tb_ports_come: a frame has arrived at the end of a link. At a switch it joins the queue
// of its next port; at a node it returns true.
bool tb_ports_come(struct ethernet *ethernet, uint32_t frame);
void tb_ports_drop(struct ethernet *ethernet, uint32_t frame);
bool tb_ports_settle(struct tb_replay *replay, tb_time_ps until);
void tb_ports_blame_open(struct tb_replay *replay, tb_time_ps until);

// send.c
//
// tb_send_post takes a packet, whose record is no more then, into its stream.
void tb_send_post(struct ethernet *ethernet, uint32_t packet);
// tb_send_more sends what the window allows.
void tb_send_more(struct ethernet *ethernet, uint32_t stream);
// tb_send_acked does so after an acknowledgement. The buffer grows with the window when
// the window is not full, else not.
void tb_send_acked(struct ethernet *ethernet, uint32_t stream);
void tb_send_timeout(struct ethernet *ethernet, uint32_t stream);
// tb_send_set_timer starts the retransmission timer anew, or stops it when nothing is
// under way.
void tb_send_set_timer(struct ethernet *ethernet, uint32_t stream);
// tb_send_await has the timer run out at `at`, unless it would run out before.
void tb_send_await(
	struct ethernet *ethernet, uint32_t stream, enum timer_kind kind, tb_time_ps at);
static inline uint32_t tb_send_under_way(const struct tcp_stream *stream)
{
	return (uint32_t)(stream->next - stream->acked) - stream->n_lost -
	       stream->n_sacked;
}

// tb_send_passed: a segment of the stream has left its node, in a frame of so many bytes,
// which may make room for a further batch.
void tb_send_passed(struct ethernet *ethernet, uint32_t stream, uint32_t bytes);

// streams.c
//
#define TB_BATCH_MOST (1u << 16) // bytes that leave a connection as one (Linux's GSO)
// tb_send_room is how many bytes a send buffer has room for that is made now.
uint64_t tb_send_room(const struct ethernet *ethernet, const struct tcp_stream *stream);
// tb_send_spread is how long four of the largest batches take at the rate at which a
// connection sends, up to a millisecond.
tb_time_ps tb_send_spread(
	const struct ethernet *ethernet, const struct tcp_stream *stream);
// tb_send_batch is how many segments leave as one; tb_batch_quota, how many of them may
// go now.
uint32_t tb_send_batch(const struct ethernet *ethernet, const struct tcp_stream *stream);
uint32_t tb_batch_quota(const struct tcp_stream *stream, uint32_t batch);
// tb_batch_limit is how much of a connection may stand in its node's queue before such a
// batch follows: twice what the batch takes, or what is sent in a 1024th of a second;
// twice that for what is sent again.
uint64_t tb_batch_limit(
	const struct ethernet *ethernet, const struct tcp_stream *stream, uint32_t batch);
// tb_batch_beside is what a buffer takes beside its payload (truesize of Linux).
uint32_t tb_batch_beside(const struct ethernet *ethernet);

// How a connection opens (streams.c). tb_open_begin does so for a stream that has
// something to send; tb_open_come takes every frame that comes in the direction of a
// stream.
void tb_open_begin(struct ethernet *ethernet, uint32_t stream);
void tb_open_come(struct ethernet *ethernet, const struct tcp_frame *frame);

// receive.c: an acknowledgement has arrived, in a frame, at the sender of a stream.
void tb_acks_come(
	struct ethernet *ethernet, uint32_t stream, const struct tcp_frame *frame);
// tb_acks_timeout returns the time after which the retransmission timer runs out.
// tb_acks_limited returns whether the window is what limits the sender.
tb_time_ps tb_acks_timeout(const struct tcp_stream *stream);
bool tb_acks_limited(const struct tcp_stream *stream);
// tb_acks_measure adds a measured round trip to the estimate.
void tb_acks_measure(
	const struct ethernet *ethernet, struct tcp_stream *stream, tb_time_ps took);

// tb_losses_find marks segments that are lost, and shrinks the window if that is news. It
// sets the timer for those that may be.
void tb_losses_find(struct ethernet *ethernet, uint32_t stream);
// tb_losses_shrink shrinks the window, once for all that is under way.
// tb_losses_shrink_only does so without a loss to be repaired, which BBR ignores.
void tb_losses_shrink(struct tcp_stream *stream);
void tb_losses_shrink_only(struct tcp_stream *stream);

// receive.c
//
void tb_receive_segment(struct ethernet *ethernet, const struct tcp_frame *frame);
// tb_receive_late: the delay of an acknowledgement is over (EV_ACK).
void tb_receive_late(struct ethernet *ethernet, uint32_t stream);
// tb_receive_replied: its receiver sends a segment the other way.
void tb_receive_replied(const struct ethernet *ethernet, struct tcp_receiver *receiver);
// tb_receive_answer writes what acknowledges the reverse stream into a frame.
void tb_receive_answer(struct ethernet *ethernet, struct tcp_frame *frame);

// streams.c
//
// tb_streams_posted has the streams of a message that is posted be there, and settles who
// opens their connection (rule E9): in the whole, before anything of it is written.
void tb_streams_posted(struct ethernet *ethernet, uint32_t message);
// tb_streams_write adds a packet at a stream's end, of which the record is dropped;
// tb_streams_cut a segment of so many bytes behind those that were sent. False without
// memory. tb_streams_take returns the next packet that is written and not taken;
// tb_streams_next that which is taken and not given, NULL when there is none.
bool tb_streams_write(struct ethernet *ethernet, uint32_t stream, uint32_t packet);
bool tb_streams_cut(struct ethernet *ethernet, uint32_t stream, uint32_t payload);
const struct written_packet *tb_streams_take(struct tcp_stream *stream);
const struct written_packet *tb_streams_next(struct ethernet *ethernet, uint32_t stream);
// tb_streams_come notes that a segment, which ends at a byte, has come. False without
// memory.
bool tb_streams_come(struct tcp_receiver *receiver, uint64_t number, uint64_t end);
void tb_streams_free(struct tcp_table *tcp);

// tb_ethernet_make_own makes what a part has of its own, and its replay.
int tb_ethernet_make_own(struct ethernet *ethernet) TB_MUST_USE;

// tb_ethernet_hand hands over a frame that comes to the other end of its link at `at`.
void tb_ethernet_hand(
	struct ethernet *ethernet, const struct tcp_frame *frame, tb_time_ps at);

// What a connection of `tcp = bbr` has beyond others: how fast its segments are delivered
// (draft-cheng-iccrg-delivery-rate-estimation-00; tcp_rate.c of Linux), and when pacing
// lets the next batch go (tcp_pacing_check). Private to the switching `ethernet`.

struct ethernet;
struct tcp_frame;
struct tcp_stream;

struct rate_mark {	    // of a segment, made when it was sent
	uint64_t delivered; // so far
	tb_time_ps delivered_at, first_at;
	bool is_limited;
};

struct rated { // a stream
	struct tb_bbr bbr;
	struct rate_mark *marks; // a ring as that of its segments
	uint64_t mask;
	uint64_t delivered; // segments, in any order
	tb_time_ps delivered_at, first_at;
	uint64_t limited; // the program is what limits it until so many are; 0: it is not
	uint64_t n_sent;
	// Of what this acknowledgement delivers.
	uint32_t n, n_before; // segments; under way before it
	struct rate_mark newest;
	tb_time_ps newest_at; // sent
	uint64_t newest_number;
	tb_time_ps round_trip;
	bool is_short; // a segment of less than a full payload
	// Pacing: when the next batch may go, and the event for it.
	tb_time_ps goes_at, timer_at;
	uint64_t bytes; // sent since
};

// tb_rate_new begins for a stream whose connection opens, as its first round trip is
// known. Returns NULL without memory. tb_rate_free takes NULL, too.
struct rated *tb_rate_new(const struct ethernet *ethernet, uint32_t stream);
void tb_rate_free(struct rated *rated);

// tb_rate_posted: the program is about to post a segment.
void tb_rate_posted(const struct ethernet *ethernet, struct tcp_stream *stream);

// tb_rate_sent marks a segment that is about to be sent.
void tb_rate_sent(struct ethernet *ethernet, struct tcp_stream *stream, uint64_t number);

// tb_rate_delivered: a segment has come, as an acknowledgement says for the first time.
// tb_rate_acked ends that acknowledgement, by which `n_lost` turned out to be lost, and
// sets window and pacing.
void tb_rate_delivered(
	const struct ethernet *ethernet, struct tcp_stream *stream, uint64_t number);
void tb_rate_acked(
	const struct ethernet *ethernet, struct tcp_stream *stream, uint32_t n_lost);

// tb_rate_late: the event of tb_rate_waits (EV_PACE).
void tb_rate_late(struct ethernet *ethernet, uint32_t stream);

// tb_rate_bytes is the payload that pacing lets go in a 1024th of a second.
uint64_t tb_rate_bytes(const struct ethernet *ethernet, const struct tcp_stream *stream);

#endif
