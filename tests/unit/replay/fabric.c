// Fabrics from files: what ibnetdiscover prints, and edge lists.
#include "../../support/fabric_text.h"
#include "cabling_names.h"
#include "cabling_rates.h"
#include "fabric_formats.h"
#include "names.h"
#include "network_impl.h"
#include "preset.h"
#include "real_input.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SWITCH(guid, name, lid)                                                          \
	"\nvendid=0x2c9\ndevid=0xd2f2\nswitchguid=0x" guid "(" guid ")\n"                \
	"Switch\t65 \"S-" guid "\"\t\t# \"" name "\" enhanced port 0 lid " lid           \
	" lmc 0\n"
#define CA(guid, name) "\ncaguid=0x" guid "\nCa\t2 \"H-" guid "\"\t\t# \"" name "\"\n"

#define LEAF0 "00000000000000a0"
#define LEAF1 "00000000000000a1"
#define SPINE "00000000000000b0"
#define HOST0 "0000000000000c00"
#define HOST1 "0000000000000c10"
#define HOST2 "0000000000000c20"
#define HOST3 "0000000000000c30"
#define SHARP "0000000000000d00"

// Two leaves, three hosts in all and a spine that has a host, too. One host has two
// adapters, another an adapter with two ports.
static const char small[] =
	"#\n# Topology file: generated on Sun Nov 22 10:00:00 2026\n#\n\n"
	"Non-Chassis Nodes\n" SWITCH(LEAF0, "MF0;leaf0:MQM9701/U1",
		"40") "[1]\t\"H-" HOST0 "\"[1](c01) \t\t# \"n10 mlx5_0\" lid 10 4xNDR\n"
		      "[2]\t\"H-" HOST1 "\"[1](c11) \t\t# \"n9 mlx5_1\" lid 11 4xNDR\n"
		      "[9]\t\"S-" SPINE
		      "\"[3]\t\t# \"MF0;spine:MQM9701/U1\" lid 42 4xNDR\n"
		      "[10]\t\"S-" SPINE
		      "\"[4]\t\t# \"MF0;spine:MQM9701/U1\" lid 42 2xNDR\n"
		      "[11]\t\"S-" LEAF0
		      "\"[12]\t\t# \"MF0;leaf0:MQM9701/U1\" lid 40 4xNDR\n"
		      "[12]\t\"S-" LEAF0
		      "\"[11]\t\t# \"MF0;leaf0:MQM9701/U1\" lid 40 4xNDR\n"
		      "[65]\t\"H-" SHARP
		      "\"[1](d01) \t\t# \"Mellanox Technologies Aggregation Node\" "
		      "lid 90 4xNDR\n" SWITCH(LEAF1, "MF0;leaf1:MQM9701/U1",
			      "41") "[1]\t\"H-" HOST2
				    "\"[1](c21) \t\t# \"n9 mlx5_0\" lid 12 4xNDR\r\n"
				    "[2]\t\"H-" HOST0
				    "\"[2](c02) \t\t# \"n10 mlx5_0\" lid 13 4xHDR\n"
				    "[9]\t\"S-" SPINE
				    "\"[5]\t\t# \"MF0;spine:MQM9701/U1\" lid 42 "
				    "4xNDR\n" SWITCH(SPINE, "MF0;spine:MQM9701/U1",
					    "42") "src/query_smp.c:195; umad (DR path "
						  "slid 0) bad status 110; Connection "
						  "timed out\n"
						  "[3][ext 1]\t\"S-" LEAF0
						  "\"[9]\t\t# \"MF0;leaf0:MQM9701/U1\" "
						  "lid 40 4xNDR\n"
						  "[4]\t\"S-" LEAF0
						  "\"[10]\t\t# \"MF0;leaf0:MQM9701/U1\" "
						  "lid 40 4xNDR\n"
						  "[5]\t\"S-" LEAF1
						  "\"[9]\t\t# \"MF0;leaf1:MQM9701/U1\" "
						  "lid 41 4xNDR\n"
						  "[7]\t\"H-" HOST3
						  "\"[1](c31) \t\t# \"MT4129 ConnectX7   "
						  "Mellanox Technologies\" "
						  "lid 14 4xNDR\n" CA(HOST0,
							  "n10 mlx5_0") "[1](c01) "
									"\t\"S-" LEAF0
									"\"[1]\t\t# lid "
									"10 lmc 2 "
									"\"MF0;leaf0:"
									"MQM9701/U1\" "
									"lid 40 "
									"4xNDR\n"
									"[2](c02) "
									"\t\"S-" LEAF1
									"\"[2]\t\t# lid "
									"13 lmc 0 "
									"\"MF0;leaf1:"
									"MQM9701/U1\" "
									"lid 41 "
									"4xHDR\n" CA(
										HOST1,
										"n9 "
										"mlx5_1") "[1](c11) \t\"S-" LEAF0
											  "\"[2]\t\t# lid 11 lmc 0 \"MF0;leaf0:MQM9701/U1\" lid 40 "
											  "4xNDR\n" CA(
												  HOST2,
												  "n9 mlx5_0") "[1](c21) \t\"S-" LEAF1
													       "\"[1]\t\t# lid 12 lmc 0 \"MF0;leaf1:MQM9701/U1\" lid 41 "
													       "4xNDR\n";

