// GOAL's binary form, as LogGOPSim's txt2bin writes it. Everything little-endian, packed:
//
//	u64 4223, u32 ranks, u8 highest cpu, u8 highest nic
//	per rank: u64 begin, u64 end, counted from the byte after the 4223
//	at each begin: u32 operations, u32 roots, u32 root[roots],
//		operations of 39 bytes, u32 dependant[dependants]
//	operation: u32 predecessors, u8 kind (1 send, 2 receive, 3 calc), u32 peer,
//		u64 amount, u32 tag, u8 cpu, u8 nic,
//		u32 n and u32 first of the dependants that wait for its end,
//		u32 n and u32 first of those that wait for its start
//
// Where a library planned messages of a collective call (`planned` of struct tb_op), the
// file ends, behind all parts, where LogGOPSim does not read, with
//
//	per run of them: u32 first, u32 end, ascending, operations over the whole job
//	u32 runs, "planned\n"
//
// and where the ranks have names, with their sections (goal_names.h).
//
// A root is an operation without predecessors; a dependant is an operation's index within
// its rank. Peer and tag 2^32 - 1 stand for any.
#include "goal.h"
#include "goal_names.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define READ_LEAST   4096
#define MAGIC_BYTES  8
#define HEADER_BYTES 14 // with the magic
#define TABLE_BYTES  16 // per rank
#define RANK_BYTES   8	// before the roots
#define NODE_BYTES   39
#define NODE_ENDS    23 // the two lists of dependants, from a node's beginning
#define NODE_STARTS  31
#define RUN_BYTES    8
#define RUNS_END     12 // their number and the magic
#define KIND_SEND    1
#define KIND_RECV    2
#define KIND_CALC    3

static uint32_t image_u32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static uint64_t image_u64(const unsigned char *at)
{
	return (uint64_t)image_u32(at) | (uint64_t)image_u32(at + 4) << 32;
}

// The whole file in memory; offsets in messages count from its beginning.
struct image {
	unsigned char *bytes;
	size_t n;
	const char *name;
	struct tb_error *error;
	size_t runs; // offset of the run that comes next, up to n_runs_left
	uint32_t n_runs_left;
	uint32_t n_ops; // added
	struct tb_goal_names names;
};

#define REFUSE(image, at, ...)                                                           \
	tb_fail_at((image)->error, TB_EFORMAT, (image)->name, TB_PLACE_OFFSET, (at),     \
		__VA_ARGS__)

// take_names takes the sections of names behind the parts.
static int take_names(struct image *image, uint32_t n_ranks)
{
	for (int k = 0; k < TB_GOAL_N_NAMES; k++) {
		const struct tb_bytes file = {
			image->bytes + HEADER_BYTES, image->n - HEADER_BYTES};
		int64_t n = tb_goal_names_section(&image->names, file, n_ranks);
		if (n < 0)
			return tb_fail_memory_in(image->error, image->name, "its names");
		image->n -= (size_t)n;
	}
	return TB_OK;
}

// take_runs finds the runs of planned messages behind the parts, which then end where the
// runs begin.
static int take_runs(struct image *image)
{
	if (image->n < HEADER_BYTES + RUNS_END ||
		image_u64(image->bytes + image->n - MAGIC_BYTES) != TB_GOAL_PLANNED_END)
		return TB_OK;
	size_t at = image->n - RUNS_END;
	uint32_t n = image_u32(image->bytes + at);
	if ((at - HEADER_BYTES) / RUN_BYTES < n)
		return REFUSE(image, at,
			"has no room for %" PRIu32 " runs of planned messages", n);
	image->n_runs_left = n;
	image->n = image->runs = at - (size_t)n * RUN_BYTES;
	return TB_OK;
}

// is_planned returns whether the operation added next lies in a run.
static bool is_planned(struct image *image)
{
	while (image->n_runs_left > 0 &&
		image->n_ops >= image_u32(image->bytes + image->runs + 4)) {
		image->runs += RUN_BYTES;
		image->n_runs_left--;
	}
	return image->n_runs_left > 0 &&
	       image->n_ops >= image_u32(image->bytes + image->runs);
}

// load_image reads the whole stream, because the table of ranks may point anywhere in it.
static int load_image(struct image *image, FILE *stream)
{
	size_t room = 0;
	for (;;) {
		if (TB_ARRAY_RESERVE(&image->bytes, &room, image->n + READ_LEAST) !=
			TB_OK)
			return tb_fail_memory_in(image->error, image->name,
				"more than %zu bytes", image->n);
		size_t n = fread(image->bytes + image->n, 1, room - image->n, stream);
		if (n == 0)
			return TB_OK;
		image->n += n;
	}
}

