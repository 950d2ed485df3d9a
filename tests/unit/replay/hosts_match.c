// The hosts of a trace become nodes: by their names where the fabric has names, else in
// the order in which ranks name them.

#include "../../support/fabric_text.h"
#include "ids.h"
#include "placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct tb_network *fabric, *tree;
static struct tb_error error;

// Nodes 0 to 6: n1 has two network interfaces, n2 a name in capitals with a domain, n3
// one name per rail; two hosts are called twin, in two domains.
static const char cables[] = "a 1 \"n1 HCA-1\" 1\na 2 \"n1 HCA-2\" 1\na 3 N2.lab.org 1\n"
			     "a 4 n3-ib0 1\na 5 n3-ib1 1\na 6 twin.a 1\na 7 twin.b 1\n";

static uint32_t node_called(const char *name)
{
	for (uint32_t i = 0; i < tb_network_n_hosts(fabric); i++)
		if (strcmp(tb_network_node_identity(fabric, (struct tb_node){i}).name,
			    name) == 0)
			return i;
	fail_msg("no node is called %s", name);
	return 0;
}

static struct tb_hosts_match match_hosts(const char *const *hosts, uint32_t n)
{
	struct tb_hosts_match match;
	assert_int_equal(tb_hosts_match_find(&match, fabric, hosts, n, &error), TB_OK);
	return match;
}

static void names_meet_by_the_first_rule_that_fits(void **state)
{
	(void)state;
	const char *const hosts[] = {"n1", "n2", "n2.other.net", "n1.lab.org", "N3", "n1",
		"n3-hca0", "twin.a"};
	struct tb_hosts_match match = match_hosts(hosts, 8);
	const uint32_t *node = match.node_of_rank;
	// Ranks of a host are dealt to its network interfaces.
	assert_int_equal(node[0], node_called("n1 HCA-1"));
	assert_int_equal(node[5], node_called("n1 HCA-2"));
	assert_int_equal(node[3], node_called("n1 HCA-1"));
	assert_int_equal(node[1], node_called("N2.lab.org"));
	assert_int_equal(node[2], node_called("N2.lab.org"));
	assert_int_equal(node[4], node_called("n3-ib0"));
	assert_int_equal(node[6], node_called("n3-ib0"));
	assert_int_equal(node[7], node_called("twin.a"));
	assert_int_equal(match.n_hosts, 7);
	assert_int_equal(match.n_unmatched + match.n_ambiguous, 0);
	assert_string_equal(match.text, "");
	tb_hosts_match_fini(&match);
}

static void what_does_not_match_is_named(void **state)
{
	(void)state;
	const char *const hosts[] = {"twin", "n1", "n9", NULL, "n9"};
	struct tb_hosts_match match = match_hosts(hosts, 5);
	assert_int_equal(match.n_hosts, 4);
	assert_int_equal(match.n_unmatched, 2);
	assert_int_equal(match.n_ambiguous, 1);
	assert_string_equal(match.text, "(unknown), n9, twin (ambiguous)");
	assert_int_equal(match.node_of_rank[0], TB_ID_NONE);
	assert_int_equal(match.node_of_rank[1], node_called("n1 HCA-1"));
	tb_hosts_match_fini(&match);
}

static void many_names_end_in_dots(void **state)
{
	(void)state;
	static char names[100][16];
	const char *hosts[100];
	for (uint32_t i = 0; i < 100; i++) {
		snprintf(names[i], sizeof names[i], "missing%03u", i);
		hosts[i] = names[i];
	}
	struct tb_hosts_match match = match_hosts(hosts, 100);
	size_t n = strlen(match.text);
	assert_int_equal(match.n_unmatched, 100);
	assert_true(n < sizeof match.text);
	assert_string_equal(match.text + n - 5, ", ...");
	tb_hosts_match_fini(&match);
}

static const char *const ran_on[] = {"b", "a", "b", NULL, "a", NULL};

static void hosts_are_numbered_as_ranks_name_them(void **state)
{
	(void)state;
	uint32_t number[6], n_hosts;
	assert_int_equal(tb_hosts_number(ran_on, 6, number, &n_hosts, &error), TB_OK);
	static const uint32_t expected[] = {0, 1, 0, 2, 1, 3};
	assert_int_equal(n_hosts, 4);
	assert_memory_equal(number, expected, sizeof expected);
}

static int place(const struct tb_network *network, const char *const *hosts,
	bool must_match, uint32_t nodes[6], char *note)
{
	struct tb_places *places;
	uint32_t *placed = NULL;
	const struct tb_placement placement = {
		.kind = TB_PLACE_TRACE, .trace_hosts = hosts, .must_match = must_match};
	assert_int_equal(tb_places_new(&places, network, 1, &error), TB_OK);
	assert_int_equal(
		tb_places_take(places, 0, "other", (struct tb_node){1}, &error), TB_OK);
	int status = tb_places_put(places, 1, "job", 6, &placement, &placed, &error);
	if (status == TB_OK) {
		memcpy(nodes, placed, 6 * sizeof *placed);
		strcpy(note, tb_places_note(places));
	}
	free(placed);
	tb_places_free(places);
	return status;
}

static void without_names_hosts_are_free_nodes_in_order(void **state)
{
	(void)state;
	uint32_t nodes[6];
	char note[512];
	assert_int_equal(place(tree, ran_on, true, nodes, note), TB_OK);
	static const uint32_t expected[] = {0, 2, 0, 3, 2, 4}; // 1 is the other job's
	assert_memory_equal(nodes, expected, sizeof expected);
	assert_string_equal(
		note, "ranks sit as in the trace: 4 hosts, one node per host");
}

static void hosts_that_the_fabric_lacks_are_refused_or_noted(void **state)
{
	(void)state;
	uint32_t nodes[6];
	char note[512];
	assert_int_equal(place(fabric, ran_on, true, nodes, note), TB_EUSAGE);
	assert_string_equal(error.text,
		"job 'job' ran on hosts that the fabric does not "
		"have: 4 of its 4 hosts: (unknown), (unknown), a, b");
	assert_int_equal(place(fabric, ran_on, false, nodes, note), TB_OK);
	assert_string_equal(note, "the fabric does not have 4 of its 4 hosts: (unknown), "
				  "(unknown), a, b; each host is on a free node instead");
}

static int open_networks(void **state)
{
	(void)state;
	fabric = fabric_of(cables, ",preset=qsnet");
	return tb_network_open(
		&tree, &(struct tb_network_description){.name = "qsnet"}, &error);
}

static int close_networks(void **state)
{
	(void)state;
	tb_network_free(fabric);
	tb_network_free(tree);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_meet_by_the_first_rule_that_fits),
		cmocka_unit_test(what_does_not_match_is_named),
		cmocka_unit_test(many_names_end_in_dots),
		cmocka_unit_test(hosts_are_numbered_as_ranks_name_them),
		cmocka_unit_test(without_names_hosts_are_free_nodes_in_order),
		cmocka_unit_test(hosts_that_the_fabric_lacks_are_refused_or_noted),
	};
	return cmocka_run_group_tests(tests, open_networks, close_networks);
}
