// Topologies of other simulators: ns-3, BookSim, SimGrid, tables of cables.
#include "../../support/fabric_text.h"
#include "network_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PRESET ",preset=ib-hdr"

// check opens a fabric and returns it for more questions.
static struct tb_network *check(const char *text, const char *keys, uint32_t n_nodes,
	uint32_t n_switches, uint32_t n_links)
{
	struct tb_network *net = fabric_of(text, keys);
	assert_int_equal(tb_network_n_nodes(net), n_nodes);
	assert_int_equal(tb_network_n_switches(net), n_switches);
	assert_int_equal(tb_network_n_links(net), 2 * n_links);
	return net;
}

static void refused(const char *text, const char *says)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	assert_int_not_equal(
		fabric_open_keys(&net, text, strlen(text), PRESET, &error), TB_OK);
	if (!strstr(error.text, says))
		print_error("%s\n", error.text);
	assert_non_null(strstr(error.text, says));
}

#define NS3_LINKS                                                                        \
	"0 4 25000000000.0 1us 0\n1 4 25Gbps 1000ns 0.0\n2 5 25Gbps 0.001ms 0\n"         \
	"3 5 25Gbps 1us 0\n4 5 100Gbps 1us 0.0\n"

static void ns3_has_heads_of_three_numbers_and_of_four(void **state)
{
	(void)state;
	static const char *const heads[] = {"6 2 5\n4 5\n", "6 2 1 5\n4\n5\n"};
	for (size_t i = 0; i < 2; i++) {
		char text[400];
		snprintf(text, sizeof text, "%s" NS3_LINKS, heads[i]);
		struct tb_network *net = check(text, "", 4, 2, 5);
		assert_int_equal(net->links[net->injection[0]].bytes_per_s, 3125000000);
		assert_int_equal(net->links[net->injection[2]].latency_ps, 1000000);
		assert_string_equal(
			tb_network_node_identity(net, (struct tb_node){3}).name, "n3");
		tb_network_free(net);
	}
	refused("6 2 5\n4 5\n0 4 25Gbps 1us 0\n", "the file is cut off: 1 of 5 links");
	refused("6 2 5\n4 4\n", "switch 4 stands here twice");
	refused("6 2 5\n4 6\n", "'6': expected the number of a switch, from 0 to 5");
	refused("6 2 5\n4 5\n0 4 25 1us 0\n", "'25': expected a rate such as 25Gbps");
	refused("6 2 5\n4 5\n0 4 25Gbps 1 0\n", "'1': expected a delay such as 1us");
	refused("6 2 5\n4 5\n" NS3_LINKS "0 5 25Gbps 1us 0\n",
		"expected nothing behind the 5 links");
	// The first line that is like a head need not be the file's first.
	refused("3 0 1\n3 1 2\n0 1 25Gbps 1us 0\n", "expected at least one switch");
	refused("0 0 1\n3 1 2\n0 1 25Gbps 1us 0\n", "expected at least one switch");
}

static void links_inside_servers_of_simai_are_passed_over(void **state)
{
	(void)state;
	struct tb_network *net = check("8 2 2 2 8 H100\n4 5 6 7\n"
				       "0 4 2880Gbps 25ns 0\n1 4 2880Gbps 25ns 0\n"
				       "2 5 2880Gbps 25ns 0\n3 5 2880Gbps 25ns 0\n"
				       "0 6 400Gbps 500ns 0\n1 7 400Gbps 500ns 0\n"
				       "2 6 400Gbps 500ns 0\n3 7 400Gbps 500ns 0\n",
		"", 4, 2, 4);
	assert_int_equal(tb_network_n_rails(net), 2);
	assert_string_equal(
		tb_network_node_identity(net, (struct tb_node){3}).name, "server1 gpu1");
	tb_network_free(net);
}

