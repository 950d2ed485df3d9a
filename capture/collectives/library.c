#include "library.h"

#include "collective.h"
#include "composition.h"
#include "nearest.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sources of the eager limits: docs/collectives.md.
static const struct tb_library libraries[] = {
	{"openmpi", tb_choose_openmpi, NULL, UINT64_C(65536) - 56,
		"collective calls treat ranks of a host as any others, as Open MPI 4.1 "
		"does; version 5 composes them by host (--library openmpi5), and so does "
		"hcoll, which is not modelled"},
	{"openmpi4.0", tb_choose_openmpi40, NULL, UINT64_C(65536) - 56,
		"collective calls treat ranks of a host as any others, as Open MPI 4.0 "
		"does; hcoll, which does not, is not modelled"},
	{"openmpi5", tb_choose_openmpi, tb_compose_openmpi5, UINT64_C(65536) - 56, NULL},
	{"mpich", tb_choose_mpich, tb_compose_mpich, UINT64_C(16384), NULL},
	{"intelmpi", tb_choose_intelmpi, NULL, UINT64_C(262144), // I_MPI_EAGER_THRESHOLD
		"Intel MPI's algorithms by host and through shared memory have no "
		"published limits and are not modelled: --library mpich composes calls "
		"by host"},
	{"nccl", tb_choose_nccl, NULL, UINT64_MAX, NULL},
	{"rccl", tb_choose_nccl, NULL, UINT64_MAX, NULL},
	{"sockets", tb_choose_openmpi, NULL, UINT64_MAX, NULL}, // never asks
	{0},
};

int tb_library_find(
	const struct tb_library **library, const char *name, struct tb_error *error)
{
	size_t n = 0;
	for (const struct tb_library *l = libraries; l->name; l++, n++) {
		if (name && strcmp(l->name, name) != 0)
			continue;
		*library = l;
		return TB_OK;
	}
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no library is called '%s'%s", name,
		tb_hint_choice(&hint, name, &libraries->name, n, sizeof *libraries));
}

// read_version reads "2.19" or "2.19.3" as 219.
static int read_version(uint16_t *version, const char *text, struct tb_error *error)
{
	unsigned major, minor;
	int n = 0;
	if (sscanf(text, "%1u.%2u%n", &major, &minor, &n) < 2 || major != 2 ||
		(text[n] && text[n] != '.'))
		return tb_fail(error, TB_EUSAGE,
			"'%.40s' is no version of NCCL; expected one such as 2.19", text);
	*version = (uint16_t)(100 * major + minor);
	return TB_OK;
}

int tb_library_read(const struct tb_library **library,
	struct tb_collective_choices *choices, const char *text, struct tb_error *error)
{
	const struct tb_library *found;
	char *copy = strdup(text ? text : libraries[0].name), *rest = NULL;
	if (!copy)
		return tb_fail_memory(error, "a library");
	char *name = strtok_r(copy, " \t", &rest), *word = NULL;
	char *version = name ? strchr(name, '@') : NULL;
	if (version)
		*version++ = '\0';
	int status = tb_library_find(&found, name ? name : "", error);
	if (status == TB_OK && *library != found)
		choices->nccl = (struct tb_nccl_settings){0};
	bool takes = status == TB_OK && tb_library_is_of_gpus(found);
	if (status == TB_OK && version)
		status = takes ? read_version(&choices->nccl.version, version, error)
			       : tb_fail(error, TB_EUSAGE,
					 "library %s: only nccl and rccl have versions",
					 found->name);
	while (status == TB_OK && (word = strtok_r(NULL, " \t", &rest)))
		status = takes ? tb_nccl_settings_add(&choices->nccl, word, error)
			       : tb_fail(error, TB_EUSAGE,
					 "library %s has no setting '%.60s'", found->name,
					 word);
	free(copy);
	if (status == TB_OK)
		*library = found;
	return status;
}

