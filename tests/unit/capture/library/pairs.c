// Open MPI's collectives against what Open MPI sends: messages and bytes of each ordered
// pair in tests/data/collectives/openmpi-4.1.4.txt.zst (see the README there).
#include "infile.h"
#include "library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_MAX 64

struct cell {
	uint64_t messages, bytes;
};

struct line {
	char op[32];
	uint32_t n, root;
	uint64_t bytes;
	struct cell cells[N_MAX][N_MAX];
};

static bool read_line(struct line *line, char *text)
{
	int used = 0;
	memset(line, 0, sizeof *line);
	if (sscanf(text, "%31s %u %lu %u%n", line->op, &line->n, &line->bytes,
		    &line->root, &used) != 4 ||
		line->n > N_MAX)
		return false;
	unsigned from, to;
	unsigned long messages, bytes;
	int step;
	for (char *at = text + used;
		sscanf(at, " %u>%u:%lu:%lu%n", &from, &to, &messages, &bytes, &step) == 4;
		at += step)
		line->cells[from][to] = (struct cell){messages, bytes};
	return true;
}

static const char *op_of(const char *name)
{
	return strcmp(name, "gatherv") == 0	 ? "gather"
	       : strcmp(name, "scatterv") == 0	 ? "scatter"
	       : strcmp(name, "allgatherv") == 0 ? "allgather"
	       : strcmp(name, "alltoallv") == 0	 ? "alltoall"
						 : name;
}

// The calls that were recorded: member i of a gatherv and the like has i % 3 bytes more,
// and member i sends (i + 2 * j) % 3 blocks to member j in alltoallv.
static struct tb_plan plan_of(
	const char *name, const struct line *line, struct tb_expansion_rule *rule)
{
	uint64_t bytes[N_MAX], sizes[N_MAX][N_MAX];
	const uint64_t *size_of[N_MAX];
	bool uneven = line->op[strlen(line->op) - 1] == 'v';
	bool pairs = strcmp(line->op, "alltoallv") == 0;
	for (uint32_t i = 0; i < line->n; i++) {
		bytes[i] = line->bytes + (uneven ? i % 3 : 0);
		size_of[i] = sizes[i];
		for (uint32_t j = 0; j < line->n; j++)
			sizes[i][j] = (i + 2 * j) % 3 * line->bytes;
	}
	struct tb_collective_call call = {.n = line->n,
		.n_local = line->n,
		.root = line->root,
		.bytes = bytes,
		.sizes = pairs ? size_of : NULL};
	const struct tb_library *library;
	struct tb_plan plan;
	struct tb_error error;
	assert_true(tb_collective_op_find(&call.op, op_of(line->op)));
	assert_int_equal(tb_library_find(&library, name, &error), TB_OK);
	if (tb_library_expand(library, NULL, &call, &plan, rule, &error) != TB_OK)
		fail_msg("%s %u %lu: %s", line->op, line->n, line->bytes, error.text);
	return plan;
}

// Messages are compared where they carry bytes, and in barriers. Of messages that MPICH
// gathers from several places the bytes were not seen, and stand there as 0.
static bool check(const char *name, const struct line *line)
{
	static struct cell cells[N_MAX][N_MAX];
	struct tb_expansion_rule rule;
	struct tb_plan plan = plan_of(name, line, &rule);
	bool same = true;
	memset(cells, 0, sizeof cells);
	for (size_t i = 0; i < plan.n_transfers; i++) {
		const struct tb_transfer *t = &plan.transfers[i];
		cells[t->from][t->to].messages++;
		cells[t->from][t->to].bytes += tb_plan_bytes(&plan, t);
	}
	for (uint32_t i = 0; i < line->n; i++)
		for (uint32_t j = 0; j < line->n; j++) {
			const struct cell *is = &cells[i][j], *was = &line->cells[i][j];
			bool counts = was->bytes > 0 || strcmp(line->op, "barrier") == 0;
			bool hidden = was->bytes == 0 && was->messages == is->messages;
			bool differs = (!hidden && is->bytes != was->bytes) ||
				       (counts && is->messages != was->messages);
			if (differs && same)
				print_message("%s %u %lu root %u (%s: %s): %u > %u: %lu "
					      "messages, %lu B; measured %lu, %lu B\n",
					line->op, line->n, line->bytes, line->root,
					rule.algorithm, rule.reason, i, j, is->messages,
					is->bytes, was->messages, was->bytes);
			same = same && !differs;
		}
	tb_plan_fini(&plan);
	return same;
}

static void check_file(const char *name, const char *file_name, unsigned at_least)
{
	const char *source = getenv("TB_SOURCE");
	char path[4096], *text = NULL;
	size_t room = 0;
	unsigned n = 0, same = 0;
	static struct line line;
	FILE *file = NULL;
	struct tb_infile *in = NULL;
	snprintf(path, sizeof path, "%s/tests/data/collectives/%s", source ? source : ".",
		file_name);
	assert_int_equal(tb_infile_open(&file, &in, path, NULL), TB_OK);
	while (getline(&text, &room, file) > 0) {
		if (!read_line(&line, text))
			continue;
		n++;
		same += check(name, &line);
	}
	free(text);
	fclose(file);
	print_message("%u of %u calls agree\n", same, n);
	assert_true(n >= at_least);
	assert_int_equal(same, n);
}

static void every_pair_gets_what_open_mpi_sends_it(void **state)
{
	(void)state;
	check_file("openmpi", "openmpi-4.1.4.txt.zst", 2310);
}

static void every_pair_gets_what_mpich_sends_it(void **state)
{
	(void)state;
	check_file("mpich", "mpich-4.0.2.txt.zst", 1900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_gets_what_open_mpi_sends_it),
		cmocka_unit_test(every_pair_gets_what_mpich_sends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
