// Collective calls of several ranks a host against what they put on the wire between two
// hosts: TCP payload leaving each host, measured by tests/e2e/hosts/wire.c and kept in
// tests/data/collectives/hosts-*.txt (see the README there).
#include "composition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_MAX = 64, N_HOSTS = 2 };

// What a library puts in front of a message: Open MPI's BTL TCP 8 and match header 14;
// UCX's active message over TCP 5 and tag 8. A rendezvous of Open MPI is answered by 64.
struct measured_library {
	const char *name, *file;
	uint64_t header_bytes, answer_bytes;
	unsigned at_least; // calls
};

struct row {
	struct tb_collective_call call;
	uint64_t bytes[N_MAX];
	uint32_t hosts[N_MAX];
	uint64_t out[N_HOSTS]; // measured
};

struct crossing {
	uint64_t out[N_HOSTS];
};

static void read_row(struct row *row, const char *text)
{
	char op[32];
	unsigned n, root;
	unsigned long bytes, out[N_HOSTS];
	assert_int_equal(sscanf(text, "%31s %u %lu %u %lu %lu", op, &n, &bytes, &root,
				 &out[0], &out[1]),
		6);
	assert_true(n <= N_MAX);
	*row = (struct row){
		.call = {.n = n, .n_local = n, .root = root}, .out = {out[0], out[1]}};
	for (uint32_t i = 0; i < n; i++) {
		row->bytes[i] = bytes;
		row->hosts[i] = i / (n / N_HOSTS);
	}
	row->call.bytes = row->bytes;
	row->call.hosts = row->hosts;
	assert_true(tb_collective_op_find(&row->call.op, op));
	// A block is what the program gives each member.
	if (row->call.op == TB_COLL_REDUCE_SCATTER)
		assert_int_equal(bytes % (8 * n), 0);
}

// cross adds what a call, or a part of one, sends from host to host. `members` are places
// in the row's call; NULL: the same.
static void cross(const struct tb_library *library, const struct row *row,
	const struct tb_collective_call *call, const uint32_t *members,
	const struct measured_library *measured, struct crossing *crossing)
{
	struct tb_plan plan;
	struct tb_expansion_rule rule;
	struct tb_error error;
	if (tb_library_expand(library, NULL, call, &plan, &rule, &error) != TB_OK)
		fail_msg("%s", error.text);
	for (size_t i = 0; i < plan.n_transfers; i++) {
		const struct tb_transfer *t = &plan.transfers[i];
		uint32_t from = row->hosts[members ? members[t->from] : t->from];
		uint32_t to = row->hosts[members ? members[t->to] : t->to];
		uint64_t bytes = tb_plan_bytes(&plan, t);
		if (from == to)
			continue;
		crossing->out[from] += bytes + measured->header_bytes;
		if (bytes > tb_library_eager_bytes(library))
			crossing->out[to] += measured->answer_bytes;
	}
	tb_plan_fini(&plan);
}

static struct crossing expand(const struct tb_library *library, const struct row *row,
	const struct measured_library *measured, bool *composed)
{
	struct tb_composition composition;
	struct crossing crossing = {{0}};
	assert_int_equal(
		tb_library_compose(library, NULL, &row->call, &composition, NULL), TB_OK);
	*composed = composition.n > 0;
	if (!*composed)
		cross(library, row, &row->call, NULL, measured, &crossing);
	for (size_t i = 0; i < composition.n; i++) {
		const struct tb_call_part *part = &composition.parts[i];
		uint64_t bytes[N_MAX];
		for (uint32_t k = 0; k < part->n; k++)
			bytes[k] = part->bytes;
		struct tb_collective_call call = {.op = part->op,
			.n = part->n,
			.n_local = part->n,
			.root = part->root,
			.bytes = bytes,
			.algorithm = part->algorithm,
			.radix = part->radix,
			.segment_bytes = part->segment_bytes};
		cross(library, row, &call, part->members, measured, &crossing);
	}
	tb_composition_fini(&composition);
	return crossing;
}

// Within 5 %, or 200 B a call: what else the library tells.
static bool agrees(uint64_t is, uint64_t was)
{
	uint64_t off = is > was ? is - was : was - is;
	return off <= 200 || off * 20 <= was;
}

static void check_file(const struct measured_library *measured)
{
	const struct tb_library *library;
	const char *source = getenv("TB_SOURCE");
	char path[4096], text[256];
	unsigned n = 0, same = 0, n_composed = 0;
	snprintf(path, sizeof path, "%s/tests/data/collectives/%s", source ? source : ".",
		measured->file);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(tb_library_find(&library, measured->name, NULL), TB_OK);
	while (fgets(text, sizeof text, file)) {
		struct row row;
		bool composed;
		read_row(&row, text);
		struct crossing is = expand(library, &row, measured, &composed);
		bool fits =
			agrees(is.out[0], row.out[0]) && agrees(is.out[1], row.out[1]);
		n++;
		same += fits;
		n_composed += composed;
		if (!fits)
			print_message("%s: %s%s is %lu and %lu\n", measured->name, text,
				composed ? "by host" : "flat", is.out[0], is.out[1]);
	}
	fclose(file);
	print_message("%s: %u of %u calls agree, %u composed\n", measured->name, same, n,
		n_composed);
	assert_true(n >= measured->at_least);
	assert_int_equal(same, n);
}

