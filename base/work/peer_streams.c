#include "peer_streams.h"

#include "array.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// How often a waiting process polls before it sleeps between two polls: where there are
// fewer cores than processes, others need its core.
enum { LOOKS_AWAKE = 200, REST_NS = 50000 };

// A record is its length and its bytes; a stream has them one behind the other.
struct stream {
	unsigned char *bytes;
	size_t first, n, room; // bytes [first, n) have not been taken
};

struct tb_peer_streams {
	const struct tb_peers *peers;
	struct stream *streams; // by peer
	uint64_t n_put;		// bytes
	unsigned char message[TB_PEERS_MESSAGE_MOST];
};

int tb_peer_streams_new(struct tb_peer_streams **streams, const struct tb_peers *peers)
{
	struct tb_peer_streams *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->peers = peers;
	made->streams = calloc(peers->n, sizeof *made->streams);
	if (!made->streams) {
		free(made);
		return TB_ENOMEM;
	}
	*streams = made;
	return TB_OK;
}

void tb_peer_streams_free(struct tb_peer_streams *streams)
{
	if (!streams)
		return;
	for (uint32_t i = 0; i < streams->peers->n; i++)
		free(streams->streams[i].bytes);
	free(streams->streams);
	free(streams);
}

uint32_t tb_peer_streams_rank(const struct tb_peer_streams *streams)
{
	return streams->peers->rank;
}

uint32_t tb_peer_streams_n(const struct tb_peer_streams *streams)
{
	return streams->peers->n;
}

uint64_t tb_peer_streams_bytes(const struct tb_peer_streams *streams)
{
	return streams->n_put;
}

int tb_peer_streams_put(
	struct tb_peer_streams *streams, uint32_t to, const void *bytes, size_t n)
{
	const struct tb_peers *peers = streams->peers;
	const unsigned char *from = bytes;
	uint64_t length = n; // begins the record
	size_t used = sizeof length;
	memcpy(streams->message, &length, sizeof length);
	streams->n_put += n;
	do {
		size_t part = TB_PEERS_MESSAGE_MOST - used;
		part = part < n ? part : n;
		if (part)
			memcpy(streams->message + used, from, part);
		int status =
			peers->send(peers->context, to, streams->message, used + part);
		if (status != TB_OK)
			return status;
		from += part;
		n -= part;
		used = 0;
	} while (n);
	return TB_OK;
}

// poll_streams takes a message, if there is one, into its stream: 1 or 0.
static int poll_streams(struct tb_peer_streams *streams)
{
	const struct tb_peers *peers = streams->peers;
	uint32_t from = 0;
	size_t n = 0;
	int status = peers->receive(peers->context, &from, streams->message, &n);
	if (status <= 0)
		return status;
	if (from >= peers->n || n > TB_PEERS_MESSAGE_MOST)
		return TB_EIO;
	struct stream *stream = &streams->streams[from];
	// Move what has not been taken to the front, once that is most of
	// it.
	if (stream->first > stream->n / 2) {
		memmove(stream->bytes, stream->bytes + stream->first,
			stream->n - stream->first);
		stream->n -= stream->first;
		stream->first = 0;
	}
	status = TB_ARRAY_RESERVE(&stream->bytes, &stream->room, stream->n + n);
	if (status != TB_OK)
		return status;
	if (n)
		memcpy(stream->bytes + stream->n, streams->message, n);
	stream->n += n;
	return 1;
}

// has_record returns whether a stream begins with a whole record, and how long that is.
static bool has_record(const struct stream *stream, uint64_t *n)
{
	size_t there = stream->n - stream->first;
	if (there < sizeof *n)
		return false;
	memcpy(n, stream->bytes + stream->first, sizeof *n);
	return there - sizeof *n >= *n;
}

int tb_peer_streams_take(struct tb_peer_streams *streams, uint32_t from,
	const unsigned char **bytes, size_t *n)
{
	struct stream *stream = &streams->streams[from];
	const struct timespec rest = {.tv_nsec = REST_NS};
	uint64_t length = 0;
	for (unsigned looks = 0; !has_record(stream, &length);) {
		int status = poll_streams(streams);
		if (status < 0)
			return status;
		looks = status > 0 ? 0 : looks + 1;
		if (looks > LOOKS_AWAKE)
			nanosleep(&rest, NULL);
		else if (looks)
			sched_yield();
	}
	*bytes = stream->bytes + stream->first + sizeof length;
	*n = (size_t)length;
	stream->first += sizeof length + *n;
	return TB_OK;
}