static const char *node_name(const struct tb_network *net, uint32_t node)
{
	return tb_network_node_identity(net, (struct tb_node){node}).name;
}

static const char *switch_name(const struct tb_network *net, uint32_t sw)
{
	return tb_network_switch_identity(net, (struct tb_switch){sw}).name;
}

static void hosts_stand_by_name_and_switches_by_level(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(small, "");
	static const char *const nodes[] = {"n9 mlx5_0", "n9 mlx5_1", "n10 mlx5_0:1",
		"n10 mlx5_0:2", "0x0000000000000c30"};
	assert_int_equal(tb_network_n_nodes(net), 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_string_equal(node_name(net, i), nodes[i]);
	assert_int_equal(tb_network_n_switches(net), 3);
	assert_string_equal(switch_name(net, 1), "MF0;leaf1:MQM9701/U1");
	assert_string_equal(switch_name(net, 2), "MF0;spine:MQM9701/U1");
	assert_int_equal(net->switches[1].level, 0);
	assert_int_equal(net->switches[2].level, 1);
	assert_int_equal(net->switches[2].n_down_ports, 4);
	assert_int_equal(tb_network_n_links(net), 2 * (5 + 3));
	tb_network_free(net);
}

static void parts_keep_guids_lids_ports_and_rates(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(small, "");
	struct tb_identity own = tb_network_node_identity(net, (struct tb_node){2});
	assert_int_equal(own.guid, 0xc01);
	assert_int_equal(own.adapter_guid, 0xc00);
	assert_int_equal(own.adapter_port, 1);
	assert_int_equal(own.lid, 10);
	assert_int_equal(own.lmc, 2);
	assert_int_equal(own.n_host_bytes, 3);
	own = tb_network_switch_identity(net, (struct tb_switch){2});
	assert_int_equal(own.guid, 0xb0);
	assert_int_equal(own.lid, 42);
	uint32_t port = 0;
	assert_true(tb_network_find_port(net, (struct tb_switch){0}, 10, &port));
	uint32_t link = net->out_links[net->first_out[0] + port];
	assert_int_equal(net->links[link].kind, TB_LINK_UP);
	// The lower of what its ends say.
	assert_int_equal(net->links[link].bytes_per_s, 25000000000);
	assert_int_equal(net->links[net->injection[3]].bytes_per_s, 25000000000);
	assert_int_equal(net->links[net->injection[2]].bytes_per_s, 50000000000);
	assert_false(tb_network_find_port(net, (struct tb_switch){0}, 11, &port));
	tb_network_free(net);
}

static void what_is_passed_over_is_remarked(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(small, "");
	static const char *const remarks[] = {
		"a line was passed over that belongs to no entry (line 31: "
		"src/query_smp.c:195; umad (DR path slid 0) bad status 110; C)",
		"a cable was left out that leads back to its own switch "
		"(MF0;leaf0:MQM9701/U1, ports 11 and 12)",
		"an aggregation node (SHARP) was left out: it is no host (GUID "
		"0x0000000000000d00)",
		"a cable has another rate at each end; the lower one was taken "
		"(MF0;leaf0:MQM9701/U1, port 10)",
		"a host is known from its switch's entry only (MT4129 ConnectX7   "
		"Mellanox "
		"Technologies)",
		"an adapter does not name its host and goes by its GUID "
		"(0x0000000000000c30)",
	};
	assert_int_equal(tb_network_n_remarks(net), 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_string_equal(tb_network_remark(net, i), remarks[i]);
	tb_network_free(net);
}

// A host's entry that stands first and shows no cable.
static void a_cable_keeps_the_rate_that_its_later_end_shows(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(
		CA(HOST0, "n0 mlx5_0") SWITCH(LEAF0, "leaf",
			"1") "[1]\t\"H-" HOST0 "\"[1](c01) # \"n0 mlx5_0\" lid 2 4xHDR\n"
			     "[2]\t\"H-" HOST1 "\"[1](c11) # \"n1 mlx5_0\" lid 3 4xNDR\n",
		"");
	assert_int_equal(net->links[net->injection[0]].bytes_per_s, 25000000000);
	assert_int_equal(net->links[net->ejection[0]].bytes_per_s, 25000000000);
	assert_int_equal(net->links[net->injection[1]].bytes_per_s, 50000000000);
	tb_network_free(net);
}

static void keys_choose_what_the_file_does_not_give(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(small, "");
	assert_string_equal(tb_network_params(net)->switching, "credits");
	assert_int_equal(tb_network_params(net)->link_bytes_per_s, 50000000000);
	assert_memory_equal(tb_network_params(net)->name, "tailback-fabric-", 16);
	tb_network_free(net);
	net = fabric_of(small, ",preset=qsnet,hop_latency=7ns,payload=99");
	assert_string_equal(tb_network_params(net)->switching, "circuits");
	assert_int_equal(tb_network_params(net)->packet_payload_bytes, 99);
	assert_int_equal(net->links[0].latency_ps, 7000);
	tb_network_free(net);
	static const struct {
		const char *keys, *text;
	} refused[] = {
		{",arity=4", "arity=4: the file gives the fabric's shape"},
		{",shape=pgft(2;18,31;1,18;1,1),levels=2",
			"shape=pgft(2;18,31;1,18;1,1): the file gives the fabric's "
			"shape"},
		{",rate=100Gbit/s", "rate=100Gbit/s has no effect: the file gives the "
				    "rate of each cable"},
		{",preset=ib-hdr,preset=ib-ndr", "preset=ib-ndr: the key stands twice "
						 "behind the file's name"},
		{",nics=port,nics=port", "nics=port: the key stands twice behind the "
					 "file's name"},
		{",nics=all", "nics=all: expected nics=port (a node per port of an "
			      "adapter) or nics=host (its ports are a host's rails)"},
		{",payload=x", "payload = x: expected a size in bytes from 1 to 1048576"},
		{",preset=none", "'none' is neither a network preset"},
		{",nics=host", "nics = host: every host needs as many network interfaces "
			       "as the others, 2 as most have; 1 of 3 hosts do not: "
			       "0x0000000000000c30 (1)"},
	};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct tb_error error = {0};
		assert_int_not_equal(fabric_open_keys(&net, small, strlen(small),
					     refused[i].keys, &error),
			TB_OK);
		assert_memory_equal(error.text, refused[i].text, strlen(refused[i].text));
	}
}

static void the_preset_is_that_of_the_fastest_cable(void **state)
{
	(void)state;
	static const struct {
		const char *rate, *preset;
	} chosen[] = {{"2Gbit/s", "ib-qdr"}, {"32Gbit/s", "ib-qdr"},
		{"40Gbit/s", "ib-edr"}, {"100Gbit/s", "ib-edr"}, {"101Gbit/s", "ib-hdr"},
		{"400Gbit/s", "ib-ndr"}, {"401Gbit/s", "ib-xdr"}, {"800Gbit/s", "ib-xdr"},
		{"900Gbit/s", "ib-xdr"}};
	for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
		char text[200];
		struct tb_network_params params;
		snprintf(text, sizeof text, "a 1 n1 1 %s\na 2 n2 1 1Gbit/s\n",
			chosen[i].rate);
		struct tb_network *net = fabric_of(text, "");
		assert_int_equal(
			tb_network_preset(&params, chosen[i].preset, NULL), TB_OK);
		assert_int_equal(net->params.hop_latency_ps, params.hop_latency_ps);
		tb_network_free(net);
	}
}