const char *tb_library_number(size_t i)
{
	return i < sizeof libraries / sizeof *libraries ? libraries[i].name : NULL;
}

const char *tb_library_name(const struct tb_library *library)
{
	return library->name;
}

const char *tb_library_host(const char *text)
{
	const struct tb_library *library = NULL;
	struct tb_collective_choices choices = {0};
	if (tb_library_read(&library, &choices, text, NULL) != TB_OK)
		return NULL;
	if (tb_library_is_of_gpus(library))
		return "nccl";
	return strcmp(library->name, "sockets") == 0 ? "tcp" : "mpi";
}

bool tb_library_is_of_gpus(const struct tb_library *library)
{
	return library->choose == tb_choose_nccl;
}

uint64_t tb_library_eager_bytes(const struct tb_library *library)
{
	return library->eager_bytes;
}

int tb_collective_choices_add(
	struct tb_collective_choices *choices, const char *choice, struct tb_error *error)
{
	const char *sign = strchr(choice, '=');
	char name[32];
	enum tb_collective_op op;
	if (!sign || sign == choice || !sign[1] || (size_t)(sign - choice) >= sizeof name)
		return tb_fail(error, TB_EUSAGE,
			"'%s' names no algorithm of a collective operation; expected "
			"OPERATION=ALGORITHM, as in allreduce=ring",
			choice);
	memcpy(name, choice, (size_t)(sign - choice));
	name[sign - choice] = '\0';
	if (!tb_collective_op_find(&op, name)) {
		const char *names[TB_COLL_N];
		for (int i = 0; i < TB_COLL_N; i++)
			names[i] = tb_collective_op_name((enum tb_collective_op)i);
		struct tb_hint hint;
		return tb_fail(error, TB_EUSAGE,
			"no collective operation is called '%s'%s", name,
			tb_hint_choice(&hint, name, names, TB_COLL_N, sizeof *names));
	}
	const struct tb_algorithm *algorithm;
	int status = tb_algorithm_find(&algorithm, op, sign + 1, error);
	if (status != TB_OK)
		return status;
	strcpy(choices->algorithms[op], algorithm->name); // shorter than 32 characters
	return TB_OK;
}

// message_bytes returns the size of the block from one member to another.
static uint64_t message_bytes(
	const struct tb_collective_call *call, uint32_t from, uint32_t to)
{
	const uint64_t *sizes = call->sizes ? call->sizes[from] : NULL;
	bool is_inter = call->n_local < call->n;
	uint32_t place = is_inter && to >= call->n_local ? to - call->n_local : to;
	switch (call->op) {
	case TB_COLL_SCATTER:
		return sizes ? sizes[place] : call->bytes[to];
	case TB_COLL_ALLTOALL:
		return sizes ? sizes[place] : call->bytes[from];
	case TB_COLL_EXCHANGE:
		return sizes ? sizes[place] : 0;
	case TB_COLL_BARRIER:
	case TB_COLL_BROADCAST:
	case TB_COLL_GATHER:
	case TB_COLL_ALLGATHER:
	case TB_COLL_REDUCE:
	case TB_COLL_ALLREDUCE:
	case TB_COLL_REDUCE_SCATTER:
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
	case TB_COLL_N:
		break;
	}
	return call->bytes[from];
}

// block_of returns the size of the block that is named after a member; in an all-to-all
// that of the pair.
static uint64_t block_of(const struct tb_collective_call *call, uint64_t block)
{
	uint32_t n = call->n;
	if (call->op == TB_COLL_ALLTOALL)
		return message_bytes(call, (uint32_t)(block / n), (uint32_t)(block % n));
	if (call->op == TB_COLL_SCATTER)
		return message_bytes(call, call->root, (uint32_t)block);
	return call->bytes[block];
}

static bool has_blocks(enum tb_collective_op op)
{
	return tb_collectives[op].size == TB_SIZE_BLOCK;
}

