// The inside of Ethernet: ports with their queues, frames, and the streams of TCP.
//
// The node hands over packets, each of which is a segment: the model keeps them in a
// stream's queue (send.c), carries them in frames (ports.c), and gives them back to the
// node in the order of the stream (receive.c). Frames that were captured belong to no
// stream.
#ifndef TB_ETHERNET_IMPL_H
#define TB_ETHERNET_IMPL_H

#include "cubic.h"
#include "map.h"
#include "switching.h"

#include <stddef.h>

#define NOTHING UINT32_MAX

enum event_kind {
	EV_FREE = TB_EVENT_OF_MODEL, // port: its link has carried a frame
	EV_COME,		     // frame: all of it is at the far end of a link
	EV_TIMEOUT,		     // stream: nothing was acknowledged for long
	EV_ACK,			     // stream: an acknowledgement was put off
};

struct packet { // a segment, of a stream or captured
	struct tb_packet of;
};

enum frame_kind { FRAME_SEGMENT, FRAME_ACK, FRAME_OPEN, FRAME_OPENED, FRAME_CAPTURED };

struct frame {
	uint64_t order;	     // in which frames were made: breaks ties
	tb_time_ps ready_at; // it has come to the queue in which it stands
	uint64_t number;     // of the segment that it carries
	uint64_t acked;	     // segments of the reverse stream that have come in order
	uint64_t newest;     // the segment for which it acknowledges
	uint32_t stream; // in whose direction it goes; it acknowledges the reverse one
	uint32_t packet; // of a captured frame
	uint32_t flow;	 // that its waits are counted for
	uint32_t to;	 // node
	uint32_t from;	 // node
	uint32_t bytes;
	uint32_t link; // over which it came last
	uint32_t next; // in its queue, or of the free ones
	uint8_t kind;
	uint8_t n_hops, ascending;
};

struct port { // what sends on one link
	tb_time_ps free_at;
	uint64_t byte_q20;
	tb_time_ps latency_ps;
	tb_time_ps burst_ps; // what a shaper's burst takes at the rate
	uint32_t link;
	uint32_t first, last;  // frames
	uint32_t queued, most; // bytes
	uint32_t flow;	       // of the frame that crosses the link, or was the last to
	uint32_t stream;       // of the segment that leaves its node on it; NOTHING: none
	bool crosses;
};

enum segment_state {
	SEGMENT_QUEUED, // not sent yet
	SEGMENT_SENT,
	SEGMENT_LOST,  // as its sender believes
	SEGMENT_KNOWN, // to have come out of order
};

struct segment {
	tb_time_ps sent_at;
	uint32_t packet;
	uint32_t bytes; // on the wire
	uint8_t state;	// as its sender knows it
	bool has_come;
	bool again; // was sent more than once
};

// One direction of a connection. Numbers of segments count from 0 and never wrap.
struct stream {
	uint32_t source, destination;
	uint32_t flow; // of its newest segment
	// The sender.
	struct segment *ring;
	uint64_t mask;
	uint64_t acked, next, end;    // segments acknowledged, sent, and posted, so far
	uint64_t payload_out;	      // bytes that are sent and not acknowledged
	uint32_t n_lost, n_known;     // of those between acked and next
	bool is_open, opens, is_held; // held: by what of it stands in its node's queue
	tb_time_ps opens_at;
	tb_time_ps least;    // round trip
	uint32_t n_standing; // segments, in its node's queue
	struct tb_cubic cubic;
	struct tb_cubic before; // the time-out, should it prove wrong
	uint64_t recover;	// recovery ends when this is acknowledged
	bool recovers, timed_out;
	// The round trip and what may be added to it before the timer runs out, and how
	// the latter came about (send.c).
	tb_time_ps smoothed, margin, deviation, peak;
	uint64_t peak_end;
	uint32_t n_timeouts;			  // since anything was acknowledged
	tb_time_ps sent_at, timeout_at, timer_at; // timer_at: of the event under way
	// Whether the window limits what is sent: in the round that ends when `round_end`
	// is acknowledged, and the most segments that were under way in it.
	uint64_t round_end;
	uint32_t round_most;
	bool is_limited;
	uint32_t used; // the most segments under way while it did not, since used_since
	tb_time_ps used_since;
	// The receiver.
	uint64_t come;	    // segments that have come in order
	uint64_t come_most; // the last that has come, and 1
	uint64_t newest;
	uint32_t n_unanswered;
	tb_time_ps answer_at, answer_timer_at;
};