// The text up to the spine's host, which is one interface short.
static void ports_of_a_host_become_its_rails(void **state)
{
	(void)state;
	char text[sizeof small];
	strcpy(text, small);
	char *odd = strstr(text, "[7]\t\"H-" HOST3);
	memset(odd, '#', strcspn(odd, "\n"));
	struct tb_network *net = fabric_of(text, ",nics=host");
	assert_int_equal(tb_network_n_rails(net), 2);
	assert_int_equal(tb_network_n_hosts(net), 2);
	assert_string_equal(node_name(net, 1), "n10 mlx5_0:1");
	assert_string_equal(node_name(net, 2), "n9 mlx5_1");
	struct tb_link link;
	struct tb_error error = {0};
	assert_int_equal(
		tb_names_find_link(net, "n9 mlx5_1 > leaf0", &link, &error), TB_OK);
	assert_int_equal(link.id, net->injection[2]);
	// By the host's name and the switch, as stores have it.
	assert_int_equal(tb_names_find_link(net, "n9 > leaf0", &link, &error), TB_OK);
	assert_int_equal(link.id, net->injection[2]);
	assert_int_equal(tb_names_find_link(net, "n9 > leaf1", &link, &error), TB_OK);
	assert_int_equal(link.id, net->injection[0]);
	struct tb_named_nodes nodes;
	assert_int_equal(tb_names_find_nodes(net, "n9", &nodes, &error), TB_OK);
	assert_true(nodes.first == 0 && nodes.n == 2 && nodes.step == 2);
	assert_int_equal(tb_names_find_nodes(net, "n9:1", &nodes, &error), TB_OK);
	assert_true(nodes.first == 2 && nodes.n == 1);
	struct tb_node first;
	uint32_t n = 0;
	assert_true(tb_names_find_host(net, "n9", &first, &n));
	assert_true(first.id == 0 && n == 1);
	assert_false(tb_names_find_host(net, "n9:1", &first, &n));
	char name[TB_NAME_SIZE];
	tb_names_switch(net, (struct tb_switch){0}, name, sizeof name);
	assert_string_equal(name, "MF0;leaf0:MQM9701/U1");
	tb_network_free(net);
}

// Edge lists: only what they say matters for levels.
static void check_levels(const char *text, uint32_t n_levels, const char *top)
{
	struct tb_network *net = fabric_of(text, ",preset=qsnet");
	assert_int_equal(tb_network_n_levels(net), n_levels);
	assert_string_equal(switch_name(net, tb_network_n_switches(net) - 1), top);
	tb_network_free(net);
}