static uint64_t n_blocks_of(const struct tb_collective_call *call)
{
	return call->op == TB_COLL_ALLTOALL ? (uint64_t)call->n * call->n : call->n;
}

// shape_set_bytes finds the mean of the blocks, and whether they differ. The sum of an
// all-to-all of 2^24 members may overflow 64 bits where each block has above 64 KiB; so
// the mean is found in floating point where that is near.
static void shape_set_bytes(struct tb_collective_shape *shape)
{
	const struct tb_collective_call *call = shape->call;
	// Without sizes a member's blocks for the others are equal.
	bool each = call->op == TB_COLL_ALLTOALL && !call->sizes;
	uint64_t step = each ? call->n : 1;
	uint64_t n = n_blocks_of(call), first = block_of(call, 0);
	double sum = 0;
	for (uint64_t i = 0; i < n; i += step) {
		uint64_t bytes = block_of(call, i);
		shape->unequal = shape->unequal || bytes != first;
		sum += (double)bytes;
	}
	double mean = sum / (double)(n / step);
	shape->bytes = shape->unequal ? (uint64_t)mean : first;
}

// size_blocks gives the blocks of a plan their unequal sizes: those named after members
// or pairs, or (inter-communicators, exchanges) those of the transfers.
static void size_blocks(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	bool by_transfer = !has_blocks(shape->op) || shape->n_local < shape->n;
	uint64_t n = by_transfer ? plan->n_transfers : n_blocks_of(shape->call);
	uint64_t end = 0;
	plan->block_ends = malloc((n + 1) * sizeof *plan->block_ends);
	if (!plan->block_ends) {
		plan->status = TB_ENOMEM;
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		const struct tb_transfer *t = &plan->transfers[i];
		end += by_transfer ? message_bytes(shape->call, t->from, t->to)
				   : block_of(shape->call, i);
		plan->block_ends[i] = end;
	}
	if (by_transfer)
		plan->n_blocks = n;
}

// library_choose lets the user choose, or else the library. An inter-communicator leaves
// no choice.
static int library_choose(const struct tb_library *library,
	const struct tb_collective_choices *choices,
	const struct tb_collective_shape *shape, struct tb_algorithm_choice *choice,
	struct tb_error *error)
{
	const char *wanted = choices ? choices->algorithms[shape->op] : "";
	const char *given = shape->call->algorithm;
	*choice = (struct tb_algorithm_choice){.radix = shape->call->radix,
		.segment_bytes = shape->call->segment_bytes,
		.algorithm = given	 ? given
			     : wanted[0] ? wanted
					 : NULL};
	// NCCL paces what the user chose, too.
	if (!choice->algorithm || tb_library_is_of_gpus(library))
		library->choose(choice, shape);
	if (!given && wanted[0])
		snprintf(choice->reason, sizeof choice->reason, "chosen by the user");
	const struct tb_algorithm *algorithm;
	int status = tb_algorithm_find(&algorithm, shape->op, choice->algorithm, error);
	if (status != TB_OK)
		return status;
	choice->algorithm = algorithm->name;
	const char *lacks = tb_algorithm_lacks(algorithm, shape);
	return lacks ? tb_fail(error, TB_EUSAGE, "%s=%s needs %s",
			       tb_collective_op_name(shape->op), choice->algorithm, lacks)
		     : TB_OK;
}