struct arrival { // of this instant
	uint64_t order;
	struct tb_event event;
};

struct ethernet {
	struct tb_replay replay;
	struct port *ports; // by link
	struct tb_cell **cells;
	struct tb_cell *cell; // by link
	struct frame *frames;
	uint32_t n_frames, free_frame;
	size_t frames_room;
	uint64_t n_made;	 // frames
	struct tb_map stream_of; // by job and nodes
	struct stream *streams;
	uint32_t n_streams;
	size_t streams_room;
	struct arrival *arrivals;
	uint32_t n_arrivals;
	size_t arrivals_room;
};

static inline struct packet *packet_at(const struct ethernet *ethernet, uint32_t id)
{
	return (void *)tb_packet_at(&ethernet->replay, id);
}

static inline const struct tb_ethernet_params *params_of(const struct ethernet *ethernet)
{
	return &ethernet->replay.net->params.ethernet;
}

static inline struct segment *segment_at(const struct stream *stream, uint64_t number)
{
	return &stream->ring[number & stream->mask];
}

// ports.c
//
// tb_ports_send has a frame of the model's join the queue of its node's own port; it is
// made by tb_ports_make, zeroed but for what breaks ties, NOTHING without memory.
uint32_t tb_ports_make(struct ethernet *ethernet);
void tb_ports_send(struct ethernet *ethernet, uint32_t frame);
void tb_ports_free(struct ethernet *ethernet, uint32_t link);
// tb_ports_come has a frame go on at a switch; at a node it returns true: it is there.
bool tb_ports_come(struct ethernet *ethernet, uint32_t frame);
void tb_ports_drop(struct ethernet *ethernet, uint32_t frame);
bool tb_ports_settle(struct ethernet *ethernet, tb_time_ps until);
void tb_ports_blame_open(struct ethernet *ethernet, tb_time_ps until);

// send.c
//
void tb_send_post(struct ethernet *ethernet, uint32_t packet);
// tb_send_more sends what the window allows.
void tb_send_more(struct ethernet *ethernet, uint32_t stream);
void tb_send_timeout(struct ethernet *ethernet, uint32_t stream);
// tb_send_set_timer has the retransmission timer run anew, or not when nothing is under
// way.
void tb_send_set_timer(struct ethernet *ethernet, uint32_t stream);
static inline uint32_t tb_send_under_way(const struct stream *stream)
{
	return (uint32_t)(stream->next - stream->acked) - stream->n_lost -
	       stream->n_known;
}

// tb_send_passed: a segment of the stream has left its node.
void tb_send_passed(struct ethernet *ethernet, uint32_t stream);

// open.c: how a connection opens. tb_open_begin does so for a stream that has something
// to send; tb_open_come takes every frame that comes in the direction of a stream.
void tb_open_begin(struct ethernet *ethernet, uint32_t stream);
void tb_open_come(struct ethernet *ethernet, const struct frame *frame);

// acks.c: what an acknowledgement changes at the sender: so many segments have come in
// order, and `newest` has come.
void tb_acks_come(
	struct ethernet *ethernet, uint32_t stream, uint64_t acked, uint64_t newest);
// tb_acks_timeout is what the retransmission timer runs; tb_acks_limited returns whether
// it is the window that limits what is sent.
tb_time_ps tb_acks_timeout(const struct stream *stream);
bool tb_acks_limited(const struct stream *stream);
// tb_acks_measure takes a round trip that was measured.
void tb_acks_measure(
	const struct ethernet *ethernet, struct stream *stream, tb_time_ps took);

// receive.c
//
void tb_receive_segment(struct ethernet *ethernet, uint32_t stream, uint64_t number);
// tb_receive_late: an acknowledgement was put off until now.
void tb_receive_late(struct ethernet *ethernet, uint32_t stream);
// tb_receive_answer writes what acknowledges the reverse of a stream into a frame of it.
void tb_receive_answer(struct ethernet *ethernet, struct frame *frame);

// streams.c
//
// tb_streams_of returns the stream from one node to another for messages of a job;
// its reverse is number ^ 1. NOTHING without memory.
uint32_t tb_streams_of(
	struct ethernet *ethernet, uint32_t job, uint32_t source, uint32_t destination);
// tb_streams_push adds a segment at a stream's end. False without memory.
bool tb_streams_push(struct ethernet *ethernet, uint32_t stream, uint32_t packet);
void tb_streams_free(struct ethernet *ethernet);

#endif