static void levels_are_found(void **state)
{
	(void)state;
	// Leaves side by side.
	check_levels("a 1 n1 1\na 2 n2 1\na 3 b 3\nb 1 n3 1\nb 2 n4 1\n", 1, "b");
	// A leaf with few hosts is no third level.
	check_levels(
		"a 1 n1 1\na 2 n2 1\na 3 n3 1\na 4 n4 1\na 5 n5 1\na 9 s 1\na 10 t 1\n"
		"b 1 m1 1\nb 9 s 2\nb 10 t 2\nb 11 t 3\n",
		2, "t");
	// Nor is a spine with a host a leaf.
	check_levels("a 1 n1 1\na 2 n2 1\na 9 s 1\nb 1 m1 1\nb 2 m2 1\nb 9 s 2\n"
		     "c 1 k1 1\nc 2 k2 1\nc 9 s 3\ns 4 gate 1\n",
		2, "s");
	// A host at the top of three levels.
	check_levels("a 1 n1 1\na 2 n2 1\na 9 s 1\nb 1 m1 1\nb 2 m2 1\nb 9 t 2\n"
		     "s 4 x 1\nt 4 x 2\nx 3 gate 1\nx 4 y 1\n switch y\n",
		4, "y");
	// A line of leaves whose names do not ascend hangs from its middle.
	check_levels("b 1 n1 1\nb 2 a 1\na 2 n2 1\na 3 c 1\nc 2 n3 1\n", 2, "a");
}

// A spine with three hosts is a leaf beside one with 12, but not beside one with 13.
static void a_spine_needs_many_hosts_to_be_a_leaf(void **state)
{
	(void)state;
	for (uint32_t most = 12; most <= 13; most++) {
		char text[2000] = "s 1 x1 1\ns 2 x2 1\ns 3 x3 1\ns 10 b 10\nb 1 y 1\n"
				  "s 11 a 10\n";
		for (uint32_t i = 1; i < most; i++)
			snprintf(text + strlen(text), 40, "a %u n%u 1\nb %u m%u 1\n",
				i + 20, i, i + 20, i);
		struct tb_network *net = fabric_of(text, ",preset=qsnet");
		assert_int_equal(net->switches[2].level, most == 12 ? 0 : 1);
		assert_string_equal(switch_name(net, 2), "s");
		tb_network_free(net);
	}
}

static void a_ring_hangs_from_a_root(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of("a 0 d 1\nd 0 b 1\nb 0 c 1\nc 0 a 1\na 5 n 1\n"
					   "b 5 m 1\nc 5 k 1\nd 5 j 1\n",
		",preset=qsnet");
	assert_int_equal(tb_network_n_levels(net), 3);
	assert_int_equal(tb_network_n_links(net), 2 * 8);
	assert_string_equal(tb_network_remark(net, 0),
		"levels are counted down from a root: counted up from the leaves, not "
		"every host reaches every other (a)");
	tb_network_free(net);
}

static void edge_lists_give_rates_latencies_and_kinds(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(
		"# names with blanks\n\"leaf \\\"0\\\"\" 0 \"n1 mlx5_0\" 0 # a remark\n"
		"\"leaf \\\"0\\\"\" 1 n2 0 100Gbit/s 70ns\n\"leaf \\\"0\\\"\" 2 n2 7 "
		"3GB/s\nhost n2\n\nswitch stub\n stub 4\t\"leaf \\\"0\\\"\" 9\n",
		",preset=qsnet");
	assert_int_equal(tb_network_n_nodes(net), 3);
	assert_int_equal(tb_network_n_switches(net), 2);
	assert_string_equal(switch_name(net, 0), "leaf \"0\"");
	assert_string_equal(node_name(net, 2), "n2:7");
	assert_int_equal(net->links[net->injection[1]].bytes_per_s, 12500000000);
	assert_int_equal(net->links[net->injection[1]].latency_ps, 70000);
	assert_int_equal(net->links[net->injection[2]].bytes_per_s, 3000000000);
	assert_int_equal(net->links[net->injection[0]].bytes_per_s,
		400000000); // the preset's
	assert_int_equal(
		tb_network_node_identity(net, (struct tb_node){0}).n_host_bytes, 2);
	tb_network_free(net);
}

