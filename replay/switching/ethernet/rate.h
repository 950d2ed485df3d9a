// What a connection of `tcp = bbr` has beyond others: how fast its segments are delivered
// (draft-cheng-iccrg-delivery-rate-estimation-00; tcp_rate.c of Linux), and when pacing
// lets the next batch go (tcp_pacing_check). Private to the switching `ethernet`.
#ifndef TB_ETHERNET_RATE_H
#define TB_ETHERNET_RATE_H

#include "bbr.h"

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

// tb_rate_waits returns whether pacing holds a stream back; tb_send_more is called when
// it does no longer. tb_rate_paced has the next batch follow what was sent since.
bool tb_rate_waits(struct ethernet *ethernet, uint32_t stream);
void tb_rate_paced(const struct ethernet *ethernet, struct tcp_stream *stream);
// tb_rate_late: the event of tb_rate_waits (EV_PACE).
void tb_rate_late(struct ethernet *ethernet, uint32_t stream);

// tb_rate_bytes is the payload that pacing lets go in a 1024th of a second.
uint64_t tb_rate_bytes(const struct ethernet *ethernet, const struct tcp_stream *stream);

#endif
