// Whatever the other ranks of a sweep send, rank 0 and a worker end, and in a sentence
// where that is an error. An input is whom it is for, then messages: who sent it, a
// length, and its bytes. From a sender above 127 the digest of the sweep is put in.
#include "sweep_peers.h"

#include "sweep_work.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_PEERS = 3, N_CHANGES = 5, HAS_DIGEST = 128 };

static const char *const changes[N_CHANGES] = {
	"nodes=16", "load=0.5", "seed=1..2", "warm=1us", "window=1us"};

// The store is made once: what is damaged leaves no point behind in it.
static char store[] = "/tmp/sweep_peers_XXXXXX";
static struct tb_sweep sweep;
static char identity[TB_DIGEST_SIZE];

struct sent {
	const uint8_t *at, *end;
};

static int receive(void *context, uint32_t *from, void *bytes, size_t *n)
{
	struct sent *sent = context;
	struct tb_sweep_message message = {0};
	if (sent->end - sent->at < 2)
		return TB_EIO; // no more will come
	bool has_digest = sent->at[0] >= HAS_DIGEST;
	*from = sent->at[0] % HAS_DIGEST % (N_PEERS + 1);
	*n = sent->at[1];
	sent->at += 2;
	if (*n > (size_t)(sent->end - sent->at))
		*n = (size_t)(sent->end - sent->at);
	memcpy(&message, sent->at, *n);
	sent->at += *n;
	if (has_digest) {
		memcpy(message.bytes, identity, sizeof identity);
		*n = TB_SWEEP_MESSAGE_HEAD + sizeof identity;
	}
	memcpy(bytes, &message, *n);
	return 1;
}

static int drop(void *context, uint32_t to, const void *bytes, size_t n)
{
	(void)context;
	(void)to;
	(void)bytes;
	(void)n;
	return TB_OK;
}

static void remove_store(void)
{
	char path[sizeof store + 8];
	tb_sweep_fini(&sweep);
	unlink(store);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s%s", store, i ? "-wal" : "-shm");
		unlink(path);
	}
}

static void begin(void)
{
	struct tb_error error;
	int file = mkstemp(store);
	if (file < 0 ||
		tb_sweep_read(&sweep, "uniform", changes, N_CHANGES, &error) != TB_OK ||
		tb_sweep_identity(&sweep, false, identity, &error) != TB_OK)
		abort();
	close(file);
	unlink(store);
	atexit(remove_store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sent sent = {.at = data + 1, .end = data + size};
	struct tb_peers peers = {
		.context = &sent, .n = N_PEERS, .send = drop, .receive = receive};
	const struct tb_sweep_serve_options serve = {.name = "uniform",
		.changes = changes,
		.n_changes = N_CHANGES,
		.silence_s = 1};
	const struct tb_sweep_lead_options lead = {{.output = store}, 1};
	struct tb_sweep_progress progress;
	struct tb_error error = {0};
	bool all_there;
	if (size == 0)
		return 0;
	if (!identity[0])
		begin();
	peers.rank = data[0] % 2;
	int status = peers.rank ? tb_sweep_serve(&serve, &peers, &all_there, &error)
				: tb_sweep_lead(&progress, &sweep, &lead, &peers,
					  &all_there, &error);
	if (status != TB_OK && !error.text[0])
		abort();
	return 0;
}