static int plan_chosen(struct tb_plan *plan, const struct tb_library *library,
	struct tb_collective_shape *shape, const struct tb_algorithm_choice *choice,
	struct tb_expansion_rule *rule, struct tb_error *error)
{
	const struct tb_algorithm *algorithm;
	int status = tb_algorithm_find(&algorithm, shape->op, choice->algorithm, error);
	shape->segment_bytes = choice->segment_bytes;
	shape->radix = choice->radix;
	shape->n_channels = choice->n_channels;
	shape->chunk_bytes = choice->chunk_bytes;
	plan->pace = choice->pace;
	if (status == TB_OK) {
		char text[2][32];
		// How many messages a call takes at least, before any is planned.
		uint64_t each = algorithm->traits & TB_GROWS_SQUARE ? shape->n - 1 : 1;
		uint64_t segments =
			shape->segment_bytes ? shape->bytes / shape->segment_bytes : 1;
		if (segments > each)
			each = segments;
		uint64_t n = each < UINT64_MAX / shape->n ? each * shape->n : UINT64_MAX;
		if (n > TB_PLAN_TRANSFERS_MAX) {
			status = tb_fail(error, TB_ECAPACITY,
				"a call of %s by %" PRIu32
				" ranks takes at least %s messages as %s: a job holds %s "
				"(--collective chooses another algorithm)",
				tb_collective_op_name(shape->op), shape->n,
				tb_format_count(n, text[0], sizeof text[0]),
				algorithm->name,
				tb_format_count(
					TB_PLAN_TRANSFERS_MAX, text[1], sizeof text[1]));
		}
	}
	if (status != TB_OK)
		return status;
	algorithm->plan(plan, shape);
	// GPUs copy at the rate of their memory.
	if (!tb_library_is_of_gpus(library)) {
		// The members copy their own blocks where the algorithm does.
		unsigned traits = algorithm->traits;
		if ((traits & (TB_COPIES_FIRST | TB_COPIES_LAST))) {
			plan->own = (struct tb_plan_own){
				.every = shape->op == TB_COLL_ALLTOALL ? shape->n + 1 : 1,
				.only_root = tb_collectives[shape->op].rooted,
				.last = traits & TB_COPIES_LAST};
		}
		plan->own.whole = traits & TB_COPIES_WHOLE;
		plan->n_vectors = traits & TB_TAKES_VECTORS  ? 2
				  : traits & TB_TAKES_VECTOR ? 1
							     : 0;
	}
	rule->algorithm = algorithm->name;
	rule->protocol = choice->protocol;
	snprintf(rule->reason, sizeof rule->reason, "%s", choice->reason);
	return TB_OK;
}

int tb_library_expand(const struct tb_library *library,
	const struct tb_collective_choices *choices,
	const struct tb_collective_call *call, struct tb_plan *plan,
	struct tb_expansion_rule *rule, struct tb_error *error)
{
	struct tb_collective_shape shape = {.op = call->op,
		.n = call->n,
		.n_local = call->n_local,
		.root = tb_collectives[call->op].rooted ? call->root : 0,
		.hosts = call->hosts,
		.node = call->node,
		.nccl = choices ? &choices->nccl : NULL,
		.is_rccl = strcmp(library->name, "rccl") == 0,
		.call = call};
	if (call->n_local < call->n || call->op == TB_COLL_EXCHANGE)
		shape.unequal = true;
	else if (has_blocks(call->op))
		shape_set_bytes(&shape);
	else if (call->op == TB_COLL_BROADCAST)
		shape.bytes = call->bytes[call->root];
	else if (call->op != TB_COLL_BARRIER) {
		uint64_t most = 0;
		for (uint32_t i = 0; i < call->n; i++)
			most = call->bytes[i] > most ? call->bytes[i] : most;
		shape.bytes = most;
	}
	struct tb_plan made = tb_plan_of_call(shape.op, shape.n, shape.bytes, false);
	struct tb_expansion_rule stated = {.algorithm = "none", .reason = "one member"};
	made.root = shape.root;
	made.most = call->most_transfers;
	if (call->n_local < call->n) {
		stated.algorithm = tb_inter_plan(&made, &shape);
		snprintf(stated.reason, sizeof stated.reason, "inter-communicator");
	} else if (call->n > 1) {
		struct tb_algorithm_choice choice;
		int status = library_choose(library, choices, &shape, &choice, error);
		if (status == TB_OK)
			status = plan_chosen(
				&made, library, &shape, &choice, &stated, error);
		if (status != TB_OK)
			return status;
	}
	*rule = stated;
	if (shape.unequal && made.status == TB_OK && !made.block_ends)
		size_blocks(&made, &shape);
	if (made.status == TB_OK) {
		tb_plan_close_rounds(&made);
		*plan = made;
		return TB_OK;
	}
	tb_plan_fini(&made);
	return made.status == TB_ENOMEM
		       ? tb_fail_memory(error, "the messages of a collective call")
		       : tb_fail(error, made.status,
				 "a collective call of %" PRIu32
				 " members takes more messages than a job can hold",
				 shape.n);
}