static void names_stand_for_one_part(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(
		SWITCH(LEAF0, "SwitchX",
			"1") "[1]\t\"H-" HOST0
			     "\"[1](c01) # \"localhost HCA-1\" lid 10 4xNDR\n"
			     "[2]\t\"H-" HOST1
			     "\"[1](c11) # \"localhost HCA-1\" lid 11 4xNDR\n"
			     "[3]\t\"S-" SPINE
			     "\"[3] # \"SwitchX\" lid 2 4xNDR\n" SWITCH(SPINE, "SwitchX",
				     "2") "[3]\t\"S-" LEAF0
					  "\"[3] # \"SwitchX\" lid 1 4xNDR\n" CA(HOST0,
						  "localhost HCA-1") "[1](c01) \"S-" LEAF0
								     "\"[1] # lid 10 lmc "
								     "0 \"SwitchX\" lid "
								     "1 4xNDR\n" CA(HOST1,
									     "localhost "
									     "HCA-1") "[1"
										      "]("
										      "c1"
										      "1)"
										      " "
										      "\""
										      "S"
										      "-" LEAF0
										      "\""
										      "[2"
										      "] "
										      "# "
										      "li"
										      "d "
										      "11"
										      " l"
										      "mc"
										      " 0"
										      " "
										      "\""
										      "Sw"
										      "it"
										      "ch"
										      "X"
										      "\""
										      " l"
										      "id"
										      " 1"
										      " 4"
										      "xN"
										      "DR"
										      "\n",
		"");
	assert_string_equal(node_name(net, 1), "localhost HCA-1 0000000000000c10");
	assert_string_equal(switch_name(net, 0), "SwitchX 00000000000000a0");
	assert_int_equal(
		tb_network_node_identity(net, (struct tb_node){1}).n_host_bytes, 32);
	assert_string_equal(tb_network_remark(net, 0),
		"2 names stand for several devices each, which got their GUIDs or LIDs "
		"added "
		"(first: 'SwitchX')");
	tb_network_free(net);
}

static void ports_with_names_go_by_the_numbers_in_them(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(
		"leaf Ethernet1/7 h0 eth0 10GB/s\nleaf \"Eth 2\" h1 eth0 10GB/s\n"
		"leaf Ethernet2/1 spine swp3s1 10GB/s\nspine swp9 h2 "
		"0c:42:a1:00:00:01 10GB/s\nleaf Ethernet7 spine swp104 10GB/s\n",
		"");
	uint32_t port = 0;
	struct tb_link link, named;
	assert_int_equal(tb_network_n_nodes(net), 3);
	assert_int_equal(
		tb_names_find_link(net, "leaf:201 > spine:301", &link, NULL), TB_OK);
	assert_int_equal(
		tb_names_find_link(net, "leaf:2 > spine:1", &link, NULL), TB_EUSAGE);
	assert_true(tb_network_find_port(net, (struct tb_switch){0}, 2, &port));
	// A number that another has is the next that is free: three names came before.
	assert_int_equal(
		tb_names_find_link(net, "leaf:4 > spine:104", &link, NULL), TB_OK);
	assert_int_equal(
		tb_names_find_link(net, "leaf:Ethernet7 > spine:swp104", &named, NULL),
		TB_OK);
	assert_int_equal(named.id, link.id);
	assert_int_equal(
		tb_names_find_link(net, "leaf:Ethernet > spine:swp104", &named, NULL),
		TB_EUSAGE);
	assert_string_equal(tb_network_remark(net, 0),
		"5 devices have ports with names, which go by the numbers in them "
		"(first: leaf: Ethernet1/7 is port 7)");
	tb_network_free(net);
}

// A cable that is missing leaves the ports of others what they were.
static void a_missing_cable_shifts_no_port_with_a_name(void **state)
{
	(void)state;
	const char *lines = "leaf swp1 h0 eth0 10GB/s\nleaf swp2 h1 eth0 10GB/s\n"
			    "leaf swp8 spine swp4 10GB/s\nleaf swp9 spine swp5 10GB/s\n"
			    "spine swp1 h2 eth1 10GB/s\n";
	struct tb_network *net = fabric_of(lines, "");
	struct tb_link link;
	char name[TB_LINK_NAME_SIZE];
	assert_int_equal(tb_names_find_link(net, "leaf:9", &link, NULL), TB_OK);
	assert_string_equal(
		tb_names_link(net, link, name, sizeof name), "leaf:9 > spine:5");
	tb_network_free(net);
	net = fabric_of("leaf swp1 h0 eth0 10GB/s\nleaf swp2 h1 eth0 10GB/s\n"
			"leaf swp9 spine swp5 10GB/s\nspine swp1 h2 eth1 10GB/s\n",
		"");
	assert_int_equal(tb_names_find_link(net, "leaf:9", &link, NULL), TB_OK);
	assert_string_equal(
		tb_names_link(net, link, name, sizeof name), "leaf:9 > spine:5");
	tb_network_free(net);
}

static void names_with_quotes_and_control_characters_are_read(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(
		SWITCH(LEAF0, "the \"big\" \033[31mone",
			"1") "[1]\t\"H-" HOST0 "\"[1](c01) # \"a\" b \"c\" lid 10 4xNDR\n"
			     "[2]\t\"H-" HOST1 "\"[1](c11) # \"\" lid 11 4xNDR\n",
		"");
	assert_string_equal(switch_name(net, 0), "the \"big\" \\x1b[31mone");
	assert_string_equal(node_name(net, 0), "a\" b \"c");
	assert_string_equal(node_name(net, 1), "0x0000000000000c10");
	tb_network_free(net);
}

#define EURO12 "€€€€€€€€€€€€"