// One rank's part of the file; `measure` checked that it lies within the file.
struct goal_part {
	uint32_t rank;
	uint32_t n_ops, n_roots;
	size_t nodes;	   // offset
	size_t dependants; // offset
	size_t n_dependants;
};

static int measure_rank(const struct image *image, uint32_t rank, struct goal_part *part)
{
	size_t entry = HEADER_BYTES + (size_t)rank * TABLE_BYTES;
	uint64_t begin = image_u64(image->bytes + entry);
	uint64_t end = image_u64(image->bytes + entry + 8);
	uint64_t n = image->n - MAGIC_BYTES;
	if (end > n || begin > end || end - begin < RANK_BYTES)
		return REFUSE(image, entry,
			"rank %" PRIu32 " lies from %" PRIu64 " to %" PRIu64
			", where there are 0 to %" PRIu64,
			rank, begin, end, n);
	size_t at = (size_t)begin + MAGIC_BYTES;
	uint64_t left = end - begin - RANK_BYTES;
	uint32_t n_ops = image_u32(image->bytes + at);
	uint32_t n_roots = image_u32(image->bytes + at + 4);
	uint64_t need = (uint64_t)n_roots * 4 + (uint64_t)n_ops * NODE_BYTES;
	if (need > left || (left - need) % 4 != 0)
		return REFUSE(image, at,
			"rank %" PRIu32 " has no room for %" PRIu32
			" operations and %" PRIu32 " roots in %" PRIu64 " bytes",
			rank, n_ops, n_roots, left);
	part->rank = rank;
	part->n_ops = n_ops;
	part->n_roots = n_roots;
	part->nodes = at + RANK_BYTES + (size_t)n_roots * 4;
	part->dependants = part->nodes + (size_t)n_ops * NODE_BYTES;
	part->n_dependants = (size_t)(left - need) / 4;
	return TB_OK;
}

// check_built names the place of what the builder refused.
static int check_built(
	const struct image *image, const struct tb_job_builder *builder, size_t at)
{
	struct tb_error why;
	int status = tb_job_builder_check(builder, &why);
	if (status == TB_EUSAGE)
		return REFUSE(image, at, "%s", why.text);
	return status == TB_OK
		       ? TB_OK
		       : tb_fail_in(image->error, why.code, image->name, "%s", why.text);
}

static int add_image_node(
	struct image *image, struct tb_job_builder *builder, uint32_t rank, size_t at)
{
	const unsigned char *node = image->bytes + at;
	struct tb_op op = {.peer = image_u32(node + 5),
		.amount = image_u64(node + 9),
		.tag = image_u32(node + 17),
		.cpu = node[21],
		.nic = node[22]};
	switch (node[4]) {
	case KIND_SEND:
		op.kind = TB_OP_SEND;
		break;
	case KIND_RECV:
		op.kind = TB_OP_RECV;
		break;
	case KIND_CALC:
		op.kind = TB_OP_CALC;
		break;
	default:
		return REFUSE(image, at + 4, "an operation is of kind 1, 2 or 3, not %d",
			node[4]);
	}
	if (op.amount > INT64_MAX)
		return REFUSE(image, at + 9, "the %s %" PRIu64 " is out of range",
			op.kind == TB_OP_CALC ? "time" : "size", op.amount);
	op.planned = is_planned(image) && op.kind != TB_OP_CALC;
	image->n_ops++;
	tb_job_add(builder, rank, &op);
	return check_built(image, builder, at);
}

