// What Open MPI 5 composes by host: its component "han" (priority 35, before "tuned" at
// 30) as it is in 5.0.9. A member's place is its number among those of its host. The up
// parts are among the members of all hosts that have the root's place, the low parts
// within the hosts. Within the parts "tuned" chooses, by the rules of 4.1, which did not
// change; up parts that go on beside low ones are libnbc's. Sources, in
// ompi/mca/coll/han: coll_han_bcast.c, _reduce.c, _allreduce.c, _barrier.c, _gather.c,
// _scatter.c, _allgather.c; defaults in coll_han_component.c; who falls back to "tuned"
// where hosts have different numbers of members: are_ppn_imbalanced. Operations are taken
// to commute.
#include "algorithms.h"
#include "composing.h"

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
	return (struct han_row){.place = tb_composing_place(c, root),
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
		tb_compose_host(c, (struct tb_part_way){.op = op}, host, row->place);
}

static void han_up(
	struct tb_composing *c, const struct han_row *row, enum tb_collective_op op)
{
	tb_compose_across(c, (struct tb_part_way){.op = op}, row->place, row->host);
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
	tb_compose_across(c, way, row->place, row->host);
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
	tb_compose_across(c, way, row->place, row->host);
}

// A segment goes down while the next one comes up.
static void han_broadcast(struct tb_composing *c)
{
	struct han_row row = han_row_of(c, c->call->root);
	for (uint64_t i = 0; i <= row.n_segments && !tb_composing_failed(c); i++) {
		tb_compose_stage(c);
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
	for (uint64_t i = 0; i <= row.n_segments && !tb_composing_failed(c); i++) {
		tb_compose_stage(c);
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

// Four steps, of four segments at once: added up within hosts and between them, sent
// between hosts and within them.
static void han_allreduce(struct tb_composing *c)
{
	enum { STEPS = 4 };
	struct han_row row = han_row_of(c, 0);
	for (uint64_t i = 0; i + 1 < row.n_segments + STEPS && !tb_composing_failed(c);
		i++) {
		tb_compose_stage(c);
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

void tb_compose_openmpi5(struct tb_composing *c)
{
	bool balanced = is_balanced(c);
	if (c->n_hosts < 2)
		return; // HAN leaves it to "tuned"
	c->made->name = HAN;
	switch (c->call->op) {
	case TB_COLL_BARRIER:
		han_barrier(c);
		return;
	case TB_COLL_ALLREDUCE:
		han_allreduce(c);
		return;
	case TB_COLL_BROADCAST:
		if (balanced)
			han_broadcast(c);
		return;
	case TB_COLL_REDUCE:
		if (balanced)
			han_reduce(c);
		return;
	case TB_COLL_GATHER:
		if (balanced && has_block(c))
			han_gather(c);
		return;
	case TB_COLL_SCATTER:
		if (balanced && has_block(c))
			han_scatter(c);
		return;
	case TB_COLL_ALLGATHER:
		if (balanced && has_block(c))
			allgather(c);
		return;
	case TB_COLL_ALLTOALL:
	case TB_COLL_REDUCE_SCATTER:
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		return; // as if there were no hosts
	}
}