// Two switches of one name of 72 bytes, three to a character: 65 of them leave room for
// a GUID.
static void names_are_cut_after_a_whole_character(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(
		SWITCH(LEAF0, EURO12 EURO12,
			"1") "[1]\t\"H-" HOST0 "\"[1](c01) # \"a\" lid 10 4xNDR\n"
			     "[2]\t\"H-" HOST1 "\"[1](c11) # \"b\" lid 11 4xNDR\n"
			     "[3]\t\"S-" LEAF1 "\"[3] # \"\" lid 2 4xNDR\n" SWITCH(LEAF1,
				     EURO12 EURO12, "2") "[3]\t\"S-" LEAF0
							 "\"[3] # \"\" lid 1 4xNDR\n",
		"");
	assert_string_equal(switch_name(net, 0), EURO12 "€€€€€€€€€ 00000000000000a0");
	tb_network_free(net);
}

static void numbers_in_names_go_by_value(void **state)
{
	(void)state;
	static const char *const order[] = {
		"", "a", "a2", "a02", "a10", "a10b", "a10b9", "a10b10", "b", "b1"};
	size_t n = sizeof order / sizeof *order;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			int found = tb_cabling_compare(
				order[i], strlen(order[i]), order[j], strlen(order[j]));
			assert_int_equal((found > 0) - (found < 0), (i > j) - (i < j));
		}
}

static void rates_are_widths_times_speeds(void **state)
{
	(void)state;
	static const struct {
		const char *word;
		uint64_t bytes_per_s;
	} rates[] = {{"1xSDR", 250000000}, {"4xSDR", 1000000000}, {"4xDDR", 2000000000},
		{"4xQDR", 4000000000}, {"4xFDR10", 5000000000}, {"4xFDR", 6812500000},
		{"4xEDR", 12500000000}, {"4xHDR", 25000000000}, {"12xQDR", 12000000000},
		{"4xNDR", 50000000000}, {"4xXDR", 100000000000}};
	char word[12];
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		assert_int_equal(
			tb_cabling_rate_parse(rates[i].word, strlen(rates[i].word)),
			rates[i].bytes_per_s);
		assert_string_equal(
			tb_cabling_rate_text(rates[i].bytes_per_s, word, sizeof word),
			rates[i].word);
	}
	assert_int_equal(tb_cabling_rate_parse("4xFDR12", 7), 0);
	assert_int_equal(tb_cabling_rate_parse("3xNDR", 5), 0);
	assert_null(tb_cabling_rate_text(12345, word, sizeof word));
}

