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
			.radix = part->radix};
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
	const struct tb_library *library;
	assert_int_equal(tb_library_find(&library, "mpich", NULL), TB_OK);
	for (size_t h = 0; h < sizeof hosts / sizeof *hosts; h++)
		for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
			for (uint32_t n = 2; n <= 16; n++)
				for (size_t s = 0; s < 2; s++)
					check_parts(
						library, ops[o], hosts[h], n, sizes[s]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_mpi_sends_between_hosts_what_was_measured),
		cmocka_unit_test(parts_bring_all_to_whom_it_belongs),
		cmocka_unit_test(mpich_sends_between_hosts_what_was_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
