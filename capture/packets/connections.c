#include "clean.h"

#include "array.h"

#include <stdlib.h>

#define NONE	   UINT32_MAX
#define FIRST_SIZE 1024
#define BUCKETS	   4 // per connection, so that most lookups find theirs at once

struct connection {
	uint64_t ends;
	uint32_t channel;
	uint32_t kind;
	uint32_t next; // in its bucket
	bool used;     // since the clock's hand last passed
	struct tb_direction directions[2];
};

struct tb_connections {
	struct connection *connections;
	uint32_t *buckets;
	uint32_t n;
	uint32_t capacity; // a power of two
	uint32_t hash_shift;
	uint32_t hand;
};

int tb_connections_new(struct tb_connections **connections)
{
	struct tb_connections *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	*connections = new;
	return TB_OK;
}

void tb_connections_free(struct tb_connections *connections)
{
	if (!connections)
		return;
	free(connections->connections);
	free(connections->buckets);
	free(connections);
}

static uint32_t *connection_bucket(
	const struct tb_connections *c, uint64_t ends, uint32_t channel, uint32_t kind)
{
	// Multiplicative hashing, as in nodes.c.
	uint64_t word = ((uint64_t)channel << 8 ^ kind) * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint64_t hash = (ends ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return &c->buckets[hash >> c->hash_shift];
}

static uint32_t *bucket_of_connection(
	const struct tb_connections *c, const struct connection *connection)
{
	return connection_bucket(
		c, connection->ends, connection->channel, connection->kind);
}

static int grow_connections(struct tb_connections *c)
{
	uint32_t capacity = c->capacity ? c->capacity * 2 : FIRST_SIZE;
	size_t room = c->capacity;
	if (TB_ARRAY_RESERVE(&c->connections, &room, capacity) != TB_OK)
		return TB_ENOMEM;
	// If this fails, the larger array stays with its old capacity, which does no
	// harm.
	size_t n_buckets = (size_t)capacity * BUCKETS;
	uint32_t *buckets = malloc(n_buckets * sizeof *buckets);
	if (!buckets)
		return TB_ENOMEM;
	free(c->buckets);
	c->buckets = buckets;
	c->capacity = capacity;
	c->hash_shift = 64 - (uint32_t)__builtin_ctzll(n_buckets);
	for (size_t i = 0; i < n_buckets; i++)
		buckets[i] = NONE;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t *bucket = bucket_of_connection(c, &c->connections[i]);
		c->connections[i].next = *bucket;
		*bucket = i;
	}
	return TB_OK;
}

static int make_connection(struct tb_connections *c, uint64_t ends, uint32_t channel,
	uint32_t kind, struct connection **made)
{
	uint32_t i = c->n;
	if (c->n == TB_CONNECTIONS_MAX) {
		// Find the next connection that was not used since the hand last passed
		// it, unlinks it from its bucket, and returns its index.
		while (c->connections[c->hand].used) {
			c->connections[c->hand].used = false;
			c->hand = (c->hand + 1) & (c->capacity - 1);
		}
		i = c->hand;
		c->hand = (c->hand + 1) & (c->capacity - 1);
		uint32_t *link = bucket_of_connection(c, &c->connections[i]);
		while (*link != i)
			link = &c->connections[*link].next;
		*link = c->connections[i].next;
	} else if (c->n == c->capacity && grow_connections(c) != TB_OK)
		return TB_ENOMEM;
	if (i == c->n)
		c->n++;
	uint32_t *bucket = connection_bucket(c, ends, channel, kind);
	c->connections[i] = (struct connection){
		.ends = ends, .channel = channel, .kind = kind, .next = *bucket};
	*bucket = i;
	*made = &c->connections[i];
	return TB_OK;
}

int tb_connections_get(struct tb_connections *connections,
	const struct tb_connection_key *key, struct tb_direction **there,
	struct tb_direction **back)
{
	bool turned = key->two_way && key->source > key->destination;
	// Written without branches: the direction of a packet is unpredictable.
	uint32_t low = turned ? key->destination : key->source;
	uint32_t high = turned ? key->source : key->destination;
	uint64_t ends = (uint64_t)low << 32 | high;
	uint32_t channel =
		turned ? key->channel << 16 | key->channel >> 16 : key->channel;
	struct connection *found = NULL;
	if (connections->n > 0) {
		uint32_t i = *connection_bucket(connections, ends, channel, key->kind);
		for (; i != NONE; i = connections->connections[i].next) {
			found = &connections->connections[i];
			if (found->ends == ends && found->channel == channel &&
				found->kind == key->kind)
				break;
		}
		if (i == NONE)
			found = NULL;
	}
	// Only a second packet marks it as used, so that a scan of a million ports does
	// not displace real connections.
	if (found)
		found->used = true;
	else if (make_connection(connections, ends, channel, key->kind, &found) != TB_OK)
		return TB_ENOMEM;
	*there = &found->directions[turned ? 1 : 0];
	*back = &found->directions[turned ? 0 : 1];
	return TB_OK;
}
