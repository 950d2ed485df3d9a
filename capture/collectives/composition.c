#include "composition.h"

#include "algorithms.h"
#include "array.h"

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

// compose_stage has the parts that follow, up to the next stage, go on at once.
static void compose_stage(struct tb_composing *c)
{
	c->is_staged = true;
	c->in_stage = false;
}

// composing_failed returns whether there is no use in more parts.
static bool composing_failed(const struct tb_composing *c)
{
	return c->no_memory || c->too_many;
}

// composing_place returns a member's number among those of its host.
static uint32_t composing_place(const struct tb_composing *c, uint32_t member)
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

static void compose_host(
	struct tb_composing *c, struct tb_part_way way, uint32_t host, uint32_t place)
{
	uint32_t n = c->sizes[host];
	struct tb_call_part *part = n > 1 ? composing_add_part(c, way, n) : NULL;
	for (uint32_t i = c->leaders[host]; part && part->n < n; i++)
		if (c->host_of[i] == host)
			put_member(part, i, part->n == place);
}

// compose_hosts adds a part on each host of several members, rooted at its leader, but
// for host `except` (n_hosts: none); compose_host on one host, rooted at the one of
// its members that has `place` among them.
static void compose_hosts(struct tb_composing *c, struct tb_part_way way, uint32_t except)
{
	for (uint32_t host = 0; host < c->n_hosts; host++)
		if (host != except)
			compose_host(c, way, host, 0);
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

// compose_across adds a part of the members that have `place` on their hosts, rooted
// at that of a host; compose_leaders of the first ones, the leaders.
static void compose_across(
	struct tb_composing *c, struct tb_part_way way, uint32_t place, uint32_t host)
{
	struct tb_call_part *part =
		c->n_hosts > 1 ? composing_add_part(c, way, c->n_hosts) : NULL;
	for (uint32_t i = 0; part && i < c->n_hosts; i++)
		put_member(part, composing_member_at(c, i, place), i == host);
}

static void compose_leaders(
	struct tb_composing *c, enum tb_collective_op op, uint32_t host)
{
	compose_across(c, (struct tb_part_way){.op = op}, 0, host);
}

// compose_message sends the vector from a member to another.
static void compose_message(struct tb_composing *c, uint32_t from, uint32_t to)
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
	if (composing_failed(&c)) {
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

// What MPICH composes by host: version 4.0.2, device ch4. Which composition:
// maint/tuning/coll/ch4/generic.json; of which parts: src/mpid/ch4/src/ch4_coll_impl.h;
// within a host: posix_generic.json and posix_coll_release_gather.h, from the fifth call
// on a communicator. Operations are taken to commute.

// Within a host a broadcast is read from the leader's buffer by up to 64 at once
// (MPIR_CVAR_BCAST_INTRANODE_TREE_KVAL), and a reduction goes up a tree of 4 children
// (MPIR_CVAR_REDUCE_INTRANODE_TREE_KVAL).
static const struct tb_part_way share = {.op = TB_COLL_BROADCAST, .algorithm = "linear"};
static const struct tb_part_way add_up = {
	.op = TB_COLL_REDUCE, .algorithm = "tree", .radix = 4};
static const struct tb_part_way meet = {.op = TB_COLL_BARRIER, .algorithm = "linear"};

#define MPICH "MPICH 4.0, composition "

static void mpich_reduce(struct tb_composing *c)
{
	uint32_t root = c->call->root, host = c->host_of[root];
	if (c->bytes > 2048) {
		c->made->name = MPICH "alpha";
		compose_hosts(c, add_up, c->n_hosts);
		compose_leaders(c, TB_COLL_REDUCE, 0);
		compose_message(c, 0, root);
		return;
	}
	c->made->name = MPICH "beta";
	compose_hosts(c, add_up, host);
	compose_leaders(c, TB_COLL_REDUCE, host);
	compose_host(c, add_up, host, composing_place(c, root));
}

// The last member of each host has the host's sum, and leaders pass on what came before.
static void mpich_scan(struct tb_composing *c)
{
	static const struct tb_part_way within = {.op = TB_COLL_SCAN};
	if (!c->is_consecutive)
		return; // beta: as if there were no hosts
	c->made->name = MPICH "alpha";
	compose_hosts(c, within, c->n_hosts);
	for (uint32_t host = 0; host < c->n_hosts; host++)
		compose_message(
			c, c->leaders[host] + c->sizes[host] - 1, c->leaders[host]);
	compose_leaders(c, TB_COLL_SCAN, 0);
	for (uint32_t host = c->n_hosts - 1; host > 0; host--)
		compose_message(c, c->leaders[host - 1], c->leaders[host]);
	compose_hosts(c, share, c->n_hosts);
}

void tb_compose_mpich(struct tb_composing *c)
{
	switch (c->call->op) {
	case TB_COLL_BARRIER:
		c->made->name = MPICH "alpha";
		compose_hosts(c, meet, c->n_hosts);
		compose_leaders(c, TB_COLL_BARRIER, 0);
		c->bytes = 1;
		compose_hosts(c, share, c->n_hosts);
		return;
	case TB_COLL_BROADCAST: {
		uint32_t n = c->call->n, root = c->call->root, host = c->host_of[root];
		bool leads = c->leaders[host] == root;
		bool is_alpha = n < 8 || c->bytes < 12288;
		if (is_alpha ||
			(((n & (n - 1)) == 0) &&
				c->bytes < 524288)) { // gamma: as if there were no hosts
			c->made->name = is_alpha ? MPICH "alpha" : MPICH "beta";
			if (is_alpha)
				compose_message(c, root, c->leaders[host]);
			else if (!leads)
				compose_host(c, share, host, composing_place(c, root));
			compose_leaders(c, TB_COLL_BROADCAST, host);
			compose_hosts(c, share, is_alpha || leads ? c->n_hosts : host);
		}
		return;
	}
	case TB_COLL_REDUCE:
		mpich_reduce(c);
		return;
	case TB_COLL_ALLREDUCE:
		c->made->name = c->n_hosts > 1 ? MPICH "alpha" : MPICH "gamma";
		compose_hosts(c, add_up, c->n_hosts);
		compose_leaders(c, TB_COLL_ALLREDUCE, 0);
		compose_hosts(c, share, c->n_hosts);
		return;
	case TB_COLL_SCAN:
		mpich_scan(c);
		return;
	case TB_COLL_GATHER:
	case TB_COLL_SCATTER:
	case TB_COLL_ALLGATHER:
	case TB_COLL_ALLTOALL:
	case TB_COLL_REDUCE_SCATTER:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		return; // as if there were no hosts
	}
}

// What Open MPI 5 composes by host: its component "han" (priority 35, before "tuned" at
// 30) as it is in 5.0.9. A member's place is its number among those of its host. The up
// parts are among the members of all hosts that have the root's place, the low parts
// within the hosts. Within the parts "tuned" chooses, by the rules of 4.1, which did not
// change; up parts that go on beside low ones are libnbc's. Sources, in
// ompi/mca/coll/han: coll_han_bcast.c, _reduce.c, _allreduce.c, _barrier.c, _gather.c,
// _scatter.c, _allgather.c; defaults in coll_han_component.c; who falls back to "tuned"
// where hosts have different numbers of members: are_ppn_imbalanced. Operations are taken
// to commute.

#define HAN "Open MPI 5, HAN"

// han_bcast_segsize, han_reduce_segsize, han_allreduce_segsize.
enum { SEGMENT_BYTES = 65536 };

// Chains of libnbc: ibcast of at most a segment (nbc_ibcast.c), ireduce (nbc_ireduce.c).
enum { CHAIN_BYTES = 8192 };

// What moves up and down: the vector, in segments.
struct han_row {
	uint32_t place; // of the root
	uint32_t host;	// of the root
	uint64_t whole, n_segments;
};

static struct han_row han_row_of(const struct tb_composing *c, uint32_t root)
{
	uint64_t rest = c->bytes % SEGMENT_BYTES != 0;
	uint64_t n = c->bytes / SEGMENT_BYTES + rest;
	return (struct han_row){.place = composing_place(c, root),
		.host = c->host_of[root],
		.whole = c->bytes,
		.n_segments = n ? n : 1};
}

static bool is_balanced(const struct tb_composing *c)
{
	for (uint32_t host = 1; host < c->n_hosts; host++)
		if (c->sizes[host] != c->sizes[0])
			return false;
	return true;
}

// han_load sets the bytes of the parts to come to those of a segment.
static void han_load(struct tb_composing *c, const struct han_row *row, uint64_t segment)
{
	bool last = segment + 1 == row->n_segments;
	c->bytes = last ? row->whole - segment * SEGMENT_BYTES : SEGMENT_BYTES;
}

static void low(
	struct tb_composing *c, const struct han_row *row, enum tb_collective_op op)
{
	for (uint32_t host = 0; host < c->n_hosts; host++)
		compose_host(c, (struct tb_part_way){.op = op}, host, row->place);
}

static void han_up(
	struct tb_composing *c, const struct han_row *row, enum tb_collective_op op)
{
	compose_across(c, (struct tb_part_way){.op = op}, row->place, row->host);
}

// Up parts by libnbc.
static void up_broadcast(struct tb_composing *c, const struct han_row *row)
{
	struct tb_part_way way = {.op = TB_COLL_BROADCAST, .algorithm = "linear"};
	if (c->n_hosts > 4 && c->bytes < SEGMENT_BYTES)
		way.algorithm = "mirrored-binomial";
	else if (c->n_hosts > 4)
		way = (struct tb_part_way){.op = TB_COLL_BROADCAST,
			.algorithm = "chain",
			.segment_bytes = CHAIN_BYTES};
	compose_across(c, way, row->place, row->host);
}

static void up_reduce(struct tb_composing *c, const struct han_row *row)
{
	struct tb_part_way way = {.op = TB_COLL_REDUCE, .algorithm = "binomial"};
	uint64_t elements = c->bytes / tb_element_bytes(c->bytes);
	uint32_t power = 1;
	while (power <= c->n_hosts / 2)
		power *= 2;
	if (c->n_hosts > 2 && elements >= power)
		way.algorithm = "rabenseifner";
	else if (c->n_hosts <= 4 && c->bytes >= SEGMENT_BYTES)
		way = (struct tb_part_way){.op = TB_COLL_REDUCE,
			.algorithm = "chain",
			.segment_bytes = CHAIN_BYTES};
	compose_across(c, way, row->place, row->host);
}

// Four steps, of four segments at once: added up within hosts and between them, sent
// between hosts and within them.
static void han_allreduce(struct tb_composing *c)
{
	enum { STEPS = 4 };
	struct han_row row = han_row_of(c, 0);
	for (uint64_t i = 0; i + 1 < row.n_segments + STEPS && !composing_failed(c);
		i++) {
		compose_stage(c);
		for (uint64_t step = STEPS; step-- > 0;) {
			if (i < step || i - step >= row.n_segments)
				continue;
			han_load(c, &row, i - step);
			if (step == 0)
				low(c, &row, TB_COLL_REDUCE);
			else if (step == 1)
				up_reduce(c, &row);
			else if (step == 2)
				up_broadcast(c, &row);
			else
				low(c, &row, TB_COLL_BROADCAST);
		}
	}
}

// A segment goes down while the next one comes up.
static void han_broadcast(struct tb_composing *c)
{
	struct han_row row = han_row_of(c, c->call->root);
	for (uint64_t i = 0; i <= row.n_segments && !composing_failed(c); i++) {
		compose_stage(c);
		han_load(c, &row, i);
		if (i == 0)
			han_up(c, &row, TB_COLL_BROADCAST);
		else if (i < row.n_segments)
			up_broadcast(c, &row);
		if (i == 0)
			continue;
		han_load(c, &row, i - 1);
		low(c, &row, TB_COLL_BROADCAST);
	}
}

static void han_reduce(struct tb_composing *c)
{
	struct han_row row = han_row_of(c, c->call->root);
	for (uint64_t i = 0; i <= row.n_segments && !composing_failed(c); i++) {
		compose_stage(c);
		if (i > 0) {
			han_load(c, &row, i - 1);
			up_reduce(c, &row);
		}
		if (i == row.n_segments)
			continue;
		han_load(c, &row, i);
		low(c, &row, TB_COLL_REDUCE);
	}
}

static void han_barrier(struct tb_composing *c)
{
	struct han_row row = han_row_of(c, 0);
	low(c, &row, TB_COLL_BARRIER);
	han_up(c, &row, TB_COLL_BARRIER);
	low(c, &row, TB_COLL_BARRIER);
}

// Blocks: those of a host move as one.
static void han_gather(struct tb_composing *c)
{
	struct han_row row = han_row_of(c, c->call->root);
	low(c, &row, TB_COLL_GATHER);
	c->bytes = row.whole * c->sizes[0];
	han_up(c, &row, TB_COLL_GATHER);
}

static void han_scatter(struct tb_composing *c)
{
	struct han_row row = han_row_of(c, c->call->root);
	c->bytes = row.whole * c->sizes[0];
	han_up(c, &row, TB_COLL_SCATTER);
	c->bytes = row.whole;
	low(c, &row, TB_COLL_SCATTER);
}

static void allgather(struct tb_composing *c)
{
	struct han_row row = han_row_of(c, 0);
	low(c, &row, TB_COLL_GATHER);
	c->bytes = row.whole * c->sizes[0];
	han_up(c, &row, TB_COLL_ALLGATHER);
	c->bytes = row.whole * c->call->n;
	low(c, &row, TB_COLL_BROADCAST);
}

// has_block returns whether all blocks are of one size, which it sets, and so few bytes
// that all together can be counted: else it is another call, which HAN leaves to "tuned".
static bool has_block(struct tb_composing *c)
{
	const struct tb_collective_call *call = c->call;
	const uint64_t *sizes = call->sizes && call->op == TB_COLL_SCATTER
					? call->sizes[call->root]
					: NULL;
	const uint64_t *blocks = sizes ? sizes : call->bytes;
	for (uint32_t i = 1; i < call->n; i++)
		if (blocks[i] != blocks[0])
			return false;
	c->bytes = blocks[0];
	return blocks[0] <= UINT64_MAX / call->n;
}

// By operation; others are composed as if there were no hosts.
static const struct {
	tb_composer *compose;
	bool is_balanced; // of hosts with as many members each
	bool has_block;	  // of blocks
} han[TB_COLL_N] = {
	[TB_COLL_BARRIER] = {han_barrier, false, false},
	[TB_COLL_ALLREDUCE] = {han_allreduce, false, false},
	[TB_COLL_BROADCAST] = {han_broadcast, true, false},
	[TB_COLL_REDUCE] = {han_reduce, true, false},
	[TB_COLL_GATHER] = {han_gather, true, true},
	[TB_COLL_SCATTER] = {han_scatter, true, true},
	[TB_COLL_ALLGATHER] = {allgather, true, true},
};

void tb_compose_openmpi5(struct tb_composing *c)
{
	enum tb_collective_op op = c->call->op;
	if (c->n_hosts < 2)
		return; // HAN leaves it to "tuned"
	c->made->name = HAN;
	if (han[op].compose && (is_balanced(c) || !han[op].is_balanced) &&
		(!han[op].has_block || has_block(c)))
		han[op].compose(c);
}