static void a_cable_of_anynet_may_stand_on_both_lines(void **state)
{
	(void)state;
	tb_network_free(check("router 0 node 0 node 1 router 1\n"
			      "router 1 node 2 10 router 0 5 node 3\n",
		PRESET, 4, 2, 5));
	refused("router 0 node 0 node x\n", "node 'x': expected its number from 0");
	refused("router 0 node 0 link 1\n", "'link': expected router N or node N");
	refused("router 0 node 0 router 0\n", "a router is joined to itself");
}

#define PLATFORM(inside)                                                                 \
	"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "                              \
	"\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"             \
	"<!-- <cluster> -->\n<zone id=\"z\" routing=\"Full\">\n" inside                  \
	"</zone></platform>\n"
#define CLUSTER(id, radical, more)                                                       \
	"<cluster id='" id "' prefix=\"n\" suffix=\".x\" radical=\"" radical             \
	"\" speed=\"1Gf\"\n bw='125MBps' lat=\"50us\" " more "/>\n"
#define ROUTE(kind, ends, links) "<" kind " " ends ">" links "</" kind ">\n"
#define LINK(id)		 "<link id=\"" id "\" bandwidth=\"10Gbps\" latency=\"2us\"/>\n"

static void clusters_of_simgrid_are_trees_or_stars(void **state)
{
	(void)state;
	struct tb_network *net = check(PLATFORM(CLUSTER("c", "0-15",
					       "topology=\"FAT_TREE\" "
					       "topo_parameters=\"2;4,4;1,2;1,2\"")),
		"", 16, 6, 32);
	assert_int_equal(tb_network_n_levels(net), 2);
	assert_int_equal(net->links[net->injection[5]].bytes_per_s, 125000000);
	assert_int_equal(net->links[net->injection[5]].latency_ps, 50000000);
	assert_string_equal(
		tb_network_node_identity(net, (struct tb_node){15}).name, "n15.x");
	tb_network_free(net);
	tb_network_free(
		check(PLATFORM(CLUSTER("c", "0-2,9", "bb_bw='1GBps'")), "", 4, 1, 4));
	refused(PLATFORM(CLUSTER("c", "0-14",
			"topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"")),
		"the fat tree has 16 hosts, and radical names 15");
	refused(PLATFORM(CLUSTER("c", "0-7", "topology='TORUS' topo_parameters='2,2,2'")),
		"the cluster 'c' is a TORUS: trees alone are simulated");
	refused("<platform version='4'>\n<link id='l' bandwidth='1GBps",
		"cut off in a tag");
	refused("<platform version='4'>\n\n<link id='l'/>", "<link> has no bandwidth");
}

static void a_link_that_zones_share_is_a_switch(void **state)
{
	(void)state;
	struct tb_network *net =
		check(PLATFORM(CLUSTER("a", "0-1", "") CLUSTER("b", "2-3", "") CLUSTER(
			      "c", "4-5", "") LINK("core") ROUTE("zoneRoute",
			      "gw_src='na_router.x' gw_dst='nb_router.x'",
			      "<link_ctn id=\"core\"/>") ROUTE("zoneRoute",
			      "gw_src='nb_router.x' "
			      "gw_dst='nc_router.x'",
			      "<link_ctn id=\"core\"/>")),
			"", 6, 4, 9);
	assert_int_equal(tb_network_n_levels(net), 2);
	tb_network_free(net);
	refused(PLATFORM(CLUSTER("a", "0-1", "") LINK("l") LINK("m")
				ROUTE("zoneRoute", "gw_src='a' gw_dst='b'",
					"<link_ctn id=\"l\"/><link_ctn id=\"m\"/>")),
		"a route between zones crosses 2 links");
}

static void routes_of_one_link_are_cables(void **state)
{
	(void)state;
#define ENDS(a, b) "src='" a "' dst='" b "'"
#define OVER(id)   "<link_ctn id='" id "'/>"
	tb_network_free(check(
		PLATFORM("<host id='s'/><host id='t'/><router id='r'/><router "
			 "id='q'/>" LINK("1") LINK("2") LINK("3") ROUTE(
				 "route", ENDS("s", "t"), OVER("1") OVER("2") OVER("3"))
				 ROUTE("route", ENDS("s", "r"), OVER("1")) ROUTE(
					 "route", ENDS("r", "q"), OVER("2"))
					 ROUTE("route", ENDS("q", "t"), OVER("3")) ROUTE(
						 "route", ENDS("t", "q"), OVER("3"))),
		"", 2, 2, 3));
	refused(PLATFORM("<host id='s'/><host id='t'/>" LINK("1") LINK("2")
				ROUTE("route", ENDS("s", "t"), OVER("1") OVER("2"))),
		"has no cluster and no route of one link");
	refused(PLATFORM("<host id='s'/>" LINK("1")
				ROUTE("route", ENDS("s", "r"), OVER("1"))),
		"'r' of a route is no host and no router");
}

static void tables_have_units_in_cells_or_headings(void **state)
{
	(void)state;
	static const char *const tables[] = {"id,src,dst,bandwidth_gbps,latency "
					     "(ns)\n1,h0,l,100,500\n2,h1,l,100,500\n",
		"Source, Target, Bandwidth, Delay\nh0,l,100Gbps,0.5us\n\"h1\", l "
		",100Gb/s,500ns\n",
		"node1,port1,node2,port2,bw,lat\nh0,1,l,1,12.5GBps,500ns\nh1,1,l,2,12."
		"5GB/s,500ns\n",
		"Switch,Port,Neighbor,Neighbor Port,Speed Gbps,delay ns\n"
		"l,1,h0,1,100,500\nl,2,h1,1,100,500\n",
		"id,Local Device,local interface,remote_device,remote_port,rate "
		"(Gbit/s),lat_ns\n1,l,1,h0,1,100,500\n2,l,2,h1,1,100,500\n"};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		struct tb_network *net = check(tables[i], PRESET, 2, 1, 2);
		assert_int_equal(net->links[0].bytes_per_s, 12500000000);
		assert_int_equal(net->links[0].latency_ps, 500000);
		tb_network_free(net);
	}
	refused("src,dst,bandwidth\nh0,l,100\n", "'100': expected a rate with a unit");
	refused("src,dst,latency\nh0,l,7\n",
		"'7': expected a latency up to 1s with a unit");
	refused("src,dst,rate\nh0,l\n", "2 columns, not the 3 of the heading");
	refused("src,dst\nh0,\n", "expected a name of 1 to");
	static const struct {
		const char *heading, *rate;
		uint64_t bytes_per_s;
	} units[] = {{"bandwidth_GB/s", "10", 10000000000},
		{"BANDWIDTH_GBPS", "80", 10000000000}, {"bw (Gb/s)", "8", 1000000000}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		char text[100];
		snprintf(text, sizeof text, "src,dst,%s\nh0,l,%s\nh1,l,%s\n",
			units[i].heading, units[i].rate, units[i].rate);
		struct tb_network *net = check(text, PRESET, 2, 1, 2);
		assert_int_equal(net->links[0].bytes_per_s, units[i].bytes_per_s);
		tb_network_free(net);
	}
}

static void ports_by_the_million_are_refused(void **state)
{
	(void)state;
	char text[4000] = "src,srcport,dst,dstport\n";
	for (int i = 0; i < 40; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			"a%d,65534,b%d,65534\n", i, i);
	refused(text, "port 65534 of 'a32': more than 4194304 ports");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ns3_has_heads_of_three_numbers_and_of_four),
		cmocka_unit_test(links_inside_servers_of_simai_are_passed_over),
		cmocka_unit_test(a_cable_of_anynet_may_stand_on_both_lines),
		cmocka_unit_test(clusters_of_simgrid_are_trees_or_stars),
		cmocka_unit_test(a_link_that_zones_share_is_a_switch),
		cmocka_unit_test(routes_of_one_link_are_cables),
		cmocka_unit_test(tables_have_units_in_cells_or_headings),
		cmocka_unit_test(ports_by_the_million_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