// Algorithms by name, what they need, and plans of synthetic jobs.

int tb_algorithm_find(const struct tb_algorithm **algorithm, enum tb_collective_op op,
	const char *name, struct tb_error *error)
{
	const char *names[64];
	size_t n = 0;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++) {
		if (a->op != op)
			continue;
		if (!name || strcmp(a->name, name) == 0) {
			*algorithm = a;
			return TB_OK;
		}
		if (n < sizeof names / sizeof *names)
			names[n++] = a->name;
	}
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no algorithm of %s is called '%s'%s",
		tb_collective_op_name(op), name,
		tb_hint_choice(&hint, name, names, n, sizeof *names));
}

const char *tb_algorithm_lacks(
	const struct tb_algorithm *algorithm, const struct tb_collective_shape *shape)
{
	if ((algorithm->traits & TB_NEEDS_EQUAL) && shape->unequal)
		return "blocks of equal size";
	if ((algorithm->traits & TB_NEEDS_EVEN) && shape->n % 2)
		return "an even number of members";
	if ((algorithm->traits & TB_NEEDS_POWER) && (shape->n & (shape->n - 1)))
		return "a power of two of members";
	if ((algorithm->traits & TB_NEEDS_TWO) && shape->n != 2)
		return "two members";
	return NULL;
}

struct tb_plan tb_plan_of_call(
	enum tb_collective_op op, uint32_t n, uint64_t bytes, bool by_ports)
{
	bool parts = tb_collectives[op].size == TB_SIZE_BLOCK;
	bool scatters = op == TB_COLL_REDUCE_SCATTER || (by_ports && !parts);
	return (struct tb_plan){.n_ranks = n,
		.n_ports = 1,
		.order = TB_ORDER_DATA,
		.n_blocks = parts || scatters ? n : 1,
		.unit_bytes = bytes,
		.blocks_per_unit = scatters ? n : 1};
}

static int collective_check_ranks(
	const struct tb_collective_options *o, struct tb_error *error)
{
	if (o->n_ranks < 2 || o->n_ranks > TB_RANKS_MAX)
		return tb_fail(error, TB_EUSAGE,
			"a collective needs 2 to %" PRIu32 " ranks, not %" PRIu32,
			TB_RANKS_MAX, o->n_ranks);
	if (o->root >= o->n_ranks)
		return tb_fail(error, TB_EUSAGE,
			"rank %" PRIu32
			" cannot be the root: the ranks are 0 to %" PRIu32,
			o->root, o->n_ranks - 1);
	return TB_OK;
}

