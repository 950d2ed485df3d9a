// What Slurm tells of a fabric: topology.conf, what scontrol prints, topology.yaml.
#include "../../support/fabric_text.h"
#include "name_ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PRESET ",preset=ib-hdr"

static void check_tree(const char *text, uint32_t n_hosts, uint32_t n_switches)
{
	struct tb_network *net = fabric_of(text, PRESET);
	assert_int_equal(tb_network_n_hosts(net), n_hosts);
	assert_int_equal(tb_network_n_switches(net), n_switches);
	assert_int_equal(tb_network_n_levels(net), 2);
	assert_false(tb_network_knows_cables(net));
	tb_network_free(net);
}

static void upper_switches_of_scontrol_have_no_hosts_of_their_own(void **state)
{
	(void)state;
	check_tree("SwitchName=s0 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[1-2]\n"
		   "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[0-3]\n"
		   "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=tux[4-7]\n",
		8, 3);
}

static const char two_topologies[] = "---\n"
				     "- topology: blocks # not this one\n"
				     "  cluster_default: false\n"
				     "  block:\n"
				     "    block_sizes:\n"
				     "      - 4\n"
				     "    blocks:\n"
				     "      - block: b1\n"
				     "        nodes: node[01-04]\n"
				     "- topology: 'trees'\n"
				     "  cluster_default: true\n"
				     "  tree:\n"
				     "    switches:\n"
				     "      - switch: root\n"
				     "        children: s[1-2]\n"
				     "      - switch: \"s1\"\n"
				     "        nodes: node[01-03]\n"
				     "      - nodes: [node04,node05]\n"
				     "        switch: s2\n";

static void the_tree_of_topology_yaml_is_read(void **state)
{
	(void)state;
	check_tree(two_topologies, 5, 3);
}

static void the_default_tree_is_taken_or_the_first(void **state)
{
	(void)state;
	check_tree("- topology: one\n"
		   "  tree:\n"
		   "    switches:\n"
		   "      - switch: r\n"
		   "        children: s\n"
		   "      - switch: s\n"
		   "        nodes: n[1-2]\n"
		   "- topology: two\n"
		   "  cluster_default: true\n"
		   "  tree:\n"
		   "    switches:\n"
		   "      - switch: r\n"
		   "        children: s[1-2]\n"
		   "      - switch: s1\n"
		   "        nodes: n[1-3]\n"
		   "      - switch: s2\n"
		   "        nodes: n[4-6]\n",
		6, 3);
}

static void what_is_no_tree_is_refused_with_what_to_add(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\n"
		 "SwitchName=s2 Nodes=n8\nSwitchName=root Nodes=n9\n",
			"no switch joins the 4 trees that it holds, of root, s0, s1, s2: "
			"add a line such as SwitchName=top Switches=root,s[0-2]"},
		{"- topology: t\n  tree:\n    switches:\n      - switch: a1\n        "
		 "nodes: n1\n      - switch: a2\n        nodes: n2\n",
			"no switch joins the 2 trees that it holds, of a1, a2: add a "
			"line such as '- switch: root' with 'children: a[1-2]'"},
		{"- topology: t\n  block:\n    blocks:\n      - block: b\n        "
		 "nodes: n1\n",
			"has no tree of switches, only a block: it holds no cables "
			"between hosts"},
		{"- topology: t\n  tree:\n    switches:\n      - switch: a\n        "
		 "node: n1\n",
			"'node': expected switch:, children: or nodes: of a tree"},
		{"- topology: t\n  tree:\n    switches:\n        nodes: n1\n",
			"expected '- switch: NAME' first"},
		{"SwitchName=s0 Nodes=n0 Lvl=2\n",
			"'Lvl=2': expected SwitchName=, Nodes=, Switches=, LinkSpeed= or "
			"Level="},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb_network *net = NULL;
		struct tb_error error = {0};
		assert_int_equal(fabric_open_keys(&net, cases[i].text,
					 strlen(cases[i].text), PRESET, &error),
			TB_EFORMAT);
		assert_string_equal(error.text, cases[i].says);
	}
}

static void names_are_written_with_ranges(void **state)
{
	static const char *const names[] = {"a", "n8", "n9", "n10", "n012", "n013", "n2b",
		"x1", "x3", "y99999999999"};
	char text[80];
	(void)state;
	assert_string_equal(tb_name_ranges_format(text, sizeof text, names, 10),
		"a,n[8-10,012-013],n2b,x[1,3],y99999999999");
	assert_string_equal(tb_name_ranges_format(text, 16, names, 10), "a,...");
	assert_string_equal(tb_name_ranges_format(text, 16, names, 0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(upper_switches_of_scontrol_have_no_hosts_of_their_own),
		cmocka_unit_test(the_tree_of_topology_yaml_is_read),
		cmocka_unit_test(the_default_tree_is_taken_or_the_first),
		cmocka_unit_test(what_is_no_tree_is_refused_with_what_to_add),
		cmocka_unit_test(names_are_written_with_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