// What is refused: a file, the line and the beginning of the sentence.
static const struct {
	const char *text;
	uint64_t line;
	const char *sentence;
} refused[] = {
	{SWITCH(LEAF0, "leaf", "1") "[66]\t\"S-" LEAF1 "\"[1] # \"l\" lid 2 4xNDR\n", 6,
		"there is no port 66: the device has 1 to 65"},
	{"Switch 1000 \"S-" LEAF0 "\" # \"leaf\" base port 0 lid 1 lmc 0\n", 1,
		"1000 ports: a device of InfiniBand has 254 at most"},
	{"Switch 36 \"S-" LEAF0 "\" # \"leaf\" base port 0 lid 1 lmc 0\n[1] \"S-", 2,
		"the file is cut off here: expected a GUID such as"},
	{"Switch 36 \"S-" LEAF0 "\" # \"leaf\" base port 0 lid 1 lmc 0\n"
	 "[1] \"H-" HOST0 "\"[1](c01) # \"n1\" lid 1",
		2, "the file is cut off here: expected the cable's width and speed"},
	{SWITCH(LEAF0, "leaf", "1") "[1]\t\"S-" LEAF1 "\"[1] # \"other\" lid 2 4xNDR\n",
		6,
		"'leaf' has a cable to the switch 'other', of which there is no entry: "
		"the file is cut off, or a part of it is missing"},
	{SWITCH(LEAF0, "leaf", "1") SWITCH(LEAF0, "leaf", "1"), 10,
		"the GUID 0x00000000000000a0 has an entry already, in line 5: expected "
		"one "
		"fabric, and each device once"},
	{SWITCH(LEAF0, "leaf", "1") "[1]\t\"H-" HOST0 "\"[1](c01) # \"n1\" lid 3 4xNDR\n"
				    "[1]\t\"H-" HOST1 "\"[1](c11) # \"n2\" lid 4 4xNDR\n",
		7, "port 1 of 'leaf' is here a second time, after line 6"},
	{SWITCH(LEAF0, "leaf", "1") "[1]\t\"H-" HOST0 "\"[1](c01) # \"n1\" lid 3 4xNDR\n"
				    "[2]\t\"H-" HOST0 "\"[1](c01) # \"n1\" lid 3 4xNDR\n",
		7,
		"port 2 of 'leaf' is cabled to port 1 of 'n1', which line 6 has cabled "
		"to port 1 of 'leaf'"},
	{SWITCH(LEAF0, "l",
		 "1") "[1]\t\"H-" HOST0 "\"[1](c01) # \"n1\" lid 3 4xNDR\n" SWITCH(LEAF1,
		 "m", "2") "[1]\t\"H-" HOST1 "\"[1](c11) # \"n2\" lid 4 4xNDR\n",
		0,
		"holds 2 fabrics that no cable and no host joins: one of 1 switch and 1 "
		"adapter "
		"with 'l', one of 1 switch and 1 adapter with 'm'. part=SWITCH behind "
		"the file's name takes that of one"},
	{SWITCH(LEAF0, "leaf", "1"), 0, "holds no host that is cabled to a switch"},
	{"[1] \"S-" LEAF0 "\"[2] # \"x\" lid 1 4xNDR\nSwitch 3 \"S-" LEAF0 "\"\n", 1,
		"a port before the first device"},
	{SWITCH(LEAF0, "leaf", "1") "[1]\t\"X-12\"[1] # \"x\" lid 1 4xNDR\n", 6,
		"expected a GUID such as \"S-0008f10400410015\" before '\"X-12\"[1] #"},
	{SWITCH(LEAF0, "leaf",
		 "1") "[1]\t\"H-00000000000000a0\"[1](5) # \"x\" lid 1 4xNDR\n",
		6, "the GUID 0x00000000000000a0 is a switch's and an adapter's at once"},
	{SWITCH(LEAF0, "leaf", "1") "[ 1\n", 6,
		"expected a port from 0 to 254 in brackets at the end of the line"},
	{"a 1 b 2\na 1 c 3\n", 2, "port 1 of 'a' is here a second time, after line 1"},
	{"a 1 b 2\na 1 c\n", 2,
		"3 words: expected A PORT B PORT [RATE [LATENCY]], host "
		"NAME or switch NAME"},
	{"a 1 b 2\n\"a 1 c 3\n", 2,
		"expected A PORT B PORT [RATE [LATENCY]], names with "
		"blanks in double quotes"},
	{"a 1 b 2\na x c 3\n", 2, "'x' behind 'a': expected a port from 0 to 65534"},
	{"a 1 b 2\na c 400Gbit/s 150ns\n", 2, "'c' behind 'a': expected a port"},
	{"a 1 b 2\na swp1 c eth0\n", 2,
		"port 'swp1' of 'a': its other ports are numbers"},
	{"a swp1 b 2\na 2 c eth0\n", 2, "port '2' of 'a': its other ports are names"},
	{"a swp1 b eth0\na swp1 c eth0\n", 2,
		"port 1 of 'a' is here a second time, after line 1"},
	{"# cables\n\nleaf spine\n", 3, "expected a cable with its ports, A PORT B PORT"},
	{"num_ranks 2\nrank 0 {\nl1: calc 10\n}\n", 0, "is a job, no network"},
	{"a 1 b 2\na 2 c 3 fast\n", 2, "'fast': expected a rate from 1MB/s to 1000GB/s"},
	{"a 1 b 2\na 2 c 3 1GB/s 0\n", 2, "'0': expected a latency above 0 and up to 1s"},
	{"a 1 b 2\nhost a\nswitch a\n", 3, "'a' is called a host and a switch"},
	{"a 1 b 2\na 2 c 2\n", 0, "gives no rate of a cable: name a preset behind it"},
};

static void broken_files_are_refused_with_their_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct tb_network *net = NULL;
		struct tb_error error = {0};
		const char *text = refused[i].text;
		assert_int_not_equal(
			fabric_open_keys(&net, text, strlen(text), "", &error), TB_OK);
		assert_string_equal(error.file, "FILE");
		assert_int_equal(error.at, refused[i].line);
		assert_memory_equal(
			error.text, refused[i].sentence, strlen(refused[i].sentence));
	}
}

// Cut anywhere, the file is either refused or taken with remarks, and nothing is read
// beyond it.
static void a_file_cut_anywhere_is_refused_or_remarked_upon(void **state)
{
	(void)state;
	size_t n_taken = 0;
	for (size_t n = 0; n < strlen(small); n++) {
		struct tb_network *net = NULL;
		struct tb_error error = {0};
		int status = fabric_open_keys(&net, small, n, "", &error);
		if (status == TB_OK) {
			assert_true(tb_network_n_remarks(net) > 0);
			assert_true(tb_network_n_nodes(net) >= 2);
			n_taken++;
		}
		tb_network_free(net);
	}
	assert_true(n_taken > 0);
}

// What ../shared/data/README.md says of the fabrics there.
static const struct {
	const char *file;
	uint32_t n_switches, n_nodes, n_levels, n_trunks, n_remarks;
	uint64_t fastest;
} real[] = {
	{"nvidia-dgx-ndr.ibnetdiscover", 40, 542, 2, 532, 2, 50000000000},
	{"stage-qdr-fdr10.ibnetdiscover", 8, 145, 2, 47, 0, 5000000000},
	{"jabl-1.topo", 2, 5, 1, 2, 2, 1000000000},
	{"jabl-3.topo", 2, 6, 1, 1, 2, 12500000000},
};