static void open_mpi_sends_between_hosts_what_was_measured(void **state)
{
	(void)state;
	check_file(&(struct measured_library){
		"openmpi", "hosts-openmpi-4.1.4.txt", 22, 64, 70});
}

static void mpich_sends_between_hosts_what_was_measured(void **state)
{
	(void)state;
	check_file(
		&(struct measured_library){"mpich", "hosts-mpich-4.0.2.txt", 13, 0, 70});
}

static const struct tb_library *named(const char *name)
{
	const struct tb_library *library = NULL;
	assert_int_equal(tb_library_find(&library, name, NULL), TB_OK);
	return library;
}

// What the members have in a call of up to 32: a bit for each whose data are in it.
static void do_part(uint32_t *have, const struct tb_call_part *part)
{
	uint32_t all = 0, root = part->members[part->root];
	for (uint32_t i = 0; i < part->n; i++) {
		if (part->op != TB_COLL_BROADCAST)
			assert_int_equal(all & have[part->members[i]], 0); // added once
		all |= have[part->members[i]];
	}
	for (uint32_t i = 0; i < part->n; i++) {
		uint32_t *its = &have[part->members[i]];
		if (part->op == TB_COLL_BROADCAST)
			*its = have[root];
		else if (part->op == TB_COLL_ALLREDUCE || part->members[i] == root)
			*its = all;
		else
			*its = 0; // is given away
	}
}

static void check_parts(const struct tb_library *library, enum tb_collective_op op,
	const uint32_t *hosts, uint32_t n, uint64_t each)
{
	for (uint32_t root = 0; root < n; root++) {
		uint32_t have[32], whole = (uint32_t)((UINT64_C(1) << n) - 1);
		uint64_t bytes[32];
		struct tb_composition composition;
		for (uint32_t i = 0; i < n; i++) {
			have[i] = op == TB_COLL_BROADCAST && i != root ? 0 : 1u << i;
			bytes[i] = each;
		}
		const struct tb_collective_call call = {.op = op,
			.n = n,
			.n_local = n,
			.root = root,
			.bytes = bytes,
			.hosts = hosts};
		assert_int_equal(
			tb_library_compose(library, NULL, &call, &composition, NULL), 0);
		for (size_t i = 0; i < composition.n; i++)
			do_part(have, &composition.parts[i]);
		for (uint32_t i = 0; i < n && composition.n; i++) {
			if (op == TB_COLL_BROADCAST)
				assert_int_equal(have[i], 1u << root);
			else if (op == TB_COLL_ALLREDUCE || i == root)
				assert_int_equal(have[i], whole);
		}
		tb_composition_fini(&composition);
	}
}

static void parts_bring_all_to_whom_it_belongs(void **state)
{
	(void)state;
	static const uint32_t hosts[][16] = {
		{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3},
		{7, 7, 7, 7, 7, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 5},
		{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 9}, {0}};
	static const enum tb_collective_op ops[] = {
		TB_COLL_BROADCAST, TB_COLL_REDUCE, TB_COLL_ALLREDUCE};
	static const uint64_t sizes[] = {8, 16384};
	static const char *const names[] = {"mpich", "openmpi5"};
	for (size_t h = 0; h < sizeof hosts / sizeof *hosts; h++)
		for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
			for (uint32_t n = 2; n <= 16; n++)
				for (size_t s = 0; s < 4; s++)
					check_parts(named(names[s / 2]), ops[o], hosts[h],
						n, sizes[s % 2]);
}

// A call of 16 members on four hosts, of so many bytes each.
static void compose_four_by_four(struct tb_composition *composition,
	enum tb_collective_op op, uint32_t root, uint64_t each, bool cyclic)
{
	static uint64_t bytes[16];
	static uint32_t hosts[16];
	for (uint32_t i = 0; i < 16; i++) {
		bytes[i] = each;
		hosts[i] = cyclic ? i % 4 : i / 4;
	}
	const struct tb_collective_call call = {.op = op,
		.n = 16,
		.n_local = 16,
		.root = root,
		.bytes = bytes,
		.hosts = hosts};
	assert_int_equal(
		tb_library_compose(named("openmpi5"), NULL, &call, composition, NULL),
		TB_OK);
}

