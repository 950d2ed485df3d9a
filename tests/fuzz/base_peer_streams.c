// Whatever peers send, the records that are taken from them are those that the bytes of
// each, one behind the other, hold. An input is messages: who sent it, a length, and its
// bytes.
#include "peer_streams.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_PEERS = 3, BYTES_MOST = 4096 };

struct sent {
	const uint8_t *at, *end;
	unsigned char bytes[N_PEERS][BYTES_MOST]; // that each has sent so far
	size_t n[N_PEERS];
};

static int receive(void *context, uint32_t *from, void *bytes, size_t *n)
{
	struct sent *sent = context;
	if (sent->end - sent->at < 2)
		return TB_EIO; // no more will come
	*from = sent->at[0] % (N_PEERS + 1);
	*n = sent->at[1];
	sent->at += 2;
	if (*n > (size_t)(sent->end - sent->at))
		*n = (size_t)(sent->end - sent->at);
	memcpy(bytes, sent->at, *n);
	if (*from < N_PEERS) {
		memcpy(sent->bytes[*from] + sent->n[*from], sent->at, *n);
		sent->n[*from] += *n;
	}
	sent->at += *n;
	return 1;
}

// check compares a record with what a peer has sent from `*taken` on.
static void check(
	const struct sent *sent, size_t *taken, const unsigned char *bytes, size_t n)
{
	uint64_t length = 0;
	memcpy(&length, sent->bytes[1] + *taken, sizeof length);
	if (length != n || *taken + sizeof length + n > sent->n[1] ||
		memcmp(sent->bytes[1] + *taken + sizeof length, bytes, n) != 0)
		abort();
	*taken += sizeof length + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sent sent = {.at = data, .end = data + size};
	const struct tb_peers peers = {
		.context = &sent, .n = N_PEERS, .receive = receive};
	struct tb_peer_streams *streams = NULL;
	const unsigned char *bytes = NULL;
	size_t n = 0, taken = 0;
	if (size > BYTES_MOST || tb_peer_streams_new(&streams, &peers) != TB_OK)
		return 0;
	while (tb_peer_streams_take(streams, 1, &bytes, &n) == TB_OK)
		check(&sent, &taken, bytes, n);
	tb_peer_streams_free(streams);
	return 0;
}