static void real_fabrics_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
		char path[4096], name[64];
		struct tb_network *net = NULL;
		struct tb_error error = {0};
		snprintf(name, sizeof name, "fabric/%s", real[i].file);
		if (!real_input(path, name))
			skip();
		if (tb_network_open(&net, &(struct tb_network_description){.name = path},
			    &error) != TB_OK)
			fail_msg("%s: %s", path, error.text);
		assert_int_equal(tb_network_n_switches(net), real[i].n_switches);
		assert_int_equal(tb_network_n_nodes(net), real[i].n_nodes);
		assert_int_equal(tb_network_n_levels(net), real[i].n_levels);
		assert_int_equal(tb_network_n_links(net),
			2 * (real[i].n_trunks + real[i].n_nodes));
		assert_int_equal(tb_network_n_remarks(net), real[i].n_remarks);
		assert_int_equal(
			tb_network_params(net)->link_bytes_per_s, real[i].fastest);
		tb_network_free(net);
	}
}

static void entries_of_ibsim_are_told_by_their_line(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		bool is;
	} lines[] = {{"Switch 36 \"s\"", true}, {"Hca\t2\t\"h\" # a remark", true},
		{"Ca 1 \"\"", true}, {"Switch 0\"s\"", true}, {"Switch \"s\"", false},
		{"Switch 36 s\"t\"", false}, {"Switch 36 \"s", false},
		{"Switch 36 s", false}, {"Switch36 \"s\"", false},
		{"Switch 3x \"s\"", false}, {"switch 36 \"s\"", false}, {"", false}};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const struct tb_fabric_format *of = tb_fabric_format_of(lines[i].line);
		if ((of && strcmp(of->name, "ibsim net") == 0) != lines[i].is)
			fail_msg("'%s'", lines[i].line);
	}
}

// The error of what is no trace says so where it is a fabric, but for a list of cables.
static void a_fabric_that_is_no_trace_is_named(void **state)
{
	(void)state;
	static const char ibsim[] = "Switch 36 \"s\"\n[1] \"h\"[1]\nHca 1 \"h\"\n",
			  cables[] = "a 1 b 1\n", preset[] = "like = qsnet\n";
	static const struct {
		const char *name, *text;
		enum tb_status code;
		bool is_named;
	} rows[] = {{"f", ibsim, TB_EFOREIGN, true}, {"f", ibsim, TB_EFORMAT, false},
		{"f", ibsim, TB_EIO, false}, {"f", cables, TB_EFOREIGN, false},
		{"f", preset, TB_EFOREIGN, false}, {"-", ibsim, TB_EFOREIGN, false},
		{"", NULL, TB_EFOREIGN, false}, {"f", NULL, TB_EFOREIGN, false},
		{"--", ibsim, TB_EFOREIGN, true}};
	char folder[] = "/tmp/tailback-fabric-XXXXXX", *before = getcwd(NULL, 0);
	assert_true(mkdtemp(folder) && before && chdir(folder) == 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tb_error error = {.code = rows[i].code};
		FILE *file = rows[i].text ? fopen(rows[i].name, "w") : NULL;
		strcpy(error.file, rows[i].name);
		strcpy(error.text, "is no trace");
		if (file) {
			fputs(rows[i].text, file);
			fclose(file);
			// "-" is standard input, which is left alone.
			assert_non_null(freopen(rows[i].name, "r", stdin));
		}
		tb_fabric_refuse(&error);
		assert_int_equal(
			error.code, rows[i].is_named ? TB_EFORMAT : rows[i].code);
		assert_string_equal(error.file, rows[i].name);
		assert_int_equal(rows[i].is_named,
			strncmp(error.text, "is a fabric (ibsim net): ", 25) == 0);
		if (!rows[i].is_named)
			assert_string_equal(error.text, "is no trace");
		if (file)
			unlink(rows[i].name);
	}
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(folder), 0);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_stand_by_name_and_switches_by_level),
		cmocka_unit_test(parts_keep_guids_lids_ports_and_rates),
		cmocka_unit_test(what_is_passed_over_is_remarked),
		cmocka_unit_test(a_cable_keeps_the_rate_that_its_later_end_shows),
		cmocka_unit_test(keys_choose_what_the_file_does_not_give),
		cmocka_unit_test(ports_of_a_host_become_its_rails),
		cmocka_unit_test(levels_are_found),
		cmocka_unit_test(a_spine_needs_many_hosts_to_be_a_leaf),
		cmocka_unit_test(the_preset_is_that_of_the_fastest_cable),
		cmocka_unit_test(a_ring_hangs_from_a_root),
		cmocka_unit_test(edge_lists_give_rates_latencies_and_kinds),
		cmocka_unit_test(names_stand_for_one_part),
		cmocka_unit_test(ports_with_names_go_by_the_numbers_in_them),
		cmocka_unit_test(a_missing_cable_shifts_no_port_with_a_name),
		cmocka_unit_test(names_with_quotes_and_control_characters_are_read),
		cmocka_unit_test(names_are_cut_after_a_whole_character),
		cmocka_unit_test(numbers_in_names_go_by_value),
		cmocka_unit_test(rates_are_widths_times_speeds),
		cmocka_unit_test(broken_files_are_refused_with_their_line),
		cmocka_unit_test(a_file_cut_anywhere_is_refused_or_remarked_upon),
		cmocka_unit_test(entries_of_ibsim_are_told_by_their_line),
		cmocka_unit_test(a_fabric_that_is_no_trace_is_named),
		cmocka_unit_test(real_fabrics_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