// add_dependants reads one of the two lists (NODE_ENDS, NODE_STARTS) of operation `on`.
static int add_dependants(const struct image *image, struct tb_job_builder *builder,
	const struct goal_part *part, uint32_t on, size_t list)
{
	size_t at = part->nodes + (size_t)on * NODE_BYTES + list;
	uint32_t n = image_u32(image->bytes + at);
	uint32_t first = image_u32(image->bytes + at + 4);
	bool on_start = list == NODE_STARTS;
	if (n == 0) // some writers leave `first` undefined then
		return TB_OK;
	if (first > part->n_dependants || n > part->n_dependants - first)
		return REFUSE(image, at,
			"dependants %" PRIu32 " to %" PRIu64
			" are out of range: rank %" PRIu32 " has %zu",
			first, (uint64_t)first + n, part->rank, part->n_dependants);
	for (uint32_t i = 0; i < n; i++) {
		size_t entry = part->dependants + ((size_t)first + i) * 4;
		tb_job_depend(builder, part->rank, image_u32(image->bytes + entry), on,
			on_start);
		int status = check_built(image, builder, entry);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

static int add_image_rank(
	struct image *image, struct tb_job_builder *builder, const struct goal_part *part)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < part->n_ops && status == TB_OK; i++)
		status = add_image_node(
			image, builder, part->rank, part->nodes + (size_t)i * NODE_BYTES);
	uint64_t n_listed = 0, n_waits = 0;
	for (uint32_t i = 0; i < part->n_ops && status == TB_OK; i++) {
		size_t node = part->nodes + (size_t)i * NODE_BYTES;
		n_waits += image_u32(image->bytes + node);
		n_listed += (uint64_t)image_u32(image->bytes + node + NODE_ENDS) +
			    image_u32(image->bytes + node + NODE_STARTS);
		if (n_listed > part->n_dependants)
			break;
		status = add_dependants(image, builder, part, i, NODE_ENDS);
		TB_THEN(status, add_dependants(image, builder, part, i, NODE_STARTS));
	}
	if (status == TB_OK && (n_listed != part->n_dependants || n_waits != n_listed))
		return REFUSE(image, part->nodes,
			"rank %" PRIu32
			" has room for %zu dependants, but its operations have "
			"%" PRIu64 " dependants and %" PRIu64 " predecessors",
			part->rank, part->n_dependants, n_listed, n_waits);
	return status;
}

// read_image_ranks adds rank after rank. In a hostile table many ranks may share one
// part, which would make a huge job of a small file, so the sum of their sizes must not
// exceed that of the file.
static int read_image_ranks(
	struct image *image, struct tb_job_builder *builder, uint32_t n_ranks)
{
	uint64_t n_bytes = 0;
	int status = TB_OK;
	for (uint32_t rank = 0; rank < n_ranks && status == TB_OK; rank++) {
		struct goal_part part = {0};
		status = measure_rank(image, rank, &part);
		if (status != TB_OK)
			return status;
		n_bytes += (uint64_t)part.n_ops * NODE_BYTES + part.n_dependants * 4;
		if (n_bytes > image->n)
			return REFUSE(image, HEADER_BYTES + (size_t)rank * TABLE_BYTES,
				"rank %" PRIu32 " overlaps another", rank);
		status = add_image_rank(image, builder, &part);
	}
	return status;
}

static int read_image(
	struct image *image, struct tb_job_builder **builder, struct tb_error *error)
{
	if (!tb_goal_binary_begins((struct tb_bytes){image->bytes, image->n}))
		return tb_fail_in(error, TB_EFOREIGN, image->name,
			"is no binary GOAL: expected 4223 in its first 8 bytes");
	if (image->n < HEADER_BYTES)
		return REFUSE(image, image->n, "the header is cut short");
	uint32_t n_ranks = image_u32(image->bytes + 8);
	if (n_ranks < 1 || n_ranks > TB_RANKS_MAX)
		return REFUSE(image, 8, "expected 1 to %" PRIu32 " ranks, found %" PRIu32,
			TB_RANKS_MAX, n_ranks);
	int status = take_names(image, n_ranks);
	TB_THEN(status, take_runs(image));
	if (status == TB_OK && (image->n - HEADER_BYTES) / TABLE_BYTES < n_ranks)
		return REFUSE(image, image->n,
			"the table of %" PRIu32 " ranks is cut short", n_ranks);
	TB_THEN(status, tb_job_builder_new(builder, n_ranks, error));
	return status == TB_OK ? read_image_ranks(image, *builder, n_ranks) : status;
}

int tb_goal_binary_read(
	struct tb_job **job, FILE *stream, const char *name, struct tb_error *error)
{
	struct image image = {.name = name, .error = error};
	struct tb_job_builder *builder = NULL;
	int status = load_image(&image, stream);
	TB_THEN(status, read_image(&image, &builder, error));
	free(image.bytes);
	TB_THEN(status, tb_goal_finish(builder, &image.names, name, job, error));
	tb_goal_names_fini(&image.names);
	tb_job_builder_free(builder);
	return status;
}
