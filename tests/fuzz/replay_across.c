// Whatever the other process of a replay tells, rank 0 ends, and in a sentence where that
// is an error. An input is records: flags, a length, and bytes. A record can begin with
// the time that rank 0 told last (ECHO), or with a window that ends then (WINDOW).
#include "engine.h"
#include "network_open.h"
#include "observer.h"
#include "peer_streams.h"
#include "peers.h"
#include "preset.h"
#include "traffic.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_NODES = 8, ECHO = 1, WINDOW = 2 };

struct window { // as across.c has it
	tb_time_ps until, next, now;
	struct tb_engine_stats stats;
	uint8_t failed, stops;
};

struct other { // the other process
	const uint8_t *at, *end;
	uint64_t n_left;	// of the record that rank 0 tells
	unsigned char told[16]; // its length, and how it begins
	size_t n_told;
};

static int hear(void *context, uint32_t to, const void *bytes, size_t n)
{
	struct other *other = context;
	const unsigned char *at = bytes;
	(void)to;
	for (size_t i = 0; i < n; i++) {
		if (other->n_told < sizeof(uint64_t) || other->n_left > 0)
			if (other->n_told < sizeof other->told)
				other->told[other->n_told++] = at[i];
		if (other->n_told == sizeof(uint64_t) && other->n_left == 0)
			memcpy(&other->n_left, other->told, sizeof other->n_left);
		else if (other->n_left > 0 && --other->n_left == 0)
			other->n_told = 0;
	}
	return TB_OK;
}

static int tell(void *context, uint32_t *from, void *bytes, size_t *n)
{
	struct other *other = context;
	unsigned char *record = bytes;
	struct window window = {.next = TB_TIME_NEVER};
	uint64_t length = 0;
	if (other->end - other->at < 2)
		return TB_EIO; // no more will come
	unsigned flags = other->at[0];
	size_t n_bytes = other->at[1];
	other->at += 2;
	if (n_bytes > (size_t)(other->end - other->at))
		n_bytes = (size_t)(other->end - other->at);
	memcpy(&window.until, other->told + sizeof length, sizeof window.until);
	window.now = window.until;
	if (flags & WINDOW)
		length = sizeof window;
	else if (flags & ECHO)
		length = sizeof window.until;
	memcpy(record + sizeof length, &window, length);
	memcpy(record + sizeof length + length, other->at, n_bytes);
	other->at += n_bytes;
	length += n_bytes;
	memcpy(record, &length, sizeof length);
	*n = sizeof length + length;
	*from = 1;
	return 1;
}

static struct tb_network *network(void)
{
	static struct tb_network *made;
	struct tb_network_params params;
	struct tb_error error;
	if (made)
		return made;
	if (tb_network_preset(&params, "ib-hdr", &error) != TB_OK)
		abort();
	params.arity = 2;
	params.levels = 3;
	if (tb_network_open(&made, &(struct tb_network_description){.params = &params},
		    &error) != TB_OK)
		abort();
	return made;
}

static void run(struct tb_traffic *traffic, struct tb_peer_streams *streams)
{
	const struct tb_source source = tb_traffic_source(traffic);
	const struct tb_observer observer = {0};
	const struct tb_engine_options options = {
		.seed = 1, .n_parts = 2, .peers = streams};
	struct tb_engine *engine = NULL;
	struct tb_error error = {0};
	int status =
		tb_engine_new(&engine, network(), &source, &observer, &options, &error);
	if (status != TB_OK)
		abort();
	status = tb_engine_run(engine, 32, &error);
	if (status >= 0)
		status = tb_engine_checkpoint(engine, &error);
	if (status >= 0)
		status = tb_engine_finish(engine, &error);
	if (status < 0 && !error.text[0])
		abort();
	tb_engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t nodes[N_NODES] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint32_t targets[N_NODES] = {7, 6, 5, 4, 3, 2, 1, 0};
	const struct tb_traffic_job job = {.senders = nodes,
		.n_senders = N_NODES,
		.rule = TB_TRAFFIC_FIXED,
		.targets = targets,
		.n_targets = N_NODES,
		.message_bytes = 10000,
		.size_dist = TB_SYNTH_FIXED,
		.depth = 1,
		.n_messages = 2};
	struct other other = {.at = data, .end = data + size};
	const struct tb_peers peers = {
		.context = &other, .n = 2, .send = hear, .receive = tell};
	struct tb_peer_streams *streams = NULL;
	struct tb_traffic *traffic = NULL;
	struct tb_error error;
	if (tb_peer_streams_new(&streams, &peers) == TB_OK &&
		tb_traffic_new(&traffic, &job, 1, 1, &error) == TB_OK)
		run(traffic, streams);
	tb_traffic_free(traffic);
	tb_peer_streams_free(streams);
	return 0;
}
