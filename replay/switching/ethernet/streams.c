#include "ethernet_impl.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

enum { RING_FIRST = 16 };

static struct stream new_stream(
	const struct ethernet *ethernet, uint32_t source, uint32_t destination)
{
	struct stream stream = {.source = source,
		.destination = destination,
		.least = TB_TIME_NEVER,
		.newest = UINT64_MAX, // none has come
		.timeout_at = TB_TIME_NEVER,
		.timer_at = TB_TIME_NEVER,
		.answer_at = TB_TIME_NEVER,
		.answer_timer_at = TB_TIME_NEVER};
	tb_cubic_init(&stream.cubic, params_of(ethernet)->initial_window);
	return stream;
}

static void no_memory(struct ethernet *ethernet)
{
	tb_replay_fail(&ethernet->replay, TB_ENOMEM, "no memory for the connections");
}

uint32_t tb_streams_of(
	struct ethernet *ethernet, uint32_t job, uint32_t source, uint32_t destination)
{
	uint32_t low = source < destination ? source : destination;
	uint32_t high = source < destination ? destination : source;
	uint64_t key = (uint64_t)job << 48 | (uint64_t)low << 24 | high;
	uint32_t first;
	if (tb_map_find(&ethernet->stream_of, key, &first))
		return first + (source > destination);
	first = ethernet->n_streams;
	if (TB_ARRAY_RESERVE(&ethernet->streams, &ethernet->streams_room,
		    (size_t)first + 2) != TB_OK ||
		tb_map_put(&ethernet->stream_of, key, first) != TB_OK) {
		no_memory(ethernet);
		return NOTHING;
	}
	ethernet->streams[first] = new_stream(ethernet, low, high);
	ethernet->streams[first + 1] = new_stream(ethernet, high, low);
	ethernet->n_streams += 2;
	return first + (source > destination);
}

// grow doubles the ring, in which a segment's place depends on how large it is.
static bool grow(struct stream *stream)
{
	uint64_t room = stream->ring ? 2 * (stream->mask + 1) : RING_FIRST;
	struct segment *ring = malloc(room * sizeof *ring);
	if (!ring)
		return false;
	for (uint64_t i = stream->acked; i < stream->end; i++)
		ring[i & (room - 1)] = *segment_at(stream, i);
	free(stream->ring);
	stream->ring = ring;
	stream->mask = room - 1;
	return true;
}

bool tb_streams_push(struct ethernet *ethernet, uint32_t id, uint32_t packet)
{
	struct stream *stream = &ethernet->streams[id];
	bool is_full = !stream->ring || stream->end - stream->acked > stream->mask;
	if (is_full && !grow(stream)) {
		no_memory(ethernet);
		return false;
	}
	const struct packet *record = packet_at(ethernet, packet);
	*segment_at(stream, stream->end++) = (struct segment){.packet = packet,
		.bytes = record->of.wire_bytes,
		.state = SEGMENT_QUEUED};
	stream->flow = record->of.flow;
	return true;
}

void tb_streams_free(struct ethernet *ethernet)
{
	for (uint32_t i = 0; i < ethernet->n_streams; i++)
		free(ethernet->streams[i].ring);
	free(ethernet->streams);
	tb_map_fini(&ethernet->stream_of);
}
