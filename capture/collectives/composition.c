#include "composition.h"

#include "array.h"
#include "composing.h"
#include "library_impl.h"

#include <stdlib.h>

void tb_composition_fini(struct tb_composition *composition)
{
	for (size_t i = 0; i < composition->n; i++)
		free(composition->parts[i].members);
	free(composition->parts);
	*composition = (struct tb_composition){.n = 0};
}

// add_part adds a part of up to `most` members, whose places the caller fills in; NULL
// without memory.
static struct tb_call_part *add_part(
	struct tb_composing *c, struct tb_part_way way, uint32_t most)
{
	struct tb_composition *made = c->made;
	uint32_t *members = malloc(most * sizeof *members);
	if (!members ||
		TB_ARRAY_RESERVE(&made->parts, &made->room, made->n + 1) != TB_OK) {
		free(members);
		c->no_memory = true;
		return NULL;
	}
	made->parts[made->n] = (struct tb_call_part){.op = way.op,
		.members = members,
		.bytes = way.op == TB_COLL_BARRIER ? 0 : c->bytes,
		.algorithm = way.algorithm,
		.radix = way.radix};
	return &made->parts[made->n++];
}

static void put_member(struct tb_call_part *part, uint32_t member, bool is_root)
{
	if (is_root)
		part->root = part->n;
	part->members[part->n++] = member;
}

void tb_compose_host(
	struct tb_composing *c, struct tb_part_way way, uint32_t host, uint32_t root)
{
	struct tb_call_part *part =
		c->sizes[host] > 1 ? add_part(c, way, c->sizes[host]) : NULL;
	for (uint32_t i = c->leaders[host]; part && i < c->call->n; i++)
		if (c->host_of[i] == host)
			put_member(part, i, i == root);
}

void tb_compose_hosts(struct tb_composing *c, struct tb_part_way way, uint32_t except)
{
	for (uint32_t host = 0; host < c->n_hosts; host++)
		if (host != except)
			tb_compose_host(c, way, host, c->leaders[host]);
}

void tb_compose_leaders(struct tb_composing *c, enum tb_collective_op op, uint32_t host)
{
	struct tb_part_way way = {.op = op};
	struct tb_call_part *part = c->n_hosts > 1 ? add_part(c, way, c->n_hosts) : NULL;
	for (uint32_t i = 0; part && i < c->n_hosts; i++)
		put_member(part, c->leaders[i], i == host);
}

void tb_compose_message(struct tb_composing *c, uint32_t from, uint32_t to)
{
	struct tb_part_way way = {.op = TB_COLL_BROADCAST, .algorithm = "linear"};
	struct tb_call_part *part = from != to ? add_part(c, way, 2) : NULL;
	if (!part)
		return;
	put_member(part, from < to ? from : to, from < to);
	put_member(part, from < to ? to : from, from > to);
}

// number_hosts numbers the hosts by their first members. Quadratic in hosts only where
// many hosts take turns: a member is mostly on its neighbour's.
static bool number_hosts(struct tb_composing *c)
{
	const struct tb_collective_call *call = c->call;
	c->host_of = malloc(call->n * sizeof *c->host_of);
	c->leaders = malloc(call->n * sizeof *c->leaders);
	c->sizes = calloc(call->n, sizeof *c->sizes);
	if (!c->host_of || !c->leaders || !c->sizes)
		return false;
	c->is_consecutive = true;
	for (uint32_t i = 0; i < call->n; i++) {
		uint32_t host = i > 0 ? c->host_of[i - 1] : 0;
		if (i > 0 && call->hosts[i] != call->hosts[i - 1]) {
			host = 0;
			while (host < c->n_hosts &&
				call->hosts[c->leaders[host]] != call->hosts[i])
				host++;
			c->is_consecutive = c->is_consecutive && host == c->n_hosts;
		}
		if (host == c->n_hosts)
			c->leaders[c->n_hosts++] = i;
		c->host_of[i] = host;
		c->sizes[host]++;
	}
	return true;
}

static uint64_t vector_bytes(const struct tb_collective_call *call)
{
	uint64_t most = 0;
	if (call->op == TB_COLL_BROADCAST)
		return call->bytes[call->root];
	for (uint32_t i = 0; i < call->n; i++)
		most = call->bytes[i] > most ? call->bytes[i] : most;
	return most;
}

int tb_library_compose(const struct tb_library *library,
	const struct tb_collective_choices *choices,
	const struct tb_collective_call *call, struct tb_composition *composition,
	struct tb_error *error)
{
	struct tb_composition made = {.n = 0};
	struct tb_composing c = {
		.call = call, .made = &made, .bytes = vector_bytes(call)};
	*composition = made;
	if (!library->compose || !call->hosts || call->n_local < call->n || call->n < 2 ||
		(choices && choices->algorithms[call->op][0]))
		return TB_OK;
	c.no_memory = !number_hosts(&c);
	if (!c.no_memory && c.n_hosts < call->n)
		library->compose(&c);
	made.n_hosts = c.n_hosts;
	free(c.host_of);
	free(c.leaders);
	free(c.sizes);
	if (c.no_memory) {
		tb_composition_fini(&made);
		return tb_fail_memory(error, "the parts of a collective call");
	}
	*composition = made;
	return TB_OK;
}