static int collective_check_ports(
	const struct tb_collective_options *o, struct tb_error *error)
{
	const struct tb_algorithm *algorithm = o->algorithm;
	if (o->n_ports < 1 || o->n_ports > TB_PORTS_MAX)
		return tb_fail(error, TB_EUSAGE, "a rank has 1 to %d ports, not %" PRIu32,
			TB_PORTS_MAX, o->n_ports);
	if (o->n_ports > 1 && !(algorithm->traits & TB_TAKES_PORTS))
		return tb_fail(error, TB_EUSAGE,
			"%s %s has one port per rank, not %" PRIu32,
			tb_collective_op_name(algorithm->op), algorithm->name,
			o->n_ports);
	if (o->per_node > 1 && !(algorithm->traits & TB_TAKES_HOSTS))
		return tb_fail(error, TB_EUSAGE,
			"%s %s does not go by hosts, as nccl-ring and nccl-tree do: "
			"leave "
			"--per-node out",
			tb_collective_op_name(algorithm->op), algorithm->name);
	if ((algorithm->traits & TB_TAKES_BRANCH) && o->branch < 1)
		return tb_fail(
			error, TB_EUSAGE, "a tree needs at least one child per rank");
	return TB_OK;
}

static int check_amounts(const struct tb_collective_options *o, struct tb_error *error)
{
	const struct tb_algorithm *algorithm = o->algorithm;
	const char *name = tb_collective_op_name(algorithm->op);
	const struct tb_collective_shape shape = {.n = o->n_ranks};
	const char *lacks = tb_algorithm_lacks(algorithm, &shape);
	if (lacks)
		return tb_fail(
			error, TB_EUSAGE, "%s %s needs %s", name, algorithm->name, lacks);
	if (o->bytes > (UINT64_C(1) << 62) / o->n_ranks)
		return tb_fail(error, TB_EUSAGE,
			"%" PRIu64 " bytes are too many for %" PRIu32 " ranks", o->bytes,
			o->n_ranks);
	uint64_t pairs = (uint64_t)o->n_ranks * (o->n_ranks - 1);
	if ((algorithm->traits & TB_GROWS_SQUARE) && pairs > TB_PLAN_TRANSFERS_MAX)
		return tb_fail(error, TB_ECAPACITY,
			"%s %s among %" PRIu32
			" ranks takes more operations than a job can hold (%d)",
			name, algorithm->name, o->n_ranks, INT32_MAX);
	return TB_OK;
}

int tb_collective_plan(struct tb_plan *plan, const struct tb_collective_options *o,
	struct tb_error *error)
{
	int status = collective_check_ranks(o, error);
	if (status == TB_OK)
		status = collective_check_ports(o, error);
	if (status == TB_OK)
		status = check_amounts(o, error);
	if (status != TB_OK)
		return status;
	bool by_host = o->per_node > 1;
	uint32_t *hosts = by_host ? malloc(o->n_ranks * sizeof *hosts) : NULL;
	for (uint32_t i = 0; hosts && i < o->n_ranks; i++)
		hosts[i] = i / o->per_node;
	if (by_host && !hosts)
		return tb_fail_memory(error, "the hosts");
	const struct tb_collective_shape shape = {.op = o->algorithm->op,
		.n = o->n_ranks,
		.hosts = hosts,
		.n_channels = by_host ? o->per_node : 0,
		.n_local = o->n_ranks,
		.root = o->root,
		.bytes = o->bytes,
		.by_ports = o->algorithm->traits & TB_TAKES_PORTS,
		.radix = o->algorithm->traits & TB_TAKES_BRANCH ? o->branch : 0};
	// A plan without transfers, with ports for no more than all others.
	enum tb_collective_op op = o->algorithm->op;
	bool by_ports = o->algorithm->traits & TB_TAKES_PORTS;
	struct tb_plan made = tb_plan_of_call(op, o->n_ranks, o->bytes, by_ports);
	made.n_ports = o->n_ports < o->n_ranks - 1 ? o->n_ports : o->n_ranks - 1;
	made.root = o->root;
	o->algorithm->plan(&made, &shape);
	free(hosts);
	if (made.status != TB_OK) {
		tb_plan_fini(&made);
		return made.status == TB_ENOMEM
			       ? tb_fail_memory(error, "so many messages")
			       : tb_fail(error, made.status,
					 "these are more messages than a job can hold");
	}
	tb_plan_close_rounds(&made);
	*plan = made;
	return TB_OK;
}
