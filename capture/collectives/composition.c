#include "composition.h"

#include "array.h"
#include "composing.h"
#include "library_impl.h"

#include <inttypes.h>
#include <stdlib.h>

void tb_composition_fini(struct tb_composition *composition)
{
	for (size_t i = 0; i < composition->n; i++)
		free(composition->parts[i].members);
	free(composition->parts);
	*composition = (struct tb_composition){.n = 0};
}

// composing_add_part adds a part of up to `most` members, whose places the caller fills
// in; NULL without memory.
static struct tb_call_part *composing_add_part(
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
		.radix = way.radix,
		.segment_bytes = way.segment_bytes,
		.beside = c->in_stage};
	c->in_stage = c->is_staged;
	c->n_joined += most;
	c->too_many = c->n_joined > TB_PLAN_TRANSFERS_MAX;
	return &made->parts[made->n++];
}

void tb_compose_stage(struct tb_composing *c)
{
	c->is_staged = true;
	c->in_stage = false;
}

bool tb_composing_failed(const struct tb_composing *c)
{
	return c->no_memory || c->too_many;
}

uint32_t tb_composing_place(const struct tb_composing *c, uint32_t member)
{
	uint32_t place = 0, host = c->host_of[member];
	for (uint32_t i = c->leaders[host]; i < member; i++)
		place += c->host_of[i] == host;
	return place;
}

static void put_member(struct tb_call_part *part, uint32_t member, bool is_root)
{
	if (is_root)
		part->root = part->n;
	part->members[part->n++] = member;
}

void tb_compose_host(
	struct tb_composing *c, struct tb_part_way way, uint32_t host, uint32_t place)
{
	uint32_t n = c->sizes[host];
	struct tb_call_part *part = n > 1 ? composing_add_part(c, way, n) : NULL;
	for (uint32_t i = c->leaders[host]; part && part->n < n; i++)
		if (c->host_of[i] == host)
			put_member(part, i, part->n == place);
}

void tb_compose_hosts(struct tb_composing *c, struct tb_part_way way, uint32_t except)
{
	for (uint32_t host = 0; host < c->n_hosts; host++)
		if (host != except)
			tb_compose_host(c, way, host, 0);
}

// composing_member_at returns the member of a host that has a place there.
static uint32_t composing_member_at(
	const struct tb_composing *c, uint32_t host, uint32_t place)
{
	uint32_t member = c->leaders[host];
	while (place > 0)
		place -= c->host_of[++member] == host;
	return member;
}

void tb_compose_across(
	struct tb_composing *c, struct tb_part_way way, uint32_t place, uint32_t host)
{
	struct tb_call_part *part =
		c->n_hosts > 1 ? composing_add_part(c, way, c->n_hosts) : NULL;
	for (uint32_t i = 0; part && i < c->n_hosts; i++)
		put_member(part, composing_member_at(c, i, place), i == host);
}

void tb_compose_leaders(struct tb_composing *c, enum tb_collective_op op, uint32_t host)
{
	tb_compose_across(c, (struct tb_part_way){.op = op}, 0, host);
}

void tb_compose_message(struct tb_composing *c, uint32_t from, uint32_t to)
{
	struct tb_part_way way = {.op = TB_COLL_BROADCAST, .algorithm = "linear"};
	struct tb_call_part *part = from != to ? composing_add_part(c, way, 2) : NULL;
	if (!part)
		return;
	put_member(part, from < to ? from : to, from < to);
	put_member(part, from < to ? to : from, from > to);
}

// composing_number_hosts numbers the hosts by their first members. Quadratic in hosts
// only where many hosts take turns: a member is mostly on its neighbour's.
static bool composing_number_hosts(struct tb_composing *c)
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
	c.no_memory = !composing_number_hosts(&c);
	if (!c.no_memory && c.n_hosts < call->n)
		library->compose(&c);
	made.n_hosts = c.n_hosts;
	free(c.host_of);
	free(c.leaders);
	free(c.sizes);
	if (tb_composing_failed(&c)) {
		tb_composition_fini(&made);
		return c.no_memory
			       ? tb_fail_memory(error, "the parts of a collective call")
			       : tb_fail(error, TB_ECAPACITY,
					 "a call of %s by %" PRIu32
					 " ranks takes more messages than a job holds",
					 tb_collective_op_name(call->op), call->n);
	}
	*composition = made;
	return TB_OK;
}