static void open_mpi_5_moves_segments_up_and_down_at_once(void **state)
{
	(void)state;
	// Steps of a segment of each operation, and how many parts a step takes.
	static const struct {
		enum tb_collective_op op;
		size_t n_stages, n_parts;
	} cases[] = {{TB_COLL_BROADCAST, 4, 3 * 5}, {TB_COLL_REDUCE, 4, 3 * 5},
		{TB_COLL_ALLREDUCE, 6, 3 * 10}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct tb_composition composition;
		size_t n_stages = 0;
		uint64_t up = 0;
		compose_four_by_four(
			&composition, cases[k].op, 0, 2 * 65536 + 100, false);
		assert_int_equal(composition.n, cases[k].n_parts);
		for (size_t i = 0; i < composition.n; i++) {
			const struct tb_call_part *part = &composition.parts[i];
			n_stages += !part->beside;
			assert_in_range(part->bytes, 100, 65536);
			up += part->members[1] - part->members[0] == 4 ? part->bytes : 0;
		}
		assert_int_equal(n_stages, cases[k].n_stages);
		assert_int_equal(up,
			(2 * 65536 + 100) * (cases[k].op == TB_COLL_ALLREDUCE ? 2 : 1));
		tb_composition_fini(&composition);
	}
}

// Root 6 is third of the second host's members, or second of the third's.
static void open_mpi_5_goes_up_by_the_roots_place(void **state)
{
	(void)state;
	for (int cyclic = 0; cyclic < 2; cyclic++) {
		struct tb_composition composition;
		compose_four_by_four(&composition, TB_COLL_GATHER, 6, 1000, cyclic);
		assert_int_equal(composition.n, 5);
		const struct tb_call_part *up = &composition.parts[4];
		assert_int_equal(up->bytes, 4000);
		assert_int_equal(up->members[up->root], 6);
		for (uint32_t i = 0; i < 4; i++) {
			assert_int_equal(up->members[i], cyclic ? 4 + i : 4 * i + 2);
			const struct tb_call_part *low = &composition.parts[i];
			assert_int_equal(low->bytes, 1000);
			assert_int_equal(low->members[low->root], up->members[i]);
		}
		tb_composition_fini(&composition);
	}
}

static void open_mpi_5_is_flat_where_hosts_differ_or_blocks_do(void **state)
{
	(void)state;
	uint64_t bytes[] = {8, 8, 8, 8, 8};
	static const uint32_t uneven[] = {0, 0, 0, 1, 1}, even[] = {0, 0, 1, 1};
	static const struct {
		enum tb_collective_op op;
		bool on_uneven;
	} cases[] = {{TB_COLL_BROADCAST, false}, {TB_COLL_ALLREDUCE, true},
		{TB_COLL_BARRIER, true}, {TB_COLL_GATHER, false},
		{TB_COLL_SCATTER, false}, {TB_COLL_ALLGATHER, false}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct tb_composition composition;
		struct tb_collective_call call = {.op = cases[k].op,
			.n = 5,
			.n_local = 5,
			.bytes = bytes,
			.hosts = uneven};
		assert_int_equal(tb_library_compose(named("openmpi5"), NULL, &call,
					 &composition, NULL),
			TB_OK);
		assert_int_equal(composition.n > 0, cases[k].on_uneven);
		tb_composition_fini(&composition);
		call.n = call.n_local = 4;
		call.hosts = even;
		bytes[3] = 16;
		assert_int_equal(tb_library_compose(named("openmpi5"), NULL, &call,
					 &composition, NULL),
			TB_OK);
		bool is_vector = cases[k].on_uneven || cases[k].op == TB_COLL_BROADCAST;
		assert_int_equal(composition.n > 0, is_vector);
		tb_composition_fini(&composition);
		bytes[3] = 8;
	}
}

// Of a broadcast each host but the root's gets the vector once.
static void open_mpi_5_sends_a_broadcast_to_each_host_once(void **state)
{
	(void)state;
	static const struct measured_library bare = {"openmpi5", "", 0, 0, 0};
	static const uint64_t sizes[] = {8, 65536, 1000000};
	for (size_t s = 0; s < 3; s++) {
		struct row row = {.call = {.op = TB_COLL_BROADCAST,
					  .n = 16,
					  .n_local = 16,
					  .root = 9,
					  .bytes = row.bytes,
					  .hosts = row.hosts}};
		bool composed;
		for (uint32_t i = 0; i < 16; i++) {
			row.bytes[i] = sizes[s];
			row.hosts[i] = i / 8;
		}
		struct crossing is = expand(named("openmpi5"), &row, &bare, &composed);
		assert_true(composed);
		assert_int_equal(is.out[0], 0);
		assert_int_equal(is.out[1], sizes[s]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_mpi_sends_between_hosts_what_was_measured),
		cmocka_unit_test(parts_bring_all_to_whom_it_belongs),
		cmocka_unit_test(mpich_sends_between_hosts_what_was_measured),
		cmocka_unit_test(open_mpi_5_moves_segments_up_and_down_at_once),
		cmocka_unit_test(open_mpi_5_goes_up_by_the_roots_place),
		cmocka_unit_test(open_mpi_5_is_flat_where_hosts_differ_or_blocks_do),
		cmocka_unit_test(open_mpi_5_sends_a_broadcast_to_each_host_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
