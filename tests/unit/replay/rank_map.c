// Where the ranks of a job sit.
#include "../../support/fabric_text.h"
#include "ids.h"
#include "placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/tailback-ranks-XXXXXX";
static struct tb_network *network;
static uint32_t *nodes;
static struct tb_error error;

// read_map places three ranks on a network of eight nodes.
static int read_map(const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	free(nodes);
	nodes = NULL;
	return tb_rank_map(&nodes, 3, network, path, &error);
}

static void a_file_places_ranks_in_any_order_and_together(void **state)
{
	(void)state;
	assert_int_equal(read_map("# rank node\n2 7\r\n\n0\t5 # first\n 1 5\n"), TB_OK);
	assert_int_equal(nodes[0], 5);
	assert_int_equal(nodes[1], 5);
	assert_int_equal(nodes[2], 7);
}

static void lines_that_make_no_sense_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *map;
		uint64_t line;
		int status;
	} wrong[] = {{"0 1\n1\n2 3\n", 2, TB_EUSAGE}, {"0 1 2\n", 1, TB_EUSAGE},
		{"3 1\n", 1, TB_EUSAGE}, {"-1 1\n", 1, TB_EUSAGE},
		{"0 one\n", 1, TB_EUSAGE}, {"0 1\n0 2\n", 2, TB_EUSAGE},
		{"0 0\n1 8\n", 2, TB_ECAPACITY}, {"0 99999999999\n", 1, TB_EUSAGE}};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(read_map(wrong[i].map), wrong[i].status);
		assert_int_equal(error.place, TB_PLACE_LINE);
		assert_int_equal(error.at, wrong[i].line);
		assert_null(nodes);
	}
}

static void rank_files_of_open_mpi_name_hosts(void **state)
{
	(void)state;
	assert_int_equal(
		read_map("rank 0=node07 slot=0\nrank 2 = 5\n rank 1=n5 slot=1:0-3\n"),
		TB_OK);
	assert_int_equal(nodes[0], 7);
	assert_int_equal(nodes[1], 5);
	assert_int_equal(nodes[2], 5);
	assert_int_equal(read_map("rank 0= slot=0\n"), TB_EUSAGE);
	assert_int_equal(read_map("rank 0=\n"), TB_EUSAGE);
	assert_int_equal(read_map("rank 0=+nx slot=0\n"), TB_EUSAGE);
	assert_int_equal(read_map("rank 9=n1\n"), TB_EUSAGE);
	assert_int_equal(read_map("rank 0\n"), TB_EUSAGE);
}

static void a_rank_without_a_node_is_named(void **state)
{
	(void)state;
	assert_int_equal(read_map("0 1\n2 2\n"), TB_EUSAGE);
	assert_string_equal(error.text, "rank 1 has no node");
	assert_int_equal(tb_rank_map(&nodes, 3, network, "no/such/map", &error), TB_EIO);
}

static void hosts_of_a_fabric_go_by_their_names(void **state)
{
	(void)state;
	struct tb_network *tree = network;
	network = fabric_of(
		"a 1 \"n1 mlx5_0\" 1\na 2 \"n1 mlx5_1\" 1\na 3 n2 1\n", ",preset=qsnet");
	assert_int_equal(read_map("0 n2\n1  n1 mlx5_1 # second\n2 0\n"), TB_OK);
	assert_int_equal(nodes[0], 2);
	assert_int_equal(nodes[1], 1);
	assert_int_equal(nodes[2], 0);
	assert_int_equal(read_map("0 n1\n"), TB_EUSAGE);
	assert_string_equal(error.text, "the host has several network interfaces: "
					"expected one by its name");
	tb_network_free(network);
	network = tree;
}

static int set_up(void **state)
{
	(void)state;
	close(mkstemp(path));
	return tb_network_open(&network,
		&(struct tb_network_description){.name = "qsnet,arity=2,levels=3"},
		&error);
}

static int tear_down(void **state)
{
	(void)state;
	free(nodes);
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_places_ranks_in_any_order_and_together),
		cmocka_unit_test(lines_that_make_no_sense_are_named),
		cmocka_unit_test(rank_files_of_open_mpi_name_hosts),
		cmocka_unit_test(a_rank_without_a_node_is_named),
		cmocka_unit_test(hosts_of_a_fabric_go_by_their_names),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
